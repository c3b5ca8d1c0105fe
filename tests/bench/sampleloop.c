/* SPDX-License-Identifier: Apache-2.0 */
/* sampleloop TURNS SLICES: CPU time in ns of a slice of TURNS multiplications, at stack depth 20. Prints "median=NS
 * min=NS". */
#include "bench.h"

enum { DEPTH = 20, MAX_SLICES = 10000 };

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static uint64_t descend(int frames, long turns)
{
	uint64_t x = (uint64_t)turns;

	if (frames > 0)
		x = descend(frames - 1, turns);
	else
		for (long i = 0; i < turns; i++) {
			x = x * 6364136223846793005u + 1;
			__asm__ volatile("" : "+r"(x));
		}
	__asm__ volatile("" : "+r"(x)); /* no tail call */
	return x;
}

int main(int argc, char **argv)
{
	static double slices[MAX_SLICES];
	long turns = bench_number(argc > 1 ? argv[1] : "", "TURNS", 1, 1000000000);
	long count = bench_number(argc > 2 ? argv[2] : "", "SLICES", 1, MAX_SLICES);
	double median;

	for (long i = 0; i < count; i++) {
		uint64_t start = cpu_ns();

		descend(DEPTH, turns);
		slices[i] = (double)(cpu_ns() - start);
	}
	median = bench_median(slices, (size_t)count);
	printf("median=%.1f min=%.1f\n", median, slices[0]);
	return 0;
}
