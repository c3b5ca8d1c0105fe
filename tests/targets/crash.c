/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes in the way that its argument names; or prints, before and after it has changed them, what it sees of the
 * actions for the signals of crashes: crash_dispositions. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int zero;
static int *volatile nowhere = NULL;

static void read_nothing(void)
{
	*nowhere = 1; /* read_nothing crashes */
}

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Winfinite-recursion"
static __attribute__((noinline)) int descend(int depth)
{
	volatile char frame[512];

	frame[0] = (char)depth;
	return descend(depth + 1) + frame[0]; /* descend overflows */
}

static void crash(const char *how)
{
	int size = getpagesize();
	void (*volatile missing)(void) = NULL;

	if (!strcmp(how, "segv"))
		read_nothing();
	else if (!strcmp(how, "bus"))
		*(volatile char *)mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fileno(tmpfile()), 0);
	else if (!strcmp(how, "fpe"))
		zero = 7 / zero;
	else if (!strcmp(how, "ill"))
		__builtin_trap();
	else if (!strcmp(how, "abort"))
		abort();
	else if (!strcmp(how, "overflow"))
		descend(0);
	else if (!strcmp(how, "jump"))
		missing();
	else if (!strcmp(how, "raise"))
		raise(SIGSEGV);
	else if (!strcmp(how, "kill"))
		kill(getpid(), SIGFPE);
}

static void *worker(void *how)
{
	prctl(PR_SET_NAME, "worker");
	crash(how);
	return NULL;
}

/* ---- handlers of the program ---- */

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(99);
}

static void on_signal_once(int signal)
{
	say("handler\n");
	(void)signal;
}

/* As faulthandler, Rust and others do. */
static void on_signal_chain(int signal, siginfo_t *info, void *context)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};

	say(info->si_code > 0 ? "a fault\n" : "sent\n");
	sigaction(signal, &standard, NULL);
	if (info->si_code <= 0)
		raise(signal);
	(void)context;
}

static void on_signal_default(int signal_number)
{
	say("handler by signal()\n");
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void with_handler(const char *which, const char *how)
{
	static char memory[65536];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_sigaction = on_signal_chain, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (!strcmp(which, "stack"))
		sigaltstack(&stack, NULL);
	for (int i = 1; i < 32; i++) {
		if (i != SIGSEGV && i != SIGBUS && i != SIGFPE && i != SIGILL && i != SIGABRT)
			continue;
		if (!strcmp(which, "chain") || !strcmp(which, "stack"))
			sigaction(i, &action, NULL);
		if (!strcmp(which, "once"))
			sigaction(i, &(struct sigaction){.sa_handler = on_signal_once, .sa_flags = (int)SA_RESETHAND},
				  NULL);
		if (!strcmp(which, "signal"))
			signal(i, on_signal_default);
		if (!strcmp(which, "ignored"))
			signal(i, SIG_IGN);
	}
	crash(how);
	say("goes on\n");
}

/* ---- what it sees ---- */

static void show(int signal, const char *when)
{
	struct sigaction now;
	sigset_t empty;

	sigemptyset(&empty);
	sigaction(signal, NULL, &now);
	printf("%s %d: %s, flags %x, mask %d, restorer %d\n", when, signal,
	       now.sa_handler == SIG_DFL   ? "default"
	       : now.sa_handler == SIG_IGN ? "ignored"
					   : "handler",
	       (unsigned)now.sa_flags, memcmp(&now.sa_mask, &empty, 8) != 0, now.sa_restorer != NULL);
}

static void show_raw(int signal)
{
	unsigned long now[4] = {9, 9, 9, 9};
	long result = syscall(SYS_rt_sigaction, signal, NULL, now, 8);

	printf("raw %d: %ld, %lx %lx %d %lx\n", signal, result, now[0], now[1], now[2] != 0, now[3]);
}

static void dispositions(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGTRAP};
	struct sigaction standard = {.sa_handler = SIG_DFL, .sa_flags = SA_RESTART}, old;
	int status;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		show(signals[i], "start");
		show_raw(signals[i]);
		printf("signal(): %d\n", signal(signals[i], on_signal_once) == SIG_DFL);
		show(signals[i], "handler");
		printf("signal(): %d\n", signal(signals[i], SIG_DFL) == on_signal_once);
		show(signals[i], "default");
		sigaddset(&standard.sa_mask, SIGUSR1);
		sigaction(signals[i], &standard, &old);
		printf("old: %d %x\n", old.sa_handler == SIG_DFL, (unsigned)old.sa_flags);
		show(signals[i], "restart");
		show_raw(signals[i]);
		fflush(stdout);
		if (!fork())
			_exit(signal(signals[i], SIG_IGN) == SIG_DFL);
		wait(&status);
		printf("child: %d\n", WEXITSTATUS(status));
	}
}

int main(int count, char **words)
{
	pthread_t thread;

	if (count == 2 && !strcmp(words[1], "dispositions")) {
		dispositions();
		return 0;
	}
	if (count == 3 && !strcmp(words[1], "thread")) {
		pthread_create(&thread, NULL, worker, words[2]);
		pthread_join(thread, NULL);
	} else if (count == 3) {
		with_handler(words[1], words[2]);
		return 3;
	} else if (count == 2) {
		crash(words[1]);
	}
	return 1;
}
