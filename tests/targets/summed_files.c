/* SPDX-License-Identifier: Apache-2.0 */
/* summed_files THREADS ROUNDS [fork|kill]: in each round each thread opens, writes, reads and closes the files file.0,
 * file.1 and file.2 of the working directory one after the other, so that they have the same descriptors. It writes
 * 100 bytes to file.0, 200 to file.1 and 300 to file.2, and reads 50 of each. fork: a child does the same once more.
 * kill: it kills itself at the end. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 3, WRITTEN = 100, READ = 50, THREADS_MOST = 200 };

static int rounds;

static void expect(int fact)
{
	if (!fact)
		abort();
}

static void use(int number)
{
	char name[16], bytes[FILES * WRITTEN] = {0};
	int fd;

	snprintf(name, sizeof(name), "file.%d", number);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	expect(fd >= 0);
	expect(write(fd, bytes, (size_t)(number + 1) * WRITTEN) == (number + 1) * WRITTEN);
	expect(pread(fd, bytes, READ, 0) == READ);
	expect(!close(fd));
}

static void *run(void *unused)
{
	for (int i = 0; i < rounds; i++)
		for (int k = 0; k < FILES; k++)
			use(k);
	return unused;
}

static void run_threads(int count)
{
	pthread_t threads[THREADS_MOST];

	for (int i = 1; i < count; i++)
		expect(!pthread_create(&threads[i], NULL, run, NULL));
	run(NULL);
	for (int i = 1; i < count; i++)
		expect(!pthread_join(threads[i], NULL));
}

int main(int argc, char **argv)
{
	const char *end = argc > 3 ? argv[3] : "";
	int count, status;

	expect(argc > 2);
	count = atoi(argv[1]);
	rounds = atoi(argv[2]);
	expect(count > 0 && count <= THREADS_MOST);
	run_threads(count);
	if (!strcmp(end, "fork")) {
		pid_t child = fork();

		if (!child) {
			run_threads(count);
			return 0;
		}
		expect(waitpid(child, &status, 0) == child && !status);
	}
	if (!strcmp(end, "kill"))
		raise(SIGKILL);
	return 0;
}
