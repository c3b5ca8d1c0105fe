/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_event_timing HOW N: work on many streams, devices and contexts, which differ in their sizes.
 *   threads   four threads, each with three streams, N memsets on each
 *   first     the same, and these threads make the first CUDA calls
 *   devices   two devices in turn; and copies into a stream of the other one
 *   capture   one thread repeatedly captures in the global mode while another makes N memsets and queries completion
 *   contexts  N contexts one after the other, three memsets in each
 *   release   the primary context is retained twice, released once, then completely; three memsets after the first
 *             release, and three after it is retained again
 *   fail      N memsets that the driver rejects, each between two that it accepts
 *   queue     N memsets, all queued before the first wait
 *   left      the same, but the process ends before the device has finished
 * Prints errors, and "done". */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, STREAMS = 3, ROOM = 1 << 20 };

static int n;
static void *device_memory[2];

static void check(int result, int line)
{
	if (!result)
		return;
	printf("line %d: error %d\n", line, result);
	exit(1);
}
#define CHECK(call) check((int)(call), __LINE__)

static void *work(void *data)
{
	size_t bytes = 1000 * (1 + (size_t)data);
	cudaStream_t streams[STREAMS];
	void *memory = device_memory[0];

	CHECK(cudaSetDevice(0));
	if (!memory)
		CHECK(cudaMalloc(&memory, ROOM));
	for (int i = 0; i < STREAMS; i++)
		CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	for (int i = 0; i < n; i++)
		for (int k = 0; k < STREAMS; k++)
			CHECK(cudaMemsetAsync(memory, 0, bytes, streams[k]));
	for (int i = 0; i < STREAMS; i++)
		CHECK(cudaStreamSynchronize(streams[i]));
	return NULL;
}

static void in_threads(void)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, work, (void *)i));
	for (size_t i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL));
}

static void on_devices(void)
{
	cudaStream_t streams[2];
	static char host[4000];

	for (int i = 0; i < 2; i++) {
		CHECK(cudaSetDevice(i));
		CHECK(cudaMalloc(&device_memory[i], ROOM));
		CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
		CHECK(cudaMemsetAsync(device_memory[i], 0, ROOM, streams[i]));
		CHECK(cudaDeviceSynchronize());
	}
	for (int i = 0; i < n; i++) {
		CHECK(cudaSetDevice(i % 2));
		CHECK(cudaMemsetAsync(device_memory[i % 2], 0, 1000 * (1 + (size_t)i % 2), streams[i % 2]));
		CHECK(cudaMemcpyAsync(device_memory[!(i % 2)], host, 4000, cudaMemcpyHostToDevice, streams[!(i % 2)]));
	}
	for (int i = 0; i < 2; i++)
		CHECK(cudaStreamSynchronize(streams[i]));
}

static int is_over;

static void *capture(void *unused)
{
	cudaStream_t stream;

	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		cudaGraph_t graph;

		CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
		for (int i = 0; i < 100; i++)
			CHECK(cudaMemsetAsync(device_memory[0], 0, 2000, stream));
		CHECK(cudaStreamEndCapture(stream, &graph));
		CHECK(cudaGraphDestroy(graph));
	}
	return NULL;
}

static void beside_capture(void)
{
	cudaStream_t stream;
	pthread_t thread;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(pthread_create(&thread, NULL, capture, NULL));
	for (int i = 0; i < n; i++)
		CHECK(cudaMemsetAsync(device_memory[0], 0, 1000, stream));
	CHECK(cudaStreamSynchronize(stream));
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	CHECK(pthread_join(thread, NULL));
}

static void three(size_t bytes)
{
	CUdeviceptr memory;

	CHECK(cuMemAlloc(&memory, ROOM));
	for (int i = 0; i < 3; i++)
		CHECK(cuMemsetD8Async(memory, 0, bytes, NULL));
	CHECK(cuCtxSynchronize());
	CHECK(cuMemFree(memory));
}

static void in_contexts(void)
{
	typedef CUresult create(CUcontext *, unsigned, CUdevice);
	create *make = NULL;

	CHECK(cuInit(0));
	CHECK(cuGetProcAddress_v2("cuCtxCreate", (void **)&make, 3020, 0, NULL));
	for (int i = 0; i < n; i++) {
		CUcontext context;

		CHECK(make(&context, 0, 0));
		three(1000);
		CHECK(cuCtxDestroy_v2(context));
	}
}

static void released(void)
{
	CUcontext context;

	CHECK(cuInit(0));
	for (int i = 0; i < n; i++) {
		CHECK(cuDevicePrimaryCtxRetain(&context, 0));
		CHECK(cuDevicePrimaryCtxRetain(&context, 0));
		CHECK(cuCtxSetCurrent(context));
		three(1000);
		CHECK(cuDevicePrimaryCtxRelease_v2(0));
		three(2000);
		CHECK(cuDevicePrimaryCtxRelease_v2(0));
	}
}

static void refused(void)
{
	for (int i = 0; i < n; i++) {
		CHECK(cudaMemset(device_memory[0], 0, 1000));
		if (!cudaMemsetAsync((void *)16, 0, 2000, 0) || cudaGetLastError() == cudaSuccess)
			printf("memory that is not there was set\n");
		CHECK(cudaMemset(device_memory[0], 0, 1000));
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
}

static void queued(void)
{
	for (int i = 0; i < n; i++)
		CHECK(cudaMemsetAsync(device_memory[0], 0, 1000, 0));
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	void (*driver)(void) = !strcmp(how, "contexts") ? in_contexts : !strcmp(how, "release") ? released : NULL;

	n = argc > 2 ? atoi(argv[2]) : 0;
	if (driver) {
		driver();
	} else if (strcmp(how, "first") != 0) {
		CHECK(cudaSetDevice(0));
		CHECK(cudaMalloc(&device_memory[0], ROOM));
	}
	if (!strcmp(how, "threads") || !strcmp(how, "first"))
		in_threads();
	else if (!strcmp(how, "devices"))
		on_devices();
	else if (!strcmp(how, "capture"))
		beside_capture();
	else if (!strcmp(how, "fail"))
		refused();
	else if (!driver)
		queued();
	if (!strcmp(how, "queue"))
		CHECK(cudaDeviceSynchronize());
	printf("done\n");
	fflush(stdout);
	if (!strcmp(how, "left"))
		_exit(0);
	return 0;
}
