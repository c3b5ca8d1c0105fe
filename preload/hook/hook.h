/* SPDX-License-Identifier: Apache-2.0 */
/* Generated from the hook table for the wrappers: ids, the real functions, and how a call is recorded. */
#pragma once

#include <features.h>
/* Headers must not replace the names of scanf's family by those of one ISO C, since all of them have rows. */
#undef __GLIBC_USE_DEPRECATED_SCANF
#define __GLIBC_USE_DEPRECATED_SCANF 1
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "runtime/recorder/record/descriptor.h"
#include "runtime/recorder/record/directory.h"
#include "runtime/recorder/record/traffic.h"
#include "preload/hook/call.h"
#include "preload/hook/hook_table.h"
#include "preload/hook/path.h"
#include "preload/hook/stream.h"
#include "preload/hook/wait.h"
#include "runtime/recorder/stack/sample_mask.h"
#include "runtime/recorder/stack/stack.h"

#define HOOK_EXPORT __attribute__((visibility("default")))

typedef int status_t; /* see hook_libc.h */

/* `second`, `third`, ...: or what a macro has behind commas, if the first argument is one. */
#define HOOK_SECOND(...) HOOK_SECOND_(__VA_ARGS__)
#define HOOK_SECOND_(first, second, ...) second
#define HOOK_THIRD(...) HOOK_THIRD_(__VA_ARGS__)
#define HOOK_THIRD_(first, second, third, ...) third
#define HOOK_FOURTH(...) HOOK_FOURTH_(__VA_ARGS__)
#define HOOK_FOURTH_(first, second, third, fourth, ...) fourth
#define HOOK_NOT(...)
#define HOOK_KEEP(...) __VA_ARGS__

/* A variant (TIMED_AS, ...) has the id of the function as which it is reported. The id of any other row in the trace is
 * its position in the table without the variants. */
#define HOOK_VARIANT_TIMED_AS(name) , HOOK_NOT, HOOK_KEEP, HOOK_##name
#define HOOK_VARIANT_OWN_AS HOOK_VARIANT_TIMED_AS
#define HOOK_VARIANT_NAKED_AS HOOK_VARIANT_TIMED_AS
#define HOOK_VARIANT_ALIAS_AS HOOK_VARIANT_TIMED_AS
#define HOOK_UNLESS_VARIANT(kind, macro) HOOK_SECOND(HOOK_VARIANT_##kind, macro, )
#define HOOK_IF_VARIANT(kind) HOOK_THIRD(HOOK_VARIANT_##kind, , HOOK_NOT, )
#define HOOK_VARIANT_ID(kind) HOOK_FOURTH(HOOK_VARIANT_##kind, , , , )
#define HOOK_ID(symbol) HOOK_##symbol,
#define HOOK_ENUM_LIBC(kind, returns, symbol, ...) HOOK_UNLESS_VARIANT(kind, HOOK_ID)(symbol)
#define HOOK_ENUM(kind, returns, symbol, ...) HOOK_##symbol,
#define HOOK_ENUM_LIBRARY(kind, group, symbol, name, ...) LIBRARY_IF_RECORDED(kind, HOOK_##name,)
enum hook_id {
	HOOK_LIBC(HOOK_ENUM_LIBC)
	HOOK_LIBC_COUNT, /* libc's ids are the first ones */
	HOOK_LIBC_LAST = HOOK_LIBC_COUNT - 1,
	HOOK_CUDART(HOOK_ENUM)
	HOOK_CUDA(HOOK_ENUM)
	HOOK_LIBRARY(HOOK_ENUM_LIBRARY)
	HOOK_COUNT
};
#undef HOOK_ENUM
#undef HOOK_ENUM_LIBC
_Static_assert(HOOK_COUNT < 1 << 11, "an id has 11 bits in a slot");

#define HOOK_ENUM_VARIANT(kind, returns, symbol, ...) HOOK_IF_VARIANT(kind)(HOOK_##symbol = HOOK_VARIANT_ID(kind),)
enum hook_variant { HOOK_LIBC(HOOK_ENUM_VARIANT) HOOK_VARIANT_END };
#undef HOOK_ENUM_VARIANT

/* Several symbols of a library may share an id; these numbers distinguish them. */
#define HOOK_PLACE(kind, group, symbol, ...) HOOK_PLACE_##symbol,
enum { HOOK_PLACES = HOOK_COUNT - 1, HOOK_LIBRARY(HOOK_PLACE) HOOK_PLACE_END };
#undef HOOK_PLACE
#define HOOK_ONE(...) +1
enum { HOOK_LIBRARY_COUNT = HOOK_PLACE_END - HOOK_COUNT };
enum { HOOK_CUDA_COUNT = 0 HOOK_CUDA(HOOK_ONE), HOOK_CUDA_FIRST = HOOK_LIBC_COUNT HOOK_CUDART(HOOK_ONE) };
#undef HOOK_ONE

/* real_<symbol>: libc's function, or that of the next interposer; resolved at the first call. A function that this libc
 * does not have fails with ENOSYS. wrap_<symbol>: the body of an OWN row. */
#define HOOK_DECLARE(kind, returns, symbol, parameters, arguments, record)                                             \
	extern returns(*real_##symbol) parameters __attribute__((visibility("hidden")));                               \
	HOOK_SECOND(HOOK_DECLARE_##kind, HOOK_NOT, )(returns, symbol, parameters)
#define HOOK_DECLARE_OWN , HOOK_DECLARE_WRAP
#define HOOK_DECLARE_OWN_AS(name) , HOOK_DECLARE_WRAP
#define HOOK_DECLARE_WRAP(returns, symbol, parameters) returns wrap_##symbol parameters ALIGNS_STACK;
HOOK_LIBC(HOOK_DECLARE)
#undef HOOK_DECLARE

/* Resolves syscall(), to which a thunk jumps. Called at start, and by a call that occurs before. */
void hook_resolve(void) ALIGNS_STACK;
extern bool hook_is_resolved; /* read by the thunk */

/* The names of all rows, by id. An object that also records OpenMP has a table with more names. */
extern const struct function_table hook_functions;
extern const struct function_table hook_functions_openmp __attribute__((weak)) HIDDEN;
static inline const struct function_table *hook_function_table(void)
{
	return &hook_functions_openmp ? &hook_functions_openmp : &hook_functions;
}
