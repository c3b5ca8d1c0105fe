/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_trouble KIND: one kind of trouble that `pillion analyze` looks for, each on a line of its own. KIND: none,
 * input, copies, memset, gap. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 30, BYTES = 1 << 20 };

static void *device, *pinned, *pageable;
static cudaStream_t stream;

static void input(void)
{
	int ends[2];
	char byte = 0;

	if (pipe(ends))
		exit(3);
	if (!fork()) {
		for (int i = 0; i < STEPS; i++) {
			usleep(8000);
			if (write(ends[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	for (int i = 0; i < STEPS; i++) {
		if (read(ends[0], &byte, 1) != 1) /* waits for input */
			exit(4);
		cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream);
		cudaStreamSynchronize(stream);
	}
	wait(NULL);
}

static void copies(void)
{
	for (int i = 0; i < STEPS; i++) {
		cudaMemcpyAsync(device, pageable, BYTES, cudaMemcpyHostToDevice, stream); /* pageable */
		cudaMemcpy(pageable, device, BYTES, cudaMemcpyDeviceToHost); /* blocks */
	}
}

static void set(void)
{
	for (int i = 0; i < STEPS; i++)
		cudaMemset(pinned, i, BYTES);
}

static void gap(void)
{
	cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream);
	usleep(700000);
	cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream);
	cudaStreamSynchronize(stream);
}

/* Copies that keep the device at work until the end. */
static void none(void)
{
	for (int i = 0; i < STEPS; i++)
		cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {{"none", none}, {"input", input}, {"copies", copies}, {"memset", set}, {"gap", gap}};

	pageable = malloc(BYTES);
	if (!pageable || argc < 2 || cudaMalloc(&device, BYTES) || cudaMallocHost(&pinned, BYTES) ||
	    cudaStreamCreate(&stream))
		return 2;
	memset(pageable, 1, BYTES);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[1], kinds[i].name))
			kinds[i].run();
	printf("%s\n", argv[1]);
	cudaFree(device);
	cudaFreeHost(pinned);
	free(pageable);
	return 0;
}
