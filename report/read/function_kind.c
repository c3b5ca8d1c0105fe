/* SPDX-License-Identifier: Apache-2.0 */
#include "report/read/function_kind.h"

#include <stddef.h>
#include <string.h>

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

	{"futex sem_ pthread_barrier_wait", {BLOCKED_THREAD, .does = FUNCTION_AWAITS}},
	{"semop semtimedop", {BLOCKED_THREAD}},
	{"sem_post", {BLOCKED_THREAD, .does = FUNCTION_WAKES}},
	{"sem_trywait", {BLOCKED_THREAD, .does = FUNCTION_POLLS}},
	{"pthread_cond_wait", {BLOCKED_THREAD, .does = FUNCTION_CONDITION | FUNCTION_AWAITS}},
	{"pthread_cond_timedwait pthread_cond_clockwait",
	 {BLOCKED_THREAD, .does = FUNCTION_CONDITION | FUNCTION_AWAITS | FUNCTION_TIMED}},
	{"pthread_cond_signal pthread_cond_broadcast", {BLOCKED_THREAD, .does = FUNCTION_CONDITION | FUNCTION_WAKES}},
	{"pthread_join pthread_timedjoin pthread_clockjoin",
	 {BLOCKED_THREAD, .does = FUNCTION_JOINS | FUNCTION_AWAITS}},
	{"pthread_tryjoin", {BLOCKED_THREAD}},
	{"pthread_create", {BLOCKED_OTHER, .does = FUNCTION_CREATES}},
	{"sched_yield", {BLOCKED_OTHER, .does = FUNCTION_POLLS}},

	{"pthread_mutex_ pthread_rwlock_", {BLOCKED_LOCK, .does = FUNCTION_LOCKS}},
	{"pthread_mutex_trylock pthread_rwlock_try pthread_spin_trylock", {BLOCKED_LOCK, .does = FUNCTION_POLLS}},
	{"pthread_mutex_unlock pthread_rwlock_unlock", {BLOCKED_LOCK, .does = FUNCTION_WAKES}},
	{"pthread_spin_lock", {BLOCKED_LOCK, .does = FUNCTION_LOCKS | FUNCTION_POLLS}},
	{"pthread_spin_unlock flock ftrylockfile lockf", {BLOCKED_LOCK}},

	{"poll ppoll select pselect epoll_wait epoll_pwait", {BLOCKED_POLL, .does = FUNCTION_POLLS | FUNCTION_AWAITS}},
	{"pause sigsuspend sigwait sigtimedwait", {BLOCKED_POLL}},
	{"io_uring_enter", {BLOCKED_POLL, ROLE_SUBMIT}},
	{"MPI_Test MPI_Iprobe MPI_Improbe", {BLOCKED_MPI, .does = FUNCTION_POLLS}},

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
		if (length > longest && !strncmp(words, name, length))
			longest = length;
	}
	return longest;
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
	{"Async", CUDA_ASYNC},
	{"Memcpy", CUDA_COPY},
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
	{"Kernel", CUDA_KERNEL},
	{"DeviceReset", CUDA_RESET},
};

static uint16_t cuda_of(const char *name)
{
	uint16_t ret = CUDA_CALL;

	for (size_t i = 0; i < sizeof(cuda_parts) / sizeof(*cuda_parts); i++)
		ret |= strstr(name, cuda_parts[i].part) ? cuda_parts[i].bits : 0;
	return ret;
}

struct function_kind function_kind_of(const char *name, unsigned group)
{
	struct function_kind ret = {BLOCKED_OTHER};
	size_t longest = 0;

	switch (group) {
	case TF_GROUP_NCCL:
		return (struct function_kind){BLOCKED_NCCL};
	case TF_GROUP_OPENMP:
		ret.waits = strstr(name, "critical") || strstr(name, "lock") ? BLOCKED_LOCK : BLOCKED_THREAD;
		return ret;
	case TF_GROUP_MPI:
		ret.waits = BLOCKED_MPI;
		break;
	case TF_GROUP_OSRT:
		break;
	case TF_GROUP_CUDA:
	case TF_GROUP_CUDA_DRIVER:
		return (struct function_kind){BLOCKED_GPU, .cuda = cuda_of(name)};
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
