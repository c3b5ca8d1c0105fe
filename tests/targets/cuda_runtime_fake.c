/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal CUDA runtime that only reports its version: MAJOR. */
#include <stddef.h>

int cudaMalloc(void **p, size_t n)
{
	*p = (void *)(size_t)(MAJOR * 1000 + n);
	return 0;
}

int cudaFree(void *p)
{
	return (size_t)p / 1000 == MAJOR ? 0 : 1;
}
