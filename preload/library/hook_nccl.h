/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL, and RCCL, which has the same names. See hook_library.h. A call between ncclGroupStart and ncclGroupEnd is only
 * queued: ncclGroupEnd takes the time. */
#pragma once

#define NCCL(X, name, words, shape) X(CALL, NCCL, name, name, words, shape)

/* Since NCCL 2.32 each collective exists a second time, with a configuration as its last parameter. */
#define NCCL_COLLECTIVE(X, name, words, shape)                                                                         \
	NCCL(X, name, words, shape) X(CALL, NCCL, name##Config, name##Config, (words) + 1, shape)

/* The unique id is 128 bytes by value: on x86-64 16 words of stack, after the six words in registers; on aarch64 the
 * address of a copy. */
#if defined(__x86_64__)
#define NCCL_WITH_ID(words) 22
#else
#define NCCL_WITH_ID(words) words
#endif

#define HOOK_NCCL(X)                                                                                                   \
	/* communicators */                                                                                            \
	X(OWN, NCCL, ncclCommInitRank, ncclCommInitRank, NCCL_WITH_ID(4), library_nccl_init)                           \
	X(OWN, NCCL, ncclCommInitRankConfig, ncclCommInitRankConfig, NCCL_WITH_ID(5), library_nccl_init)               \
	X(OWN, NCCL, ncclCommInitAll, ncclCommInitAll, 3, library_nccl_init_all)                                       \
	X(OWN, NCCL, ncclCommInitRankScalable, ncclCommInitRankScalable, 6, library_nccl_init_scalable)                \
	X(OWN, NCCL, ncclCommSplit, ncclCommSplit, 5, library_nccl_split)                                              \
	X(OWN, NCCL, ncclCommShrink, ncclCommShrink, 6, library_nccl_shrink)                                           \
	X(OWN, NCCL, ncclCommGrow, ncclCommGrow, 6, library_nccl_grow)                                                 \
	NCCL(X, ncclGetUniqueId, 1, NOTHING)                                                                           \
	NCCL(X, ncclCommFinalize, 1, NCCL_COMMUNICATOR)                                                                \
	NCCL(X, ncclCommDestroy, 1, NCCL_COMMUNICATOR)                                                                 \
	NCCL(X, ncclCommAbort, 1, NCCL_COMMUNICATOR)                                                                   \
	NCCL(X, ncclCommRevoke, 2, NCCL_COMMUNICATOR)                                                                  \
	NCCL(X, ncclCommSuspend, 2, NCCL_COMMUNICATOR)                                                                 \
	NCCL(X, ncclCommResume, 1, NCCL_COMMUNICATOR)                                                                  \
	NCCL(X, ncclCommRegister, 4, NCCL_COMMUNICATOR)                                                                \
	NCCL(X, ncclCommDeregister, 2, NCCL_COMMUNICATOR)                                                              \
	NCCL(X, ncclCommWindowRegister, 5, NCCL_COMMUNICATOR)                                                          \
	NCCL(X, ncclCommWindowDeregister, 2, NCCL_COMMUNICATOR)                                                        \
	NCCL(X, ncclMemAlloc, 2, NOTHING)                                                                              \
	NCCL(X, ncclMemFree, 1, NOTHING)                                                                               \
	NCCL(X, ncclRedOpCreatePreMulSum, 5, NOTHING)                                                                  \
	NCCL(X, ncclGroupStart, 1, NOTHING)                                                                            \
	NCCL(X, ncclGroupEnd, 1, NOTHING)                                                                              \
	/* messages */                                                                                                 \
	NCCL_COLLECTIVE(X, ncclAllReduce, 7, NCCL_REDUCE_ALL)                                                          \
	NCCL_COLLECTIVE(X, ncclReduceScatter, 7, NCCL_REDUCE_ALL)                                                      \
	NCCL_COLLECTIVE(X, ncclReduce, 8, NCCL_REDUCE_ROOT)                                                            \
	NCCL_COLLECTIVE(X, ncclBroadcast, 7, NCCL_ROOTED)                                                              \
	NCCL_COLLECTIVE(X, ncclGather, 7, NCCL_ROOTED)                                                                 \
	NCCL_COLLECTIVE(X, ncclScatter, 7, NCCL_ROOTED)                                                                \
	NCCL(X, ncclBcast, 6, NCCL_PEER)                                                                               \
	NCCL_COLLECTIVE(X, ncclAllGather, 6, NCCL_ALL)                                                                 \
	NCCL_COLLECTIVE(X, ncclAlltoAll, 6, NCCL_ALL)                                                                  \
	NCCL(X, ncclSend, 6, NCCL_PEER)                                                                                \
	NCCL(X, ncclRecv, 6, NCCL_PEER)                                                                                \
	NCCL(X, ncclPutSignal, 11, NCCL_PUT)                                                                           \
	NCCL(X, ncclSignal, 6, NCCL_SIGNAL)                                                                            \
	NCCL(X, ncclWaitSignal, 4, NCCL_WAIT)

#define SHAPES_NCCL(S)                                                                                                 \
	S(NCCL_COMMUNICATOR, KEY_NONE, WIDE(COMMUNICATOR, 1), OF(NONE, 1))                                             \
	S(NCCL_REDUCE_ALL, KEY_NONE, WIDE(COUNT, 3), ENUM(TYPE, 4), ENUM(REDUCTION, 5), WIDE(COMMUNICATOR, 6),         \
	  OF(NONE, 6))                                                                                                 \
	S(NCCL_REDUCE_ROOT, KEY_NONE, WIDE(COUNT, 3), ENUM(TYPE, 4), ENUM(REDUCTION, 5), ENUM(PEER, 6),                \
	  WIDE(COMMUNICATOR, 7), OF(NONE, 7))                                                                          \
	S(NCCL_ROOTED, KEY_NONE, WIDE(COUNT, 3), ENUM(TYPE, 4), ENUM(PEER, 5), WIDE(COMMUNICATOR, 6), OF(NONE, 6))     \
	S(NCCL_ALL, KEY_NONE, WIDE(COUNT, 3), ENUM(TYPE, 4), WIDE(COMMUNICATOR, 5), OF(NONE, 5))                       \
	S(NCCL_PEER, KEY_NONE, WIDE(COUNT, 2), ENUM(TYPE, 3), ENUM(PEER, 4), WIDE(COMMUNICATOR, 5), OF(NONE, 5))       \
	S(NCCL_PUT, KEY_NONE, WIDE(COUNT, 2), ENUM(TYPE, 3), ENUM(PEER, 4), WIDE(COMMUNICATOR, 10), OF(NONE, 10))      \
	S(NCCL_SIGNAL, KEY_NONE, ENUM(PEER, 1), WIDE(COMMUNICATOR, 5), OF(NONE, 5))                                    \
	S(NCCL_WAIT, KEY_NONE, WIDE(COMMUNICATOR, 3), OF(NONE, 3))
