/* SPDX-License-Identifier: Apache-2.0 */
/* As causes.c, on the simulated GPU: cuda_causes FORM slow|fixed. A kernel takes 16 ns for each block of 1024
 * threads. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* As the function that nvcc generates for a launch, so that the line of the launch is its caller's. */
#define cuda_stub_launch __device_stub__launch
#include "cuda_stub.h"

static void nothing(const unsigned *grid, const unsigned *block, void **params)
{
}

static const struct simgpu_kernel kernels[] = {{"_Z4slowPf", nothing, 0, {0}}, {"_Z4restPf", nothing, 0, {0}}};
CUDA_STUB_IMAGE(kernels);

static void slow(void) { }
static void other(void) { }

#define SLOW ((const void *)(uintptr_t)slow)
#define OTHER ((const void *)(uintptr_t)other)

enum { STEPS = 20 };

static int is_fixed;

static cudaKernel_t handles[2];

#define launch_on(kernel, ms, stream) \
	cuda_stub_launch(&handles[(kernel) == OTHER], kernel, (dim3){(ms) * 62500, 1, 1}, (dim3){1024, 1, 1}, \
			 stream, NULL)
#define launch(kernel, ms) launch_on(kernel, ms, NULL)

static void compute(unsigned ms)
{
	struct timespec start, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

/* A kernel that could take half of its time. */
static void form_kernel(void)
{
	for (int i = 0; i < STEPS; i++) {
		launch(SLOW, is_fixed ? 10 : 20); /* slow kernel */
		launch(OTHER, 5);
		cudaDeviceSynchronize();
		usleep(3000);
	}
}

/* The host waits for each step, as loss.item() does, and could prepare the next one meanwhile. */
static void form_item(void)
{
	for (int i = 0; i < STEPS; i++) {
		launch(SLOW, 20);
		if (!is_fixed)
			cudaDeviceSynchronize(); /* item */
		usleep(15000); /* prepare */
	}
	cudaDeviceSynchronize();
}

/* Something like a collective that could run beside what computes. */
static void form_overlap(void)
{
	static cudaStream_t beside;

	cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking);
	for (int i = 0; i < STEPS; i++) {
		launch_on(SLOW, 10, is_fixed ? beside : NULL);
		launch(OTHER, 20);
		cudaDeviceSynchronize();
		usleep(3000);
	}
}

/* A child process makes the input, of which each piece takes longer than the device needs. */
static void form_input(void)
{
	int ends[2];
	char piece;

	if (pipe(ends))
		return;
	if (!fork()) {
		for (int i = 0; i < STEPS; i++) {
			if (!is_fixed)
				usleep(25000);
			if (write(ends[1], "x", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < STEPS; i++) {
		if (read(ends[0], &piece, 1) != 1)
			return;
		launch(SLOW, 10);
		cudaDeviceSynchronize();
		usleep(3000);
	}
}

/* The device is always at work: what the host does meanwhile costs nothing. */
static void form_busy(void)
{
	for (int i = 0; i < STEPS; i++) {
		launch(SLOW, 30); /* busy kernel */
		if (!is_fixed)
			usleep(10000); /* hidden */
	}
	cudaDeviceSynchronize();
}

/* As item, where the host computes. */
static void form_loss(void)
{
	for (int i = 0; i < STEPS; i++) {
		launch(SLOW, 20);
		if (!is_fixed)
			cudaDeviceSynchronize(); /* loss */
		compute(20);
	}
	cudaDeviceSynchronize();
}

/* The device waits for the host's input. */
static void form_fetch(void)
{
	for (int i = 0; i < STEPS; i++) {
		if (!is_fixed)
			usleep(20000); /* fetch */
		launch(SLOW, 5);
		cudaDeviceSynchronize();
	}
}

/* Two streams: only the longer kernel matters. */
static void form_streams(void)
{
	cudaStream_t streams[2];

	for (int i = 0; i < 2; i++)
		cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
	for (int i = 0; i < STEPS; i++) {
		launch_on(OTHER, 10, streams[0]);
		launch_on(SLOW, is_fixed ? 15 : 30, streams[1]); /* longer kernel */
		cudaDeviceSynchronize();
	}
}

/* A wait for an event in each step. */
static void form_event(void)
{
	cudaEvent_t event;

	cudaEventCreate(&event);
	for (int i = 0; i < STEPS; i++) {
		launch(SLOW, 20);
		cudaEventRecord(event, NULL);
		if (!is_fixed)
			cudaEventSynchronize(event); /* event */
		compute(20);
	}
	cudaDeviceSynchronize();
}

/* Releasing memory waits for the device. */
static void form_free(void)
{
	void *memory, *kept = NULL;

	for (int i = 0; i < STEPS; i++) {
		if (is_fixed && kept)
			memory = kept;
		else
			cudaMalloc(&memory, 1 << 20);
		kept = memory;
		launch(SLOW, 20);
		if (!is_fixed)
			cudaFree(memory); /* free */
		compute(20);
	}
	cudaDeviceSynchronize();
}

/* A result is copied back in each step. */
static void form_result(void)
{
	static char host[4096];
	void *memory;

	cudaMalloc(&memory, sizeof(host));
	for (int i = 0; i < STEPS; i++) {
		launch(SLOW, 20);
		if (!is_fixed)
			cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost); /* result */
		compute(20);
	}
	cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost);
}

/* The log of each step is flushed to the disk while the device waits. */
static void form_log(void)
{
	FILE *log = tmpfile();

	for (int i = 0; i < STEPS && log; i++) {
		launch(SLOW, 10);
		cudaDeviceSynchronize();
		if (!is_fixed)
			usleep(15000); /* log */
		fprintf(log, "step %d\n", i);
	}
}

/* The time of each step is measured with a wait for the device. */
static void form_timed(void)
{
	for (int i = 0; i < STEPS; i++) {
		launch(SLOW, 30);
		if (!is_fixed)
			cudaDeviceSynchronize(); /* timed */
		usleep(10000);
	}
	cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} forms[] = {{"kernel", form_kernel}, {"item", form_item},       {"busy", form_busy},
		     {"overlap", form_overlap}, {"input", form_input},   {"loss", form_loss},
		     {"fetch", form_fetch},   {"streams", form_streams}, {"event", form_event},
		     {"free", form_free},     {"result", form_result},   {"log", form_log},
		     {"timed", form_timed}};
	void *device;

	cuda_stub_begin();
	cuda_stub_kernel(SLOW, kernels[0].name);
	cuda_stub_kernel(OTHER, kernels[1].name);
	cuda_stub_end();
	if (cudaMalloc(&device, 4096))
		return 2;
	is_fixed = argc > 2 && !strcmp(argv[2], "fixed");
	for (size_t i = 0; argc > 1 && i < sizeof(forms) / sizeof(*forms); i++)
		if (!strcmp(forms[i].name, argv[1])) {
			forms[i].run();
			return 0;
		}
	fprintf(stderr, "usage: cuda_causes kernel|item|busy|overlap|input|loss|fetch|streams|event|free|result|log|"
			"timed [slow|fixed]\n");
	return 2;
}
