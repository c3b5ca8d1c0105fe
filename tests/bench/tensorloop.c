/* SPDX-License-Identifier: Apache-2.0 */
/* tensorloop KIND BYTES SLICES: reports of blocks to libc10.so (emptyc10.c), as PyTorch's allocators make them; nothing
 * is allocated. host: New and Delete of the CPU's; device: reportMemoryUsageToProfiler, of a block and of its free.
 * Prints ns per block, which is two reports: median and best slice. */
#include <string.h>

#include "bench.h"
#include "bench_c10.h"

/* A slice has whole windows of ours, whether a report takes 16 bytes or 24: the pages are most of its cost. */
enum { BLOCKS = 32768, IN_USE = 64 };

static char *base; /* the addresses of a heap, aligned as PyTorch's blocks are */

static void report_host(size_t size)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		char *block = base + i % IN_USE * 4096;

		c10_new(&base, block, size);
		c10_delete(&base, block);
	}
}

static void report_device(size_t size)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		char *block = base + i % IN_USE * 4096;

		c10_report(block, (int64_t)size, i, i, (struct c10_device){1, 0});
		c10_report(block, -(int64_t)size, i, i, (struct c10_device){1, 0});
	}
}

int main(int argc, char **argv)
{
	void (*report)(size_t size) = argc > 1 && !strcmp(argv[1], "device") ? report_device : report_host;
	size_t size = argc == 4 ? (size_t)bench_number(argv[2], "BYTES", 1, 1L << 40) : 0;
	long slices = argc == 4 ? bench_number(argv[3], "SLICES", 1, 10000) : 0;
	double *ns = malloc((size_t)slices * sizeof(*ns)), median;

	base = aligned_alloc(4096, (size_t)IN_USE * 4096);
	if (!slices || !ns || !base)
		return 2;
	report(size); /* warm-up: attaching, the first small chunks */
	for (long i = 0; i < slices; i++) {
		uint64_t start = bench_now_ns();

		report(size);
		ns[i] = (double)(bench_now_ns() - start) / BLOCKS;
	}
	median = bench_median(ns, (size_t)slices);
	printf("median=%.3f min=%.3f end_ns=%llu\n", median, ns[0], (unsigned long long)bench_now_ns());
	return 0;
}
