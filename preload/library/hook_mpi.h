/* SPDX-License-Identifier: Apache-2.0 */
/* MPI 3's calls in C. See hook_library.h. Handles are pointers in Open MPI and ints in MPICH; counts and ranks are
 * ints. PMPI_* is not intercepted: tools and some bindings of Fortran and C++ call it. */
#ifndef PILLION_HOOK_MPI_H
#define PILLION_HOOK_MPI_H

#define MPI(X, name, words, shape) X(CALL, MPI, MPI_##name, MPI_##name, words, shape)
/* A blocking call, and the non-blocking one, which has a request as its last argument. */
#define MPI_BOTH(X, name, iname, words, iwords, shape) MPI(X, name, words, shape) MPI(X, iname, iwords, shape)

#define HOOK_MPI(X)                                                                                                    \
	HOOK_MPI_LIFE(X) HOOK_MPI_MESSAGE(X) HOOK_MPI_WAIT(X) HOOK_MPI_COLLECTIVE(X) HOOK_MPI_WINDOW(X) HOOK_MPI_FILE(X)

#define HOOK_MPI_LIFE(X)                                                                                               \
	MPI(X, Init, 2, NOTHING)                                                                                       \
	MPI(X, Init_thread, 4, NOTHING)										\
	MPI(X, Finalize, 1, NOTHING)                                                                                   \
	MPI(X, Comm_dup, 2, MPI_COMM_1)										\
	MPI(X, Comm_idup, 3, MPI_COMM_1)                                                                               \
	MPI(X, Comm_split, 4, MPI_COMM_1)                                                                              \
	MPI(X, Comm_split_type, 5, MPI_COMM_1)                                                                         \
	MPI(X, Comm_create, 3, MPI_COMM_1)                                                                             \
	MPI(X, Comm_create_group, 4, MPI_COMM_1)                                                                       \
	MPI(X, Comm_free, 1, NOTHING)                                                                                  \
	MPI(X, Intercomm_create, 6, MPI_COMM_1)									\
	MPI(X, Intercomm_merge, 3, MPI_COMM_1)                                                                         \
	MPI(X, Comm_spawn, 8, NOTHING)                                                                                 \
	MPI(X, Comm_connect, 5, NOTHING)                                                                               \
	MPI(X, Comm_accept, 5, NOTHING)										\
	MPI(X, Comm_disconnect, 1, NOTHING)                                                                            \
	MPI(X, Cart_create, 6, MPI_COMM_1)                                                                             \
	MPI(X, Graph_create, 6, MPI_COMM_1)                                                                            \
	MPI(X, Dist_graph_create, 9, MPI_COMM_1)                                                                       \
	MPI(X, Dist_graph_create_adjacent, 10, MPI_COMM_1)                                                             \
	X(SET, MPI, MPI_Type_commit, MPI_Type_commit, 1, library_set_mpi_type)

#define HOOK_MPI_MESSAGE(X)                                                                                            \
	MPI_BOTH(X, Send, Isend, 6, 7, MPI_POINT)                                                                      \
	MPI_BOTH(X, Bsend, Ibsend, 6, 7, MPI_POINT)                                                                    \
	MPI_BOTH(X, Ssend, Issend, 6, 7, MPI_POINT)                                                                    \
	MPI_BOTH(X, Rsend, Irsend, 6, 7, MPI_POINT)                                                                    \
	MPI_BOTH(X, Recv, Irecv, 7, 7, MPI_POINT)                                                                      \
	MPI(X, Send_init, 7, MPI_POINT)										\
	MPI(X, Bsend_init, 7, MPI_POINT)                                                                               \
	MPI(X, Ssend_init, 7, MPI_POINT)                                                                               \
	MPI(X, Rsend_init, 7, MPI_POINT)                                                                               \
	MPI(X, Recv_init, 7, MPI_POINT)										\
	MPI(X, Sendrecv, 12, MPI_SENDRECV)                                                                             \
	MPI(X, Sendrecv_replace, 9, MPI_REPLACE)                                                                       \
	MPI(X, Probe, 4, MPI_PROBE)                                                                                    \
	MPI(X, Iprobe, 5, MPI_PROBE)                                                                                   \
	MPI(X, Mprobe, 5, MPI_PROBE)                                                                                   \
	MPI(X, Improbe, 6, MPI_PROBE)                                                                                  \
	MPI(X, Mrecv, 5, MPI_COUNT_TYPE)                                                                               \
	MPI(X, Imrecv, 5, MPI_COUNT_TYPE)                                                                              \
	MPI(X, Pack, 7, MPI_COUNT_TYPE)										\
	MPI(X, Unpack, 7, NOTHING)                                                                                     \
	MPI(X, Buffer_attach, 2, NOTHING)                                                                              \
	MPI(X, Buffer_detach, 2, NOTHING)

#define HOOK_MPI_WAIT(X)                                                                                               \
	MPI(X, Start, 1, NOTHING)                                                                                      \
	MPI(X, Startall, 2, MPI_REQUESTS)                                                                              \
	MPI(X, Wait, 2, NOTHING)                                                                                       \
	MPI(X, Waitall, 3, MPI_REQUESTS)                                                                               \
	MPI(X, Waitany, 4, MPI_REQUESTS)                                                                               \
	MPI(X, Waitsome, 5, MPI_REQUESTS)                                                                              \
	MPI(X, Test, 3, NOTHING)                                                                                       \
	MPI(X, Testall, 4, MPI_REQUESTS)                                                                               \
	MPI(X, Testany, 5, MPI_REQUESTS)                                                                               \
	MPI(X, Testsome, 5, MPI_REQUESTS)                                                                              \
	MPI(X, Cancel, 1, NOTHING)                                                                                     \
	MPI(X, Request_free, 1, NOTHING)

#define HOOK_MPI_COLLECTIVE(X)                                                                                         \
	MPI_BOTH(X, Barrier, Ibarrier, 1, 2, MPI_COMM_1)                                                               \
	MPI_BOTH(X, Bcast, Ibcast, 5, 6, MPI_BCAST)                                                                    \
	MPI_BOTH(X, Gather, Igather, 8, 9, MPI_GATHER)                                                                 \
	MPI_BOTH(X, Gatherv, Igatherv, 9, 10, MPI_GATHERV)                                                             \
	MPI_BOTH(X, Scatter, Iscatter, 8, 9, MPI_SCATTER)                                                              \
	MPI_BOTH(X, Scatterv, Iscatterv, 9, 10, MPI_SCATTERV)                                                          \
	MPI_BOTH(X, Allgather, Iallgather, 7, 8, MPI_ALL_7)                                                            \
	MPI_BOTH(X, Allgatherv, Iallgatherv, 8, 9, MPI_ALL_8)                                                          \
	MPI_BOTH(X, Alltoall, Ialltoall, 7, 8, MPI_ALL_7)                                                              \
	MPI_BOTH(X, Alltoallv, Ialltoallv, 9, 10, MPI_COMM_9)                                                          \
	MPI_BOTH(X, Alltoallw, Ialltoallw, 9, 10, MPI_COMM_9)                                                          \
	MPI_BOTH(X, Reduce, Ireduce, 7, 8, MPI_REDUCE)                                                                 \
	MPI_BOTH(X, Allreduce, Iallreduce, 6, 7, MPI_ALLREDUCE)							\
	MPI_BOTH(X, Reduce_scatter, Ireduce_scatter, 6, 7, MPI_COMM_6)                                                 \
	MPI_BOTH(X, Reduce_scatter_block, Ireduce_scatter_block, 6, 7, MPI_ALLREDUCE)                                  \
	MPI_BOTH(X, Scan, Iscan, 6, 7, MPI_ALLREDUCE)                                                                  \
	MPI_BOTH(X, Exscan, Iexscan, 6, 7, MPI_ALLREDUCE)                                                              \
	MPI_BOTH(X, Neighbor_allgather, Ineighbor_allgather, 7, 8, MPI_ALL_7)                                          \
	MPI_BOTH(X, Neighbor_allgatherv, Ineighbor_allgatherv, 8, 9, MPI_ALL_8)					\
	MPI_BOTH(X, Neighbor_alltoall, Ineighbor_alltoall, 7, 8, MPI_ALL_7)                                            \
	MPI_BOTH(X, Neighbor_alltoallv, Ineighbor_alltoallv, 9, 10, MPI_COMM_9)					\
	MPI_BOTH(X, Neighbor_alltoallw, Ineighbor_alltoallw, 9, 10, MPI_COMM_9)					\
	MPI(X, Reduce_local, 5, NOTHING)

#define HOOK_MPI_WINDOW(X)                                                                                             \
	MPI(X, Win_create, 6, NOTHING)                                                                                 \
	MPI(X, Win_allocate, 6, NOTHING)                                                                               \
	MPI(X, Win_allocate_shared, 6, NOTHING)									\
	MPI(X, Win_create_dynamic, 3, NOTHING)                                                                         \
	MPI(X, Win_free, 1, NOTHING)                                                                                   \
	MPI(X, Win_fence, 2, NOTHING)                                                                                  \
	MPI(X, Win_start, 3, NOTHING)                                                                                  \
	MPI(X, Win_complete, 1, NOTHING)                                                                               \
	MPI(X, Win_post, 3, NOTHING)                                                                                   \
	MPI(X, Win_wait, 1, NOTHING)                                                                                   \
	MPI(X, Win_test, 2, NOTHING)                                                                                   \
	MPI(X, Win_lock, 4, MPI_LOCK)                                                                                  \
	MPI(X, Win_unlock, 2, MPI_UNLOCK)                                                                              \
	MPI(X, Win_lock_all, 2, NOTHING)                                                                               \
	MPI(X, Win_unlock_all, 1, NOTHING)                                                                             \
	MPI(X, Win_flush, 2, MPI_UNLOCK)                                                                               \
	MPI(X, Win_flush_all, 1, NOTHING)                                                                              \
	MPI(X, Win_flush_local, 2, MPI_UNLOCK)                                                                         \
	MPI(X, Win_flush_local_all, 1, NOTHING)									\
	MPI(X, Win_sync, 1, NOTHING)                                                                                   \
	MPI(X, Put, 8, MPI_REMOTE)                                                                                     \
	MPI(X, Get, 8, MPI_REMOTE)                                                                                     \
	MPI(X, Accumulate, 9, MPI_REMOTE)                                                                              \
	MPI(X, Rput, 9, MPI_REMOTE)                                                                                    \
	MPI(X, Rget, 9, MPI_REMOTE)                                                                                    \
	MPI(X, Raccumulate, 10, MPI_REMOTE)                                                                            \
	MPI(X, Get_accumulate, 12, MPI_GET_ACCUMULATE)                                                                 \
	MPI(X, Rget_accumulate, 13, MPI_GET_ACCUMULATE)								\
	MPI(X, Fetch_and_op, 7, MPI_FETCH)                                                                             \
	MPI(X, Compare_and_swap, 7, MPI_COMPARE)

#define HOOK_MPI_FILE(X)                                                                                               \
	MPI(X, File_open, 5, MPI_COMM_1)                                                                               \
	MPI(X, File_close, 1, NOTHING)                                                                                 \
	MPI(X, File_sync, 1, NOTHING)                                                                                  \
	MPI(X, File_set_view, 6, NOTHING)                                                                              \
	MPI(X, File_set_size, 2, NOTHING)                                                                              \
	MPI(X, File_preallocate, 2, NOTHING)                                                                           \
	MPI(X, File_seek, 3, NOTHING)                                                                                  \
	MPI(X, File_read, 5, MPI_FILE)                                                                                 \
	MPI(X, File_read_all, 5, MPI_FILE)                                                                             \
	MPI(X, File_read_shared, 5, MPI_FILE)                                                                          \
	MPI(X, File_read_ordered, 5, MPI_FILE)                                                                         \
	MPI(X, File_read_at, 6, MPI_FILE_AT)                                                                           \
	MPI(X, File_read_at_all, 6, MPI_FILE_AT)                                                                       \
	MPI(X, File_iread, 5, MPI_FILE)										\
	MPI(X, File_iread_all, 5, MPI_FILE)                                                                            \
	MPI(X, File_iread_shared, 5, MPI_FILE)                                                                         \
	MPI(X, File_iread_at, 6, MPI_FILE_AT)                                                                          \
	MPI(X, File_iread_at_all, 6, MPI_FILE_AT)                                                                      \
	MPI(X, File_write, 5, MPI_FILE)										\
	MPI(X, File_write_all, 5, MPI_FILE)                                                                            \
	MPI(X, File_write_shared, 5, MPI_FILE)                                                                         \
	MPI(X, File_write_ordered, 5, MPI_FILE)									\
	MPI(X, File_write_at, 6, MPI_FILE_AT)                                                                          \
	MPI(X, File_write_at_all, 6, MPI_FILE_AT)                                                                      \
	MPI(X, File_iwrite, 5, MPI_FILE)                                                                               \
	MPI(X, File_iwrite_all, 5, MPI_FILE)                                                                           \
	MPI(X, File_iwrite_shared, 5, MPI_FILE)									\
	MPI(X, File_iwrite_at, 6, MPI_FILE_AT)                                                                         \
	MPI(X, File_iwrite_at_all, 6, MPI_FILE_AT)

#define SHAPES_MPI(S)                                                                                                  \
	S(MPI_COMM_1, KEY_NONE, COMMUNICATOR(1))                                                                       \
	S(MPI_COMM_6, KEY_NONE, COMMUNICATOR(6))                                                                       \
	S(MPI_COMM_9, KEY_NONE, COMMUNICATOR(9))                                                                       \
	S(MPI_POINT, KEY_NONE, ENUM(COUNT, 2), BYTES(3), ENUM(PEER, 4), ENUM(TAG, 5), COMMUNICATOR(6))                 \
	S(MPI_SENDRECV, KEY_NONE, ENUM(COUNT, 2), BYTES(3), ENUM(PEER, 4), ENUM(TAG, 5), COMMUNICATOR(11))             \
	S(MPI_REPLACE, KEY_NONE, ENUM(COUNT, 2), BYTES(3), ENUM(PEER, 4), ENUM(TAG, 5), COMMUNICATOR(8))               \
	S(MPI_PROBE, KEY_NONE, ENUM(PEER, 1), ENUM(TAG, 2), COMMUNICATOR(3))                                           \
	S(MPI_COUNT_TYPE, KEY_NONE, ENUM(COUNT, 2), BYTES(3))                                                          \
	S(MPI_REQUESTS, KEY_NONE, ENUM(BATCH, 1))                                                                      \
	S(MPI_BCAST, KEY_NONE, ENUM(COUNT, 2), BYTES(3), ENUM(PEER, 4), COMMUNICATOR(5))                               \
	S(MPI_GATHER, KEY_NONE, ENUM(COUNT, 2), BYTES(3), ENUM(PEER, 7), COMMUNICATOR(8))                              \
	S(MPI_GATHERV, KEY_NONE, ENUM(COUNT, 2), BYTES(3), ENUM(PEER, 8), COMMUNICATOR(9))                             \
	S(MPI_SCATTER, KEY_NONE, ENUM(COUNT, 5), BYTES(6), ENUM(PEER, 7), COMMUNICATOR(8))                             \
	S(MPI_SCATTERV, KEY_NONE, ENUM(COUNT, 6), BYTES(7), ENUM(PEER, 8), COMMUNICATOR(9))                            \
	S(MPI_ALL_7, KEY_NONE, ENUM(COUNT, 2), BYTES(3), COMMUNICATOR(7))                                              \
	S(MPI_ALL_8, KEY_NONE, ENUM(COUNT, 2), BYTES(3), COMMUNICATOR(8))                                              \
	S(MPI_REDUCE, KEY_NONE, ENUM(COUNT, 3), BYTES(4), ENUM(PEER, 6), COMMUNICATOR(7))                              \
	S(MPI_ALLREDUCE, KEY_NONE, ENUM(COUNT, 3), BYTES(4), COMMUNICATOR(6))                                          \
	S(MPI_LOCK, KEY_NONE, ENUM(PEER, 2))                                                                           \
	S(MPI_UNLOCK, KEY_NONE, ENUM(PEER, 1))                                                                         \
	S(MPI_REMOTE, KEY_NONE, ENUM(COUNT, 2), BYTES(3), ENUM(PEER, 4))                                               \
	S(MPI_GET_ACCUMULATE, KEY_NONE, ENUM(COUNT, 2), BYTES(3), ENUM(PEER, 7))                                       \
	S(MPI_FETCH, KEY_NONE, BYTES(3), ENUM(PEER, 4))								\
	S(MPI_COMPARE, KEY_NONE, BYTES(4), ENUM(PEER, 5))                                                              \
	S(MPI_FILE, KEY_NONE, ENUM(COUNT, 3), BYTES(4))								\
	S(MPI_FILE_AT, KEY_NONE, ENUM(COUNT, 4), BYTES(5))

#endif
