/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_nccl N FILE [group|late|stops]: one of WORLD_SIZE ranks, whose number is RANK, that do N steps: an
 * ncclAllReduce and an ncclAllGather, with `group` in one group, then a wait that is shorter for each higher rank; with
 * `late` rank 1 alone waits, and longer; with `stops` rank 1 does not come to the step after these. The ranks share the
 * unique id by FILE. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Declared as in nccl.h, which not every toolkit includes. */
typedef struct { char internal[128]; } ncclUniqueId;
int ncclGetUniqueId(ncclUniqueId *id);
int ncclCommInitRank(void **comm, int ranks, ncclUniqueId id, int rank);
int ncclCommDestroy(void *comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream);
int ncclAllGather(const void *send, void *receive, size_t count, int type, void *comm, void *stream);

enum { COUNT = 1024, FLOAT32 = 7, SUM = 0 };

static int say_id(const char *path, ncclUniqueId *id)
{
	char there[4096];
	FILE *f;
	int failed;

	snprintf(there, sizeof(there), "%s.new", path);
	f = fopen(there, "w");
	if (!f || ncclGetUniqueId(id))
		return 1;
	failed = fwrite(id, sizeof(*id), 1, f) != 1;
	return fclose(f) || failed || rename(there, path);
}

static int hear_id(const char *path, ncclUniqueId *id)
{
	FILE *f = fopen(path, "r");
	int failed;

	for (int i = 0; i < 2000 && !f; i++) {
		usleep(10000);
		f = fopen(path, "r");
	}
	if (!f)
		return 1;
	failed = fread(id, sizeof(*id), 1, f) != 1;
	return fclose(f) || failed;
}

static int step(void *comm, float *x, int is_group)
{
	int status = is_group ? ncclGroupStart() : 0;

	status |= ncclAllReduce(x, x, COUNT, FLOAT32, SUM, comm, NULL);
	status |= ncclAllGather(x, x + COUNT, COUNT, FLOAT32, comm, NULL);
	return status | (is_group ? ncclGroupEnd() : 0);
}

static void stop_before(int rank, float *x, void *comm)
{
	while (rank == 1)
		usleep(100000); /* stops */
	ncclAllReduce(x, x, COUNT, FLOAT32, SUM, comm, NULL);
	cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
	int rank = atoi(getenv("RANK") ?: "0"), ranks = atoi(getenv("WORLD_SIZE") ?: "1");
	int steps = argc > 1 ? atoi(argv[1]) : 1, is_group = argc > 3 && !strcmp(argv[3], "group");
	int is_late = argc > 3 && !strcmp(argv[3], "late");
	ncclUniqueId id;
	void *comm;
	float *x;

	if (argc < 3 || (rank ? hear_id(argv[2], &id) : say_id(argv[2], &id)) ||
	    cudaMalloc((void **)&x, 16 * COUNT * sizeof(*x)) || ncclCommInitRank(&comm, ranks, id, rank)) {
		fputs("no file, no device, or no communicator\n", stderr);
		return 1;
	}
	for (int i = 0; i < steps; i++) {
		if (step(comm, x, is_group))
			return 1;
		if (!is_late)
			usleep(1000u * (unsigned)(ranks - rank));
		else if (rank == 1)
			usleep(25000); /* late */
		cudaDeviceSynchronize();
	}
	if (argc > 3 && !strcmp(argv[3], "stops"))
		stop_before(rank, x, comm);
	return ncclCommDestroy(comm) || cudaFree(x) != cudaSuccess;
}
