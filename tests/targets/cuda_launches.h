/* SPDX-License-Identifier: Apache-2.0 */
/* Makes each kind of CUDA call a known number of times: the body of cuda_launches.cu and of its variant for machines
 * without nvcc. Prints its own counts as unsorted lines of "name count bytes".
 *
 * The including file defines the functions declared first: construction of a dim3, the host addresses of the kernels,
 * and launches as nvcc's <<<>>> makes them. */
#ifndef CUDA_LAUNCHES_H
#define CUDA_LAUNCHES_H

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dim3 dim3_of(unsigned x);
static const void *address_of_add(void);
static const void *address_of_scale(void);
static void launch_add(unsigned grid, unsigned block, cudaStream_t stream, float *x, int n);
static void launch_scale(unsigned grid, unsigned block, cudaStream_t stream, float *x, float factor, int n);

#define COUNT 4096			/* floats in a buffer */
#define BYTES (COUNT * sizeof(float))
#define BLOCK 256
#define GRID (COUNT / BLOCK)

enum row {
	KERNEL_ADD, KERNEL_SCALE, GRAPH_LAUNCH, HOST_FUNCTION, COPY_HTOD, COPY_DTOH, COPY_DTOD, SET, ALLOC_DEVICE,
	ALLOC_POOL, ALLOC_MANAGED, ALLOC_PINNED, STREAM_SYNC, EVENT_SYNC, DEVICE_SYNC, EVENT_RECORD, ROWS
};

static const char *const row_names[ROWS] = {
	"kernel:_Z3addPfi", "kernel:_Z5scalePffi", "graph", "host", "memcpy:HtoD", "memcpy:DtoH", "memcpy:DtoD",
	"memset", "alloc:device", "alloc:pool", "alloc:managed", "alloc:pinned", "sync:stream", "sync:event",
	"sync:context", "event:record",
};

static struct { unsigned long long count, bytes; } rows[ROWS];
static int host_calls;

static void did(enum row row, size_t bytes)
{
	rows[row].count++;
	rows[row].bytes += bytes;
}

static void check_at(cudaError_t result, const char *what, int line)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "line %d: %s: %s\n", line, what, cudaGetErrorString(result));
	exit(1);
}
#define CHECK(call) check_at((call), #call, __LINE__)

static void CUDART_CB on_host(void *data)
{
	__atomic_add_fetch((int *)data, 1, __ATOMIC_RELAXED);
}

struct job {
	cudaStream_t stream;
	cudaGraphExec_t exec;
	cudaEvent_t begin, end;
	float *a, *b;			/* on the device */
	float *pinned;
	float plain[COUNT];
};

/* A graph of four nodes, by capture. Nothing runs yet, so nothing is counted yet. */
static void graph_make(struct job *job)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(job->stream, cudaStreamCaptureModeThreadLocal));
	launch_add(GRID, BLOCK, job->stream, job->a, COUNT);
	launch_scale(GRID, BLOCK, job->stream, job->b, 0.5f, COUNT);
	CHECK(cudaMemcpyAsync(job->b, job->a, BYTES, cudaMemcpyDeviceToDevice, job->stream));
	CHECK(cudaMemsetAsync(job->a, 0, BYTES, job->stream));
	CHECK(cudaStreamEndCapture(job->stream, &graph));
	CHECK(cudaGraphInstantiate(&job->exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

static void graph_launch(struct job *job)
{
	CHECK(cudaGraphLaunch(job->exec, job->stream));
	did(GRAPH_LAUNCH, 0);
	did(KERNEL_ADD, 0);
	did(KERNEL_SCALE, 0);
	did(COPY_DTOD, BYTES);
	did(SET, BYTES);
}

static void launches(struct job *job)
{
	int count = COUNT;
	float factor = 2;
	void *add_args[] = { &job->a, &count };
	void *scale_args[] = { &job->b, &factor, &count };
	cudaLaunchConfig_t config;

	for (int i = 0; i < 3; i++) {
		launch_add(GRID, BLOCK, job->stream, job->a, COUNT);
		did(KERNEL_ADD, 0);
	}
	launch_scale(GRID / 2, BLOCK * 2, 0, job->b, factor, COUNT);
	did(KERNEL_SCALE, 0);
	CHECK(cudaLaunchKernel(address_of_add(), dim3_of(GRID), dim3_of(BLOCK), add_args, 0, job->stream));
	did(KERNEL_ADD, 0);
	CHECK(cudaLaunchCooperativeKernel(address_of_add(), dim3_of(GRID), dim3_of(BLOCK), add_args, 0, job->stream));
	did(KERNEL_ADD, 0);
	memset((void *)&config, 0, sizeof(config));
	config.gridDim = dim3_of(GRID);
	config.blockDim = dim3_of(BLOCK);
	config.dynamicSmemBytes = 1024;
	config.stream = job->stream;
	CHECK(cudaLaunchKernelExC(&config, address_of_scale(), scale_args));
	did(KERNEL_SCALE, 0);
	CHECK(cudaLaunchHostFunc(job->stream, on_host, &host_calls));
	did(HOST_FUNCTION, 0);
}

static void copies(struct job *job)
{
	CHECK(cudaMemcpy(job->a, job->plain, BYTES, cudaMemcpyHostToDevice));
	did(COPY_HTOD, BYTES);
	CHECK(cudaMemcpyAsync(job->b, job->pinned, BYTES, cudaMemcpyHostToDevice, job->stream));
	did(COPY_HTOD, BYTES);
	CHECK(cudaMemcpy2D(job->b, 256, job->plain, 128, 128, 8, cudaMemcpyHostToDevice));
	did(COPY_HTOD, 128 * 8);
	CHECK(cudaMemcpyAsync(job->b, job->a, BYTES, cudaMemcpyDeviceToDevice, job->stream));
	did(COPY_DTOD, BYTES);
	CHECK(cudaMemcpyAsync(job->pinned, job->b, BYTES, cudaMemcpyDeviceToHost, job->stream));
	did(COPY_DTOH, BYTES);
	CHECK(cudaStreamSynchronize(job->stream));
	did(STREAM_SYNC, 0);
	if (memcmp(job->pinned, job->plain, BYTES) != 0) {
		fprintf(stderr, "what came back is not what was sent\n");
		exit(1);
	}
	CHECK(cudaMemcpy(job->plain, job->b, BYTES, cudaMemcpyDeviceToHost));
	did(COPY_DTOH, BYTES);
	CHECK(cudaMemset(job->a, 0, BYTES));
	did(SET, BYTES);
	CHECK(cudaMemsetAsync(job->b, 1, BYTES / 2, job->stream));
	did(SET, BYTES / 2);
}

static void allocations(struct job *job)
{
	void *p;
	size_t pitch;

	CHECK(cudaMalloc(&p, 1 << 20));
	did(ALLOC_DEVICE, 1 << 20);
	CHECK(cudaFree(p));
	CHECK(cudaMallocPitch(&p, &pitch, 1000, 10));
	did(ALLOC_DEVICE, pitch * 10);
	CHECK(cudaFree(p));
	CHECK(cudaMallocAsync(&p, 1 << 16, job->stream));
	did(ALLOC_POOL, 1 << 16);
	CHECK(cudaFreeAsync(p, job->stream));
	CHECK(cudaMallocManaged(&p, 1 << 14, cudaMemAttachGlobal));
	did(ALLOC_MANAGED, 1 << 14);
	CHECK(cudaFree(p));
	CHECK(cudaMallocHost(&p, 1 << 12));
	did(ALLOC_PINNED, 1 << 12);
	CHECK(cudaFreeHost(p));
}

static void waits(struct job *job)
{
	float ms = -1;

	CHECK(cudaEventRecord(job->end, job->stream));
	did(EVENT_RECORD, 0);
	CHECK(cudaStreamWaitEvent(0, job->end, 0));
	CHECK(cudaEventSynchronize(job->end));
	did(EVENT_SYNC, 0);
	CHECK(cudaEventElapsedTime(&ms, job->begin, job->end));
	if (ms <= 0) {
		fprintf(stderr, "%g ms between two events\n", (double)ms);
		exit(1);
	}
	CHECK(cudaDeviceSynchronize());
	did(DEVICE_SYNC, 0);
}

static int run(int argc, char **argv)
{
	static struct job job;
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreateWithFlags(&job.stream, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&job.begin));
	CHECK(cudaEventCreate(&job.end));
	CHECK(cudaMalloc((void **)&job.a, BYTES));
	did(ALLOC_DEVICE, BYTES);
	CHECK(cudaMalloc((void **)&job.b, BYTES));
	did(ALLOC_DEVICE, BYTES);
	CHECK(cudaHostAlloc((void **)&job.pinned, BYTES, cudaHostAllocDefault));
	did(ALLOC_PINNED, BYTES);
	memset(job.pinned, 0, BYTES);
	for (int i = 0; i < COUNT; i++)
		job.plain[i] = (float)i;
	graph_make(&job);
	CHECK(cudaProfilerStart());
	for (int round = 0; round < rounds; round++) {
		CHECK(cudaEventRecord(job.begin, job.stream));
		did(EVENT_RECORD, 0);
		launches(&job);
		graph_launch(&job);
		graph_launch(&job);
		CHECK(cudaStreamSynchronize(job.stream));
		did(STREAM_SYNC, 0);
		copies(&job);
		allocations(&job);
		waits(&job);
	}
	CHECK(cudaProfilerStop());
	CHECK(cudaGraphExecDestroy(job.exec));
	CHECK(cudaFree(job.a));
	CHECK(cudaFree(job.b));
	CHECK(cudaFreeHost(job.pinned));
	CHECK(cudaEventDestroy(job.begin));
	CHECK(cudaEventDestroy(job.end));
	CHECK(cudaStreamDestroy(job.stream));
	CHECK(cudaGetLastError());
	if (host_calls != rounds) {
		fprintf(stderr, "%d host functions ran\n", host_calls);
		return 1;
	}
	/* Several threads may each run a job: the rows of one job are printed together. */
	flockfile(stdout);
	for (int i = 0; i < ROWS; i++)
		printf("%s %llu %llu\n", row_names[i], rows[i].count, rows[i].bytes);
	funlockfile(stdout);
	return 0;
}

#endif
