/* SPDX-License-Identifier: Apache-2.0 */
/* ring_calls THREADS COUNTS MS [churn]: each thread writes to /dev/null, the lengths 1, 2, 3, ... and again from 1
 * after LAST, TOGETHER at a time, for MS milliseconds, and stores the number of its finished calls in the file COUNTS,
 * which survives any kill. churn: each batch has a new NVTX name and a new stack; forks and short threads all the
 * time. */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
static void nvtxRangePushA(const char *unused)
{
}
static void nvtxRangePop(void)
{
}
#endif

enum { LAST = 60000, MOST_THREADS = 256, TOGETHER = 20, PATH_BITS = 24 };

static uint64_t *counts;
static int null;
static bool has_churn;
static volatile bool is_over;
static char bytes[LAST];

static void write_batch(uint64_t *count)
{
	for (int i = 0; i < TOGETHER && !is_over; i++) {
		size_t length = *count % LAST + 1;

		if (write(null, bytes, length) != (ssize_t)length)
			exit(3);
		__atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
	}
}

/* The stack depends on each bit of `path`. */
static __attribute__((noinline)) int descend(uint64_t *count, unsigned path, int bits)
{
	volatile int result;

	if (!bits) {
		write_batch(count);
		return 1;
	}
	if (path & 1)
		result = descend(count, path >> 1, bits - 1) + 1;
	else
		result = descend(count, path >> 1, bits - 1) + 2;
	return result;
}

static void *write_all(void *argument)
{
	uint64_t number = (uint64_t)(uintptr_t)argument, *count = &counts[number];
	unsigned batch = 0;
	char name[64];

	while (!is_over) {
		if (has_churn) {
			snprintf(name, sizeof(name), "batch %u of thread %u", batch, (unsigned)number);
			nvtxRangePushA(name);
			descend(count, batch++ * 2654435761u + (unsigned)number, PATH_BITS);
			nvtxRangePop();
		} else {
			write_batch(count);
		}
		usleep(2000);
	}
	return NULL;
}

static void *write_once(void *unused)
{
	if (write(null, bytes, 1) != 1)
		exit(3);
	return unused;
}

static void churn(void)
{
	pthread_t thread;
	pid_t child = fork();

	if (!child) {
		for (int i = 0; i < 50; i++)
			write_once(NULL);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	if (!pthread_create(&thread, NULL, write_once, NULL))
		pthread_join(thread, NULL);
}

static long long milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	int threads = argc >= 4 ? atoi(argv[1]) : 0, fd = argc >= 4 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
	long long end = milliseconds() + (argc >= 4 ? atoll(argv[3]) : 0);
	pthread_t all[MOST_THREADS];

	null = open("/dev/null", O_WRONLY);
	has_churn = argc > 4;
	if (null < 0 || fd < 0 || threads < 1 || threads > MOST_THREADS || ftruncate(fd, 8L * threads))
		return 2;
	counts = mmap(NULL, 8 * (size_t)threads, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		return 2;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&all[i], NULL, write_all, (void *)(uintptr_t)i))
			return 1;
	while (milliseconds() < end) {
		if (has_churn)
			churn();
		usleep(10000);
	}
	is_over = true;
	for (int i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	return 7;
}
