/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_steps N: N steps of copies, a memset and launches, in NVTX ranges of two domains; one range from start to
 * end. The last launch is on a stream that has a name. */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <stdio.h>

#include "cuda_stub.h"

static void nothing(const unsigned *grid, const unsigned *block, void **params)
{
}

static const struct simgpu_kernel kernels[] = {{"_Z4workILi2EEvPf", nothing, 0, {0}}, {"_Z5otherv", nothing, 0, {0}}};
CUDA_STUB_IMAGE(kernels);

static void work(void) { }
static void other(void) { }

#define WORK ((const void *)(uintptr_t)work)
#define OTHER ((const void *)(uintptr_t)other)

__attribute__((constructor)) static void register_all(void)
{
	cuda_stub_begin();
	cuda_stub_kernel(WORK, kernels[0].name);
	cuda_stub_kernel(OTHER, kernels[1].name);
	cuda_stub_end();
}

static cudaStream_t stream; /* NULL but for the last launch */

static void launch(const void *kernel, unsigned blocks)
{
	static cudaKernel_t handles[2];

	cuda_stub_launch(&handles[kernel == OTHER], kernel, (dim3){blocks, 1, 1}, (dim3){32, 1, 1}, stream, NULL);
}

static void step(nvtxDomainHandle_t domain, char *device, int i)
{
	nvtxEventAttributes_t a = {.version = NVTX_VERSION,
				   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				   .messageType = NVTX_MESSAGE_TYPE_ASCII,
				   .message.ascii = "inner"};
	char host[4096] = "";

	nvtxRangePushA("step");
	cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
	nvtxDomainRangePushEx(domain, &a);
	for (int k = 0; k <= i % 3; k++)
		launch(k ? OTHER : WORK, (unsigned)(1 + i));
	nvtxDomainRangePop(domain);
	cudaMemsetAsync(device, 0, 512, NULL);
	cudaMemcpy(host, device, 64, cudaMemcpyDeviceToHost);
	nvtxRangePop();
}

int main(int argc, char **argv)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
	nvtxRangeId_t all;
	char *device;

	if (cudaMalloc((void **)&device, 4096)) {
		fputs("no device\n", stderr);
		return 1;
	}
	all = nvtxRangeStartA("all steps");
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++)
		step(domain, device, i);
	nvtxRangeEnd(all);
	if (cudaStreamCreate(&stream))
		return 1;
	nvtxNameCudaStreamA(stream, "the last one's");
	launch(WORK, 1);
	cudaDeviceSynchronize();
	return cudaFree(device) != cudaSuccess;
}
