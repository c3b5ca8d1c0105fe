/* SPDX-License-Identifier: Apache-2.0 */
/* As causes.c, on the simulated GPU: cuda_causes FORM slow|fixed. A kernel takes 16 ns for each block of 1024
 * threads. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static void launch_on(const void *kernel, unsigned ms, cudaStream_t stream)
{
	static cudaKernel_t handles[2];

	cuda_stub_launch(&handles[kernel == OTHER], kernel, (dim3){ms * 62500, 1, 1}, (dim3){1024, 1, 1}, stream, NULL);
}

static void launch(const void *kernel, unsigned ms)
{
	launch_on(kernel, ms, NULL);
}

/* A kernel that could take half of its time. */
static void form_kernel(void)
{
	for (int i = 0; i < STEPS; i++) {
		launch(SLOW, is_fixed ? 10 : 20);
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
		usleep(15000);
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
		launch(SLOW, 30);
		if (!is_fixed)
			usleep(10000); /* hidden */
	}
	cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} forms[] = {{"kernel", form_kernel}, {"item", form_item}, {"busy", form_busy},
		     {"overlap", form_overlap}, {"input", form_input}};
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
	fprintf(stderr, "usage: cuda_causes kernel|item|busy|overlap|input [slow|fixed]\n");
	return 2;
}
