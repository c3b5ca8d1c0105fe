/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses CUDA if it is present, by weak references: prints the result of each. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#pragma weak cudaMalloc
#pragma weak cudaMemcpy
#pragma weak cudaDeviceSynchronize
#pragma weak cudaProfilerStart
int cudaMalloc(void **p, size_t n);
int cudaMemcpy(void *to, const void *from, size_t n, int kind);
int cudaDeviceSynchronize(void);
int cudaProfilerStart(void);

int main(void)
{
	void *p = &p;
	char to = 1, from = 2;

	errno = 42;
	printf("%d", cudaMalloc ? cudaMalloc(&p, 100) : -1);
	printf(" %d", cudaMemcpy ? cudaMemcpy(&to, &from, 1, 0) : -1);
	printf(" %d", cudaDeviceSynchronize ? cudaDeviceSynchronize() : -1);
	printf(" %d", cudaProfilerStart ? cudaProfilerStart() : -1);
	printf(" %d %d %d\n", p == (void *)&p, to, errno);
	return 0;
}
