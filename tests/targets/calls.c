/* SPDX-License-Identifier: Apache-2.0 */
/* calls COUNT END [THREADS [COUNTER]]: each of THREADS threads makes COUNT usleep(US) calls (env US, default 1000)
 * and the process ends as END says. COUNTER is a file that is mapped and holds, per thread, the calls that have
 * returned: a process that kills this one can read its progress from the file. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_THREADS = 4096 };

static _Atomic uint64_t *returned;
static long count;
static useconds_t us = 1000;

static void *make_calls(void *thread)
{
	for (long i = 0; count < 0 || i < count; i++) {
		usleep(us);
		returned[(long)thread]++;
	}
	return NULL;
}

static void raise_fault(void)
{
	volatile uintptr_t nowhere = 8;

	*(volatile int *)nowhere = 1;
}

static void end(const char *how)
{
	char byte;
	int fds[2];

	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "_Exit"))
		_Exit(3);
	if (!strcmp(how, "quick_exit"))
		quick_exit(3);
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "exit_group"))
		syscall(SYS_exit_group, 3);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		raise_fault();
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "hang")) {
		if (pipe(fds) || read(fds[0], &byte, 1) < 0)
			exit(9);
	}
}

int main(int argc, char **argv)
{
	long threads = argc > 3 ? atol(argv[3]) : 1;
	static pthread_t ids[MAX_THREADS];

	if (argc < 3 || threads < 1 || threads > MAX_THREADS)
		return fputs("usage: calls COUNT END [THREADS [COUNTER]]\n", stderr), 2;
	if (getenv("US"))
		us = (useconds_t)atol(getenv("US"));
	count = atol(argv[1]);
	if (argc > 4) {
		int fd = open(argv[4], O_RDWR | O_CREAT, 0600);

		if (fd < 0 || ftruncate(fd, MAX_THREADS * sizeof(*returned)))
			return perror(argv[4]), 2;
		returned = mmap(NULL, MAX_THREADS * sizeof(*returned), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	} else {
		returned = calloc(MAX_THREADS, sizeof(*returned));
	}
	for (long i = 1; i < threads; i++)
		if (pthread_create(&ids[i], NULL, make_calls, (void *)i))
			return perror("pthread_create"), 2;
	make_calls((void *)0);
	for (long i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	end(argv[2]);
	return 3;
}
