/* SPDX-License-Identifier: Apache-2.0 */
/* The NCCL double, libnccl.so.2: ranks are processes of this machine; a collective is one kernel that ends when the
 * kernels of all ranks have begun, in real time. ncclGroupEnd launches the calls of its group, as one kernel for each
 * communicator. Nothing is computed or sent. A unique id is the path of a file, which the last rank to join removes. */
#include "library_driver.h"
#include "simgpu_kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, UNHANDLED_CUDA_ERROR = 1, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4 };
enum { GROUPED_MOST = 64, PATIENCE_S = 20 };

typedef struct { char internal[128]; } ncclUniqueId;

struct ncclComm {
	CUlibrary library;
	uint64_t *arrivals; /* of all ranks in all collectives: shared */
	uint64_t meetings;
	int ranks;
};

static __thread struct {
	int depth;
	size_t count;
	struct ncclComm *comms[GROUPED_MOST];
	CUstream streams[GROUPED_MOST];
} group;

int ncclGetUniqueId(ncclUniqueId *id);
int ncclCommInitRank(struct ncclComm **comm, int ranks, ncclUniqueId id, int rank);
int ncclCommDestroy(struct ncclComm *comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, struct ncclComm *comm,
		  CUstream stream);
int ncclAllGather(const void *send, void *receive, size_t count, int type, struct ncclComm *comm, CUstream stream);

/* Runs on the device's thread. Waiting for a rank that died ends after a timeout. */
static void meet(const unsigned *grid, const unsigned *block, void **params)
{
	struct ncclComm *comm = *(struct ncclComm **)params[0];
	uint64_t wanted = ++comm->meetings * (uint64_t)comm->ranks,
		 give_up_ns = sim_now_ns() + PATIENCE_S * UINT64_C(1000000000);

	(void)grid, (void)block;
	__atomic_add_fetch(comm->arrivals, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(comm->arrivals, __ATOMIC_ACQUIRE) < wanted && sim_now_ns() < give_up_ns)
		syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 20000}, NULL);
}

static const struct simgpu_kernel kernels[] = {
	{"_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE", meet, 1, {sizeof(void *)}}};
static const struct simgpu_image image = {SIMGPU_IMAGE_MAGIC, 1, kernels, true};

int ncclGetUniqueId(ncclUniqueId *id)
{
	const char *directory = getenv("TMPDIR");
	int fd;

	*id = (ncclUniqueId){""};
	snprintf(id->internal, sizeof(id->internal), "%s/simnccl-XXXXXX", directory ? directory : "/tmp");
	fd = mkstemp(id->internal);
	if (fd < 0 || ftruncate(fd, 2 * sizeof(uint64_t)))
		return SYSTEM_ERROR;
	close(fd);
	return SUCCESS;
}

int ncclCommInitRank(struct ncclComm **comm, int ranks, ncclUniqueId id, int rank)
{
	struct ncclComm *made = calloc(1, sizeof(*made));
	int fd = open(id.internal, O_RDWR | O_CLOEXEC);
	uint64_t *shared =
	    fd < 0 ? MAP_FAILED : mmap(NULL, 2 * sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (!made || rank < 0 || rank >= ranks || shared == MAP_FAILED)
		return free(made), INVALID_ARGUMENT;
	if (!driver_find() || !driver_context() ||
	    driver.load_library(&made->library, &image, NULL, NULL, 0, NULL, NULL, 0) != CUDA_SUCCESS)
		return free(made), UNHANDLED_CUDA_ERROR;
	made->arrivals = &shared[0];
	made->ranks = ranks;
	if (__atomic_add_fetch(&shared[1], 1, __ATOMIC_ACQ_REL) == (uint64_t)ranks)
		unlink(id.internal);
	*comm = made;
	return SUCCESS;
}

int ncclCommDestroy(struct ncclComm *comm)
{
	if (!comm)
		return INVALID_ARGUMENT;
	munmap(comm->arrivals, 2 * sizeof(uint64_t));
	free(comm);
	return SUCCESS;
}

static int launch(struct ncclComm *comm, CUstream stream)
{
	return driver_launch(comm->library, kernels[0].name, (const unsigned[]){24, 1, 1}, 512, stream,
			     (void *[]){&comm})
		   ? SUCCESS
		   : UNHANDLED_CUDA_ERROR;
}

static int collective(struct ncclComm *comm, CUstream stream)
{
	if (!comm || group.count == GROUPED_MOST)
		return INVALID_ARGUMENT;
	if (!group.depth)
		return launch(comm, stream);
	for (size_t i = 0; i < group.count; i++)
		if (group.comms[i] == comm)
			return SUCCESS;
	group.comms[group.count] = comm;
	group.streams[group.count++] = stream;
	return SUCCESS;
}

int ncclGroupStart(void)
{
	group.depth++;
	return SUCCESS;
}

int ncclGroupEnd(void)
{
	int status = SUCCESS;

	if (!group.depth)
		return INVALID_ARGUMENT;
	if (--group.depth)
		return SUCCESS;
	for (size_t i = 0; i < group.count; i++)
		status = launch(group.comms[i], group.streams[i]) ? UNHANDLED_CUDA_ERROR : status;
	group.count = 0;
	return status;
}

int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, struct ncclComm *comm,
		  CUstream stream)
{
	(void)send, (void)receive, (void)count, (void)type, (void)op;
	return collective(comm, stream);
}

int ncclAllGather(const void *send, void *receive, size_t count, int type, struct ncclComm *comm, CUstream stream)
{
	(void)send, (void)receive, (void)count, (void)type;
	return collective(comm, stream);
}
