/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_replay: makes the calls of a recording, each in its thread and at its time; see replay.h. */
#include "replay.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long long calls;

static void kernel(void)
{
}

static dim3 dim(const unsigned *n)
{
	dim3 ret = { n[0], n[1], n[2] };

	return ret;
}

static cudaError_t make(const struct replay_call *c)
{
	cudaLaunchConfig_t config = { .gridDim = dim(c->grid), .blockDim = dim(c->block) };

	switch (c->kind) {
	case REPLAY_LAUNCH:
		return cudaLaunchKernel((const void *)kernel, dim(c->grid), dim(c->block), NULL, 0, NULL);
	case REPLAY_LAUNCH_EX:
		return cudaLaunchKernelExC(&config, (const void *)kernel, NULL);
	case REPLAY_COPY:
		return cudaMemcpyAsync(NULL, NULL, c->bytes, (enum cudaMemcpyKind)c->copy_kind, NULL);
	case REPLAY_SET:
		return cudaMemsetAsync(NULL, 0, c->bytes, NULL);
	case REPLAY_WAIT_EVENT:
		return cudaStreamWaitEvent(NULL, NULL, 0);
	default:
		return cudaDeviceSynchronize();
	}
}

static void *play(void *number)
{
	struct replay_call c;

	while ((c = replay_next((int)(intptr_t)number)).kind != REPLAY_END)
		if (make(&c) == cudaSuccess)
			__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	return NULL;
}

int main(void)
{
	pthread_t threads[64];
	int count = replay_threads();

	if (!count || cudaFree(NULL) != cudaSuccess)
		return 1;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, play, (void *)(intptr_t)i) != 0)
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	replay_finish();
	printf("%llu calls\n", calls);
	return 0;
}
