/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "report/read/functions.h"
#include "runtime/shared/base/function_kind.h"
#include "runtime/shared/format/trace_format.h"

static struct function_kind of(const char *name)
{
	return function_kind_of(name, TF_GROUP_OSRT);
}

Test(function_kind, the_longest_word_applies)
{
	cr_expect_eq(of("read").role, ROLE_READ);
	cr_expect_eq(of("readv").role, ROLE_READ);
	cr_expect_eq(of("readlink").role, ROLE_OTHER);
	cr_expect_eq(of("readlink").does, FUNCTION_STATS);
	cr_expect_eq(of("sendmsg").does, FUNCTION_UNCOUNTED);
	cr_expect_eq(of("sendfile64").does, 0);
	cr_expect_eq(of("getline").does, FUNCTION_INPUT);
	cr_expect_eq(of("getc").does, 0);
	cr_expect_eq(of("getaddrinfo").waits, BLOCKED_SOCKET);
	cr_expect_eq(of("sem_wait").does, FUNCTION_AWAITS);
	cr_expect_eq(of("sem_post").does, FUNCTION_WAKES);
	cr_expect_eq(of("killpg").does, FUNCTION_SIGNALS);
	cr_expect_eq(of("pthread_kill").does, 0);
	cr_expect_eq(of("fcntl64").does, FUNCTION_LOCKS_FILE);
	cr_expect_eq(of("lockf64").does, FUNCTION_LOCKS_FILE);
	cr_expect_eq(of("flockfile").does, 0, "a lock of the program");
}

Test(function_kind, what_is_waited_on_with_a_futex)
{
	static const struct {
		const char *name;
		uint8_t class;
	} rows[] = {
		{"pthread_mutex_lock", LOCK_MUTEX},	    {"pthread_cond_clockwait", LOCK_CONDITION},
		{"pthread_cond_destroy", LOCK_CONDITION},   {"sem_timedwait", LOCK_SEMAPHORE},
		{"new_sem_wait_slow64", LOCK_SEMAPHORE},    {"pthread_clockjoin_ex", LOCK_THREAD},
		{"pthread_rwlock_wrlock", LOCK_RWLOCK},	    {"pthread_barrier_wait", LOCK_BARRIER},
		{"pthread_barrier_destroy", LOCK_BARRIER},  {"futex_wait", LOCK_OTHER},
		{"pthread_tryjoin_np", LOCK_OTHER},	    {"pthread_cond_signal", LOCK_CONDITION},
		{"pthread_cond_broadcast", LOCK_CONDITION}, {"pthread_mutex_trylock", LOCK_MUTEX},
		{"pthread_mutex_unlock_usercnt", LOCK_MUTEX}, {"pthread_rwlock_trywrlock", LOCK_RWLOCK},
		{"pthread_rwlock_unlock", LOCK_RWLOCK},	    {"sem_post", LOCK_SEMAPHORE},
		{"sem_trywait", LOCK_SEMAPHORE},	    {"pthread_spin_trylock", LOCK_OTHER},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect_eq(of(rows[i].name).match, rows[i].class, "%s", rows[i].name);
}

Test(function_kind, a_word_within_a_name_tells_nothing)
{
	cr_expect_eq(of("pthread_create").waits, BLOCKED_OTHER, "it does not read");
	cr_expect_eq(of("pthread_kill").waits, BLOCKED_OTHER);
	cr_expect_eq(of("shmget").waits, BLOCKED_OTHER);
	cr_expect_eq(of("membarrier").waits, BLOCKED_OTHER);
	cr_expect_eq(of("epoll_ctl").waits, BLOCKED_OTHER, "it does not wait");
	cr_expect_eq(of("epoll_pwait2").waits, BLOCKED_POLL);
	cr_expect_eq(of("dlclose").role, ROLE_OTHER);
}

Test(function_kind, streams_are_apart)
{
	cr_expect_eq(of("fread_unlocked").traffic, TRAFFIC_STREAM);
	cr_expect_eq(of("pread64").traffic, TRAFFIC_CALLS);
	cr_expect_eq(of("inner_write").traffic, TRAFFIC_INNER);
	cr_expect_eq(of("pclose").waits, BLOCKED_CHILD);
	cr_expect_eq(of("pclose").role, ROLE_CLOSE);
}

Test(function_kind, groups_wait_for_what_they_are_of)
{
	cr_expect_eq(function_kind_of("MPI_Testall", TF_GROUP_MPI).waits, BLOCKED_MPI);
	cr_expect_eq(function_kind_of("MPI_Testall", TF_GROUP_MPI).does, FUNCTION_POLLS);
	cr_expect_eq(function_kind_of("MPI_Recv", TF_GROUP_MPI).does, 0);
	cr_expect_eq(function_kind_of("ncclSend", TF_GROUP_NCCL).waits, BLOCKED_NCCL);
	cr_expect_eq(function_kind_of("omp_critical", TF_GROUP_OPENMP).waits, BLOCKED_LOCK);
	cr_expect_eq(function_kind_of("omp_barrier", TF_GROUP_OPENMP).waits, BLOCKED_THREAD);
	cr_expect_eq(function_kind_of("cudaFree", TF_GROUP_CUDA).waits, BLOCKED_GPU);
}

static unsigned cuda_of(const char *name)
{
	return function_kind_of(name, TF_GROUP_CUDA_DRIVER).cuda;
}

Test(function_kind, names_of_cuda_are_made_of_parts)
{
	cr_expect_eq(cuda_of("cuInit"), CUDA_CALL);
	cr_expect_eq(cuda_of("cudaLaunchKernelExC"), CUDA_CALL | CUDA_LAUNCH | CUDA_OF_KERNEL);
	cr_expect_eq(cuda_of("cudaLaunchHostFunc"), CUDA_CALL | CUDA_LAUNCH | CUDA_HOST_FUNCTION);
	cr_expect_eq(cuda_of("cuMemcpyDtoHAsync_v2"), CUDA_CALL | CUDA_COPIES | CUDA_ASYNC);
	cr_expect_eq(cuda_of("cudaGraphAddMemsetNode"), CUDA_CALL | CUDA_SET | CUDA_NODE);
	cr_expect_eq(cuda_of("cuGraphAddKernelNode_v2"), CUDA_CALL | CUDA_OF_KERNEL | CUDA_NODE);
	cr_expect_eq(cuda_of("cuStreamSynchronize"), CUDA_CALL | CUDA_SYNCHRONIZE | CUDA_STREAM);
	cr_expect_eq(cuda_of("cudaDeviceSynchronize"), CUDA_CALL | CUDA_SYNCHRONIZE | CUDA_STREAMS);
	cr_expect_eq(cuda_of("cudaEventSynchronize"), CUDA_CALL | CUDA_SYNCHRONIZE | CUDA_OF_EVENT);
	cr_expect_eq(cuda_of("cuMemAllocHost_v2"), CUDA_CALL | CUDA_ALLOC);
	cr_expect_eq(cuda_of("cudaMallocAsync"), CUDA_CALL | CUDA_ALLOC | CUDA_ASYNC);
	cr_expect_eq(cuda_of("cuMemFree_v2"), CUDA_CALL | CUDA_FREE);
	cr_expect_eq(cuda_of("cuMemAddressFree"), CUDA_CALL, "it frees no memory");
	cr_expect_eq(cuda_of("cuMemHostUnregister"), CUDA_CALL | CUDA_REGISTER);
	cr_expect_eq(cuda_of("cudaDeviceReset"), CUDA_CALL | CUDA_RESET);
	cr_expect_eq(function_kind_of("cublasSgemm", TF_GROUP_CUBLAS).cuda, 0);
}

static struct function_kind mpi(const char *name)
{
	return function_kind_of(name, TF_GROUP_MPI);
}

Test(function_kind, calls_of_mpi_are_matched_by_whole_names)
{
	cr_expect_eq(mpi("MPI_Ssend").match, MPI_SEND);
	cr_expect_eq(mpi("MPI_Issend").match, MPI_SEND_LATER);
	cr_expect_eq(mpi("MPI_Ssend_init").match, MPI_NOTHING);
	cr_expect_eq(mpi("MPI_Ssend_init").parallel, PARALLEL_MESSAGE, "it sends nothing yet");
	cr_expect_eq(mpi("MPI_Improbe").match, MPI_RECEIVE_UNKNOWN);
	cr_expect_eq(mpi("MPI_Allgatherv").match, MPI_ALL_TO_ALL + 3);
	cr_expect_eq(mpi("MPI_Iallgatherv").match, MPI_ALL_TO_ALL + 3 + MPI_LATER);
	cr_expect_eq(mpi("MPI_Ibarrier").match, MPI_ALL_TO_ALL + MPI_LATER);
	cr_expect_eq(mpi("MPI_Reduce_local").match, MPI_NOTHING);
	cr_expect_eq(mpi("MPI_Reduce_local").parallel, PARALLEL_COLLECTIVE, "it waits for nobody");
	cr_expect_eq(mpi("MPI_Info_get").match, MPI_NOTHING);
}

Test(function_kind, files_of_mpi_are_moved_alone_or_by_all)
{
	cr_expect_eq(mpi("MPI_File_read_at").parallel, PARALLEL_ALONE);
	cr_expect_eq(mpi("MPI_File_write_shared").parallel, PARALLEL_ALONE | PARALLEL_WRITES);
	cr_expect_eq(mpi("MPI_File_iread").parallel, PARALLEL_ALONE | PARALLEL_POSTS);
	cr_expect_eq(mpi("MPI_File_iwrite_at").parallel, PARALLEL_ALONE | PARALLEL_WRITES | PARALLEL_POSTS);
	cr_expect_eq(mpi("MPI_File_read_at_all").parallel, 0, "it waits for all ranks");
	cr_expect_eq(mpi("MPI_File_write_ordered_begin").parallel, 0);
	cr_expect_eq(mpi("MPI_File_iread_all").parallel, PARALLEL_POSTS);
	cr_expect_eq(mpi("MPI_File_iwrite_at_all").parallel, PARALLEL_POSTS);
	cr_expect_eq(mpi("MPI_File_open").parallel, 0);
}

Test(function_kind, calls_of_ranks_begin_end_and_post)
{
	cr_expect_eq(mpi("MPI_Init_thread").parallel, PARALLEL_BEGINS);
	cr_expect_eq(mpi("MPI_Initialized").parallel, 0);
	cr_expect_eq(mpi("MPI_Finalize").parallel, PARALLEL_ENDS);
	cr_expect_eq(mpi("MPI_Finalized").parallel, 0);
	cr_expect_eq(mpi("MPI_Irecv").parallel, PARALLEL_MESSAGE | PARALLEL_POSTS);
	cr_expect_eq(mpi("MPI_Iprobe").parallel, PARALLEL_MESSAGE, "it posts nothing");
	cr_expect_eq(mpi("MPI_Ineighbor_alltoall").parallel, PARALLEL_COLLECTIVE | PARALLEL_POSTS);
	cr_expect_eq(mpi("MPI_Neighbor_alltoall").parallel, PARALLEL_COLLECTIVE);
	cr_expect_eq(mpi("MPI_Exscan").parallel, PARALLEL_COLLECTIVE | PARALLEL_OF_ALL);
	cr_expect_eq(mpi("MPI_Waitsome").parallel, PARALLEL_REQUESTS | PARALLEL_AWAITS);
	cr_expect_eq(mpi("MPI_Wait").parallel, PARALLEL_REQUESTS | PARALLEL_AWAITS | PARALLEL_ONE);
	cr_expect_eq(mpi("MPI_Rget").parallel, PARALLEL_POSTS);
	cr_expect_eq(function_kind_of("ncclCommInitAll", TF_GROUP_NCCL).parallel, PARALLEL_BEGINS);
	cr_expect_eq(function_kind_of("ncclCommInitAll", TF_GROUP_NCCL).match, NCCL_NOTHING);
	cr_expect_eq(function_kind_of("ncclCommInitRankConfig", TF_GROUP_NCCL).match, NCCL_JOINS);
	cr_expect_eq(function_kind_of("ncclAllGather", TF_GROUP_NCCL).match, NCCL_COLLECTIVE + 2);
	cr_expect_eq(function_kind_of("ncclAllGatherV", TF_GROUP_NCCL).match, NCCL_NOTHING);
	cr_expect_eq(function_kind_of("omp_critical_wait", TF_GROUP_OPENMP).match, OPENMP_CRITICAL);
	cr_expect_eq(function_kind_of("omp_task", TF_GROUP_OPENMP).match, OPENMP_TASK);
	cr_expect_eq(function_kind_of("omp_taskloop", TF_GROUP_OPENMP).match, OPENMP_NOTHING);
	cr_expect_str_eq(function_of_ranks("PMPI_Send"), "MPI_Send");
	cr_expect_null(function_of_ranks("PRINT_Send"));
}

static uint8_t class_by_length(const struct function *f)
{
	return (uint8_t)strlen(f->name);
}

static uint8_t class_by_group(const struct function *f)
{
	return f->group;
}

Test(function_kind, equal_tables_of_functions_are_one)
{
	static const uint8_t bytes[] = {TF_GROUP_OSRT, 4, 'r', 'e', 'a', 'd', 2, 5, 'w', 'r', 'i', 't', 'e'},
			     copy[] = {TF_GROUP_OSRT, 4, 'r', 'e', 'a', 'd', 2, 5, 'w', 'r', 'i', 't', 'e'},
			     other[] = {TF_GROUP_OSRT, 4, 'r', 'e', 'a', 'd', 3, 5, 'w', 'r', 'i', 't', 'e'};
	struct functions *both = functions_take(bytes, sizeof(bytes), 2),
			 *again = functions_take(copy, sizeof(copy), 2),
			 *one = functions_take(bytes, sizeof(bytes), 1), *torn = functions_take(bytes, 12, 2),
			 *apart = functions_take(other, sizeof(other), 2), *none = functions_take(NULL, 0, 0);
	const uint8_t *lengths = functions_classes(both, class_by_length), *groups;

	cr_expect_eq(both, again);
	cr_expect_eq(functions_share(both), both);
	cr_expect_eq(both->count, 2);
	cr_expect_str_eq(both->items[0].name, "read");
	cr_expect_eq(both->items[0].kind.role, ROLE_READ);
	cr_expect_str_eq(both->items[1].name, "write");
	cr_expect_neq(both, one);
	cr_expect_eq(one->count, 1);
	cr_expect_neq(both, torn);
	cr_expect_eq(torn->count, 1, "an entry that does not end");
	cr_expect_neq(both, apart);
	cr_expect_eq(apart->items[1].group, 3);
	cr_expect_eq(none->count, 0);
	groups = functions_classes(both, class_by_group);
	cr_expect_eq(functions_classes(again, class_by_length), lengths, "each is asked once");
	cr_expect_eq(lengths[0], 4);
	cr_expect_eq(lengths[1], 5);
	cr_expect_eq(groups[0], TF_GROUP_OSRT);
	cr_expect_eq(groups[1], 2);
	for (int i = 0; i < 3; i++)
		functions_give(both);
	functions_give(one);
	functions_give(torn);
	functions_give(apart);
	functions_give(none);
}

/* ---- tables of functions ---- */

static size_t classified;

static uint8_t first_letter(const struct function *f)
{
	classified++;
	return (uint8_t)*f->name;
}

static uint8_t group_of(const struct function *f)
{
	return f->group;
}

Test(functions, are_those_that_are_whole_and_wanted)
{
	static const uint8_t bytes[] = "\1\2ab\2\0\3\1c"; /* groups, lengths, names */
	static const struct {
		size_t size;
		uint32_t wanted, count;
	} cases[] = {{9, 3, 3}, {9, 4, 3}, {9, 2, 2}, {9, 0, 0}, {8, 3, 2}, {7, 3, 2}, {6, 3, 2},
		     {5, 3, 1}, {4, 3, 1}, {3, 3, 0}, {1, 3, 0}, {0, 3, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct functions *f = functions_take(bytes, cases[i].size, cases[i].wanted);

		cr_expect_eq(f->count, cases[i].count, "case %zu: %u", i, f->count);
		if (f->count)
			cr_expect(f->items[0].group == 1 && !strcmp(f->items[0].name, "ab"), "case %zu", i);
		if (f->count > 1)
			cr_expect(f->items[1].group == 2 && !*f->items[1].name, "case %zu", i);
		if (f->count > 2)
			cr_expect(f->items[2].group == 3 && !strcmp(f->items[2].name, "c"), "case %zu", i);
		functions_give(f);
	}
	functions_give(NULL);
}

Test(functions, of_the_same_bytes_are_one_table)
{
	static const uint8_t bytes[][6] = {"\1\1a\1\1b", "\1\1a\1\1c", "\2\1a\1\1b"};
	static const uint8_t copy[] = {1, 1, 'a', 1, 1, 'b'};
	struct functions *one = functions_take(bytes[0], 6, 2), *same = functions_take(copy, 6, 2);
	struct functions *others[] = {functions_take(bytes[1], 6, 2), functions_take(bytes[2], 6, 2),
				      functions_take(bytes[0], 6, 1), functions_take(bytes[0], 5, 2)};
	const uint8_t *letters;

	cr_expect_eq(one, same);
	for (size_t i = 0; i < 4; i++)
		cr_expect_neq(one, others[i], "%zu", i);
	cr_expect_eq(functions_share(one), one);
	functions_give(one);
	functions_give(same);
	cr_expect_eq(functions_take(bytes[0], 6, 2), one, "it has a user");
	functions_give(one);
	classified = 0;
	letters = functions_classes(one, first_letter);
	cr_expect(letters[0] == 'a' && letters[1] == 'b');
	cr_expect_eq(functions_classes(one, group_of)[1], 1);
	cr_expect_eq(functions_classes(one, first_letter), letters);
	cr_expect_eq(classified, 2, "each name is examined once, not %zu", classified);
	functions_give(one);
	for (size_t i = 0; i < 4; i++)
		functions_give(others[i]);
}
