/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that libstdc++, Rust and liburing make by syscall(), because libc has no function for them. Entered by a
 * jump from syscall_<architecture>.S, so the arguments are where the program put them; those that it did not pass are
 * undefined. */

#include "runtime/recorder/stack/altstack.h"
#include "runtime/recorder/stack/sample.h"
#include "runtime/recorder/stack/sample_mask.h"
#include "preload/hook/hook_record.h"
#include "preload/libc/wrap_signal.h"

/* Entered from syscall_<architecture>.S. */
#define SYSCALL(symbol)                                                                                                \
	HIDDEN ALIGNS_STACK long wrap_syscall_##symbol(long number, long a, long b, long c, long d, long e, long f)

#define RAW(symbol, record)                                                                                            \
	SYSCALL(symbol);                                                                                               \
	SYSCALL(symbol)                                                                                                \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		long result;                                                                                           \
                                                                                                                       \
		HOOK_TIME(((long (*)(long, ...))(void *)real_syscall)(number, a, b, c, d, e, f), record);              \
		return result;                                                                                         \
	}

RAW(futex, FUTEX((void *)a, b, c))
RAW(membarrier, NOTHING)

/* A sample would end a wait for events, so its signal is blocked meanwhile. */
static long ring_enter(long number, long ring, long submitted, long wanted, long flags, long e, long f)
{
	enum { GET_EVENTS = 1 }; /* IORING_ENTER_GETEVENTS */
	uint64_t hidden = (unsigned)wanted && flags & GET_EVENTS ? sample_mask_block() : 0;
	long result = ((long (*)(long, ...))(void *)real_syscall)(number, ring, submitted, wanted, flags, e, f);

	sample_mask_unblock(hidden);
	return result;
}

SYSCALL(io_uring_enter);
SYSCALL(io_uring_enter)
{
	enum { HOOK_CURRENT = HOOK_io_uring_enter };
	long result;

	HOOK_TIME(ring_enter(number, a, b, c, d, e, f), FD((int)a));
	return result;
}

/* ---- not recorded ---- */

#define BEFORE(symbol, what)                                                                                       \
	SYSCALL(symbol);                                                                                               \
	SYSCALL(symbol)                                                                                                \
	{                                                                                                              \
		what;                                                                                                  \
		return ((long (*)(long, ...))(void *)real_syscall)(number, a, b, c, d, e, f);                          \
	}

BEFORE(close, descriptor_invalidate((int)a))
BEFORE(close_range, descriptor_invalidate_range((unsigned)a, (unsigned)b))
BEFORE(dup, descriptor_invalidate((int)b)) /* dup2, dup3 */

/* ---- signals and timers, as in wrap_signal.c ---- */

BEFORE(setitimer, leave_interval_timer((int)a))
BEFORE(timer_create, leave_clock((clockid_t)a))

HIDDEN ALIGNS_STACK long wrap_syscall_rt_sigaction(long number, long signal,
						   const struct altstack_kernel_action *action,
						   struct altstack_kernel_action *old, size_t mask_size);
long wrap_syscall_rt_sigaction(long number, long signal, const struct altstack_kernel_action *action,
			       struct altstack_kernel_action *old, size_t mask_size)
{
	bool is_ours = signal && signal == sample_signal;
	long result;

	(void)number;
	if (is_ours && action)
		sample_release((int)signal);
	result = altstack_raw_sigaction((int)signal, action, old, mask_size);
	if (result < 0) {
		errno = (int)-result;
		return -1;
	}
	if (is_ours && !action && old)
		*old = (struct altstack_kernel_action){.handler = (void *)SIG_DFL};
	return 0;
}

HIDDEN ALIGNS_STACK long wrap_syscall_sigaltstack(long number, const stack_t *stack, stack_t *old);
long wrap_syscall_sigaltstack(long number, const stack_t *stack, stack_t *old)
{
	(void)number;
	return wrap_sigaltstack(stack, old);
}
