/* SPDX-License-Identifier: Apache-2.0 */
/* altstack_dispatch WHAT: has the kernel dispatch this thread's system calls to its handler of SIGSYS, as Wine and
 * system call interposers do, and prints how many the handler got. Status 77: the kernel cannot.
 *   libc      only those outside libc are dispatched: none
 *   all       all are dispatched, and the handler makes each of them
 *   fork      as all, with a child that computes, makes calls and is not dispatched
 *   off       as all, for a while; then computes
 *   thread    as all, in a second thread that ends, while the first one computes
 *   refused   the kernel refuses it; then computes */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { DISPATCH = 59, OFF = 0, ON = 1, ALLOW = 0, BLOCK = 1, CALLS = 1000, RESTORER_BYTES = 16 };

static volatile char selector;
static volatile long hits;
static uintptr_t restorer;

static long call(long number, const long long *a)
{
	register long r10 __asm__("r10") = (long)a[3];
	register long r8 __asm__("r8") = (long)a[4];
	register long r9 __asm__("r9") = (long)a[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* Its return to the kernel is in the range that is not dispatched. */
static void make_call(int signal, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const long long arguments[] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};

	(void)signal;
	restorer = (uintptr_t)__builtin_return_address(0);
	if (info->si_code <= 0) /* raise() */
		return;
	selector = ALLOW;
	hits++;
	r[REG_RAX] = call(info->si_syscall, arguments);
	selector = BLOCK;
}

static volatile unsigned long sum;

static void compute(double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

	do
		for (int i = 0; i < 1000000; i++)
			sum += (unsigned long)i;
	while (clock() < end);
}

/* Without a system call. */
static void compute_blindly(void)
{
	for (unsigned long i = 0; i < 300000000; i++)
		sum += i;
}

static void write_often(void)
{
	int fd = open("/dev/null", O_WRONLY);

	for (int i = 0; i < CALLS; i++)
		if (write(fd, "x", 1) != 1)
			abort();
	close(fd);
}

static int libc_range(uintptr_t *start, uintptr_t *end)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long a, b;

	*start = *end = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "/libc.so") && !strstr(line, "/libc-"))
			continue;
		if (sscanf(line, "%lx-%lx", &a, &b) != 2)
			continue;
		*start = *start ? *start : a;
		*end = b;
	}
	if (f)
		fclose(f);
	return *start ? 0 : -1;
}

static void begin(uintptr_t start, uintptr_t bytes)
{
	if (prctl(DISPATCH, ON, start, bytes, &selector))
		exit(errno == EINVAL ? 77 : 1);
}

static void *run_all(void *unused)
{
	begin(restorer, RESTORER_BYTES);
	selector = BLOCK;
	write_often();
	compute_blindly();
	return unused;
}

static int run_fork(void)
{
	int status;
	pid_t child;

	begin(restorer, RESTORER_BYTES);
	child = fork(); /* before the selector blocks: libc's fork keeps locks meanwhile */
	if (!child) {
		compute(0.3);
		write_often();
		_exit(hits != 0);
	}
	selector = BLOCK;
	write_often();
	waitpid(child, &status, 0);
	selector = ALLOW;
	return status;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = make_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
	const char *what = argc > 1 ? argv[1] : "";
	uintptr_t start, end;
	pthread_t thread;
	int status = 0;

	sigaction(SIGSYS, &action, NULL);
	raise(SIGSYS);
	compute(0.05);
	if (!strcmp(what, "libc") && !libc_range(&start, &end)) {
		begin(start, end - start);
		selector = BLOCK;
		compute_blindly();
		write_often();
	} else if (!strcmp(what, "all")) {
		run_all(NULL);
	} else if (!strcmp(what, "fork")) {
		status = run_fork();
	} else if (!strcmp(what, "off")) {
		run_all(NULL);
		selector = ALLOW;
		prctl(DISPATCH, OFF, 0, 0, 0);
		compute(0.5);
	} else if (!strcmp(what, "thread")) {
		pthread_create(&thread, NULL, run_all, NULL);
		compute(0.3);
		pthread_join(thread, NULL);
	} else if (!strcmp(what, "refused")) {
		status = prctl(DISPATCH, ON, 1, -1L, (void *)1) == 0;
		compute(0.5);
	} else {
		return 2;
	}
	selector = ALLOW;
	printf("%ld dispatched, status %d\n", hits, status);
	return status != 0;
}
