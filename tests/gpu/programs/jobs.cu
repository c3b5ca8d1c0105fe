/* SPDX-License-Identifier: Apache-2.0 */
/* jobs JOB N: small jobs of the CUDA runtime, built by nvcc with either runtime. Each prints what it did (account.h).
 *   streams   four threads, each with a stream and a kernel of its own, N launches each
 *   graph     a graph of three kernels, launched N times
 *   managed   N rounds of managed memory, written by the CPU, then by a kernel, then read by the CPU
 *   memory    N allocations of 1 MiB that are freed, and one of 3 MiB that never is
 *   oom       requests too much memory, then continues with N launches
 *   forever   rounds of N launches until it is killed; prints a line when a round has ended on the device
 *   launches  N times 500 launches of an empty kernel, which fit into the driver's queue: prints the median cost as
 *             "ns_per_launch" and the mean as "ns_per_launch_mean"
 *   captured  N times 500 launches of an empty kernel that are captured into a graph, which is never launched: the
 *             same lines
 *   burn      N seconds of multiplications on all multiprocessors: prints the energy by NVML's counter as "mJ", and the
 *             time between its two readings as "ns" */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "account.h"

enum { THREADS = 4, BATCH = 500, FLOATS = 1 << 16 };

__global__ void empty()
{
}

__global__ void step_kernel(float *x)
{
	x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

template <int who> __global__ void stream_kernel(float *x)
{
	x[blockIdx.x * blockDim.x + threadIdx.x] += who;
}

struct worker {
	int who, n;
};

static void *stream_worker(void *arg)
{
	const struct worker *w = (const struct worker *)arg;
	cudaStream_t stream;
	float *x;

	NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	NEED(cudaMalloc(&x, FLOATS * sizeof(float)));
	for (int i = 0; i < w->n; i++) {
		switch (w->who) {
		case 0: stream_kernel<0><<<FLOATS / 256, 256, 0, stream>>>(x); break;
		case 1: stream_kernel<1><<<FLOATS / 256, 256, 0, stream>>>(x); break;
		case 2: stream_kernel<2><<<FLOATS / 256, 256, 0, stream>>>(x); break;
		default: stream_kernel<3><<<FLOATS / 256, 256, 0, stream>>>(x);
		}
	}
	NEED(cudaStreamSynchronize(stream));
	NEED(cudaGetLastError());
	NEED(cudaFree(x));
	NEED(cudaStreamDestroy(stream));
	return NULL;
}

static void streams(int n)
{
	static const char *const names[THREADS] = {
	    "kernel:_Z13stream_kernelILi0EEvPf", "kernel:_Z13stream_kernelILi1EEvPf",
	    "kernel:_Z13stream_kernelILi2EEvPf", "kernel:_Z13stream_kernelILi3EEvPf"};
	pthread_t threads[THREADS];
	struct worker workers[THREADS];

	for (int i = 0; i < THREADS; i++) {
		workers[i].who = i;
		workers[i].n = n;
		NEED(pthread_create(&threads[i], NULL, stream_worker, &workers[i]));
	}
	for (int i = 0; i < THREADS; i++) {
		NEED(pthread_join(threads[i], NULL));
		said(names[i], n, 0);
	}
}

static void graph(int n)
{
	cudaStream_t stream;
	cudaGraph_t captured;
	cudaGraphExec_t exec;
	float *x;

	NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	NEED(cudaMalloc(&x, FLOATS * sizeof(float)));
	NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < 3; i++)
		step_kernel<<<FLOATS / 256, 256, 0, stream>>>(x);
	NEED(cudaStreamEndCapture(stream, &captured));
	NEED(cudaGraphInstantiate(&exec, captured, 0));
	for (int i = 0; i < n; i++)
		NEED(cudaGraphLaunch(exec, stream));
	NEED(cudaStreamSynchronize(stream));
	NEED(cudaGraphExecDestroy(exec));
	NEED(cudaGraphDestroy(captured));
	NEED(cudaFree(x));
	said("graph", n, 0);
	said("kernel:_Z11step_kernelPf", 3 * n, 0);
}

static void managed(int n)
{
	float *x, sum = 0;

	NEED(cudaMallocManaged(&x, FLOATS * sizeof(float), cudaMemAttachGlobal));
	for (int i = 0; i < n; i++) {
		memset((void *)x, 0, FLOATS * sizeof(float));
		step_kernel<<<FLOATS / 256, 256>>>(x);
		NEED(cudaDeviceSynchronize());
		sum += x[FLOATS - 1];
	}
	NEED(cudaFree(x));
	said("kernel:_Z11step_kernelPf", n, 0);
	said("sum", (unsigned long long)sum, 0); /* nothing on a device that runs no machine code */
}

static void memory(int n)
{
	void *p;

	for (int i = 0; i < n; i++) {
		NEED(cudaMalloc(&p, 1 << 20));
		NEED(cudaFree(p));
	}
	NEED(cudaMalloc(&p, 3 << 20));
	said("alloc:device", n + 1, (unsigned long long)(n + 3) << 20);
}

static void oom(int n)
{
	void *p = NULL;
	cudaError_t result = cudaMalloc(&p, (size_t)1 << 50);
	float *x;

	if (result != cudaErrorMemoryAllocation || p)
		NEED(1 + (int)result);
	(void)cudaGetLastError();
	NEED(cudaMalloc(&x, FLOATS * sizeof(float)));
	for (int i = 0; i < n; i++)
		step_kernel<<<FLOATS / 256, 256>>>(x);
	NEED(cudaDeviceSynchronize());
	said("kernel:_Z11step_kernelPf", n, 0);
}

static void forever(int n)
{
	float *x;

	NEED(cudaMalloc(&x, FLOATS * sizeof(float)));
	for (unsigned long long done = 0;;) {
		for (int i = 0; i < n; i++)
			step_kernel<<<FLOATS / 256, 256>>>(x);
		NEED(cudaDeviceSynchronize());
		done += n;
		printf("%llu %.0f\n", done, now_ns());
		fflush(stdout);
		usleep(2000);
	}
}

static void launches(int n)
{
	double *cost = (double *)calloc(n, sizeof(*cost)), sum = 0;

	empty<<<1, 1>>>();
	NEED(cudaDeviceSynchronize());
	for (int batch = 0; batch < n; batch++) {
		double begin = now_ns();

		for (int i = 0; i < BATCH; i++)
			empty<<<1, 1>>>();
		cost[batch] = (now_ns() - begin) / BATCH;
		sum += cost[batch];
		NEED(cudaDeviceSynchronize());
	}
	said("kernel:_Z5emptyv", (unsigned long long)n * BATCH + 1, 0);
	printf("ns_per_launch %.1f 0\nns_per_launch_mean %.1f 0\n", median_of(cost, n), sum / n);
	free(cost);
}

static void captured(int n)
{
	double *cost = (double *)calloc(n, sizeof(*cost)), sum = 0;
	cudaStream_t stream;
	cudaGraph_t graph;

	NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int batch = 0; batch < n; batch++) {
		double begin;

		NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
		begin = now_ns();
		for (int i = 0; i < BATCH; i++)
			empty<<<1, 1, 0, stream>>>();
		cost[batch] = (now_ns() - begin) / BATCH;
		sum += cost[batch];
		NEED(cudaStreamEndCapture(stream, &graph));
		NEED(cudaGraphDestroy(graph));
	}
	printf("ns_per_launch %.1f 0\nns_per_launch_mean %.1f 0\n", median_of(cost, n), sum / n);
	free(cost);
}

__global__ void multiply(float *x, int rounds)
{
	float a = x[threadIdx.x], b = a + 1, c = a + 2, d = a + 3;

	for (int i = 0; i < rounds; i++) {
		a = a * 0.999f + b;
		b = b * 0.999f + c;
		c = c * 0.999f + d;
		d = d * 0.999f + a;
	}
	x[threadIdx.x] = a + b + c + d;
}

/* The counter of the first device, in mJ; 0: there is no NVML, or none that counts. */
static unsigned long long energy_now(void)
{
	static int (*count)(void *, unsigned long long *);
	static void *device;
	unsigned long long mj = 0;

	if (!count) {
		void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
		int (*init)(void) = nvml ? (int (*)(void))dlsym(nvml, "nvmlInit_v2") : NULL;
		int (*get)(unsigned, void **) =
			nvml ? (int (*)(unsigned, void **))dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2") : NULL;

		if (!init || !get || init() || get(0, &device))
			return 0;
		count = (int (*)(void *, unsigned long long *))dlsym(nvml, "nvmlDeviceGetTotalEnergyConsumption");
	}
	return count && !count(device, &mj) ? mj : 0;
}

static void burn(int n)
{
	double begin, end;
	unsigned long long before, after;
	float *x;

	NEED(cudaMalloc(&x, 4096));
	NEED(cudaMemset(x, 0, 4096));
	NEED(cudaDeviceSynchronize());
	before = energy_now();
	begin = now_ns();
	for (end = begin; end - begin < n * 1e9; end = now_ns()) {
		multiply<<<2048, 1024>>>(x, 100000);
		NEED(cudaDeviceSynchronize());
	}
	after = energy_now();
	said("mJ", after - before, 0);
	said("ns", (unsigned long long)(end - begin), 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int);
	} jobs[] = {{"streams", streams}, {"graph", graph}, {"managed", managed}, {"memory", memory}, {"oom", oom},
		    {"forever", forever}, {"launches", launches}, {"captured", captured},
		    {"burn", burn}};
	const char *name = argc > 2 ? argv[1] : "";

	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
		if (!strcmp(jobs[i].name, name)) {
			jobs[i].run(atoi(argv[2]));
			NEED(cudaGetLastError());
			return 0;
		}
	fprintf(stderr, "no such job: %s\n", name);
	return 2;
}
