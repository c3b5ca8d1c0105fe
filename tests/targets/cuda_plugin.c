/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin linked with one CUDA runtime: the result of an allocation shows which runtime was called. */
#include <stddef.h>

int cudaMalloc(void **p, size_t n);
int cudaFree(void *p);

__attribute__((visibility("default"))) int plugin_run(int calls)
{
	int answered = 0;

	for (int i = 0; i < calls; i++) {
		void *p = NULL;

		if (cudaMalloc(&p, 1) || cudaFree(p))
			return -1;
		answered = (int)((size_t)p / 1000);
	}
	return answered;
}

/* A tail call if optimised: cudaMalloc then returns to this function's caller. */
__attribute__((visibility("default"))) int plugin_jump(void **p, size_t n)
{
	return cudaMalloc(p, n);
}
