/* SPDX-License-Identifier: Apache-2.0 */
/* A small job that resembles training: load a batch, add it to the weights on the GPU, read the result.
 * Two streams, pinned memory, an event between them, and NVTX ranges that name the phases. */
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT (1 << 20)
#define BYTES (COUNT * sizeof(float))
#define BLOCK 256

#ifdef __CUDACC__
__global__ void vector_add(float *weights, const float *batch, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		weights[i] += batch[i];
}

static void launch(float *weights, const float *batch, cudaStream_t stream)
{
	vector_add<<<COUNT / BLOCK, BLOCK, 0, stream>>>(weights, batch, COUNT);
}
#endif

static void check(cudaError_t result)
{
	if (result != cudaSuccess) {
		fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(result));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 5;
	float *batch, *weights, *device_batch, *device_weights;
	cudaStream_t loading, computing;
	cudaEvent_t loaded;

	check(cudaMallocHost((void **)&batch, BYTES));
	check(cudaMallocHost((void **)&weights, BYTES));
	check(cudaMalloc((void **)&device_batch, BYTES));
	check(cudaMalloc((void **)&device_weights, BYTES));
	check(cudaMemset(device_weights, 0, BYTES));
	check(cudaStreamCreate(&loading));
	check(cudaStreamCreate(&computing));
	check(cudaEventCreateWithFlags(&loaded, cudaEventDisableTiming));

	for (int step = 1; step <= steps; step++) {
		nvtxRangePushA("step");

		nvtxRangePushA("load");
		for (int i = 0; i < COUNT; i++)
			batch[i] = (float)step;
		check(cudaMemcpyAsync(device_batch, batch, BYTES, cudaMemcpyHostToDevice, loading));
		check(cudaEventRecord(loaded, loading));
		nvtxRangePop();

		nvtxRangePushA("add");
		check(cudaStreamWaitEvent(computing, loaded, 0));
		launch(device_weights, device_batch, computing);
		check(cudaGetLastError());
		nvtxRangePop();

		nvtxRangePushA("read");
		check(cudaMemcpyAsync(weights, device_weights, BYTES, cudaMemcpyDeviceToHost, computing));
		check(cudaStreamSynchronize(computing));
		printf("step %d: weight %g\n", step, (double)weights[COUNT - 1]);
		nvtxRangePop();

		nvtxRangePop();
	}
	check(cudaFree(device_weights));
	check(cudaFree(device_batch));
	check(cudaFreeHost(weights));
	check(cudaFreeHost(batch));
	return 0;
}
