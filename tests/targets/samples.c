/* SPDX-License-Identifier: Apache-2.0 */
/* samples WHAT [NUMBER]: workloads for CPU samples, and programs that use signals themselves.
 * Each prints what it observed of its own signals; the output must be the same with and without samples. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define KEEP(x) __asm__ volatile("" : "+r"(x))

NOINLINE static unsigned long turn(unsigned long n)
{
	unsigned long x = n;

	for (unsigned long i = 0; i < n; i++) {
		x = x * 6364136223846793005ul + 1;
		KEEP(x);
	}
	return x;
}

NOINLINE unsigned long three_parts(void)
{
	unsigned long x = turn(300000);

	KEEP(x);
	return x;
}

NOINLINE unsigned long one_part(void)
{
	unsigned long x = turn(100000);

	KEEP(x);
	return x;
}

static double cpu_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

NOINLINE void shares(double seconds)
{
	double end = cpu_s(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (cpu_s(CLOCK_THREAD_CPUTIME_ID) < end) {
		three_parts();
		one_part();
	}
}

/* ---- threads, children ---- */

static void *busy_thread(void *seconds)
{
	shares(*(double *)seconds);
	return NULL;
}

static void *blocked_thread(void *unused)
{
	(void)unused;
	sleep(1);
	return NULL;
}

static void threads(int count)
{
	double seconds = 0.1;
	pthread_t ids[64], blocked;

	pthread_create(&blocked, NULL, blocked_thread, NULL);
	pthread_setname_np(blocked, "blocked");
	for (int i = 0; i < count; i++)
		pthread_create(&ids[i], NULL, busy_thread, &seconds);
	for (int i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
	pthread_join(blocked, NULL);
}

/* A child, its child, and an exec in each. */
static void children(const char *self, int depth)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		shares(0.1);
		if (depth > 1)
			children(self, depth - 1);
		execl(self, self, "shares", "0.1", NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	printf("child: %d\n", status);
}

/* ---- the program's own signals ---- */

static volatile sig_atomic_t seen, foreign;
static int children_ended, signals_seen, alarm_writes;

static void count_one(int signal)
{
	(void)signal;
	__atomic_fetch_add(&signals_seen, 1, __ATOMIC_RELAXED);
	if (alarm_writes)
		(void)!write(alarm_writes, "", 1);
}

/* Works, forks, loads and unloads, and signals itself, on a small stack. */
static void *stressed(void *unused)
{
	for (int i = 0; i < 8; i++) {
		int status = -1;
		void *library = dlopen("libm.so.6", RTLD_NOW);
		pid_t child = i % 4 ? 0 : fork();

		if (i % 4 == 0 && !child) {
			turn(300000);
			_exit(7);
		}
		turn(3000000);
		pthread_kill(pthread_self(), SIGUSR1);
		if (library)
			dlclose(library);
		if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7)
			__atomic_fetch_add(&children_ended, 1, __ATOMIC_RELAXED);
	}
	return unused;
}

static void stress(int count)
{
	struct sigaction action = {.sa_handler = count_one, .sa_flags = SA_RESTART};
	pthread_attr_t attributes;
	pthread_t ids[64];

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < count; i++)
		pthread_create(&ids[i], &attributes, stressed, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
	printf("%d children ended, %d signals\n", children_ended, signals_seen);
}

static void count(int signal, siginfo_t *info, void *context)
{
	(void)context;
	seen++;
	if (info->si_code == SI_TIMER && info->si_value.sival_ptr)
		foreign++;
	(void)signal;
}

static void install(int signal)
{
	struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART};

	if (sigaction(signal, &action, NULL))
		perror("sigaction");
}

/* Every queued real-time signal is delivered: the count matches what was sent even if the recorder uses the number. */
static void queued(int signal, int number)
{
	union sigval value = {0};

	install(signal);
	for (int i = 0; i < number; i++) {
		turn(20000);
		sigqueue(getpid(), signal, value);
	}
	printf("signal %d: %d of %d, %d foreign\n", signal, (int)seen, number, (int)foreign);
}

static void profiled(void)
{
	struct itimerval often = {{0, 4000}, {0, 4000}};

	install(SIGPROF);
	setitimer(ITIMER_PROF, &often, NULL);
	shares(0.5);
	memset(&often, 0, sizeof(often));
	setitimer(ITIMER_PROF, &often, NULL);
	/* This timer counts whole ticks, of 1 to 10 ms, so a busy machine makes more of them or fewer; one of ours
	 * would be seen as foreign. */
	printf("SIGPROF: %s, %d foreign\n", seen > 5 && seen <= 300 ? "some" : "wrong", (int)foreign);
}

static void show(const char *what, const sigset_t *set)
{
	printf("%s:", what);
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (signal != 32 && signal != 33 && sigismember(set, signal))
			printf(" %d", signal);
	printf("\n");
}

static void *print_inherited(void *unused)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	show("inherited", &now);
	return unused;
}

/* Prints the dispositions of all signals, and the signal masks. */
static void view(void)
{
	struct sigaction now;
	sigset_t all, some, before, after;
	pthread_t id;

	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (signal != 32 && signal != 33 && !sigaction(signal, NULL, &now) && now.sa_handler != SIG_DFL)
			printf("signal %d is taken\n", signal);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, NULL, &before);
	show("at first", &before);
	sigprocmask(SIG_BLOCK, &all, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	show("all", &after);
	pthread_create(&id, NULL, print_inherited, NULL);
	pthread_join(id, NULL);
	shares(0.05);
	sigpending(&after);
	show("pending", &after);
	sigemptyset(&some);
	for (int signal = 40; signal < 64; signal++)
		sigaddset(&some, signal);
	sigprocmask(SIG_UNBLOCK, &some, &after);
	sigprocmask(SIG_BLOCK, NULL, &after);
	show("without some", &after);
	sigprocmask(SIG_SETMASK, &before, &after);
	show("was", &after);
	if (signal(59, SIG_DFL) != SIG_DFL || signal(59, SIG_IGN) != SIG_DFL || signal(59, SIG_DFL) != SIG_IGN)
		printf("signal() tells of others\n");
	shares(0.05);
}

/* Waits for a signal that it has blocked and never handles. */
static void waited(int number)
{
	union sigval value = {0};
	struct timespec moment = {1, 0};
	siginfo_t info;
	sigset_t set;
	int got = 0;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 20; i++) {
		turn(2000000);
		value.sival_int = i;
		sigqueue(getpid(), number, value);
		got += sigtimedwait(&set, &info, &moment) == number && info.si_value.sival_int == i;
	}
	printf("waited for %d: %d\n", number, got);
}

/* ---- masks that are changed without a call of sigprocmask ---- */

static sigjmp_buf place;
static ucontext_t resumed;

static void block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

static void unblock_all(void)
{
	sigprocmask(SIG_SETMASK, &(sigset_t){0}, NULL);
}

static void show_now(const char *what)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	show(what, &now);
	shares(0.02);
}

static void block_in_handler(int signal)
{
	(void)signal;
	block_all();
	show_now("in a handler");
}

static void leave_handler(int signal)
{
	(void)signal;
	show_now("in a handler that blocks all");
	_longjmp(place, 1);
}

static void jumps(void)
{
	block_all();
	if (!sigsetjmp(place, 1)) {
		unblock_all();
		siglongjmp(place, 1);
	}
	show_now("restored by siglongjmp: all");
	unblock_all();
	if (!sigsetjmp(place, 1)) {
		block_all();
		siglongjmp(place, 1);
	}
	show_now("restored by siglongjmp: none");
}

static void contexts(void)
{
	volatile bool is_first = true;

	block_all();
	getcontext(&resumed);
	if (is_first) {
		is_first = false;
		unblock_all();
		setcontext(&resumed);
	}
	show_now("restored by setcontext: all");
	unblock_all();
	is_first = true;
	getcontext(&resumed);
	if (is_first) {
		is_first = false;
		block_all();
		setcontext(&resumed);
	}
	show_now("restored by setcontext: none");
}

static void handlers(void)
{
	struct sigaction action = {.sa_handler = block_in_handler};
	sigset_t all;

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	show_now("after the handler");
	action.sa_handler = leave_handler;
	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	if (!_setjmp(place))
		raise(SIGUSR1);
	show_now("after a handler that was left");
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	show_now("unblocked");
}

/* Changes of single signals while all are blocked: whichever signal samples use, one of them is that. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void single_masks(void)
{
	sigset_t one;

	block_all();
	sigemptyset(&one);
	sigaddset(&one, 59);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	show_now("all but one");
	sigprocmask(SIG_BLOCK, &one, NULL);
	show_now("all again");
	unblock_all();
	sighold(58);
	show_now("held");
	sigrelse(58);
	show_now("released");
	sigfillset(&one);
	sigdelset(&one, 57);
	sigprocmask(SIG_SETMASK, &one, NULL);
	show_now("all but another");
	unblock_all();
	show_now("none");
}
#pragma GCC diagnostic pop

/* Starts itself with all signals blocked: by fork and exec, and by posix_spawn. */
static void inherits(char *self)
{
	char *words[] = {self, "inherited", NULL};
	pid_t child;

	block_all();
	child = fork();
	if (!child) {
		execv(self, words);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	if (!posix_spawn(&child, self, NULL, NULL, words, environ))
		waitpid(child, NULL, 0);
	show_now("all");
}

static void inherited(void)
{
	show_now("inherited");
	shares(0.1);
	unblock_all();
	show_now("none");
}

/* Work, so that a sample comes near the call after it. How long it takes, us. */
/* As dash: blocks all signals, clears the mask by another function, and executes a program. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void cleared(char *self)
{
	char *words[] = {self, "shares", "0.5", NULL};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	sigsetmask(0);
	execv(self, words);
}
#pragma GCC diagnostic pop

static long some_polls(void)
{
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < 300; i++)
		poll(NULL, 0, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (end.tv_sec - start.tv_sec) * 1000000 + (end.tv_nsec - start.tv_nsec) / 1000;
}

/* A handler without SA_RESTART ends a read; one with it never does. The signal usually comes while the read waits; if
 * it comes just before, the next signal ends the read. If reads were restarted, it would always be the next one. */
static void ended(bool restarts)
{
	struct sigaction action = {.sa_handler = count_one, .sa_flags = restarts ? SA_RESTART : 0};
	struct itimerval once = {{0, 50000}, {0, 0}};
	struct timespec start, now;
	int fds[2], wrong = 0, waits = 0, late = 0;
	char byte;

	if (pipe(fds))
		return;
	sigaction(SIGALRM, &action, NULL);
	once.it_value.tv_usec = 200 + 3 * (some_polls() % 10000);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		signals_seen = 0;
		if (restarts)
			alarm_writes = fds[1];
		setitimer(ITIMER_REAL, &once, NULL);
		some_polls();
		if (restarts) {
			wrong += read(fds[0], &byte, 1) != 1;
		} else if (signals_seen == 0) {
			waits++;
			wrong += read(fds[0], &byte, 1) != -1 || errno != EINTR;
			late += signals_seen != 1;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < start.tv_sec + 3);
	memset(&once, 0, sizeof(once));
	setitimer(ITIMER_REAL, &once, NULL);
	printf("%s: %d wrong, by the next signal %s\n", restarts ? "restarted" : "ended", wrong,
	       late * 20 > waits ? "often" : "hardly ever");
}

/* ---- odd places ---- */

static char small_stack[49152];
static ucontext_t coroutine, caller;

static void in_coroutine(void)
{
	shares(0.3);
	swapcontext(&coroutine, &caller);
}

static void coroutines(void)
{
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = small_stack;
	coroutine.uc_stack.ss_size = sizeof(small_stack);
	coroutine.uc_link = &caller;
	makecontext(&coroutine, in_coroutine, 0);
	swapcontext(&caller, &coroutine);
}

static void in_handler(int signal)
{
	shares(0.2);
	seen = signal; /* set last, so that the handler's loop has finished */
}

/* Runs a handler that uses CPU time on an alternate stack; before that, a seccomp filter may fail. */
static void alternate(int failed)
{
	(void)failed;
	static char stack[32768];
	struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_ONSTACK};
	stack_t s = {.ss_sp = stack, .ss_size = sizeof(stack)};

	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

/* After this even the return from a handler may be forbidden. */
static void confined(void)
{
	shares(0.1);
	if (prctl(PR_SET_SECCOMP, 1, 0, 0, 0))
		return;
	turn(200000000);
	syscall(SYS_exit, write(1, "confined\n", 9) != 9);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	double number = argc > 2 ? atof(argv[2]) : 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "shares"))
		shares(number);
	else if (!strcmp(what, "threads"))
		threads((int)number);
	else if (!strcmp(what, "stress"))
		stress((int)number);
	else if (!strcmp(what, "children"))
		children(argv[0], (int)number);
	else if (!strcmp(what, "queued"))
		queued((int)number, 2000);
	else if (!strcmp(what, "profiled"))
		profiled();
	else if (!strcmp(what, "view"))
		view();
	else if (!strcmp(what, "waited"))
		waited((int)number);
	else if (!strcmp(what, "killed"))
		kill(getpid(), (int)number), turn(1000000000);
	else if (!strcmp(what, "cleared"))
		cleared(argv[0]);
	else if (!strcmp(what, "jumps"))
		jumps();
	else if (!strcmp(what, "contexts"))
		contexts();
	else if (!strcmp(what, "handlers"))
		handlers();
	else if (!strcmp(what, "single"))
		single_masks();
	else if (!strcmp(what, "inherits"))
		inherits(argv[0]);
	else if (!strcmp(what, "inherited"))
		inherited();
	else if (!strcmp(what, "ended"))
		ended(number > 1);
	else if (!strcmp(what, "coroutines"))
		coroutines();
	else if (!strcmp(what, "alternate"))
		alternate(number > 1 ? prctl(PR_SET_SECCOMP, 2, 8, 0, 0) : 0);
	else if (!strcmp(what, "confined"))
		confined();
	else
		return 2;
	return 0;
}
