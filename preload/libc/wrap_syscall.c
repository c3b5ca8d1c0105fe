/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that are made by syscall(), as libstdc++, Rust and liburing do for want of a function. Entered by a jump from
 * the thunk, so the arguments lie where the program put them; the last ones may be whatever happened to lie there. */
#include <sys/syscall.h>

#include "preload/hook/hook.h"

#define RAW(symbol, record)                                                                                            \
	__attribute__((visibility("hidden"))) long wrap_syscall_##symbol(long number, long a, long b, long c, long d, long e, long f) \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		long result;                                                                                           \
                                                                                                                       \
		HOOK_TIME(((long (*)(long, ...))(void *)real_syscall)(number, a, b, c, d, e, f), record);              \
		return result;                                                                                         \
	}

RAW(futex, VALUE(b & 0xff))
RAW(io_uring_enter, FD((int)a))
RAW(membarrier, NOTHING)

/* ---- not recorded, but descriptors go ---- */

#define FORGET(symbol, what)                                                                                           \
	__attribute__((visibility("hidden"))) long wrap_syscall_##symbol(long number, long a, long b, long c, long d, long e, long f) \
	{                                                                                                              \
		what;                                                                                                  \
		return ((long (*)(long, ...))(void *)real_syscall)(number, a, b, c, d, e, f);                          \
	}

FORGET(close, descriptor_forget((int)a))
FORGET(close_range, descriptor_forget_range((unsigned)a, (unsigned)b))
FORGET(dup, descriptor_forget((int)b)) /* dup2, dup3 */
