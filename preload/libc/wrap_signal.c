/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: the program sees all of them as if CPU samples used none (runtime/recorder/stack/sample.h). All of this is
 * safe in a signal handler. */
#include "preload/libc/wrap_signal.h"

#include <string.h>

#include "preload/hook/hook_record.h"
#include "preload/libc/undeclared.h"
#include "runtime/recorder/loader/readable.h"
#include "runtime/recorder/stack/altstack.h"
#include "runtime/recorder/stack/sample_mask.h"

/* ---- dispositions ---- */

static uint64_t kernel_mask(const sigset_t *set)
{
	uint64_t mask;

	memcpy(&mask, set, sizeof(mask));
	return mask;
}

/* Before the program installs a handler, or ignores the signal. */
static void leave_signal(int signal, bool is_standard)
{
	if ((signal == SIGPROF || signal == SIGVTALRM) && !is_standard)
		sample_yield(SAMPLE_NOTE_TIMERS);
}

int wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	enum { HOOK_CURRENT = HOOK_sigaction };
	bool is_standard = !action || (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL);
	int result;

	leave_signal(signal, is_standard);
	if (action && sample_signal && !sample_mask_can_hide(kernel_mask(&action->sa_mask), sample_signal))
		sample_release(sample_signal);
	if (__builtin_expect(signal && signal == sample_signal, 0)) {
		if (is_standard) {
			if (old)
				*old = (struct sigaction){.sa_handler = SIG_DFL};
			return 0;
		}
		sample_release(signal);
	}
	HOOK_TIME(altstack_sigaction(signal, action, old, real_sigaction), VALUE(signal));
	return result;
}

#define SIGNAL(symbol)                                                                                                 \
	sighandler_t wrap_##symbol(int signal, sighandler_t handler)                                                   \
	{                                                                                                              \
		if (handler == SIG_DFL && signal && signal == sample_signal)                                           \
			return SIG_DFL;                                                                                \
		leave_signal(signal, handler == SIG_DFL);                                                              \
		sample_release(signal);                                                                                \
		return altstack_signal(signal, handler, real_##symbol);                                                \
	}
SIGNAL(signal)
SIGNAL(ssignal)
SIGNAL(bsd_signal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)

sighandler_t wrap_sigset(int signal, sighandler_t handler)
{
	if (handler == SIG_DFL && signal && signal == sample_signal)
		return SIG_DFL;
	leave_signal(signal, handler == SIG_DFL);
	sample_release(signal);
	return (sighandler_t)altstack_handler(signal, (void *)real_sigset(signal, handler));
}

int wrap_sigignore(int signal)
{
	sample_release(signal);
	return real_sigignore(signal);
}

/* ---- masks ---- */

/* The set that is passed to the kernel. A set that has all or none of the signals that matter is not examined. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *room)
{
	uint64_t group = sample_mask_group(sample_signal), part = kernel_mask(set) & group;

	if (!part || (part == group && how == SIG_UNBLOCK))
		return set;
	if (part != group)
		sample_mask_change(how, kernel_mask(set));
	if (how == SIG_UNBLOCK || !sample_signal || !sigismember(set, sample_signal))
		return set;
	*room = *set;
	sigdelset(room, sample_signal);
	return room;
}

static void show_ours(sigset_t *set)
{
	uint64_t mask = sample_mask_shown(kernel_mask(set), sample_signal);

	memcpy(set, &mask, sizeof(mask));
}

#define MASK(symbol)                                                                                                   \
	int wrap_##symbol(int how, const sigset_t *set, sigset_t *old)                                                 \
	{                                                                                                              \
		sigset_t room;                                                                                         \
		int result;                                                                                            \
                                                                                                                       \
		if (!sample_signal)                                                                                    \
			return real_##symbol(how, set, old);                                                           \
		result = real_##symbol(how, set ? without_ours(how, set, &room) : NULL, old);                          \
		if (!result && old)                                                                                    \
			show_ours(old);                                                                                \
		return result;                                                                                         \
	}
MASK(sigprocmask)
MASK(pthread_sigmask)

/* libc's functions change the mask without a call of sigprocmask() that we see. */
#define MASK_ONE(symbol, how)                                                                                          \
	int wrap_##symbol(int signal)                                                                                  \
	{                                                                                                              \
		if (sample_mask_bit(signal > 0 && signal < NSIG ? signal : 0) & sample_mask_group(sample_signal))      \
			sample_mask_change(how, sample_mask_bit(signal));                                              \
		if (how == SIG_BLOCK && signal && signal == sample_signal)                                             \
			return 0;                                                                                      \
		return real_##symbol(signal);                                                                          \
	}
MASK_ONE(sighold, SIG_BLOCK)
MASK_ONE(sigrelse, SIG_UNBLOCK)

/* ---- timers ---- */

void leave_interval_timer(int which)
{
	if (which == ITIMER_PROF || which == ITIMER_VIRTUAL)
		sample_yield(SAMPLE_NOTE_TIMERS);
}

void leave_clock(clockid_t clock)
{
	enum { CLOCK_KIND = 7, CLOCK_OF_DESCRIPTOR = 3 }; /* of the negative ids, which clock_getcpuclockid() returns */

	if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID ||
	    (clock < 0 && (clock & CLOCK_KIND) != CLOCK_OF_DESCRIPTOR))
		sample_yield(SAMPLE_NOTE_TIMERS);
}

int wrap_setitimer(enum __itimer_which which, const struct itimerval *times, struct itimerval *old)
{
	leave_interval_timer((int)which);
	return real_setitimer(which, times, old);
}

int wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *ret)
{
	leave_clock(clock);
	return real_timer_create(clock, event, ret);
}

/* ---- waiting for signals ---- */

/* A smaller set than that of the signals that stand for ours means ours in particular. If it cannot be read, the kernel
 * returns EFAULT. */
static void hand_over(const sigset_t *set)
{
	int ours = set && readable_bytes(set, sizeof(uint64_t)) ? sample_signal : 0, last = 0;

	for (; ours && ours != last && sigismember(set, ours); ours = sample_signal) {
		if (sample_mask_shown(kernel_mask(set) & ~sample_mask_bit(ours), ours) == kernel_mask(set))
			return;
		sample_release(ours);
		last = ours;
	}
}

int wrap_sigwait(const sigset_t *set, int *signal)
{
	enum { HOOK_CURRENT = HOOK_sigwait };
	int result;

	hand_over(set);
	HOOK_TIME(real_sigwait(set, signal), NOTHING);
	return result;
}

int wrap_sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	enum { HOOK_CURRENT = HOOK_sigwaitinfo };
	int result;

	hand_over(set);
	HOOK_TIME(real_sigwaitinfo(set, info), VALUE(result < 0 ? 0 : result));
	return result;
}

int wrap_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	enum { HOOK_CURRENT = HOOK_sigtimedwait };
	int result;

	hand_over(set);
	HOOK_TIME(real_sigtimedwait(set, info, timeout), TIMEOUT(hook_us(timeout)));
	return result;
}

int wrap_signalfd(int fd, const sigset_t *set, int flags)
{
	enum { HOOK_CURRENT = HOOK_signalfd };
	int result;

	hand_over(set);
	HOOK_TIME(real_signalfd(fd, set, flags), CREATED(SIGNALFD, flags));
	return result;
}

/* ---- alternate stacks ---- */

int wrap_sigaltstack(const stack_t *stack, stack_t *old)
{
	int result = altstack_sigaltstack(stack, old, real_sigaltstack);

	if (stack && !result) {
		stack_alternate_set();
		sample_stack_changed();
	}
	return result;
}

/* longjmp() where _FORTIFY_SOURCE is on. It ends the program if the jump leads to a deeper frame, unless sigaltstack()
 * says that the thread is on its alternate stack. The program sees it there, the kernel may not. */
HOOK_EXPORT ALIGNS_STACK void __longjmp_chk(struct __jmp_buf_tag *buffer, int value)
{
	if (altstack_is_programs(__builtin_frame_address(0)))
		real_siglongjmp(buffer, value);
	real___longjmp_chk(buffer, value);
}
