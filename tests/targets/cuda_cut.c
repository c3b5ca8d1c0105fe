/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_cut HOW N: until it is killed. HOW is `ranges`: twice a capture range with N memsets that are waited for, then
 * sleeps; `quiet`: a memset every millisecond, N in all, then sleeps; `busy`: a memset every millisecond, in two
 * threads if N is 2; `once`: a capture range with N memsets, then it exits. */
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *device;

static void work(int n, size_t bytes)
{
	for (int i = 0; i < n; i++)
		if (cudaMemset(device, i, bytes) || cudaDeviceSynchronize())
			exit(1);
}

static void *busy(void *unused)
{
	for (;;) {
		work(1, 4096);
		usleep(1000);
	}
	return unused;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t thread;

	alarm(120);
	if (cudaMalloc(&device, 1 << 20))
		return 1;
	work(1, 512);
	if (!strcmp(how, "busy")) {
		if (n == 2)
			pthread_create(&thread, NULL, busy, NULL);
		busy(NULL);
	}
	for (int i = 0; i < 2 && !strcmp(how, "ranges"); i++) {
		cudaProfilerStart();
		work(n, 4096);
		cudaProfilerStop();
		work(n, 512);
	}
	if (!strcmp(how, "once")) {
		cudaProfilerStart();
		work(n, 4096);
		cudaProfilerStop();
		return 0;
	}
	for (int i = 0; i < n && !strcmp(how, "quiet"); i++) {
		work(1, 4096);
		usleep(1000);
	}
	for (;;)
		pause();
}
