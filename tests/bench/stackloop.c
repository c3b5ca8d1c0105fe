/* SPDX-License-Identifier: Apache-2.0 */
/* stackloop loop CALLS SLICES: ns per call of write, made from 64 different stacks in turn, about 20 frames each.
 *
 * stackloop first THREADS: ns of the first such call in a new thread, for THREADS threads one after another.
 *
 * Prints "median=NS min=NS". With BENCH_UNWIND it captures the stack itself before each call, by the cheapest means:
 * unw_backtrace, a hash, and a search in a table of known stacks; it then also prints "stacks=N frames=N". */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { BRANCHES = 6, STACKS = 1 << BRANCHES, PLAIN_FRAMES = 5, MAX_SLICES = 1000, MAX_THREADS = 10000 };

static int null_fd;

#ifdef BENCH_UNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>

enum { FRAMES = 64, TABLE = 4096 };

static uint64_t table[TABLE]; /* hashes, open addressing */
static unsigned stacks, most_frames;

static void take_stack(void)
{
	void *frames[FRAMES];
	int count = unw_backtrace(frames, FRAMES);
	uint64_t hash = 14695981039346656037u;
	unsigned at;

	for (int i = 0; i < count; i++)
		hash = (hash ^ (uint64_t)frames[i]) * 0x9e3779b97f4a7c15u;
	for (at = hash >> 52; table[at % TABLE] && table[at % TABLE] != hash; at++)
		;
	if (!table[at % TABLE]) {
		table[at % TABLE] = hash;
		stacks++;
	}
	if ((unsigned)count > most_frames)
		most_frames = (unsigned)count;
}
#else
static void take_stack(void)
{
}
#endif

/* ---- 64 call paths ---- */

__attribute__((noinline)) static void leaf(void)
{
	take_stack();
	if (write(null_fd, "", 1) != 1)
		abort();
	__asm__ volatile("" ::: "memory"); /* no tail call: each of these is a frame */
}

__attribute__((noinline)) static void straight(int frames)
{
	if (frames == 0)
		leaf();
	else
		straight(frames - 1);
	__asm__ volatile("" ::: "memory");
}

/* Two calls with two return addresses: each value of `way` gives a different stack. */
__attribute__((noinline)) static void branch(unsigned way, int left)
{
	if (left == 0) {
		straight(PLAIN_FRAMES);
	} else if (way & 1) {
		branch(way >> 1, left - 1);
		__asm__ volatile("nop" ::: "memory");
	} else {
		branch(way >> 1, left - 1);
		__asm__ volatile("" ::: "memory");
	}
	__asm__ volatile("" ::: "memory");
}

static double call_ns(long calls)
{
	uint64_t start = bench_now_ns();

	for (long i = 0; i < calls; i++)
		branch((unsigned)i % STACKS, BRANCHES);
	return (double)(bench_now_ns() - start) / (double)calls;
}

static void *first_call(void *ret_ns)
{
	*(double *)ret_ns = call_ns(1);
	return NULL;
}

static void run_loop(long calls, long slices)
{
	double ns[MAX_SLICES];

	call_ns(calls);
	for (long i = 0; i < slices; i++)
		ns[i] = call_ns(calls);
	printf("median=%.3f", bench_median(ns, (size_t)slices));
	printf(" min=%.3f", ns[0]);
}

static void run_first(long threads)
{
	static double ns[MAX_THREADS];

	for (long i = 0; i < threads; i++) {
		pthread_t id;

		if (pthread_create(&id, NULL, first_call, &ns[i]) || pthread_join(id, NULL)) {
			perror("stackloop: thread");
			exit(1);
		}
	}
	printf("median=%.0f", bench_median(ns, (size_t)threads));
	printf(" min=%.0f", ns[0]);
}

int main(int argc, char **argv)
{
	null_fd = open("/dev/null", O_WRONLY);
	if (argc == 4 && !strcmp(argv[1], "loop")) {
		run_loop(bench_number(argv[2], "CALLS", 1, 1000000000), bench_number(argv[3], "SLICES", 1, MAX_SLICES));
	} else if (argc == 3 && !strcmp(argv[1], "first")) {
		run_first(bench_number(argv[2], "THREADS", 1, MAX_THREADS));
	} else {
		fputs("usage: stackloop loop CALLS SLICES | first THREADS\n", stderr);
		return 2;
	}
#ifdef BENCH_UNWIND
	printf(" stacks=%u frames=%u", stacks, most_frames);
#endif
	putchar('\n');
	return 0;
}
