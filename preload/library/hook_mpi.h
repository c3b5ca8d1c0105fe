/* SPDX-License-Identifier: Apache-2.0 */
/* MPI 4's calls. See hook_library.h. Handles are pointers in Open MPI and ints in MPICH; counts and ranks are ints,
 * and counts are 64-bit integers in the functions whose names end in _c.
 *
 * Bindings of Fortran call the names of the profiling interface, PMPI_*, and so do tools that define MPI_*: those names
 * are PMPI_ALIAS rows. LATER(shape): the last argument has the address of the request that the call makes or starts,
 * which is recorded too. */
#pragma once

#define MPI(X, name, words, shape)                                                                                     \
	X(CALL, MPI, MPI_##name, MPI_##name, words, shape)                                                             \
	X(PMPI_ALIAS, MPI, PMPI_##name, MPI_##name, words, shape)
/* Makes a communicator. */
#define MPI_CREATES(X, name, words, shape)									       \
	X(CREATES_HANDLE, MPI, MPI_##name, MPI_##name, words, shape)						       \
	X(PMPI_CREATES_HANDLE, MPI, PMPI_##name, MPI_##name, words, shape)
/* Also with 64-bit counts. Bindings call these by their first name, except for functions without a buffer. */
#define MPI_LARGE(X, name, words, shape)                                                                               \
	MPI(X, name, words, shape)                                                                                     \
	X(INT64_VARIANT, MPI, MPI_##name##_c, MPI_##name, words, shape)
#define MPI_LARGE_PMPI(X, name, words, shape)                                                                       \
	MPI_LARGE(X, name, words, shape)                                                                               \
	X(PMPI_INT64_VARIANT, MPI, PMPI_##name##_c, MPI_##name, words, shape)
/* A message: blocking, and non-blocking with a request as its last argument. */
#define MPI_BOTH(X, name, iname, words, iwords, shape)                                                                 \
	MPI_LARGE(X, name, words, shape) MPI_LARGE(X, iname, iwords, LATER(shape))
/* A collective: blocking, non-blocking, and persistent with an info before the request. */
#define MPI_ALL(X, name, iname, words, iwords, init_words, shape)                                                      \
	MPI_BOTH(X, name, iname, words, iwords, shape) MPI_LARGE(X, name##_init, init_words, LATER(shape))

#define HOOK_MPI(X)                                                                                                    \
	HOOK_MPI_LIFE(X) HOOK_MPI_MESSAGE(X) HOOK_MPI_WAIT(X) HOOK_MPI_COLLECTIVE(X) HOOK_MPI_WINDOW(X) HOOK_MPI_FILE(X)

#define HOOK_MPI_LIFE(X)                                                                                               \
	MPI_CREATES(X, Init, 2, MPI_WORLD)									       \
	MPI_CREATES(X, Init_thread, 4, MPI_WORLD)								       \
	MPI(X, Finalize, 1, NOTHING)                                                                                   \
	MPI(X, Abort, 2, NOTHING)                                                                                      \
	MPI_CREATES(X, Comm_dup, 2, MPI_NEW_2)									       \
	MPI_CREATES(X, Comm_idup, 3, MPI_LATER_2)								       \
	MPI_CREATES(X, Comm_split, 4, MPI_NEW_4)								       \
	MPI_CREATES(X, Comm_split_type, 5, MPI_NEW_5)								       \
	MPI_CREATES(X, Comm_create, 3, MPI_NEW_3)								       \
	MPI_CREATES(X, Comm_create_group, 4, MPI_NEW_4)								       \
	MPI(X, Comm_free, 1, NOTHING)                                                                                  \
	MPI_CREATES(X, Intercomm_create, 6, MPI_NEW_6)								       \
	MPI_CREATES(X, Intercomm_merge, 3, MPI_NEW_3)								       \
	MPI_CREATES(X, Comm_spawn, 8, MPI_ANEW_7)								       \
	MPI_CREATES(X, Comm_spawn_multiple, 9, MPI_ANEW_8)							       \
	MPI_CREATES(X, Comm_connect, 5, MPI_ANEW_5)								       \
	MPI_CREATES(X, Comm_accept, 5, MPI_ANEW_5)								       \
	MPI(X, Comm_disconnect, 1, NOTHING)                                                                            \
	MPI_CREATES(X, Cart_create, 6, MPI_NEW_6)								       \
	MPI_CREATES(X, Cart_sub, 3, MPI_NEW_3)									       \
	MPI_CREATES(X, Graph_create, 6, MPI_NEW_6)								       \
	MPI_CREATES(X, Dist_graph_create, 9, MPI_NEW_9)								       \
	MPI_CREATES(X, Dist_graph_create_adjacent, 10, MPI_NEW_10)						       \
	MPI(X, Session_init, 3, NOTHING)                                                                               \
	MPI(X, Session_finalize, 1, NOTHING)                                                                           \
	MPI_CREATES(X, Comm_create_from_group, 5, MPI_ANEW_5)							       \
	MPI_CREATES(X, Comm_dup_with_info, 3, MPI_NEW_3)							       \
	MPI_CREATES(X, Comm_idup_with_info, 4, MPI_LATER_3)							       \
	X(SET, MPI, MPI_Type_free, MPI_Type_free, 1, library_mpi_type_free)                                            \
	X(SET, MPI, PMPI_Type_free, MPI_Type_free, 1, library_mpi_type_free)

#define HOOK_MPI_MESSAGE(X)                                                                                            \
	MPI_BOTH(X, Send, Isend, 6, 7, MPI_POINT)                                                                      \
	MPI_BOTH(X, Bsend, Ibsend, 6, 7, MPI_POINT)                                                                    \
	MPI_BOTH(X, Ssend, Issend, 6, 7, MPI_POINT)                                                                    \
	MPI_BOTH(X, Rsend, Irsend, 6, 7, MPI_POINT)                                                                    \
	MPI_LARGE(X, Recv, 7, MPI_RECV)                                                                                \
	MPI_LARGE(X, Irecv, 7, LATER(MPI_POINT))                                                                       \
	MPI_LARGE(X, Send_init, 7, LATER(MPI_POINT))                                                                   \
	MPI_LARGE(X, Bsend_init, 7, LATER(MPI_POINT))                                                                  \
	MPI_LARGE(X, Ssend_init, 7, LATER(MPI_POINT))                                                                  \
	MPI_LARGE(X, Rsend_init, 7, LATER(MPI_POINT))                                                                  \
	MPI_LARGE(X, Recv_init, 7, LATER(MPI_POINT))                                                                   \
	MPI_LARGE(X, Sendrecv, 12, MPI_SENDRECV)                                                                       \
	MPI_LARGE(X, Isendrecv, 12, LATER(MPI_ISENDRECV))                                                              \
	MPI_LARGE(X, Sendrecv_replace, 9, MPI_REPLACE)                                                                 \
	MPI_LARGE(X, Isendrecv_replace, 9, LATER(MPI_IREPLACE))                                                        \
	MPI(X, Psend_init, 9, LATER(MPI_PARTITIONED))                                                                  \
	MPI(X, Precv_init, 9, LATER(MPI_PARTITIONED))                                                                  \
	MPI(X, Pready, 2, NOTHING)                                                                                     \
	MPI(X, Pready_range, 3, NOTHING)                                                                               \
	MPI(X, Pready_list, 3, NOTHING)                                                                                \
	MPI(X, Parrived, 3, NOTHING)                                                                                   \
	MPI(X, Probe, 4, MPI_PROBE)                                                                                    \
	MPI(X, Iprobe, 5, MPI_PROBE)                                                                                   \
	MPI(X, Mprobe, 5, MPI_PROBE)                                                                                   \
	MPI(X, Improbe, 6, MPI_PROBE)                                                                                  \
	MPI_LARGE(X, Mrecv, 5, MPI_COUNT_TYPE)                                                                         \
	MPI_LARGE(X, Imrecv, 5, LATER(MPI_COUNT_TYPE))                                                                 \
	MPI_LARGE(X, Pack, 7, MPI_COUNT_TYPE)                                                                          \
	MPI_LARGE(X, Unpack, 7, MPI_UNPACK)                                                                            \
	MPI_LARGE_PMPI(X, Buffer_attach, 2, NOTHING)                                                                \
	MPI_LARGE_PMPI(X, Buffer_detach, 2, NOTHING)

#define HOOK_MPI_WAIT(X)                                                                                               \
	MPI(X, Start, 1, LATER(NOTHING))                                                                               \
	MPI(X, Startall, 2, LATER(MPI_REQUESTS))                                                                       \
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
	MPI(X, Barrier, 1, MPI_COMM_1)                                                                                 \
	MPI(X, Ibarrier, 2, LATER(MPI_COMM_1))                                                                         \
	MPI(X, Barrier_init, 3, LATER(MPI_COMM_1))                                                                     \
	MPI_ALL(X, Bcast, Ibcast, 5, 6, 7, MPI_BCAST)                                                                  \
	MPI_ALL(X, Gather, Igather, 8, 9, 10, MPI_GATHER)                                                              \
	MPI_ALL(X, Gatherv, Igatherv, 9, 10, 11, MPI_GATHERV)                                                          \
	MPI_ALL(X, Scatter, Iscatter, 8, 9, 10, MPI_SCATTER)                                                           \
	MPI_ALL(X, Scatterv, Iscatterv, 9, 10, 11, MPI_SCATTERV)                                                       \
	MPI_ALL(X, Allgather, Iallgather, 7, 8, 9, MPI_ALLGATHER)                                                      \
	MPI_ALL(X, Allgatherv, Iallgatherv, 8, 9, 10, MPI_ALLGATHERV)                                                  \
	MPI_ALL(X, Alltoall, Ialltoall, 7, 8, 9, MPI_ALLTOALL)                                                         \
	MPI_ALL(X, Alltoallv, Ialltoallv, 9, 10, 11, MPI_ALLTOALLV)                                                    \
	MPI_ALL(X, Alltoallw, Ialltoallw, 9, 10, 11, MPI_ALLTOALLW)                                                    \
	MPI_ALL(X, Reduce, Ireduce, 7, 8, 9, MPI_REDUCE)                                                               \
	MPI_ALL(X, Allreduce, Iallreduce, 6, 7, 8, MPI_ALLREDUCE)                                                      \
	MPI_ALL(X, Reduce_scatter, Ireduce_scatter, 6, 7, 8, MPI_REDUCE_SCATTER)                                       \
	MPI_ALL(X, Reduce_scatter_block, Ireduce_scatter_block, 6, 7, 8, MPI_REDUCE_BLOCK)                             \
	MPI_ALL(X, Scan, Iscan, 6, 7, 8, MPI_ALLREDUCE)                                                                \
	MPI_ALL(X, Exscan, Iexscan, 6, 7, 8, MPI_ALLREDUCE)                                                            \
	MPI_ALL(X, Neighbor_allgather, Ineighbor_allgather, 7, 8, 9, MPI_NEIGHBOR_7)                                   \
	MPI_ALL(X, Neighbor_allgatherv, Ineighbor_allgatherv, 8, 9, 10, MPI_NEIGHBOR_8)                                \
	MPI_ALL(X, Neighbor_alltoall, Ineighbor_alltoall, 7, 8, 9, MPI_NEIGHBOR_ALL)                                   \
	MPI_ALL(X, Neighbor_alltoallv, Ineighbor_alltoallv, 9, 10, 11, MPI_NEIGHBOR_ALLV)                              \
	MPI_ALL(X, Neighbor_alltoallw, Ineighbor_alltoallw, 9, 10, 11, MPI_NEIGHBOR_ALLW)                              \
	MPI_LARGE(X, Reduce_local, 5, NOTHING)

#define HOOK_MPI_WINDOW(X)                                                                                             \
	MPI_LARGE(X, Win_create, 6, NOTHING)                                                                           \
	MPI_LARGE_PMPI(X, Win_allocate, 6, NOTHING)                                                                 \
	MPI_LARGE_PMPI(X, Win_allocate_shared, 6, NOTHING)                                                          \
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
	MPI(X, Win_flush_local_all, 1, NOTHING)                                                                        \
	MPI(X, Win_sync, 1, NOTHING)                                                                                   \
	MPI_LARGE(X, Put, 8, MPI_REMOTE)                                                                               \
	MPI_LARGE(X, Get, 8, MPI_REMOTE)                                                                               \
	MPI_LARGE(X, Accumulate, 9, MPI_REMOTE)                                                                        \
	MPI_LARGE(X, Rput, 9, MPI_REMOTE)                                                                              \
	MPI_LARGE(X, Rget, 9, MPI_REMOTE)                                                                              \
	MPI_LARGE(X, Raccumulate, 10, MPI_REMOTE)                                                                      \
	MPI_LARGE(X, Get_accumulate, 12, MPI_GET_ACCUMULATE)                                                           \
	MPI_LARGE(X, Rget_accumulate, 13, MPI_GET_ACCUMULATE)                                                          \
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
	MPI(X, File_seek_shared, 3, NOTHING)                                                                           \
	MPI(X, File_set_info, 2, NOTHING)                                                                              \
	MPI(X, File_set_atomicity, 2, NOTHING)                                                                         \
	MPI_LARGE(X, File_read_all_begin, 4, MPI_FILE)                                                                \
	MPI(X, File_read_all_end, 3, NOTHING)                                                                          \
	MPI_LARGE(X, File_read_at_all_begin, 5, MPI_FILE_AT)                                                          \
	MPI(X, File_read_at_all_end, 3, NOTHING)                                                                       \
	MPI_LARGE(X, File_read_ordered_begin, 4, MPI_FILE)                                                            \
	MPI(X, File_read_ordered_end, 3, NOTHING)                                                                      \
	MPI_LARGE(X, File_write_all_begin, 4, MPI_FILE)                                                               \
	MPI(X, File_write_all_end, 3, NOTHING)                                                                         \
	MPI_LARGE(X, File_write_at_all_begin, 5, MPI_FILE_AT)                                                         \
	MPI(X, File_write_at_all_end, 3, NOTHING)                                                                      \
	MPI_LARGE(X, File_write_ordered_begin, 4, MPI_FILE)                                                           \
	MPI(X, File_write_ordered_end, 3, NOTHING)                                                                     \
	MPI_LARGE(X, File_read, 5, MPI_FILE)                                                                           \
	MPI_LARGE(X, File_read_all, 5, MPI_FILE)                                                                       \
	MPI_LARGE(X, File_read_shared, 5, MPI_FILE)                                                                    \
	MPI_LARGE(X, File_read_ordered, 5, MPI_FILE)                                                                   \
	MPI_LARGE(X, File_read_at, 6, MPI_FILE_AT)                                                                     \
	MPI_LARGE(X, File_read_at_all, 6, MPI_FILE_AT)                                                                 \
	MPI_LARGE(X, File_iread, 5, MPI_FILE)                                                                          \
	MPI_LARGE(X, File_iread_all, 5, MPI_FILE)                                                                      \
	MPI_LARGE(X, File_iread_shared, 5, MPI_FILE)                                                                   \
	MPI_LARGE(X, File_iread_at, 6, MPI_FILE_AT)                                                                    \
	MPI_LARGE(X, File_iread_at_all, 6, MPI_FILE_AT)                                                                \
	MPI_LARGE(X, File_write, 5, MPI_FILE)                                                                          \
	MPI_LARGE(X, File_write_all, 5, MPI_FILE)                                                                      \
	MPI_LARGE(X, File_write_shared, 5, MPI_FILE)                                                                   \
	MPI_LARGE(X, File_write_ordered, 5, MPI_FILE)                                                                  \
	MPI_LARGE(X, File_write_at, 6, MPI_FILE_AT)                                                                    \
	MPI_LARGE(X, File_write_at_all, 6, MPI_FILE_AT)                                                                \
	MPI_LARGE(X, File_iwrite, 5, MPI_FILE)                                                                         \
	MPI_LARGE(X, File_iwrite_all, 5, MPI_FILE)                                                                     \
	MPI_LARGE(X, File_iwrite_shared, 5, MPI_FILE)                                                                  \
	MPI_LARGE(X, File_iwrite_at, 6, MPI_FILE_AT)                                                                   \
	MPI_LARGE(X, File_iwrite_at_all, 6, MPI_FILE_AT)

#define SHAPES_MPI(S)                                                                                                  \
	S(MPI_COMM_1, KEY_NONE, COMMUNICATOR(1))                                                                       \
	S(MPI_WORLD, KEY_WORLD)                                                                                        \
	S(MPI_NEW_2, KEY_COMMUNICATOR(2), COMMUNICATOR(1))                                                             \
	S(MPI_NEW_3, KEY_COMMUNICATOR(3), COMMUNICATOR(1))                                                             \
	S(MPI_NEW_4, KEY_COMMUNICATOR(4), COMMUNICATOR(1))                                                             \
	S(MPI_NEW_5, KEY_COMMUNICATOR(5), COMMUNICATOR(1))                                                             \
	S(MPI_NEW_6, KEY_COMMUNICATOR(6), COMMUNICATOR(1))                                                             \
	S(MPI_NEW_9, KEY_COMMUNICATOR(9), COMMUNICATOR(1))                                                             \
	S(MPI_NEW_10, KEY_COMMUNICATOR(10), COMMUNICATOR(1))                                                           \
	S(MPI_LATER_2, KEY_COMMUNICATOR_LATER(2), COMMUNICATOR(1))                                                     \
	S(MPI_LATER_3, KEY_COMMUNICATOR_LATER(3), COMMUNICATOR(1))                                                     \
	S(MPI_ANEW_5, KEY_COMMUNICATOR(5))                                                                             \
	S(MPI_ANEW_7, KEY_COMMUNICATOR(7))                                                                             \
	S(MPI_ANEW_8, KEY_COMMUNICATOR(8))                                                                             \
	S(MPI_POINT, KEY_NONE, INT(COUNT, 2), BYTES(3), ENUM(PEER, 4), ENUM(TAG, 5), COMMUNICATOR(6))                  \
	S(MPI_SENDRECV, KEY_NONE, INT(COUNT, 2), BYTES(3), ENUM(PEER, 4), ENUM(TAG, 5), SOURCE_B(9, 12),               \
	  SOURCE_TAG_B(10, 12), COMMUNICATOR(11))                                                                      \
	S(MPI_REPLACE, KEY_NONE, INT(COUNT, 2), BYTES(3), ENUM(PEER, 4), ENUM(TAG, 5), SOURCE_B(6, 9),                 \
	  SOURCE_TAG_B(7, 9), COMMUNICATOR(8))                                                                         \
	S(MPI_ISENDRECV, KEY_NONE, INT(COUNT, 2), BYTES(3), ENUM(PEER, 4), ENUM(TAG, 5), ENUM_B(PEER, 9),              \
	  ENUM_B(TAG, 10), COMMUNICATOR(11))                                                                           \
	S(MPI_IREPLACE, KEY_NONE, INT(COUNT, 2), BYTES(3), ENUM(PEER, 4), ENUM(TAG, 5), ENUM_B(PEER, 6),               \
	  ENUM_B(TAG, 7), COMMUNICATOR(8))                                                                             \
	S(MPI_RECV, KEY_NONE, INT(COUNT, 2), BYTES(3), SOURCE(4, 7), SOURCE_TAG(5, 7), COMMUNICATOR(6))                \
	S(MPI_PARTITIONED, KEY_NONE, BUFFER(PARTITIONED), ENUM(PEER, 5), ENUM(TAG, 6), COMMUNICATOR(7))                \
	S(MPI_UNPACK, KEY_NONE, INT(COUNT, 5), BYTES(6))                                                               \
	S(MPI_PROBE, KEY_NONE, ENUM(PEER, 1), ENUM(TAG, 2), COMMUNICATOR(3))                                           \
	S(MPI_COUNT_TYPE, KEY_NONE, INT(COUNT, 2), BYTES(3))                                                           \
	S(MPI_REQUESTS, KEY_NONE, ENUM(BATCH, 1))                                                                      \
	S(MPI_BCAST, KEY_NONE, BUFFER(BCAST), ENUM(PEER, 4), COMMUNICATOR(5))                                          \
	S(MPI_GATHER, KEY_NONE, BUFFER(GATHER), ENUM(PEER, 7), COMMUNICATOR(8))                                        \
	S(MPI_GATHERV, KEY_NONE, BUFFER(GATHERV), ENUM(PEER, 8), COMMUNICATOR(9))                                      \
	S(MPI_SCATTER, KEY_NONE, BUFFER(SCATTER), ENUM(PEER, 7), COMMUNICATOR(8))                                      \
	S(MPI_SCATTERV, KEY_NONE, BUFFER(SCATTERV), ENUM(PEER, 8), COMMUNICATOR(9))                                    \
	S(MPI_ALLGATHER, KEY_NONE, BUFFER(ALLGATHER), COMMUNICATOR(7))                                                 \
	S(MPI_ALLGATHERV, KEY_NONE, BUFFER(ALLGATHERV), COMMUNICATOR(8))                                               \
	S(MPI_ALLTOALL, KEY_NONE, BUFFER(ALLTOALL), COMMUNICATOR(7))                                                   \
	S(MPI_ALLTOALLV, KEY_NONE, BUFFER(ALLTOALLV), COMMUNICATOR(9))                                                 \
	S(MPI_ALLTOALLW, KEY_NONE, BUFFER(ALLTOALLW), COMMUNICATOR(9))                                                 \
	S(MPI_REDUCE_SCATTER, KEY_NONE, BUFFER(REDUCE_SCATTER), COMMUNICATOR(6))                                       \
	S(MPI_REDUCE_BLOCK, KEY_NONE, BUFFER(REDUCE_BLOCK), COMMUNICATOR(6))                                           \
	S(MPI_NEIGHBOR_7, KEY_NONE, INT(COUNT, 2), BYTES(3), COMMUNICATOR(7))                                          \
	S(MPI_NEIGHBOR_8, KEY_NONE, INT(COUNT, 2), BYTES(3), COMMUNICATOR(8))                                          \
	S(MPI_NEIGHBOR_ALL, KEY_NONE, BUFFER(NEIGHBOR_ALL), COMMUNICATOR(7))                                           \
	S(MPI_NEIGHBOR_ALLV, KEY_NONE, BUFFER(NEIGHBOR_ALLV), COMMUNICATOR(9))                                         \
	S(MPI_NEIGHBOR_ALLW, KEY_NONE, BUFFER(NEIGHBOR_ALLW), COMMUNICATOR(9))                                         \
	S(MPI_REDUCE, KEY_NONE, BUFFER(REDUCE), ENUM(PEER, 6), COMMUNICATOR(7))                                        \
	S(MPI_ALLREDUCE, KEY_NONE, INT(COUNT, 3), BYTES(4), COMMUNICATOR(6))                                           \
	S(MPI_LOCK, KEY_NONE, ENUM(PEER, 2))                                                                           \
	S(MPI_UNLOCK, KEY_NONE, ENUM(PEER, 1))                                                                         \
	S(MPI_REMOTE, KEY_NONE, INT(COUNT, 2), BYTES(3), ENUM(PEER, 4))                                                \
	S(MPI_GET_ACCUMULATE, KEY_NONE, INT(COUNT, 5), BYTES(6), ENUM(PEER, 7))                                        \
	S(MPI_FETCH, KEY_NONE, BUFFER(FETCH), ENUM(PEER, 4))                                                           \
	S(MPI_COMPARE, KEY_NONE, BUFFER(COMPARE), ENUM(PEER, 5))                                                       \
	S(MPI_FILE, KEY_NONE, INT(COUNT, 3), BYTES(4))                                                                 \
	S(MPI_FILE_AT, KEY_NONE, INT(COUNT, 4), BYTES(5))
