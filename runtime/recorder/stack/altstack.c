/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/stack/altstack.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "runtime/recorder/loader/readable.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/stack/module.h"
#include "runtime/shared/common/hot.h"
#include "runtime/shared/common/sys.h"

enum { SIGNALS = 64, RED_ZONE = 128, FRAME_ALIGN = 16, FPU_ALIGN = 64 };

/* The kernel's SA_RESTORER, which libc adds to the flags of each action; the other architectures have none. */
#if defined(__x86_64__)
#define RESTORER 0x04000000ul
#else
#define RESTORER 0ul
#endif

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

/* The actions that the program set. A reader uses the copy selected by `turn`; a writer fills the other one first.
 * Not in `process`, because a forked child inherits its handlers. */
struct action {
	void *handler;
	uint64_t mask;
	unsigned long flags;
};
LARGE static struct {
	uint32_t turn;
	struct action of[2];
} actions[SIGNALS + 1];

/* Of the calling thread. `low` NULL: the kernel has the program's own stack. */
static __thread struct {
	char *low, *high;
	int tid;
	stack_t programs;
} self __attribute__((tls_model("initial-exec"))) = {.programs = {.ss_flags = SS_DISABLE}};

static bool is_active;

/* Stands in the kernel for SIG_DFL of the fatal signals while is_watching. */
static void *fatal_handler;
static altstack_action_call *fatal_action;
static bool is_watching;

/* Never called by us: installed in the kernel in place of each handler with SA_ONSTACK. */
extern char altstack_enter[] HIDDEN;

/* ---- the program's actions ---- */

static struct action altstack_action(int signal)
{
	uint32_t turn = __atomic_load_n(&actions[signal].turn, __ATOMIC_ACQUIRE);

	return actions[signal].of[turn & 1];
}

static void altstack_set_action(int signal, struct action action)
{
	uint32_t turn = actions[signal].turn + 1;

	actions[signal].of[turn & 1] = action;
	__atomic_store_n(&actions[signal].turn, turn, __ATOMIC_RELEASE);
}

/* False: in the child of a vfork, which has its own actions but shares the table. */
static bool altstack_lock(uint64_t *signals)
{
	if (process_is_borrowed())
		return false;
	sys_signals_block(signals);
	for (int i = 0; __atomic_exchange_n(&process.acting, 1, __ATOMIC_ACQUIRE); i++)
		sys_wait(i);
	return true;
}

static void altstack_unlock(const uint64_t *signals)
{
	__atomic_store_n(&process.acting, 0, __ATOMIC_RELEASE);
	sys_signals_restore(signals);
}

/* Go installs its handlers by sigaction(), but reads the alternate stack by a direct system call, uses ours if it
 * finds it, and aborts if a handler runs elsewhere. */
static bool is_replaced_handler(const void *handler, unsigned long flags)
{
	if (!(flags & SA_ONSTACK) || handler == (void *)SIG_DFL || handler == (void *)SIG_IGN ||
	    handler == altstack_enter)
		return false;
	return !module_is_go(handler);
}

static bool is_fatal_signal(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGABRT;
}

/* What the kernel is given in place of an action of the program. False: the action itself. A fault within our handler
 * is delivered to it as well. */
static bool altstack_replace(int signal, const struct action *wanted, struct action *ret)
{
	const uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);

	if (is_active && is_replaced_handler(wanted->handler, wanted->flags))
		*ret = (struct action){altstack_enter, ~0ull, wanted->flags};
	else if (is_watching && is_fatal_signal(signal) && wanted->handler == (void *)SIG_DFL)
		*ret = (struct action){fatal_handler, ~faults, SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	else
		return false;
	return true;
}

static bool is_tracked_signal(int signal, bool takes)
{
	return (is_active || is_watching) && signal >= 1 && signal <= SIGNALS && (takes || actions[signal].turn);
}

/* Does the kernel have what altstack_sigaction() installed for this action? SA_RESETHAND resets the handler but
 * keeps our mask. */
static bool is_replacement(const void *handler, unsigned long flags, const struct action *programs_action)
{
	const unsigned long once = SA_ONSTACK | SA_RESETHAND;

	return handler == altstack_enter || (fatal_handler && handler == fatal_handler) ||
	       (handler == (void *)SIG_DFL && (flags & programs_action->flags & once) == once);
}

/* The old action as it would be without us. */
static void altstack_answer(struct sigaction *old, const struct action *before)
{
	if ((void *)old->sa_handler != (void *)SIG_DFL)
		old->sa_handler = (void (*)(int))before->handler;
	if (before->handler == (void *)SIG_DFL) {
		old->sa_flags = (int)before->flags;
		if (!(before->flags & RESTORER))
			old->sa_restorer = NULL;
	}
	memset(&old->sa_mask, 0, sizeof(old->sa_mask));
	memcpy(&old->sa_mask, &before->mask, sizeof(before->mask));
}

int altstack_sigaction(int signal, const struct sigaction *action, struct sigaction *old, altstack_action_call *real)
{
	struct action before, wanted = {.handler = (void *)SIG_DFL}, instead;
	bool takes, is_locked;
	struct sigaction changed;
	int result, error;
	uint64_t signals;

	if (action) {
		wanted = (struct action){(void *)action->sa_handler, 0, (unsigned long)action->sa_flags | RESTORER};
		memcpy(&wanted.mask, &action->sa_mask, sizeof(wanted.mask));
	}
	takes = action && altstack_replace(signal, &wanted, &instead);
	if (!is_tracked_signal(signal, takes))
		return real(signal, action, old);
	is_locked = altstack_lock(&signals);
	takes = takes && is_locked;
	before = altstack_action(signal);
	if (takes) {
		changed = (struct sigaction){.sa_flags = (int)instead.flags};
		changed.sa_handler = (void (*)(int))instead.handler;
		memset(&changed.sa_mask, 0xff, sizeof(changed.sa_mask));
		memcpy(&changed.sa_mask, &instead.mask, sizeof(instead.mask));
		altstack_set_action(signal, wanted);
		action = &changed;
	}
	result = real(signal, action, old);
	error = errno;
	if (result && takes)
		altstack_set_action(signal, before);
	if (!result && old && is_replacement((void *)old->sa_handler, (unsigned long)old->sa_flags, &before))
		altstack_answer(old, &before);
	if (is_locked)
		altstack_unlock(&signals);
	errno = error;
	return result;
}

/* Leaves SIG_DFL as it is: there is no return from a handler without the restorer of libc. */
long altstack_raw_sigaction(int signal, const struct altstack_kernel_action *action, struct altstack_kernel_action *old,
			    size_t mask_size)
{
	bool is_readable = action && mask_size == sizeof(action->mask) && readable_bytes(action, sizeof(*action));
	bool is_locked, takes;
	const struct altstack_kernel_action standard = {.handler = (void *)SIG_DFL};
	struct altstack_kernel_action changed = is_readable ? *action : standard;
	struct action before, wanted = {changed.handler, changed.mask, changed.flags}, instead;
	uint64_t signals;
	long result;

	takes = wanted.handler != (void *)SIG_DFL && altstack_replace(signal, &wanted, &instead);
	if (!is_tracked_signal(signal, takes))
		return sys_enter(SYS_rt_sigaction, signal, (long)action, (long)old, (long)mask_size, 0, 0);
	is_locked = altstack_lock(&signals);
	takes = takes && is_locked;
	before = altstack_action(signal);
	if (takes) {
		changed.handler = instead.handler;
		changed.mask = instead.mask;
		altstack_set_action(signal, wanted);
		action = &changed;
	}
	result = sys_enter(SYS_rt_sigaction, signal, (long)action, (long)old, (long)mask_size, 0, 0);
	if (result && takes)
		altstack_set_action(signal, before);
	if (!result && old && is_replacement(old->handler, old->flags, &before)) {
		if (old->handler != (void *)SIG_DFL)
			old->handler = before.handler;
		if (before.handler == (void *)SIG_DFL) {
			old->flags = before.flags;
			old->restorer = before.flags & RESTORER ? old->restorer : NULL;
		}
		old->mask = before.mask;
	}
	if (is_locked)
		altstack_unlock(&signals);
	return result;
}

/* Puts our handler in place of SIG_DFL, if that is what the kernel has. Under the lock. */
static void altstack_watch(int signal)
{
	struct sigaction now, changed = {.sa_handler = SIG_DFL};
	struct action wanted, instead;

	if (fatal_action(signal, NULL, &now) || now.sa_handler != SIG_DFL)
		return;
	wanted = (struct action){(void *)SIG_DFL, 0, (unsigned long)now.sa_flags};
	memcpy(&wanted.mask, &now.sa_mask, sizeof(wanted.mask));
	if (!altstack_replace(signal, &wanted, &instead))
		return;
	changed.sa_handler = (void (*)(int))instead.handler;
	changed.sa_flags = (int)instead.flags;
	memcpy(&changed.sa_mask, &instead.mask, sizeof(instead.mask));
	altstack_set_action(signal, wanted);
	fatal_action(signal, &changed, NULL);
}

void altstack_watch_fatal(void (*handler)(int, siginfo_t *, void *), altstack_action_call *real)
{
	uint64_t signals;

	if (!altstack_lock(&signals))
		return;
	fatal_handler = (void *)handler;
	fatal_action = real;
	is_watching = true;
	for (int signal = 1; signal < SIGNALS; signal++)
		if (is_fatal_signal(signal))
			altstack_watch(signal);
	altstack_unlock(&signals);
}

void (*altstack_signal(int signal, void (*handler)(int), altstack_signal_call *real))(int)
{
	bool is_locked;
	uint64_t signals;
	void (*old)(int);
	int error;

	if (!is_watching || !is_fatal_signal(signal))
		return (void (*)(int))altstack_handler(signal, (void *)real(signal, handler));
	is_locked = altstack_lock(&signals);
	old = (void (*)(int))altstack_handler(signal, (void *)real(signal, handler));
	error = errno;
	if (is_locked && handler == SIG_DFL && old != SIG_ERR)
		altstack_watch(signal);
	if (is_locked)
		altstack_unlock(&signals);
	errno = error;
	return old;
}

void *altstack_handler(int signal, void *now)
{
	bool is_ours = now == altstack_enter || (fatal_handler && now == fatal_handler);

	return is_ours && signal > 0 && signal <= SIGNALS ? altstack_action(signal).handler : now;
}

void altstack_start(void)
{
#if defined(__x86_64__)
	is_active = true;
#endif
}

void altstack_replace_handlers(altstack_action_call *real, uint64_t signals)
{
	struct sigaction action;

	for (; signals; signals &= signals - 1) {
		int signal = __builtin_ctzll(signals) + 1;

		if (!real(signal, NULL, &action) &&
		    is_replaced_handler((void *)action.sa_handler, (unsigned long)action.sa_flags))
			altstack_sigaction(signal, &action, NULL, real);
	}
}

void altstack_stop(void)
{
	struct altstack_kernel_action now;
	struct action programs;
	uint64_t signals;

	if (!altstack_lock(&signals))
		return;
	for (int signal = 1; signal <= SIGNALS; signal++) {
		programs = altstack_action(signal);
		if (!actions[signal].turn || sys_call(SYS_rt_sigaction, signal, NULL, &now, sizeof(now.mask)))
			continue;
		if (now.handler != altstack_enter && (!fatal_handler || now.handler != fatal_handler))
			continue;
		now.handler = programs.handler;
		now.flags = programs.flags | RESTORER;
		now.mask = programs.mask;
		sys_call(SYS_rt_sigaction, signal, &now, NULL, sizeof(now.mask));
	}
	is_active = is_watching = false;
	altstack_unlock(&signals);
}

/* ---- the thread's stack ---- */

static long altstack_syscall(const stack_t *stack, stack_t *old)
{
	return sys_call(SYS_sigaltstack, stack, old, 0, 0);
}

static bool is_in_stack(const stack_t *s, uintptr_t address)
{
	uintptr_t low = (uintptr_t)s->ss_sp;

	/* as in the kernel: the address of the top belongs to it, that of the bottom does not */
	return !(s->ss_flags & SS_DISABLE) && address > low && address - low <= s->ss_size;
}

static long altstack_set_ours(void)
{
	stack_t ours = {.ss_sp = self.low, .ss_size = (size_t)(self.high - self.low)};

	return altstack_syscall(&ours, NULL);
}

bool altstack_begin(void *low, size_t size)
{
	bool is_inherited = self.low == low; /* by a forked child */
	stack_t now;

	if (altstack_syscall(NULL, &now) || now.ss_flags & (int)(SS_ONSTACK | SS_AUTODISARM))
		return false;
	if (!is_inherited || now.ss_sp != low)
		self.programs = now;
	self.low = low;
	self.high = self.low + size;
	self.tid = sys_gettid();
	if (!altstack_set_ours())
		return true;
	self.low = NULL;
	return false;
}

bool altstack_end(void)
{
	if (!self.low)
		return true;
	if (altstack_syscall(&self.programs, NULL))
		return false;
	self.low = NULL;
	return true;
}

void *altstack_own(void)
{
	return self.low;
}

bool altstack_is_ours(const void *address)
{
	return self.low && (const char *)address >= self.low && (const char *)address < self.high;
}

bool altstack_is_programs(const void *address)
{
	return self.low && is_in_stack(&self.programs, (uintptr_t)address);
}

bool altstack_repair(stack_t *context_stack)
{
	if (!self.low || (context_stack->ss_flags ^ self.programs.ss_flags) & SS_DISABLE)
		return false;
	if (!(context_stack->ss_flags & SS_DISABLE) && context_stack->ss_sp != self.programs.ss_sp)
		return false;
	*context_stack = (stack_t){.ss_sp = self.low, .ss_size = (size_t)(self.high - self.low)};
	return true;
}

/* A program on its own alternate stack may not change it, and the kernel would not let us restore ours there. */
static int altstack_answer_on_stack(const stack_t *stack, stack_t *old)
{
	if (stack) {
		errno = EPERM;
		return -1;
	}
	if (old) {
		*old = self.programs;
		old->ss_flags |= SS_ONSTACK;
	}
	return 0;
}

/* After altstack_stop() only the program's own system calls may be made. */
static int altstack_answer_silently(const stack_t *stack, stack_t *old, altstack_stack_call *real)
{
	int result = stack ? real(stack, old) : 0;

	if (result)
		return result;
	if (old)
		*old = self.programs;
	if (stack)
		self.low = NULL;
	return 0;
}

/* The kernel checks and executes the request, with the program's stack registered meanwhile. */
int altstack_sigaltstack(const stack_t *stack, stack_t *old, altstack_stack_call *real)
{
	int result, error;
	uint64_t signals;

	if (self.low && sys_is_silent)
		return altstack_answer_silently(stack, old, real);
	if (!self.low || self.tid != sys_gettid())
		return real(stack, old);
	if (altstack_is_programs(__builtin_frame_address(0)))
		return altstack_answer_on_stack(stack, old);
	sys_signals_block(&signals);
	/* a handler that was installed by a direct system call runs on ours */
	if (altstack_syscall(&self.programs, NULL)) {
		sys_signals_restore(&signals);
		return real(stack, old);
	}
	result = real(stack, old);
	error = errno;
	altstack_syscall(NULL, &self.programs);
	if (self.programs.ss_flags & (int)SS_AUTODISARM)
		self.low = NULL; /* the kernel changes it at each signal: the thread is no longer sampled */
	else
		altstack_set_ours();
	sys_signals_restore(&signals);
	errno = error;
	return result;
}

/* ---- a handler's frame ---- */

#if defined(__x86_64__)

/* The kernel's struct rt_sigframe; the FPU state is above it, at the address in the context. */
struct signal_frame {
	void *restorer;
	struct {
		unsigned long flags;
		void *link;
		stack_t stack;
		uint64_t registers[32]; /* struct sigcontext */
		uint64_t mask;
	} context;
	siginfo_t info;
};
enum { FRAME_SP = 15, FRAME_FPU = 23 };
_Static_assert(sizeof(struct signal_frame) == 440 && offsetof(struct signal_frame, info) == 312,
	       "altstack_enter depends on it");

/* How altstack_enter continues. */
struct landing {
	struct signal_frame *frame;
	void *handler;
	uint64_t mask, signal;
};

/* Not memcpy, which may use vector registers, whose state the handler would see. */
static void altstack_copy(void *to, const void *from, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static size_t frame_fpu_bytes(const char *state)
{
	enum { LEGACY = 512, MAGIC_AT = 464, MAGIC = 0x46505853 };
	const uint32_t *extension = (const uint32_t *)(state + MAGIC_AT);

	return extension[0] == MAGIC ? extension[1] : LEGACY;
}

/* Kills the process as the kernel does if a frame does not fit. */
static __attribute__((noreturn)) void altstack_die(void)
{
	struct altstack_kernel_action standard = {.handler = (void *)SIG_DFL};
	long pid = sys_enter(SYS_getpid, 0, 0, 0, 0, 0, 0), tid = sys_enter(SYS_gettid, 0, 0, 0, 0, 0, 0);
	uint64_t none = 0;

	for (;;) {
		sys_enter(SYS_rt_sigaction, SIGSEGV, (long)&standard, 0, sizeof(standard.mask), 0, 0);
		sys_enter(SYS_tgkill, pid, tid, SIGSEGV, 0, 0, 0);
		sys_enter(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof(none), 0, 0);
	}
}

/* Moves the frame to where the kernel would have put it. */
static struct signal_frame *frame_move(const struct signal_frame *from)
{
	uintptr_t sp = from->context.registers[FRAME_SP] - RED_ZONE, fpu = from->context.registers[FRAME_FPU];
	bool is_on_stack = is_in_stack(&self.programs, sp);
	size_t bytes = fpu ? frame_fpu_bytes((const char *)fpu) : 0;
	struct signal_frame *to;

	if (!is_on_stack && !(self.programs.ss_flags & SS_DISABLE)) {
		sp = (uintptr_t)self.programs.ss_sp + self.programs.ss_size;
		is_on_stack = true;
	}
	sp = (sp - bytes) & ~(uintptr_t)(FPU_ALIGN - 1);
	to = (struct signal_frame *)(((sp - sizeof(*to)) & ~(uintptr_t)(FRAME_ALIGN - 1)) - 8);
	if (is_on_stack && !is_in_stack(&self.programs, (uintptr_t)to))
		altstack_die();
	altstack_copy((void *)sp, (const void *)fpu, bytes);
	altstack_copy(to, from, sizeof(*to));
	if (fpu)
		to->context.registers[FRAME_FPU] = sp;
	return to;
}

/* Called by altstack_enter with all signals blocked. */
HIDDEN void altstack_land(uint64_t signal, struct signal_frame *from, struct landing *ret);
__attribute__((used)) void altstack_land(uint64_t signal, struct signal_frame *from, struct landing *ret)
{
	struct action action = altstack_action((int)signal);
	bool was_on_ours = altstack_is_ours((void *)from->context.registers[FRAME_SP]);

	ret->signal = signal;
	ret->handler = action.handler;
	ret->mask = from->context.mask | action.mask;
	if (!(action.flags & SA_NODEFER))
		ret->mask |= 1ull << (signal - 1);
	/* Not on our stack: a thread that is not sampled. The frame of a signal that interrupted a handler on our
	 * stack must stay there. */
	ret->frame = altstack_is_ours(from) && !was_on_ours ? frame_move(from) : from;
}

/* Signals are unblocked only after the move, as the kernel would have done at the entry. Callee-saved registers have
 * their interrupted values. */
__asm__(".pushsection .text\n"
	".hidden altstack_enter\n"
	".globl altstack_enter\n"
	".type altstack_enter, @function\n"
	"altstack_enter:\n"
	"	endbr64\n"
	"	movl %edi, %edi\n"
	"	movq %rsp, %rsi\n"
	"	subq $40, %rsp\n"
	"	movq %rsp, %rdx\n"
	"	call altstack_land\n"
	"	movq 8(%rsp), %r8\n"
	"	movq 16(%rsp), %rax\n"
	"	movq 24(%rsp), %r9\n"
	"	movq (%rsp), %rsp\n"
	"	movq %rax, -8(%rsp)\n"
	"	leaq -8(%rsp), %rsi\n"
	"	movl $2, %edi\n" /* SIG_SETMASK */
	"	xorl %edx, %edx\n"
	"	movl $8, %r10d\n"
	"	movl $14, %eax\n" /* SYS_rt_sigprocmask */
	"	syscall\n"
	"	movl %r9d, %edi\n"
	"	leaq 312(%rsp), %rsi\n"
	"	leaq 8(%rsp), %rdx\n"
	"	xorl %eax, %eax\n"
	"	jmpq *%r8\n"
	".size altstack_enter, . - altstack_enter\n"
	".popsection\n");

#else

char altstack_enter[1]; /* there are no samples on this architecture yet: no handler is replaced */

#endif
