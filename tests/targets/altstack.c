/* SPDX-License-Identifier: Apache-2.0 */
/* altstack WHAT [NUMBER]: stacks without space for a signal frame, and the program's own alternate signal stacks.
 * The output must be the same with and without CPU samples. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum { PAINT = 0xa5, PAINTED = 65536 };

static char *own_low, *own_high; /* the alternate stack of the thread that runs */
static volatile sig_atomic_t seen;
static sigjmp_buf place;

static void burn(double seconds)
{
	struct timespec start, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do {
		for (volatile int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 < seconds);
}

/* ---- a stack in the middle of other memory ---- */

static char *painted(size_t size)
{
	char *at = mmap(NULL, PAINTED + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(at, PAINT, PAINTED);
	return at + PAINTED;
}

static int changed(const char *stack)
{
	int n = 0;

	for (const char *at = stack - PAINTED; at < stack; at++)
		n += (unsigned char)*at != PAINT;
	return n;
}

static ucontext_t coroutine, caller;

static void in_coroutine(void)
{
	burn(1);
}

/* Has space for the work, but not for a signal frame. */
static void small(size_t size)
{
	char *stack = painted(size);

	burn(0); /* binds its symbols */
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = size;
	coroutine.uc_link = &caller;
	makecontext(&coroutine, in_coroutine, 0);
	swapcontext(&caller, &coroutine);
	printf("below the stack: %d bytes changed\n", changed(stack));
}

/* ---- handlers ---- */

static const char *whose_stack(const stack_t *stack)
{
	if (stack->ss_flags & SS_DISABLE)
		return "disabled";
	return (char *)stack->ss_sp == own_low ? "own" : "another's";
}

static void print_stack(const char *when)
{
	stack_t now = {0};
	int result = sigaltstack(NULL, &now);

	printf("%s: %d, %s, flags %x, %zu\n", when, result, whose_stack(&now), (unsigned)now.ss_flags, now.ss_size);
	now = (stack_t){0};
	result = (int)syscall(SYS_sigaltstack, NULL, &now);
	printf("%s, by syscall(): %d, %s, flags %x\n", when, result, whose_stack(&now), (unsigned)now.ss_flags);
}

static const char *where(const void *at, const void *context)
{
	const ucontext_t *u = context;
	uintptr_t interrupted = (uintptr_t)u->uc_mcontext.gregs[REG_RSP], here = (uintptr_t)at;

	if ((const char *)at > own_low && (const char *)at <= own_high)
		return "its alternate stack";
	return here < interrupted && interrupted - here < 65536 ? "the interrupted stack" : "another stack";
}

/* The handler's and its signal's frame leave less of 8 KiB than a second signal frame needs: 3.4 KB with AVX-512. */
NOINLINE static int burn_deep(size_t size)
{
	volatile char room[3000];

	if (size < 8192) {
		burn(0.3);
		return 0;
	}
	room[0] = 0;
	burn(0.3);
	return room[0]; /* keeps `room` alive during burn() */
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	char here;
	int saved = errno;

	printf("signal %d, code %d, on %s\n", signal, info->si_code, where(&here, context));
	print_stack("in the handler");
	seen += 1 + burn_deep((size_t)(own_high - own_low));
	errno = saved;
}

static void install(int signal, int flags)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};

	sigaddset(&action.sa_mask, SIGUSR2);
	if (sigaction(signal, &action, NULL))
		perror("sigaction");
}

static char *register_stack(size_t size)
{
	char *stack = painted(size);
	stack_t s = {.ss_sp = stack, .ss_size = size};

	if (sigaltstack(&s, NULL)) {
		printf("sigaltstack: %s\n", strerror(errno));
		return stack;
	}
	own_low = stack;
	own_high = stack + size;
	return stack;
}

/* Runs work, then handlers on the alternate stack that work, then work. */
static void handled(size_t size)
{
	double before = 1.5, after = 2.5; /* in vector registers across the handler */
	char *stack;

	setvbuf(stdout, NULL, _IOLBF, 0);
	print_stack("at first");
	install(SIGUSR1, SA_ONSTACK);
	raise(SIGUSR1);
	stack = register_stack(size);
	print_stack("registered");
	burn(0.2);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	burn(0.2);
	print_stack("afterwards");
	printf("%d seen, %.1f, %d bytes changed below the stack\n", seen, before * after, changed(stack));
}

static void *without_stack(void *unused)
{
	own_low = own_high = NULL;
	print_stack("thread");
	raise(SIGUSR1);
	burn(0.2);
	return unused;
}

/* One thread has an alternate stack, another has none; then a forked child. */
static void threads(size_t size)
{
	char *low, *high;
	pthread_t id;
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	install(SIGUSR1, SA_ONSTACK);
	register_stack(size);
	low = own_low;
	high = own_high;
	pthread_create(&id, NULL, without_stack, NULL);
	pthread_join(id, NULL);
	own_low = low;
	own_high = high;
	if (!fork()) {
		print_stack("child");
		raise(SIGUSR1);
		burn(0.2);
		register_stack(size);
		raise(SIGUSR1);
		_exit(7);
	}
	wait(&status);
	print_stack("parent");
	raise(SIGUSR1);
	printf("child ended %d\n", WEXITSTATUS(status));
}

/* ---- the bounds of the stack ---- */

static void on_fault(int signal, siginfo_t *info, void *context)
{
	char here;

	(void)info;
	printf("signal %d on %s\n", signal, where(&here, context));
	siglongjmp(place, 1);
}

NOINLINE static int deeper(int n)
{
	volatile char room[4096];

	room[0] = (char)n;
	return n > 1 << 30 ? n : deeper(n + 1) + room[0];
}

static void *overflow(void *size)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (*(size_t *)size)
		register_stack(*(size_t *)size);
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 3; i++) {
		burn(0.1);
		if (!sigsetjmp(place, 1))
			deeper(0);
		printf("back\n");
		print_stack("after siglongjmp");
	}
	return NULL;
}

/* Of a thread's stack; without an alternate stack the program dies. */
static void overflows(size_t size)
{
	pthread_t id;

	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_create(&id, NULL, overflow, &size);
	pthread_join(id, NULL);
}

/* ---- what the program can observe ---- */

struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static const char *whose_handler(const void *handler)
{
	return handler == (void *)on_signal ? "own" : handler == (void *)SIG_DFL ? "default" : "another's";
}

static void show_action(int signal)
{
	struct sigaction now;
	struct kernel_action raw;
	bool has_mask = false;

	sigaction(signal, NULL, &now);
	for (int i = 1; i < 32; i++)
		has_mask |= i != SIGUSR2 && sigismember(&now.sa_mask, i);
	printf("handler %s, flags %x, mask %d %s\n", whose_handler((void *)now.sa_handler), (unsigned)now.sa_flags,
	       sigismember(&now.sa_mask, SIGUSR2), has_mask ? "and more" : "alone");
	syscall(SYS_rt_sigaction, signal, NULL, &raw, 8);
	printf("by syscall(): %s, flags %lx, mask %" PRIx64 "\n", whose_handler(raw.handler), raw.flags, raw.mask);
}

static void print_result(long result)
{
	printf("%ld %s\n", result, result < 0 ? strerror(errno) : "");
}

static void on_masked(int signal, siginfo_t *info, void *context)
{
	sigset_t now;

	(void)info;
	(void)context;
	sigprocmask(SIG_SETMASK, NULL, &now);
	printf("%d:", signal);
	for (int i = 1; i < 32; i++)
		if (sigismember(&now, i))
			printf(" %d", i);
	printf("\n");
	if (signal == SIGUSR1 && seen++ < 2)
		raise(SIGUSR1);
	if (signal == SIGUSR1)
		raise(SIGUSR2);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* siginterrupt */
static void view(void)
{
	struct sigaction action = {.sa_sigaction = on_masked, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct kernel_action raw;
	stack_t s = {.ss_sp = painted(65536), .ss_size = 1024};

	setvbuf(stdout, NULL, _IOLBF, 0);
	print_stack("at first");
	print_result(sigaltstack(&s, NULL));
	s.ss_size = 65536;
	s.ss_flags = 64;
	print_result(sigaltstack(&s, NULL));
	print_result(syscall(SYS_sigaltstack, (void *)8, NULL));
	s.ss_flags = 0;
	print_result(syscall(SYS_sigaltstack, &s, NULL));
	own_low = s.ss_sp;
	own_high = own_low + s.ss_size;
	print_stack("registered");
	s.ss_flags = SS_DISABLE;
	print_result(sigaltstack(&s, NULL));
	print_stack("disabled");

	show_action(SIGUSR1);
	install(SIGUSR1, SA_ONSTACK | SA_RESTART);
	show_action(SIGUSR1);
	siginterrupt(SIGUSR1, 1);
	show_action(SIGUSR1);
	printf("signal() returns %s\n", whose_handler((void *)signal(SIGUSR1, SIG_IGN)));
	install(SIGUSR1, SA_ONSTACK | SA_RESETHAND);
	syscall(SYS_rt_sigaction, SIGUSR1, NULL, &raw, 8);
	print_result(syscall(SYS_rt_sigaction, SIGUSR1, &raw, NULL, 8));
	raise(SIGUSR1);
	show_action(SIGUSR1);
	print_result(syscall(SYS_rt_sigaction, SIGUSR1, (void *)8, NULL, 8));
	print_result(sigaction(99, &action, NULL));
	print_result(sigaction(SIGKILL, &action, NULL));

	seen = 0;
	sigaddset(&action.sa_mask, SIGTERM);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags |= SA_NODEFER;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &action, NULL);
	seen = 0;
	raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	size_t number = argc > 2 ? (size_t)atol(argv[2]) : 0;

	if (!strcmp(what, "small"))
		small(number);
	else if (!strcmp(what, "handled"))
		handled(number);
	else if (!strcmp(what, "threads"))
		threads(number);
	else if (!strcmp(what, "overflow"))
		overflows(number);
	else if (!strcmp(what, "view"))
		view();
	else
		return 2;
	return 0;
}
