/* SPDX-License-Identifier: Apache-2.0 */
/* What the hook table gives to wrappers: ids, the real functions, and how a call is recorded. */
#ifndef PILLION_HOOK_H
#define PILLION_HOOK_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "../runtime/event.h"
#include "../runtime/stack.h"
#include "hook_table.h"

#define HOOK_EXPORT __attribute__((visibility("default")))

/* Position in the table = id in the trace. */
#define HOOK_ENUM(kind, returns, symbol, ...) HOOK_##symbol,
#define HOOK_ENUM_LIBRARY(kind, group, symbol, name, ...) LIBRARY_IF_RECORDED(kind, HOOK_##name,)
enum hook_id {
	HOOK_LIBC(HOOK_ENUM)
	HOOK_CUDART(HOOK_ENUM)
	HOOK_CUDA(HOOK_ENUM)
	HOOK_LIBRARY(HOOK_ENUM_LIBRARY)
	HOOK_COUNT
};
#undef HOOK_ENUM
_Static_assert(HOOK_COUNT < 1 << 11, "a slot has room for that many ids");

/* Several symbols may share a library's id: these tell them apart. */
#define HOOK_PLACE(kind, group, symbol, ...) HOOK_PLACE_##symbol,
enum { HOOK_PLACES = HOOK_COUNT - 1, HOOK_LIBRARY(HOOK_PLACE) };
#undef HOOK_PLACE
#define HOOK_ONE(...) +1
enum { HOOK_LIBC_COUNT = 0 HOOK_LIBC(HOOK_ONE) }; /* their ids come first */
enum { HOOK_CUDA_COUNT = 0 HOOK_CUDA(HOOK_ONE), HOOK_CUDA_FIRST = HOOK_LIBC_COUNT HOOK_CUDART(HOOK_ONE) };
#undef HOOK_ONE

/* real_<symbol>: libc's own, or the next interposer's; resolves itself at the first call. A function that this libc does
 * not have fails with ENOSYS. wrap_<symbol>: bodies of the OWN rows. */
#define HOOK_DECLARE(kind, returns, symbol, parameters, arguments, record)                                             \
	extern returns(*real_##symbol) parameters __attribute__((visibility("hidden")));                               \
	HOOK_DECLARE_##kind(returns, symbol, parameters)
#define HOOK_DECLARE_TIMED(returns, symbol, parameters)
#define HOOK_DECLARE_NAKED(returns, symbol, parameters)
#define HOOK_DECLARE_REAL(returns, symbol, parameters)
#define HOOK_DECLARE_OWN(returns, symbol, parameters) returns wrap_##symbol parameters;
HOOK_LIBC(HOOK_DECLARE)
#undef HOOK_DECLARE

/* Resolves every libc row, once; early calls find it done or do it. */
void hook_resolve(void);
extern bool hook_is_resolved; /* read by the thunk of syscall() */

/* Hands the names of the table to the trace. */
void hook_init(void);

/* TF_ARG_FD of a call that returned `result`, errno still being its own. */
static inline uint64_t hook_fd_arg(int fd, int64_t result)
{
	if (result == -1)
		result = -(int64_t)errno;
	else if (result > INT32_MAX)
		result = INT32_MAX;
	return tf_arg(TF_ARG_FD, 0, (uint64_t)(fd < 0 || fd > 0xfffe ? 0xffff : fd) | (uint64_t)(uint32_t)result << 16);
}

/* Times `call` into `result` and records it with what the row's `record` says; where it is not wanted, the function
 * returns from here. HOOK_CURRENT is the row's id. */
#define HOOK_TIME(call, record)                                                                                        \
	do {                                                                                                           \
		struct event event_;                                                                                   \
                                                                                                                       \
		if (!event_wanted(TF_GROUP_OSRT) || !event_begin(&event_, HOOK_CURRENT))                               \
			return call;                                                                                   \
		result = call;                                                                                         \
		if (event_end(&event_, HOOK_CURRENT, process_osrt_threshold))                                          \
			HOOK_RECORD_##record;                                                                          \
	} while (0)

#define HOOK_RECORD_ARG(arg) event_record(&event_, HOOK_CURRENT, process_osrt_backtrace, (uint64_t[]){arg}, 1)
#define HOOK_RECORD_NOTHING event_record(&event_, HOOK_CURRENT, process_osrt_backtrace, NULL, 0)
#define HOOK_RECORD_FD(fd) HOOK_RECORD_ARG(hook_fd_arg((fd), (int64_t)result))
#define HOOK_RECORD_BYTES(bytes) HOOK_RECORD_ARG(tf_arg(TF_ARG_BYTES, 0, (uint64_t)(bytes)))
/* Memory managers call these in the midst of their work. */
#define HOOK_RECORD_MEMORY(bytes)                                                                                      \
	do {                                                                                                           \
		event_.frame |= STACK_NATIVE_ONLY;                                                                     \
		HOOK_RECORD_BYTES(bytes);                                                                              \
	} while (0)
#define HOOK_RECORD_VALUE(number) HOOK_RECORD_ARG(tf_arg(TF_ARG_VALUE, 0, (uint64_t)(number)))

#endif
