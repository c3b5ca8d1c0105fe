/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_attributes N [decompress]: N copies to the device and back by cudaMemcpyWithAttributesAsync, and as many by its
 * twin for a default stream per thread, by the driver's function and by the one that cuGetProcAddress gives. Prints
 * "done" if the bytes came back. decompress: N decompressions of 1 MB instead. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../doubles/cuda_13020.h"

enum { BYTES = 4096 };

typedef CUresult copy_fn(CUdeviceptr to, CUdeviceptr from, size_t size, CUmemcpyAttributes *attributes,
			 CUstream stream);

static CUresult by_runtime(CUdeviceptr to, CUdeviceptr from, size_t size, CUmemcpyAttributes *attributes,
			   CUstream stream)
{
	return (CUresult)cudaMemcpyWithAttributesAsync((void *)(uintptr_t)to, (void *)(uintptr_t)from, size, NULL,
						       stream);
}

static CUresult by_twin(CUdeviceptr to, CUdeviceptr from, size_t size, CUmemcpyAttributes *attributes, CUstream stream)
{
	return (CUresult)cudaMemcpyWithAttributesAsync_ptsz((void *)(uintptr_t)to, (void *)(uintptr_t)from, size, NULL,
							    stream);
}

static int there_and_back(copy_fn *copy, void *device, cudaStream_t stream, int value)
{
	static unsigned char there[BYTES], back[BYTES];

	memset(there, value, BYTES);
	memset(back, 0, BYTES);
	return copy((uintptr_t)device, (uintptr_t)there, BYTES, NULL, stream) ||
	       copy((uintptr_t)back, (uintptr_t)device, BYTES, NULL, stream) || cudaStreamSynchronize(stream) ||
	       memcmp(there, back, BYTES) != 0;
}

static int decompress(void *device, cudaStream_t stream, int n)
{
	CUmemDecompressParams params = { .srcNumBytes = 1000000, .dstNumBytes = 1000000, .src = device,
					 .dst = (char *)device + 1000000 };

	for (int i = 0; i < n; i++)
		if (cuMemBatchDecompressAsync(&params, 1, 0, NULL, stream))
			return 2;
	puts("done");
	return cudaStreamSynchronize(stream) != cudaSuccess;
}

int main(int argc, char **argv)
{
	copy_fn *ways[4] = {by_runtime, by_twin, cuMemcpyWithAttributesAsync};
	int n = argc > 1 ? atoi(argv[1]) : 1;
	cudaStream_t stream;
	void *device;

	if (cudaMalloc(&device, 2000000) || cudaStreamCreate(&stream) ||
	    cuGetProcAddress("cuMemcpyWithAttributesAsync", (void **)&ways[3], 13020, 0, NULL) || !ways[3])
		return 1;
	if (argc > 2)
		return decompress(device, stream, n);
	for (int i = 0; i < n; i++) {
		for (int way = 0; way < 4; way++) {
			if (there_and_back(ways[way], device, stream, 4 * i + way + 1))
				return 2;
		}
	}
	puts("done");
	return 0;
}
