/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_ends HOW N: queues N memsets without waiting and ends in the given way; some ways also fork or have capture
 * ranges. */
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *device;

static void check(cudaError_t result)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "%s\n", cudaGetErrorString(result));
	exit(1);
}

static void work(int n, size_t bytes)
{
	if (!device)
		check(cudaMalloc(&device, 1 << 20));
	for (int i = 0; i < n; i++)
		check(cudaMemsetAsync(device, i, bytes, 0));
	check(cudaDeviceSynchronize());
}

static void on_signal(int number)
{
	_exit(5);
}

/* The parent's bytes are 4096 each, the child's 512. */
static int fork_before(int n)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		work(n, 512);
		_exit(0);
	}
	waitpid(child, &status, 0);
	work(n, 4096);
	return status;
}

static int fork_after(int n)
{
	int status = -1;
	pid_t child;

	work(n, 4096);
	child = fork();
	if (child == 0) {
		if (cudaMemset(device, 0, 512) == cudaSuccess)
			_exit(1); /* CUDA does not work in a child */
		exit(0);
	}
	waitpid(child, &status, 0);
	work(n, 4096);
	return status;
}

static int ranges(int n)
{
	for (int i = 0; i < 3; i++) {
		work(n, 512);
		check(cudaProfilerStart());
		work(n, 4096);
		check(cudaProfilerStop());
	}
	work(n, 512);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(how, "before"))
		return fork_before(n);
	if (!strcmp(how, "after"))
		return fork_after(n);
	if (!strcmp(how, "ranges"))
		return ranges(n);
	work(n, 4096);
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "quick_exit"))
		quick_exit(3);
	if (!strcmp(how, "exec"))
		execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
	if (!strcmp(how, "reset")) {
		check(cudaDeviceReset());
		kill(getpid(), SIGKILL);
	}
	if (!strcmp(how, "handler")) {
		signal(SIGTERM, on_signal);
		raise(SIGTERM);
	}
	return strcmp(how, "return") ? 1 : 3;
}
