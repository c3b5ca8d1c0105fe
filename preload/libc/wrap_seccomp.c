/* SPDX-License-Identifier: Apache-2.0 */
/* Seccomp and system call user dispatch, by prctl() or syscall(): afterwards the kernel may kill the program, or send
 * it SIGSYS, for a system call of ours. So the recorder stops making any before the call, and continues if the call
 * fails, or when the thread ends its dispatch. */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "preload/hook/hook.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/recorder.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH /* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
enum { DISPATCH_OFF = 0 }; /* PR_SYS_DISPATCH_OFF; other modes turn it on */

enum restriction { RESTRICTION_NONE, RESTRICTION_FILTER, RESTRICTION_STRICT, RESTRICTION_DISPATCH };

/* Strict mode forbids the time stamp counter, too. If the call fails, the clock is still read by system calls. */
static void restriction_begin(enum restriction r)
{
	if (r == RESTRICTION_STRICT)
		clock_forbid_counter();
	if (r)
		recorder_freeze(true);
}

static void restriction_end(enum restriction r, bool is_set)
{
	static const char has_filter[] = TF_NOTE_NO_SAMPLES " from here on, the program has installed a seccomp filter";
	static const struct {
		const char *note, *unsampled;
	} notes[] = {
		[RESTRICTION_FILTER] = {"a seccomp filter: events that do not fit into the trace are lost, children "
					"are not recorded", has_filter},
		[RESTRICTION_STRICT] = {"seccomp's strict mode: the program gave up reading the clock", has_filter},
		[RESTRICTION_DISPATCH] = {"system call user dispatch: while a thread uses it, events that do not fit "
					  "into the trace are lost",
					  TF_NOTE_NO_SAMPLES " while a thread of the program uses system call user "
							     "dispatch"},
	};

	if (!r)
		return;
	recorder_freeze_end(true, is_set ? notes[r].note : NULL, notes[r].unsampled);
	if (is_set && r == RESTRICTION_STRICT)
		process_fail(notes[r].note);
	if (is_set && r == RESTRICTION_DISPATCH)
		recorder_set_dispatch(true);
}

/* ---- prctl ---- */

/* A filter at NULL only asks whether the kernel has filters. */
static enum restriction prctl_restriction(int option, unsigned long mode, unsigned long filter)
{
	if (option == PR_SET_SYSCALL_USER_DISPATCH)
		return mode == DISPATCH_OFF ? RESTRICTION_NONE : RESTRICTION_DISPATCH;
	if (option != PR_SET_SECCOMP)
		return RESTRICTION_NONE;
	if (mode == SECCOMP_MODE_STRICT)
		return RESTRICTION_STRICT;
	return mode == SECCOMP_MODE_FILTER && filter ? RESTRICTION_FILTER : RESTRICTION_NONE;
}

static enum restriction prctl_begin(int option, unsigned long a, unsigned long b)
{
	enum restriction r = prctl_restriction(option, a, b);

	if (option == PR_SET_TSC && a == PR_TSC_SIGSEGV)
		clock_forbid_counter();
	restriction_begin(r);
	return r;
}

/* Errno may not exist in a child of clone(), see sys_has_errno(). */
static void prctl_end(enum restriction r, int option, unsigned long a, long result)
{
	bool is_named = option == PR_SET_NAME && !result && thread_self.generation == process.generation;
	bool is_undispatched = option == PR_SET_SYSCALL_USER_DISPATCH && !r && !result;
	int error;

	if (!r && !is_named && !is_undispatched)
		return;
	error = sys_has_errno() ? errno : 0;
	restriction_end(r, !result);
	if (is_undispatched)
		recorder_set_dispatch(false);
	if (is_named)
		thread_set_name(&thread_self, (const char *)a);
	if (sys_has_errno())
		errno = error;
}

HOOK_EXPORT ALIGNS_STACK int prctl(int option, ...)
{
	unsigned long a, b, c, d;
	enum restriction r;
	va_list list;
	int result;

	va_start(list, option);
	a = va_arg(list, unsigned long);
	b = va_arg(list, unsigned long);
	c = va_arg(list, unsigned long);
	d = va_arg(list, unsigned long);
	va_end(list);
	r = prctl_begin(option, a, b);
	result = real_prctl(option, a, b, c, d);
	prctl_end(r, option, a, result);
	return result;
}

/* ---- entered from syscall_<architecture>.S ---- */

static long call_kernel(long number, long a, long b, long c, long d, long e)
{
	return ((long (*)(long, ...))(void *)real_syscall)(number, a, b, c, d, e);
}

HIDDEN ALIGNS_STACK long wrap_syscall_prctl(long number, long option, long a, long b, long c, long d);
long wrap_syscall_prctl(long number, long option, long a, long b, long c, long d)
{
	enum restriction r = prctl_begin((int)option, (unsigned long)a, (unsigned long)b);
	long result = call_kernel(number, option, a, b, c, d);

	prctl_end(r, (int)option, (unsigned long)a, result);
	return result;
}

static enum restriction seccomp_restriction(unsigned operation, const void *filter)
{
	if (operation == SECCOMP_SET_MODE_STRICT)
		return RESTRICTION_STRICT;
	return operation == SECCOMP_SET_MODE_FILTER && filter ? RESTRICTION_FILTER : RESTRICTION_NONE;
}

/* With SECCOMP_FILTER_FLAG_TSYNC, a positive result is the thread that made the call fail; with NEW_LISTENER it is a
 * descriptor. */
static bool seccomp_is_set(unsigned flags, long result)
{
	enum { NEW_LISTENER = 8 }; /* SECCOMP_FILTER_FLAG_NEW_LISTENER of Linux 5.0 */

	return result == 0 || (result > 0 && flags & NEW_LISTENER);
}

HIDDEN ALIGNS_STACK long wrap_syscall_seccomp(long number, long operation, long flags, const void *filter, long d,
					      long e);
long wrap_syscall_seccomp(long number, long operation, long flags, const void *filter, long d, long e)
{
	enum restriction r = seccomp_restriction((unsigned)operation, filter);
	long result;
	int error;

	restriction_begin(r);
	result = call_kernel(number, operation, flags, (long)filter, d, e);
	if (!r)
		return result;
	error = sys_has_errno() ? errno : 0;
	restriction_end(r, seccomp_is_set((unsigned)flags, result));
	if (sys_has_errno())
		errno = error;
	return result;
}
