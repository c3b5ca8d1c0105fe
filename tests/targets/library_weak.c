/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the values of weak references when no library is present. */
#include <stdio.h>

int cublasCreate_v2(void **handle) __attribute__((weak));
int cudnnCreate(void **handle) __attribute__((weak));
int ncclGroupStart(void) __attribute__((weak));
int MPI_Init(int *argc, char ***argv) __attribute__((weak));

int main(void)
{
	void *handle = NULL;

	printf("%d %d %d %d\n", cublasCreate_v2 ? cublasCreate_v2(&handle) : -1,
	       cudnnCreate ? cudnnCreate(&handle) : -1, ncclGroupStart ? ncclGroupStart() : -1,
	       MPI_Init ? MPI_Init(NULL, NULL) : -1);
	return handle != NULL;
}
