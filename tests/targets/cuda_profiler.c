/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_profiler N: N memsets, then N more under a profiler of the program's own, which prints how many records it got. */
#include <cupti.h>

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static int records, strange;
static uint8_t *mine;

static void CUPTIAPI on_request(uint8_t **buffer, size_t *size, size_t *limit)
{
	*buffer = mine = aligned_alloc(8, 1 << 20);
	*size = 1 << 20;
	*limit = 0;
}

static void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	CUpti_Activity *record = NULL;

	strange += buffer != mine;
	while (cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS)
		records += record->kind == CUPTI_ACTIVITY_KIND_MEMSET;
	free(buffer);
}

static int work(void *device, int n, size_t bytes)
{
	for (int i = 0; i < n; i++)
		if (cudaMemset(device, 0, bytes) != cudaSuccess)
			return 1;
	return cudaDeviceSynchronize() != cudaSuccess;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, failed;
	void *device;

	if (cudaMalloc(&device, 1 << 20) != cudaSuccess || work(device, n, 4096))
		return 1;
	if (cuptiActivityRegisterCallbacks(on_request, on_complete) != CUPTI_SUCCESS ||
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET) != CUPTI_SUCCESS)
		return 1;
	failed = work(device, n, 512);
	cuptiActivityFlushAll(1);
	cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMSET);
	failed |= work(device, n, 1024);
	printf("%d records, %d buffers of others\n", records, strange);
	return failed;
}
