/* SPDX-License-Identifier: Apache-2.0 */
/* own_cost MODE: a program whose recording costs CPU time in one way, for own_cost.py. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHORT_CALLS = 3000000, LONG_CALLS = 1500000, STACKS = 500000, THREADS = 6000, POLLS = 10000000, BLOCK = 16384 };

static int zero, null;
static char block[BLOCK];

static void check(int is_true)
{
	if (!is_true)
		abort();
}

static void make_writes(int calls)
{
	for (int i = 0; i < calls; i++)
		check(write(null, block, 1) == 1);
}

/* Each takes more than 1 us. */
static void make_reads(int calls)
{
	for (int i = 0; i < calls; i++)
		check(pread(zero, block, BLOCK, 0) == BLOCK);
}

/* Calls that do not enter the kernel. */
static void poll_lock(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	check(!pthread_mutex_lock(&lock));
	for (int i = 0; i < POLLS; i++)
		check(pthread_mutex_trylock(&lock));
}

/* Not a tail call, so that each level has a frame. */
static __attribute__((noinline)) int read_below(int depth)
{
	int result = depth ? read_below(depth - 1) : (int)pread(zero, block, BLOCK, 0);

	__asm__ volatile("" : "+r"(result));
	return result;
}

static void *write_once(void *unused)
{
	make_writes(3);
	return unused;
}

static void make_threads(int count)
{
	pthread_t thread;

	for (int i = 0; i < count; i++) {
		check(!pthread_create(&thread, NULL, write_once, NULL));
		check(!pthread_join(thread, NULL));
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	zero = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	check(zero >= 0 && null >= 0);
	if (!strcmp(mode, "short"))
		make_writes(SHORT_CALLS);
	else if (!strcmp(mode, "recorded"))
		make_reads(LONG_CALLS);
	else if (!strcmp(mode, "polls"))
		poll_lock();
	else if (!strcmp(mode, "stacks"))
		for (int i = 0; i < STACKS; i++)
			check(read_below(16) == BLOCK);
	else if (!strcmp(mode, "threads"))
		make_threads(THREADS);
	else
		return 2;
	return 0;
}
