/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: the program sees all of them as if CPU samples used none (runtime/stack/sample.h). All of this is safe in a
 * signal handler. */
#include "runtime/common/hot.h"
#include "preload/libc/wrap_signal.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/stack/altstack.h"
#include "runtime/stack/sample.h"
#include "preload/hook/hook.h"
#include "preload/libc/undeclared.h"

/* ---- dispositions ---- */

int wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	enum { HOOK_CURRENT = HOOK_sigaction };
	int result;

	if (__builtin_expect(signal && signal == sample_signal, 0)) {
		bool is_standard = !action || (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL);

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
		sample_release(signal);                                                                                \
		return (sighandler_t)altstack_handler(signal, (void *)real_##symbol(signal, handler));                 \
	}
SIGNAL(signal)
SIGNAL(ssignal)
SIGNAL(bsd_signal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)
SIGNAL(sigset)

int wrap_sigignore(int signal)
{
	sample_release(signal);
	return real_sigignore(signal);
}

/* ---- masks ---- */

/* A set of nearly all signals does not mean a particular one. A smaller set that contains ours means that the program
 * uses this signal, and samples give it up. */
static bool is_particular(const sigset_t *set)
{
	for (int signal = SAMPLE_SIGNAL_LAST; signal <= SAMPLE_SIGNAL_FIRST; signal++)
		if (!sigismember(set, signal))
			return true;
	return false;
}

static void hand_over(const sigset_t *set)
{
	int signal = sample_signal, error = errno;
	sigset_t own;

	if (!signal || !set || !sigismember(set, signal) || !is_particular(set))
		return;
	sample_release(signal);
	if (!sample_is_masked)
		return;
	sample_is_masked = false; /* the program has not masked the new signal */
	sigemptyset(&own);
	sigaddset(&own, signal);
	real_pthread_sigmask(SIG_BLOCK, &own, NULL);
	errno = error;
}

/* Our signal is never blocked in the kernel's mask. */
#define MASK(symbol)                                                                                                   \
	int wrap_##symbol(int how, const sigset_t *set, sigset_t *old)                                                 \
	{                                                                                                              \
		bool was_masked = sample_is_masked, has_ours;                                                          \
		sigset_t without;                                                                                      \
		int signal, result;                                                                                    \
                                                                                                                       \
		hand_over(how == SIG_UNBLOCK ? NULL : set);                                                            \
		signal = sample_signal;                                                                                \
		if (!signal)                                                                                           \
			return real_##symbol(how, set, old);                                                           \
		has_ours = set && sigismember(set, signal);                                                            \
		if (has_ours) {                                                                                        \
			without = *set;                                                                                \
			sigdelset(&without, signal);                                                                   \
		}                                                                                                      \
		result = real_##symbol(how, has_ours ? &without : set, old);                                           \
		if (result)                                                                                            \
			return result;                                                                                 \
		if (set && how == SIG_SETMASK)                                                                         \
			sample_is_masked = has_ours;                                                                   \
		else if (has_ours)                                                                                     \
			sample_is_masked = how == SIG_BLOCK;                                                           \
		if (old && was_masked)                                                                                 \
			sigaddset(old, signal);                                                                        \
		return 0;                                                                                              \
	}
MASK(sigprocmask)
MASK(pthread_sigmask)

/* Its mask has the signals below 32, and it unblocks all others, ours included. Shells call it before they execute a
 * program (dash), which would otherwise inherit our signal blocked. */
int wrap_sigsetmask(int mask)
{
	int result = real_sigsetmask(mask);

	sample_is_masked = false;
	return result;
}

/* ---- waiting for signals ---- */

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
	HOOK_TIME(real_signalfd(fd, set, flags), NEW);
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
HOOK_EXPORT void __longjmp_chk(struct __jmp_buf_tag *buffer, int value)
{
	if (altstack_is_programs(__builtin_frame_address(0)))
		real_siglongjmp(buffer, value);
	real___longjmp_chk(buffer, value);
}

/* ---- threads ---- */

/* The start of a new thread, until it has begun. Static, because the program must not see an allocation of ours. */
struct start {
	uint32_t is_used;
	bool is_masked;
	void *(*function)(void *);
	void *argument;
};

LARGE static struct start starts[256];

static void *begin(void *argument)
{
	struct start *s = argument, own = *s;

	__atomic_store_n(&s->is_used, 0, __ATOMIC_RELEASE);
	sample_is_masked = own.is_masked;
	if (process_gate.groups)
		hook_attached();
	return own.function(own.argument); /* a jump, so that this frame is in no stack */
}

struct start *sampled_start(void *(**function)(void *), void **argument)
{
	for (size_t i = 0; sample_signal && i < sizeof(starts) / sizeof(*starts); i++) {
		struct start *s = &starts[i];

		if (__atomic_load_n(&s->is_used, __ATOMIC_RELAXED) ||
		    __atomic_exchange_n(&s->is_used, 1, __ATOMIC_ACQUIRE))
			continue;
		s->is_masked = sample_is_masked;
		s->function = *function;
		s->argument = *argument;
		*function = begin;
		*argument = s;
		return s;
	}
	return NULL;
}

void sampled_start_failed(struct start *s)
{
	if (s)
		__atomic_store_n(&s->is_used, 0, __ATOMIC_RELEASE);
}
