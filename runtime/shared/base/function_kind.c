/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/base/function_kind.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "runtime/shared/format/trace_format.h"

/* The longest of these words that a name begins with tells what the function does. */
static const struct {
	const char *words;
	struct function_kind kind;
} kinds[] = {
	{"nanosleep clock_nanosleep sleep usleep", {BLOCKED_SLEEP}},
	{"wait system", {BLOCKED_CHILD}},
	{"pclose", {BLOCKED_CHILD, ROLE_CLOSE, TRAFFIC_STREAM}},
	{"fork posix_spawn", {BLOCKED_OTHER, .does = FUNCTION_SPAWNS}},

	{"futex", {BLOCKED_THREAD, .does = FUNCTION_AWAITS}},
	{"sem_", {BLOCKED_THREAD, .does = FUNCTION_AWAITS, .match = LOCK_SEMAPHORE}},
	{"new_sem_", {BLOCKED_OTHER, .match = LOCK_SEMAPHORE}},
	{"pthread_barrier_wait", {BLOCKED_THREAD, .does = FUNCTION_AWAITS, .match = LOCK_BARRIER}},
	{"pthread_barrier_", {BLOCKED_OTHER, .match = LOCK_BARRIER}},
	{"semop semtimedop", {BLOCKED_THREAD}},
	{"sem_post", {BLOCKED_THREAD, .does = FUNCTION_WAKES, .match = LOCK_SEMAPHORE}},
	{"sem_trywait", {BLOCKED_THREAD, .does = FUNCTION_POLLS, .match = LOCK_SEMAPHORE}},
	{"pthread_cond_", {BLOCKED_OTHER, .match = LOCK_CONDITION}},
	{"pthread_cond_wait",
	 {BLOCKED_THREAD, .does = FUNCTION_CONDITION | FUNCTION_AWAITS, .match = LOCK_CONDITION}},
	{"pthread_cond_timedwait pthread_cond_clockwait",
	 {BLOCKED_THREAD, .does = FUNCTION_CONDITION | FUNCTION_AWAITS | FUNCTION_TIMED, .match = LOCK_CONDITION}},
	{"pthread_cond_signal pthread_cond_broadcast",
	 {BLOCKED_THREAD, .does = FUNCTION_CONDITION | FUNCTION_WAKES, .match = LOCK_CONDITION}},
	{"pthread_join pthread_timedjoin pthread_clockjoin",
	 {BLOCKED_THREAD, .does = FUNCTION_JOINS | FUNCTION_AWAITS, .match = LOCK_THREAD}},
	{"pthread_tryjoin", {BLOCKED_THREAD}},
	{"pthread_create", {BLOCKED_OTHER, .does = FUNCTION_CREATES}},
	{"kill tgkill pidfd_send_signal", {BLOCKED_OTHER, .does = FUNCTION_SIGNALS}},
	{"sched_yield", {BLOCKED_OTHER, .does = FUNCTION_POLLS}},

	{"pthread_mutex_", {BLOCKED_LOCK, .does = FUNCTION_LOCKS, .match = LOCK_MUTEX}},
	{"pthread_rwlock_", {BLOCKED_LOCK, .does = FUNCTION_LOCKS, .match = LOCK_RWLOCK}},
	{"pthread_mutex_trylock", {BLOCKED_LOCK, .does = FUNCTION_POLLS, .match = LOCK_MUTEX}},
	{"pthread_mutex_unlock", {BLOCKED_LOCK, .does = FUNCTION_WAKES, .match = LOCK_MUTEX}},
	{"pthread_rwlock_try", {BLOCKED_LOCK, .does = FUNCTION_POLLS, .match = LOCK_RWLOCK}},
	{"pthread_rwlock_unlock", {BLOCKED_LOCK, .does = FUNCTION_WAKES, .match = LOCK_RWLOCK}},
	{"pthread_spin_trylock", {BLOCKED_LOCK, .does = FUNCTION_POLLS}},
	{"pthread_spin_lock", {BLOCKED_LOCK, .does = FUNCTION_LOCKS | FUNCTION_POLLS}},
	{"pthread_spin_unlock flockfile ftrylockfile", {BLOCKED_LOCK}},
	{"flock lockf", {BLOCKED_LOCK, .does = FUNCTION_LOCKS_FILE}},
	{"fcntl", {BLOCKED_OTHER, .does = FUNCTION_LOCKS_FILE}},

	{"poll ppoll select pselect epoll_wait epoll_pwait", {BLOCKED_POLL, .does = FUNCTION_POLLS | FUNCTION_AWAITS}},
	{"pause sigsuspend sigwait sigtimedwait", {BLOCKED_POLL}},
	{"io_uring_enter", {BLOCKED_POLL, ROLE_SUBMIT}},

	{"fsync fdatasync msync sync", {BLOCKED_FLUSH}},
	{"statfs fstatfs fallocate posix_fallocate chdir fchdir freopen popen mq_open shm_open shm_unlink",
	 {BLOCKED_FILE}},
	{"access faccess stat lstat fstat", {BLOCKED_FILE, .does = FUNCTION_STATS}},
	{"readlink", {BLOCKED_READ, .does = FUNCTION_STATS}},
	{"link symlink unlink rename mkdir rmdir mkfifo chmod fchmodat truncate ftruncate",
	 {BLOCKED_FILE, .does = FUNCTION_RENAMES}},
	{"open fopen", {BLOCKED_FILE, ROLE_OPEN, .does = FUNCTION_INPUT}},
	{"creat mkstemp mkostemp", {BLOCKED_FILE, ROLE_OPEN}},
	{"close mq_close", {BLOCKED_FILE, ROLE_CLOSE}},
	{"fclose", {BLOCKED_FILE, ROLE_CLOSE, TRAFFIC_STREAM}},
	{"mmap", {BLOCKED_OTHER, ROLE_MAP, .does = FUNCTION_UNCOUNTED}},

	{"read pread", {BLOCKED_READ, ROLE_READ, .does = FUNCTION_INPUT | FUNCTION_MOVES}},
	{"write pwrite", {BLOCKED_WRITE, ROLE_WRITE, .does = FUNCTION_MOVES}},
	{"readahead readdir eventfd_read process_vm_readv", {BLOCKED_READ}},
	{"eventfd_write process_vm_writev fwprintf vfwprintf wprintf vwprintf", {BLOCKED_WRITE}},
	{"aio_read", {BLOCKED_READ, ROLE_READ}},
	{"aio_write copy_file_range dprintf vdprintf", {BLOCKED_WRITE, ROLE_WRITE}},
	{"splice tee vmsplice", {BLOCKED_WRITE, ROLE_WRITE, .does = FUNCTION_UNCOUNTED}},
	{"mq_receive mq_timedreceive", {BLOCKED_READ, ROLE_READ, .does = FUNCTION_INPUT | FUNCTION_UNCOUNTED}},
	{"msgrcv", {BLOCKED_READ, .does = FUNCTION_INPUT}},
	{"fread fgets getline getdelim", {BLOCKED_READ, ROLE_READ, TRAFFIC_STREAM, FUNCTION_INPUT}},
	{"fget get scanf fscanf vscanf vfscanf", {BLOCKED_READ, ROLE_READ, TRAFFIC_STREAM}},
	{"fwrite fput put printf fprintf vprintf vfprintf", {BLOCKED_WRITE, ROLE_WRITE, TRAFFIC_STREAM}},
	{"fflush", {BLOCKED_WRITE, ROLE_OTHER, TRAFFIC_STREAM}},
	{"inner_read", {BLOCKED_READ, ROLE_READ, TRAFFIC_INNER}},
	{"inner_write", {BLOCKED_WRITE, ROLE_WRITE, TRAFFIC_INNER}},
	{"inner_spliced", {BLOCKED_READ, ROLE_READ, TRAFFIC_INNER, FUNCTION_UNCOUNTED}},

	{"accept", {BLOCKED_SOCKET, ROLE_MEET, .does = FUNCTION_ACCEPTS}},
	{"listen", {BLOCKED_OTHER, .does = FUNCTION_LISTENS}},
	{"connect", {BLOCKED_SOCKET, ROLE_MEET}},
	{"recv", {BLOCKED_SOCKET, ROLE_READ, .does = FUNCTION_INPUT | FUNCTION_UNCOUNTED}},
	{"send", {BLOCKED_SOCKET, ROLE_WRITE, .does = FUNCTION_UNCOUNTED}},
	{"sendfile", {BLOCKED_SOCKET, ROLE_WRITE}},
	{"getaddrinfo gethost getnameinfo mq_send mq_timedsend", {BLOCKED_SOCKET}},
};

/* The length of the longest of the words that the name begins with; 0: none. */
static size_t longest_word(const char *words, const char *name)
{
	size_t longest = 0, length;

	for (; *words; words += length + (words[length] == ' ')) {
		length = strcspn(words, " ");
		if (length > longest && !strncasecmp(words, name, length))
			longest = length;
	}
	return longest;
}

enum { MESSAGE = PARALLEL_MESSAGE, POSTED = PARALLEL_MESSAGE | PARALLEL_POSTS, REQUESTS = PARALLEL_REQUESTS };
enum { ALL = PARALLEL_COLLECTIVE | PARALLEL_OF_ALL };

/* Likewise for names of MPI without MPI_, of NCCL without nccl, and of OpenMP. What is EXACT, and the class, is true of
 * these functions only, and not of others that begin like them. */
enum { EXACT = PARALLEL_RECEIVES | PARALLEL_SENDS | PARALLEL_ENDS | PARALLEL_ABORTS | PARALLEL_ONE |
	     PARALLEL_COUNTS_PART };
struct parallel_kind {
	const char *words;
	uint32_t parallel;
	uint8_t match;
};

static const struct parallel_kind mpi_kinds[] = {
	{"Init", PARALLEL_BEGINS, MPI_NOTHING},
	{"Initialized", 0, MPI_NOTHING},
	{"Finalize", PARALLEL_ENDS, MPI_NOTHING},
	{"Abort", PARALLEL_ABORTS, MPI_NOTHING},
	{"Send Ssend", MESSAGE | PARALLEL_SENDS, MPI_SEND},
	{"Rsend", MESSAGE, MPI_SEND},
	{"Bsend", MESSAGE, MPI_SEND_LATER},
	{"Isend Ibsend Issend Irsend", POSTED, MPI_SEND_LATER},
	{"Recv", MESSAGE | PARALLEL_RECEIVES, MPI_RECEIVE},
	{"Irecv", POSTED, MPI_RECEIVE_LATER},
	{"Mrecv", MESSAGE, MPI_NOTHING},
	{"Imrecv", POSTED, MPI_NOTHING},
	{"Probe", MESSAGE | PARALLEL_RECEIVES, MPI_NOTHING},
	{"Iprobe", MESSAGE, MPI_NOTHING},
	{"Mprobe", MESSAGE | PARALLEL_RECEIVES, MPI_RECEIVE_UNKNOWN},
	{"Improbe", MESSAGE, MPI_RECEIVE_UNKNOWN},
	{"Sendrecv Sendrecv_replace", MESSAGE, MPI_SEND_AND_RECEIVE},
	{"Isendrecv Isendrecv_replace", POSTED, MPI_SEND_AND_RECEIVE_LATER},
	{"Wait", REQUESTS | PARALLEL_AWAITS | PARALLEL_ONE, MPI_WAIT},
	{"Waitall Waitany Waitsome", REQUESTS | PARALLEL_AWAITS, MPI_WAIT},
	{"Test Testall Testany Testsome", REQUESTS | PARALLEL_TESTS, MPI_POLL},
	{"Start Startall", REQUESTS | PARALLEL_POSTS, MPI_START},
	{"Barrier", ALL, MPI_ALL_TO_ALL},
	{"Allreduce", ALL, MPI_ALL_TO_ALL + 1},
	{"Allgather", ALL, MPI_ALL_TO_ALL + 2},
	{"Allgatherv", ALL, MPI_ALL_TO_ALL + 3},
	{"Alltoall", ALL, MPI_ALL_TO_ALL + 4},
	{"Alltoallv", ALL, MPI_ALL_TO_ALL + 5},
	{"Alltoallw", ALL, MPI_ALL_TO_ALL + 6},
	{"Reduce_scatter", ALL, MPI_ALL_TO_ALL + 7},
	{"Reduce_scatter_block", ALL, MPI_ALL_TO_ALL + 8},
	{"Bcast", ALL, MPI_FROM_ROOT},
	{"Scatter", ALL, MPI_FROM_ROOT + 1},
	{"Scatterv", ALL, MPI_FROM_ROOT + 2},
	{"Reduce", ALL, MPI_TO_ROOT},
	{"Gather", ALL, MPI_TO_ROOT + 1},
	{"Gatherv", ALL, MPI_TO_ROOT + 2},
	{"Scan Exscan", ALL, MPI_NOTHING},
	{"Reduce_local", PARALLEL_COLLECTIVE, MPI_NOTHING}, /* it waits for nobody */
	{"Neighbor_", PARALLEL_COLLECTIVE, MPI_NOTHING},
	{"File_read", PARALLEL_ALONE, MPI_NOTHING},
	{"File_write", PARALLEL_ALONE | PARALLEL_WRITES, MPI_NOTHING},
	{"File_iread", PARALLEL_ALONE | PARALLEL_POSTS, MPI_NOTHING},
	{"File_iwrite", PARALLEL_ALONE | PARALLEL_WRITES | PARALLEL_POSTS, MPI_NOTHING},
	{"File_read_all File_read_at_all File_read_ordered", 0, MPI_NOTHING},
	{"File_write_all File_write_at_all File_write_ordered", 0, MPI_NOTHING},
	{"File_iread_all File_iread_at_all File_iwrite_all File_iwrite_at_all", PARALLEL_POSTS, MPI_NOTHING},
	{"Rput Rget Raccumulate", PARALLEL_POSTS, MPI_NOTHING},
};

/* With Config at the end, they are the same. */
static const struct parallel_kind nccl_kinds[] = {
	{"CommInit", PARALLEL_BEGINS, NCCL_NOTHING},
	{"CommInitRank CommInitRankScalable", PARALLEL_BEGINS, NCCL_JOINS},
	{"CommSplit CommShrink CommGrow", 0, NCCL_JOINS},
	{"GroupStart", 0, NCCL_GROUP_START},
	{"GroupEnd", 0, NCCL_GROUP_END},
	{"AllReduce", 0, NCCL_COLLECTIVE},
	{"ReduceScatter", PARALLEL_COUNTS_PART, NCCL_COLLECTIVE + 1},
	{"AllGather", PARALLEL_COUNTS_PART, NCCL_COLLECTIVE + 2},
	{"AlltoAll", PARALLEL_COUNTS_PART, NCCL_COLLECTIVE + 3},
	{"Gather Scatter", PARALLEL_COUNTS_PART, NCCL_NOTHING},
};

static const struct parallel_kind openmp_kinds[] = {
	{"omp_parallel", PARALLEL_REGION, OPENMP_REGION},
	{"omp_idle", 0, OPENMP_REGION},
	{"omp_part", PARALLEL_PART, 0},
	{"omp_barrier", PARALLEL_BARRIER | PARALLEL_TEAM_WAITS, 0},
	{"omp_implicit_barrier", PARALLEL_TEAM_WAITS, 0},
	{"omp_critical omp_critical_wait", 0, OPENMP_CRITICAL},
	{"omp_ordered omp_ordered_wait", 0, OPENMP_ORDERED},
	{"omp_task omp_taskwait omp_taskgroup", 0, OPENMP_TASK},
};

static void set_parallel(const struct parallel_kind *all, size_t count, const char *name, struct function_kind *ret)
{
	size_t longest = 0;

	for (size_t i = 0; i < count; i++) {
		size_t length = longest_word(all[i].words, name);

		if (length <= longest)
			continue;
		longest = length;
		ret->parallel = all[i].parallel;
		ret->match = all[i].match;
	}
	if (!name[longest] || !strcmp(name + longest, "Config"))
		return;
	ret->parallel &= ~EXACT;
	ret->match = 0;
}

static void set_mpi(const char *name, struct function_kind *ret)
{
	const size_t count = sizeof(mpi_kinds) / sizeof(*mpi_kinds);

	set_parallel(mpi_kinds, count, name, ret);
	if (ret->parallel || *name != 'I')
		return;
	/* MPI_Iallreduce is the nonblocking MPI_Allreduce */
	set_parallel(mpi_kinds, count, name + 1, ret);
	ret->parallel = ret->parallel & PARALLEL_COLLECTIVE ? PARALLEL_COLLECTIVE | PARALLEL_POSTS : 0;
	ret->match = ret->parallel && ret->match ? ret->match + MPI_LATER : MPI_NOTHING;
}

/* All that are in a name apply. */
static const struct {
	const char *part;
	uint16_t bits;
} cuda_parts[] = {
	{"Launch", CUDA_LAUNCH},
	{"Synchronize", CUDA_SYNCHRONIZE},
	{"DeviceSynchronize", CUDA_STREAMS},
	{"CtxSynchronize", CUDA_STREAMS},
	{"ThreadSynchronize", CUDA_STREAMS},
	{"StreamSynchronize", CUDA_STREAM},
	{"EventSynchronize", CUDA_OF_EVENT},
	{"Async", CUDA_ASYNC},
	{"Memcpy", CUDA_COPIES},
	{"Memset", CUDA_SET},
	{"Malloc", CUDA_ALLOC},
	{"MemAlloc", CUDA_ALLOC},
	{"HostAlloc", CUDA_ALLOC},
	{"cudaFree", CUDA_FREE},
	{"cuMemFree", CUDA_FREE},
	{"HostRegister", CUDA_REGISTER},
	{"HostUnregister", CUDA_REGISTER},
	{"HostFunc", CUDA_HOST_FUNCTION},
	{"Node", CUDA_NODE},
	{"Kernel", CUDA_OF_KERNEL},
	{"DeviceReset", CUDA_RESET},
};

static uint16_t cuda_of(const char *name)
{
	uint16_t ret = CUDA_CALL;

	for (size_t i = 0; i < sizeof(cuda_parts) / sizeof(*cuda_parts); i++)
		ret |= strstr(name, cuda_parts[i].part) ? cuda_parts[i].bits : 0;
	return ret;
}

/* The first that is in a name applies. */
static const struct {
	const char *part;
	uint8_t match;
} blas_parts[] = {
	{"LtMatmulAlgo", LIBRARY_NOTHING},
	{"LtMatmul", BLAS_LAYOUTS},
	{"emmGrouped", LIBRARY_NOTHING},
	{"hemm", BLAS_WITH_SQUARE},
	{"symm", BLAS_WITH_SQUARE},
	{"emm", BLAS_PRODUCT},
	{"emv", BLAS_WITH_VECTOR},
	{"trsm", BLAS_WITH_TRIANGLE},
	{"trmm", BLAS_WITH_TRIANGLE},
	{"r2k", BLAS_RANK_2K},
	{"syrk", BLAS_WITH_TRANSPOSED},
	{"herk", BLAS_WITH_TRANSPOSED},
};

static void set_blas(const char *name, struct function_kind *ret)
{
	for (size_t i = sizeof(blas_parts) / sizeof(*blas_parts); i--;)
		ret->match = strstr(name, blas_parts[i].part) ? blas_parts[i].match : ret->match;
	name += longest_word("cublas cublasXt", name);
	ret->letter = *name && strchr("SDCZH", *name) ? *name : '\0';
}

static uint8_t dnn_class(const char *name)
{
	static const char convolutions[] = "cudnnConvolutionForward cudnnConvolutionBiasActivationForward "
					   "cudnnConvolutionBackwardData cudnnConvolutionBackwardFilter";

	if (longest_word("cudnnBackend", name))
		return DNN_DESCRIBED;
	return longest_word(convolutions, name) ? DNN_CONVOLUTION : LIBRARY_NOTHING;
}

struct function_kind function_kind_of(const char *name, unsigned group)
{
	struct function_kind ret = {BLOCKED_OTHER};
	size_t longest = 0;

	switch (group) {
	case TF_GROUP_NCCL:
		ret.waits = BLOCKED_NCCL;
		if (!strncmp(name, "nccl", strlen("nccl")))
			set_parallel(nccl_kinds, sizeof(nccl_kinds) / sizeof(*nccl_kinds), name + strlen("nccl"), &ret);
		return ret;
	case TF_GROUP_OPENMP:
		ret.waits = strstr(name, "critical") || strstr(name, "lock") ? BLOCKED_LOCK : BLOCKED_THREAD;
		set_parallel(openmp_kinds, sizeof(openmp_kinds) / sizeof(*openmp_kinds), name, &ret);
		return ret;
	case TF_GROUP_MPI:
		ret.waits = BLOCKED_MPI;
		ret.does = longest_word("MPI_Test MPI_Iprobe MPI_Improbe", name) ? FUNCTION_POLLS : 0;
		if (!strncmp(name, "MPI_", strlen("MPI_")))
			set_mpi(name + strlen("MPI_"), &ret);
		return ret;
	case TF_GROUP_OSRT:
		break;
	case TF_GROUP_CUDA:
	case TF_GROUP_CUDA_DRIVER:
		return (struct function_kind){BLOCKED_GPU, .cuda = cuda_of(name)};
	case TF_GROUP_CUBLAS:
		ret.waits = BLOCKED_GPU;
		set_blas(name, &ret);
		return ret;
	case TF_GROUP_CUDNN:
		return (struct function_kind){BLOCKED_GPU, .match = dnn_class(name)};
	default:
		return (struct function_kind){BLOCKED_GPU};
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = longest_word(kinds[i].words, name);

		if (length > longest)
			ret = kinds[i].kind;
		longest = length > longest ? length : longest;
	}
	return ret;
}

const char *function_of_ranks(const char *symbol)
{
	symbol += !strncmp(symbol, "PMPI_", strlen("PMPI_")) || !strncmp(symbol, "pnccl", strlen("pnccl"));
	return !strncmp(symbol, "MPI_", strlen("MPI_")) || !strncmp(symbol, "nccl", strlen("nccl")) ? symbol : NULL;
}
