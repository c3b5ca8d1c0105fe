/* SPDX-License-Identifier: Apache-2.0 */
/* counted_calls COUNTERS PROCESSES THREADS: each thread of each process calls write as often as it can, most of them
 * short, and counts its completed calls in the file COUNTERS, a number of 8 bytes per line of the cache: what it has
 * counted is there after SIGKILL. Ends after a minute. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNTERS = 64, STRIDE = 8 };

static uint64_t *counters;
static int null;

static void *run(void *argument)
{
	uint64_t *mine = argument;

	while (write(null, "x", 1) == 1) {
		__atomic_store_n(mine, *mine + 1, __ATOMIC_RELAXED);
		for (volatile int i = 0; i < 300; i++) {
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc == 4 ? open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600) : -1;
	int processes = argc == 4 ? atoi(argv[2]) : 0, threads = argc == 4 ? atoi(argv[3]) : 0;
	const size_t size = COUNTERS * STRIDE * sizeof(*counters);
	pthread_t thread;

	null = open("/dev/null", O_WRONLY);
	if (fd < 0 || null < 0 || ftruncate(fd, (off_t)size) || processes * threads > COUNTERS)
		return 2;
	counters = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counters == MAP_FAILED)
		return 2;
	for (int i = 0; i < processes; i++) {
		if (fork())
			continue;
		alarm(60);
		for (int k = 1; k < threads; k++)
			pthread_create(&thread, NULL, run, counters + (i * threads + k) * STRIDE);
		run(counters + i * threads * STRIDE);
		return 0;
	}
	while (wait(NULL) > 0) {
	}
	return 0;
}
