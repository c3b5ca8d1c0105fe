/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_unfinished HOW N: work in progress when its records are flushed.
 *   threads  N threads, each with a memset of 4 KB that it waits for, all alive until the last has done so
 *   across   a capture range that ends while N memsets of 4 KB are under way, which are then waited for
 *   streams  N kernels under way on one stream while the program waits twice for another, then for all
 *   exit     the program ends while N memsets of 4 KB are under way, after one of 8 KB that it waited for */
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_stub.h"

static void work(const unsigned *blocks, const unsigned *threads, void **params)
{
	(void)blocks, (void)threads, (void)params;
}

static const struct simgpu_kernel kernels[] = {{"work", work, 0, {0}}};
CUDA_STUB_IMAGE(kernels);
static const char host; /* its address is what programs pass as the kernel */
static void *device;
static pthread_barrier_t barrier;

static void check(cudaError_t result)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "%s\n", cudaGetErrorString(result));
	exit(1);
}

static void sets(int n, size_t bytes)
{
	for (int i = 0; i < n; i++)
		check(cudaMemsetAsync(device, i, bytes, 0));
}

static void *set_one(void *unused)
{
	sets(1, 4096);
	check(cudaDeviceSynchronize());
	pthread_barrier_wait(&barrier);
	return unused;
}

static void threads(int n)
{
	pthread_t *thread = calloc((size_t)n, sizeof(*thread));

	if (!thread || pthread_barrier_init(&barrier, NULL, (unsigned)n) != 0)
		exit(1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, set_one, NULL) != 0)
			exit(1);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
}

static void streams(int n)
{
	cudaStream_t busy, other;
	cudaKernel_t kernel = NULL;

	cuda_stub_begin();
	cuda_stub_kernel(&host, "work");
	cuda_stub_end();
	check(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking));
	check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	for (int i = 0; i < n; i++)
		cuda_stub_launch(&kernel, &host, (dim3){2, 1, 1}, (dim3){32, 1, 1}, busy, NULL);
	for (int i = 0; i < 2; i++)
		check(cudaStreamSynchronize(other));
	check(cudaDeviceSynchronize());
	check(cudaGetLastError());
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	check(cudaMalloc(&device, 1 << 20));
	if (!strcmp(how, "threads")) {
		threads(n);
	} else if (!strcmp(how, "across")) {
		check(cudaProfilerStart());
		sets(n, 4096);
		check(cudaProfilerStop());
		check(cudaDeviceSynchronize());
	} else if (!strcmp(how, "streams")) {
		streams(n);
	} else if (!strcmp(how, "exit")) {
		sets(1, 8192);
		check(cudaDeviceSynchronize());
		sets(n, 4096);
	} else {
		return 2;
	}
	return 0;
}
