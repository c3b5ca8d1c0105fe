/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the linked stubs of library_stub.c, argv[1] rounds. */
#include <stdlib.h>

#include "../doubles/libraries.h"

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, status = 0;
	float one = 1.5f, zero = 0;
	void *blas, *communicator;
	nccl_id id = {{1, 2, 3}};

	status |= cublasCreate_v2(&blas);
	status |= ncclCommInitRank(&communicator, 4, id, 2);
	for (int i = 0; i < rounds; i++) {
		status |= cublasSgemm_v2(blas, 0, 1, 64, 32, 16, &one, NULL, 65, NULL, 33, &zero, NULL, 66);
		status |= cusparseSpGEMM_estimateMemory(NULL, 0, 0, &one, NULL, NULL, &zero, NULL, 0, 1, NULL, 0.3f,
							NULL, NULL, NULL);
		status |= ncclAllReduce(NULL, NULL, 1 << 20, 7, 0, communicator, NULL);
	}
	return status;
}
