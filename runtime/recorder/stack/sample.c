/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/stack/sample.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/profile/profile.h"
#include "runtime/recorder/record/slow_down.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/stack/altstack.h"
#include "runtime/recorder/stack/sample_mask.h"
#include "runtime/recorder/stack/sampler.h"
#include "runtime/recorder/stack/stack.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

enum { STACK_ROOM = 102400 }; /* that a sample may find used; the rest is enough for it */
enum { CHECKED = 16, COST_SHARE = 32, MICROSECOND = 1000, LONGEST_US = 0xffffff };

int sample_stopped_signal;
static int (*set_action)(int signal, const struct sigaction *action, struct sigaction *old);
static bool is_forbidden; /* see sample_forbid() */

/* ---- threads ---- */

/* A sample that the deleted timer had sent would otherwise be delivered once signals are unblocked, on the program's
 * stack. A signal of another sender is sent again. */
static void sample_drop_pending(int signal)
{
	uint64_t ours = 1ull << (signal - 1);
	struct timespec none = {0, 0};
	siginfo_t info;

	if (sys_call(SYS_rt_sigtimedwait, &ours, &info, &none, sizeof(ours)) > 0 && !sampler_has_sent(&info))
		sys_call(SYS_tgkill, sys_getpid(), sys_gettid(), info.si_signo, 0);
}

static void sampler_disarm_here(struct sampler *s)
{
	if (s->timer < 0)
		return;
	sampler_disarm(s);
	sample_drop_pending(s->signal);
}

/* Programs start many threads at the same time, so system calls are made without the lock. Another thread that changes
 * the timers of all threads meanwhile does not change this one. */
static const char *sample_begin_thread(struct thread *t, struct sampler *s)
{
	if (!altstack_begin(s->low, SAMPLER_STACK_BYTES)) {
		sys_lock(&process.sampling);
		sampler_give_back(s, s->low != altstack_own());
		sys_unlock(&process.sampling);
		return "CPU samples: a thread is not sampled, it runs on its own alternate signal stack";
	}
	*s = (struct sampler){.low = s->low, .tid = (uint32_t)sys_gettid(), .timer = -1};
	s->period_ns = 1000000000 / process_options.sampling_frequency;
	sampler_arm(s);
	sys_lock(&process.sampling);
	if (s->signal != sample_signal) {
		sampler_disarm_here(s);
		sampler_arm(s);
	}
	sampler_begin(s);
	t->sampler = s;
	sys_unlock(&process.sampling);
	return s->timer >= 0 || !sample_signal
		       ? NULL
		       : "CPU samples: a thread is not sampled, its timer failed (RLIMIT_SIGPENDING?)";
}

void sample_thread_begin(struct thread *t)
{
	const char *why = "CPU samples: a thread is not sampled, there is no memory for its signal stack (RLIMIT_AS?), "
			  "or there are too many for -s auto (RLIMIT_SIGPENDING?)";
	struct sampler *s;

	if (!sample_signal || is_forbidden)
		return;
	sys_lock(&process.sampling);
	s = sample_may_begin() ? sampler_take() : NULL;
	sys_unlock(&process.sampling);
	if (s)
		why = sample_begin_thread(t, s);
	if (why && !__atomic_exchange_n(&process.has_noted_unsampled, true, __ATOMIC_RELAXED))
		process_note(why);
}

void sample_thread_end(struct thread *t)
{
	struct sampler *s = t->sampler, last;
	bool is_free;

	t->sampler = NULL;
	if (!s || is_forbidden)
		return;
	is_free = altstack_end();
	sys_lock(&process.sampling);
	sampler_end(s);
	last = *s;
	sampler_give_back(s, is_free);
	sys_unlock(&process.sampling);
	sampler_disarm_here(&last);
}

void sample_stop(void)
{
	uint64_t signals;

	sys_signals_block(&signals);
	sys_lock(&process.sampling);
	for (struct sampler *s = process.samplers; s; s = s->next)
		sampler_disarm(s);
	if (sample_signal)
		sample_stopped_signal = sample_signal;
	sample_signal = 0;
	sys_unlock(&process.sampling);
	altstack_stop();
	altstack_end();
	sys_signals_restore(&signals);
}

/* ---- a sample ---- */

#if defined(__x86_64__)
static struct stack_place context_place(const ucontext_t *u)
{
	const greg_t *r = u->uc_mcontext.gregs;

	return (struct stack_place){(uintptr_t)r[REG_RIP], (uintptr_t)r[REG_RSP], (uintptr_t)r[REG_RBP], 0};
}

/* System calls that are restarted after a handler with SA_RESTART and interrupted by one without it. */
static bool is_restartable_call(uint64_t number, uint64_t second)
{
	static const uint16_t known[] = {
	    SYS_read,   SYS_write,    SYS_open,    SYS_openat,       SYS_ioctl,           SYS_pread64,  SYS_pwrite64,
	    SYS_readv,  SYS_writev,   SYS_preadv,  SYS_pwritev,      SYS_connect,         SYS_accept,   SYS_accept4,
	    SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg,      SYS_sendmmsg,        SYS_recvmmsg, SYS_wait4,
	    SYS_waitid, SYS_fcntl,    SYS_flock,   SYS_mq_timedsend, SYS_mq_timedreceive,
	};
	enum { FUTEX_OPERATION = 127, WAIT = 0, WAIT_BITSET = 9 };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (number == known[i])
			return true;
	return number == SYS_futex && ((second & FUTEX_OPERATION) == WAIT || (second & FUTEX_OPERATION) == WAIT_BITSET);
}

/* Whether the interrupted code has just waited in io_uring_enter(). The instruction stores the address after it in
 * rcx. io_uring_register() has a pointer where io_uring_enter() has the number of events. */
static bool is_ring_wait(const ucontext_t *u)
{
	enum { MOST_EVENTS = 65536, GET_EVENTS = 1 };
	static const char link[] = "anon_inode:[io_uring]";
	const greg_t *r = u->uc_mcontext.gregs;
	char path[64] = "/proc/self/fd/", target[sizeof(link)];
	struct text text = text_init(path, sizeof(path));

	if (r[REG_RCX] != r[REG_RIP] || (uint64_t)r[REG_RDI] > INT_MAX || !(r[REG_R10] & GET_EVENTS) ||
	    (uint32_t)r[REG_RDX] == 0 || (uint64_t)r[REG_RDX] > MOST_EVENTS)
		return false;
	text_add(&text, "/proc/self/fd/");
	text_number(&text, (uint64_t)r[REG_RDI]);
	return sys_call(SYS_readlink, path, (long)target, sizeof(target), 0) == sizeof(link) - 1 &&
	       !memcmp(target, link, sizeof(link) - 1);
}

/* io_uring_enter() that waits runs the kernel's deferred work, our timer's too: our signal ends the wait, and there is
 * no way to continue one that has submitted something. In syscall() our signal is blocked meanwhile; a process that has
 * an instruction of its own gets no more samples, and a wait that has submitted nothing is repeated. */
static void sample_leave_rings(ucontext_t *u)
{
	enum { SYSCALL_BYTES = 2 };
	greg_t *r = u->uc_mcontext.gregs;
	uint64_t pending = 0, blocked;

	if (!is_ring_wait(u))
		return;
	sample_give_up(SAMPLE_NOTE_RINGS);
	memcpy(&blocked, &u->uc_sigmask, sizeof(blocked));
	sys_call(SYS_rt_sigpending, &pending, sizeof(pending), 0, 0);
	if (r[REG_RAX] != -EINTR || pending & ~blocked)
		return;
	r[REG_RIP] -= SYSCALL_BYTES;
	r[REG_RAX] = SYS_io_uring_enter;
}

/* A signal of the program has interrupted a system call, and our timer's signal is delivered before it: the kernel
 * has restarted the call because of our SA_RESTART. If the program's handler does not have SA_RESTART, the call must
 * return EINTR. */
static void sample_fix_restart(ucontext_t *u)
{
	enum { SYSCALL_BYTES = 2 };
	greg_t *r = u->uc_mcontext.gregs;
	const uint8_t *at = (const uint8_t *)r[REG_RIP];
	struct sigaction action;
	uint64_t pending = 0, blocked;

	/* the syscall instruction stores the address after it in rcx */
	if (r[REG_RCX] != r[REG_RIP] + SYSCALL_BYTES || at[0] != 0x0f || at[1] != 0x05 ||
	    !is_restartable_call((uint64_t)r[REG_RAX], (uint64_t)r[REG_RSI]))
		return;
	memcpy(&blocked, &u->uc_sigmask, sizeof(blocked));
	sys_call(SYS_rt_sigpending, &pending, sizeof(pending), 0, 0);
	pending &= ~blocked;
	if (!pending || set_action(__builtin_ctzll(pending) + 1, NULL, &action) || action.sa_flags & SA_RESTART)
		return;
	if (!(action.sa_flags & SA_SIGINFO) && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN))
		return;
	r[REG_RIP] += SYSCALL_BYTES;
	r[REG_RAX] = -EINTR;
}
#else
static struct stack_place context_place(const ucontext_t *u)
{
	const mcontext_t *m = &u->uc_mcontext;

	return (struct stack_place){(uintptr_t)m->pc, (uintptr_t)m->sp, (uintptr_t)m->regs[29], (uintptr_t)m->regs[30]};
}

static void sample_leave_rings(ucontext_t *u)
{
	(void)u;
}

static void sample_fix_restart(ucontext_t *u)
{
	(void)u; /* there are no samples on this architecture yet, see sample_hindrance() */
}
#endif

/* What a sample costs is read from the clock that needs no system call: a seccomp filter that we do not know of may
 * forbid any. It includes time in which other threads ran, so if it is too much, the thread's CPU clock decides. */
static uint64_t sampler_cost_clock(const struct sampler *s)
{
	return s->is_suspect ? clock_ticks(sys_clock_ns(CLOCK_THREAD_CPUTIME_ID)) : clock_now();
}

/* Doubles the period if samples cost more than 1/32 of the CPU time that they measure. */
static void sampler_check_cost(struct thread *t, struct sampler *s)
{
	struct tf_sampling sampling;
	bool is_first = ++s->taken == 1, is_costly, is_certain = s->is_suspect;

	if (!is_first && s->taken % CHECKED)
		return;
	is_costly = !is_first && s->cost_ticks * COST_SHARE > clock_ticks(s->sampled_ns);
	s->cost_ticks = s->sampled_ns = 0;
	s->is_suspect = is_costly && !is_certain;
	if (is_costly && is_certain) {
		s->period_ns *= 2;
		sampler_set_period(s);
	} else if (!is_first) {
		return;
	}
	sampling = (struct tf_sampling){.period_ns = s->period_ns, .signal = (uint32_t)sample_signal};
	sampling.is_slowed = s->period_ns > 1000000000 / process_options.sampling_frequency;
	event_blob(TF_BLOB_SAMPLING, t->number, &sampling, sizeof(sampling));
}

static void sample_take(const ucontext_t *context)
{
	struct thread *t = &thread_self;
	struct sampler *s = t->sampler;
	struct stack_place place = context_place(context);
	uint64_t start = clock_now(), cost_start = sampler_cost_clock(s), us = s->due_ns / MICROSECOND, stack;

	if (!(process_gate.groups & *process_gate.recording)) {
		s->due_ns = 0;
		return;
	}
	if (us > LONGEST_US)
		us = LONGEST_US;
	stack = stack_take_at(t, &place);
	stack = stack ? tf_arg(TF_ARG_STACK, 0, stack) : 0;
	if (__builtin_expect(process.profile != NULL, 0))
		profile_sample(t, us, stack);
	else
		event_instant(TF_SAMPLE, 0, us, &stack, stack != 0);
	s->due_ns -= us * MICROSECOND;
	s->sampled_ns += us * MICROSECOND;
	s->cost_ticks += sampler_cost_clock(s) - cost_start;
	sampler_check_cost(t, s);
	if (!slow_down_is_on)
		t->page->slow_ticks += clock_now() - start;
}

/* The program has installed a filter that we have not seen, which may forbid what would end the samples: from here on
 * their handler and the threads that end make no system call for them. */
static void sample_forbid(void)
{
	static const char note[] = TF_NOTE_NO_SAMPLES " from here on, the program has installed a seccomp filter by a "
						     "system call of its own";

	if (!__atomic_exchange_n(&is_forbidden, true, __ATOMIC_RELAXED))
		event_blob(TF_BLOB_NOTE, 0, note, sizeof(note) - 1);
}

/* At most once per second: a debugger that attaches then stops at one of our signals, not at each. */
static enum sample_change sample_look_again(void)
{
	uint64_t now = clock_now(), last_check = __atomic_load_n(&process.tracer_checked_ticks, __ATOMIC_RELAXED);

	if (now - last_check < clock_ticks(1000000000))
		return SAMPLE_UNCHANGED;
	__atomic_store_n(&process.tracer_checked_ticks, now, __ATOMIC_RELAXED);
	return sample_look();
}

/* The kernel has another alternate stack than ours. */
static void sampler_switch_off(struct sampler *s)
{
	s->is_off = true;
	sampler_disarm(s);
	if (!__atomic_exchange_n(&process.has_noted_unsampled, true, __ATOMIC_RELAXED))
		process_note("CPU samples: a thread is no longer sampled, the program has replaced its alternate "
			     "signal stack (SS_AUTODISARM, or set by a direct system call)");
}

void sample_stack_changed(void)
{
	struct thread *t = &thread_self;
	uint64_t signals;
	int error = errno;

	if (t->generation != process.generation || !t->sampler || altstack_own())
		return;
	sys_signals_block(&signals);
	sys_lock(&process.sampling);
	sampler_switch_off(t->sampler);
	sys_unlock(&process.sampling);
	sys_signals_restore(&signals);
	errno = error;
}

static void sample_forward_signal(int signal, ucontext_t *u);

static void sample_on_signal(int signal, siginfo_t *info, void *context)
{
	const char *frame = __builtin_frame_address(0);
	struct thread *t = &thread_self;
	enum sample_change change;

	if (!sampler_has_sent(info)) {
		sample_forward_signal(signal, context);
		return;
	}
	if (is_forbidden)
		return;
	sample_fix_restart(context);
	sample_leave_rings(context);
	if (t->generation != process.generation || !t->sampler)
		return;
	t->sampler->due_ns += t->sampler->period_ns * (1 + (uint64_t)info->si_overrun);
	change = sample_look_again();
	if (change == SAMPLE_TRACED)
		sample_give_up(TF_NOTE_NO_SAMPLES " from here on, a debugger or tracer has attached (ptrace)");
	else if (change == SAMPLE_FILTERED)
		sample_forbid();
	else if (altstack_is_ours(frame) && frame - t->sampler->low < STACK_ROOM)
		return; /* in a handler that uses our stack; the next sample accounts for the time */
	else if (altstack_is_ours(frame))
		sample_take(context);
	else if (!altstack_repair(&((ucontext_t *)context)->uc_stack)) /* the next sample is on our stack again */
		sampler_switch_off(t->sampler);
}

/* ---- the signal ---- */

static bool is_free_signal(int signal)
{
	struct sigaction now;

	return !set_action(signal, NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
}

/* All signals are blocked while a sample is taken. `mask`: the calling thread's, from which the new signal must be
 * absent. */
static void sample_choose_signal(int first, uint64_t mask)
{
	struct sigaction action = {.sa_sigaction = sample_on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
	for (int signal = first; signal >= SAMPLE_SIGNAL_LAST; signal--) {
		if (sample_mask_can_hide(mask, signal) && is_free_signal(signal) &&
		    !set_action(signal, &action, NULL)) {
			sample_signal = signal;
			return;
		}
	}
}

/* Deletes the timers and discards the signals that are still pending. */
static void sample_withdraw_signal(void)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN}, standard = {.sa_handler = SIG_DFL};

	for (struct sampler *s = process.samplers; s; s = s->next)
		sampler_disarm(s);
	set_action(sample_signal, &ignored, NULL);
	set_action(sample_signal, &standard, NULL);
	sample_signal = 0;
}

void sample_give_up(const char *note)
{
	uint64_t signals;
	int error = errno;

	if (!sample_signal || process_is_borrowed())
		return;
	sys_signals_block(&signals);
	sys_lock(&process.sampling);
	if (sample_signal) {
		signals = sample_mask_shown(signals, sample_signal);
		sample_withdraw_signal();
		process_note(note);
	}
	sys_unlock(&process.sampling);
	sys_signals_restore(&signals);
	errno = error;
}

void sample_yield(const char *note)
{
	if (process_options.sample == SAMPLE_AUTO)
		sample_give_up(note);
}

/* If `signal` is ours, the timers use another one. `mask`: what the calling thread's mask will be. */
static void sample_move(int signal, uint64_t *mask)
{
	sys_lock(&process.sampling);
	if (signal == sample_signal) {
		*mask = sample_mask_shown(*mask, signal);
		sample_withdraw_signal();
		if (process_options.sample == SAMPLE_CPU)
			sample_choose_signal(signal - 1, *mask);
		*mask &= ~sample_mask_bit(sample_signal);
		for (struct sampler *s = process.samplers; s; s = s->next)
			if (!s->is_off)
				sampler_arm(s);
		process_note(sample_signal ? "CPU samples: the program uses our signal, samples moved to another signal"
					   : sample_note_no_signal());
	}
	sys_unlock(&process.sampling);
}

/* Sent by another process or thread with kill(2): after our return it has the effect that it would have without us. */
static void sample_forward_signal(int signal, ucontext_t *u)
{
	uint64_t mask;

	memcpy(&mask, &u->uc_sigmask, sizeof(mask));
	sample_move(signal, &mask);
	memcpy(&u->uc_sigmask, &mask, sizeof(mask));
	sys_call(SYS_tgkill, sys_getpid(), sys_gettid(), signal, 0);
}

void sample_release(int signal)
{
	uint64_t signals;
	int error = errno;

	if (!signal || signal != sample_signal || process_is_borrowed())
		return;
	sys_signals_block(&signals);
	sample_move(signal, &signals);
	sys_signals_restore(&signals);
	errno = error;
}

/* Our handler is still installed, unless the program has taken the signal meanwhile. */
static bool sample_has_handler(int signal)
{
	struct sigaction now;

	return !set_action(signal, NULL, &now) && now.sa_sigaction == sample_on_signal;
}

static void sampler_continue_here(struct sampler *s)
{
	if (!s->is_off && !altstack_own() && !altstack_begin(s->low, SAMPLER_STACK_BYTES))
		sampler_switch_off(s);
}

void sample_continue(void)
{
	struct thread *t = &thread_self;
	uint64_t signals;

	if (!sample_stopped_signal || !sample_has_handler(sample_stopped_signal))
		return;
	sys_signals_block(&signals);
	altstack_start();
	altstack_replace_handlers(set_action, ~sample_mask_bit(sample_stopped_signal));
	sys_lock(&process.sampling);
	sample_signal = sample_stopped_signal;
	sample_stopped_signal = 0;
	if (t->generation == process.generation && t->sampler)
		sampler_continue_here(t->sampler);
	for (struct sampler *s = process.samplers; s; s = s->next)
		if (!s->is_off)
			sampler_arm(s);
	sys_unlock(&process.sampling);
	sys_signals_restore(&signals);
}

void sample_init(void)
{
	uint64_t handled = ~0ull;
	const char *why;

	if (!process_options.sample)
		return;
	thread_watch(&(struct thread_watch){sample_thread_begin, sample_thread_end});
	set_action = dso_next("sigaction");
	altstack_start(); /* before `handled` is read, so that a handler of another thread is in one of both */
	why = sample_hindrance(&handled);
	process.tracer_checked_ticks = clock_now();
	if (!why && set_action) {
		altstack_replace_handlers(set_action, handled); /* before our own with SA_ONSTACK is installed */
		sample_choose_signal(SAMPLE_SIGNAL_FIRST, 0);
	}
	if (!sample_signal)
		altstack_stop();
	if (why || !sample_signal)
		process_note(why ? why : TF_NOTE_NO_SAMPLES ", the program uses all possible signals");
}
