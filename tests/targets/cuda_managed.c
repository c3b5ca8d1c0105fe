/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_managed N: N times 8 KB into managed memory and 4 KB out of it, and into another 64 KB piece once. */
#include <cuda_runtime_api.h>
#include <stdlib.h>

static char host[1 << 16];

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	void *one, *other;

	if (cudaMallocManaged(&one, 1 << 16, cudaMemAttachGlobal) != cudaSuccess ||
	    cudaMallocManaged(&other, 1 << 16, cudaMemAttachGlobal) != cudaSuccess)
		return 1;
	for (int i = 0; i < n; i++)
		if (cudaMemcpy(one, host, 8192, cudaMemcpyDefault) != cudaSuccess ||
		    cudaMemcpy(host, one, 4096, cudaMemcpyDefault) != cudaSuccess)
			return 1;
	return cudaMemcpy(other, host, sizeof(host), cudaMemcpyDefault) != cudaSuccess ||
	       cudaDeviceSynchronize() != cudaSuccess;
}
