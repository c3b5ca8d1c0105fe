/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates memory of every kind, does not free all of it, then requests too much. Prints requests and results.
 * cuda_memory [MS]: and lives so many ms more. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void *keeps(size_t bytes)
{
	void *p = NULL;

	printf("cudaMalloc of %zu: %d\n", bytes, (int)cudaMalloc(&p, bytes));
	return p;
}

__attribute__((noinline)) static void asks_too_much(size_t bytes)
{
	void *p = NULL;

	printf("cudaMalloc of %zu: %d\n", bytes, (int)cudaMalloc(&p, bytes));
	cudaGetLastError();
}

int main(int argc, char **argv)
{
	void *kept, *freed, *host = NULL, *pool = NULL, *again = NULL;
	size_t left = 0, total = 0;

	kept = keeps(30 << 20);
	freed = keeps(20 << 20);
	cudaMallocHost(&host, 1 << 20);
	cudaMallocAsync(&pool, 5 << 20, 0);
	cudaMemGetInfo(&left, &total);
	asks_too_much((size_t)200 << 20);
	cudaFreeAsync(pool, 0);
	cudaFree(freed);
	cudaMalloc(&again, 1 << 20);
	cudaFree(again);
	cudaFreeHost(host);
	cudaDeviceSynchronize();
	if (argc > 1)
		usleep(1000 * (useconds_t)atoi(argv[1]));
	printf("%s\n", kept && freed ? "done" : "no memory");
	return 0;
}
