// SPDX-License-Identifier: Apache-2.0
// throw COUNT: throws and catches COUNT exceptions, a few frames and one destructor apart, and prints "median=NS
// min=NS" per exception, over slices of a tenth each.
#include <stdexcept>

#include "bench.h"

static int destroyed;

struct guard {
	~guard() { destroyed++; }
};

__attribute__((noinline)) static void thrower(int frames)
{
	guard g;

	if (frames == 0)
		throw std::runtime_error("bench");
	thrower(frames - 1);
}

int main(int argc, char **argv)
{
	enum { SLICES = 10, FRAMES = 3 };
	double ns[SLICES];
	long caught = 0;

	if (argc != 2) {
		fputs("usage: throw COUNT\n", stderr);
		return 2;
	}
	long count = bench_number(argv[1], "COUNT", SLICES, 1000000000) / SLICES;
	for (int s = 0; s < SLICES; s++) {
		uint64_t start = bench_now_ns();

		for (long i = 0; i < count; i++) {
			try {
				thrower(FRAMES);
			} catch (const std::exception &) {
				caught++;
			}
		}
		ns[s] = (double)(bench_now_ns() - start) / (double)count;
	}
	if (caught != count * SLICES || destroyed != caught * (FRAMES + 1)) {
		fprintf(stderr, "throw: caught %ld of %ld\n", caught, count * SLICES);
		return 1;
	}
	double median = bench_median(ns, SLICES);
	printf("median=%.3f min=%.3f\n", median, ns[0]);
	return 0;
}
