/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that copies batches to the GPU. The host prepares each batch while the GPU has nothing to do: gpu_idle */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 20, BYTES = 1 << 20 };

static void prepare(char *batch, int step)
{
	memset(batch, step, BYTES);
	usleep(40000); /* reads and decodes it */
}

int main(void)
{
	char *batch, *device;
	cudaStream_t stream;

	if (cudaMallocHost((void **)&batch, BYTES) || cudaMalloc((void **)&device, BYTES) ||
	    cudaStreamCreate(&stream))
		return 1;
	for (int step = 0; step < STEPS; step++) {
		prepare(batch, step);
		cudaMemcpyAsync(device, batch, BYTES, cudaMemcpyHostToDevice, stream);
		cudaStreamSynchronize(stream);
	}
	printf("%d steps\n", STEPS);
	cudaFree(device);
	cudaFreeHost(batch);
	return 0;
}
