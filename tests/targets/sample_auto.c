/* SPDX-License-Identifier: Apache-2.0 */
/* sample_auto WHAT: does something that a program and CPU samples cannot do at the same time without the program
 * noticing. Prints how many timers the process has in the kernel before and after, its own excluded: those of samples.
 * The timer of -s auto must be gone afterwards. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLE_SIGNAL = 59 };

static int own_timers;

static int foreign_timers(void)
{
	FILE *f = fopen("/proc/self/timers", "r");
	int count = -own_timers;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		count += !strncmp(line, "ID:", 3);
	if (f)
		fclose(f);
	return count;
}

static void handle(int signal)
{
	(void)signal;
}

static void create_timer(clockid_t clock, bool by_syscall)
{
	struct sigevent event = {.sigev_notify = SIGEV_NONE};
	timer_t timer;

	if (by_syscall ? syscall(SYS_timer_create, clock, &event, &(int){0}) : timer_create(clock, &event, &timer))
		perror("timer_create");
	else
		own_timers++;
}

static void set_interval_timer(int which, bool by_syscall)
{
	struct itimerval hour = {.it_value = {.tv_sec = 3600}};

	if (by_syscall ? syscall(SYS_setitimer, which, &hour, NULL) : setitimer((__itimer_which_t)which, &hour, NULL))
		perror("setitimer");
}

static void block(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void set_filter(void)
{
	struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
	struct sock_fprog program = {1, &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		perror("seccomp");
}

static void get_cpu_clock_timer(void)
{
	clockid_t clock;

	clock_getcpuclockid(getpid(), &clock);
	create_timer(clock, false);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int before = foreign_timers();

	if (!strcmp(what, "profiling-timer"))
		set_interval_timer(ITIMER_PROF, false);
	else if (!strcmp(what, "virtual-timer"))
		set_interval_timer(ITIMER_VIRTUAL, true);
	else if (!strcmp(what, "real-timer"))
		set_interval_timer(ITIMER_REAL, false);
	else if (!strcmp(what, "process-clock"))
		create_timer(CLOCK_PROCESS_CPUTIME_ID, false);
	else if (!strcmp(what, "thread-clock"))
		create_timer(CLOCK_THREAD_CPUTIME_ID, true);
	else if (!strcmp(what, "some-process-clock"))
		get_cpu_clock_timer();
	else if (!strcmp(what, "monotonic-clock"))
		create_timer(CLOCK_MONOTONIC, false);
	else if (!strcmp(what, "profiling-handler"))
		signal(SIGPROF, handle);
	else if (!strcmp(what, "virtual-handler"))
		sigaction(SIGVTALRM, &(struct sigaction){.sa_handler = handle}, NULL);
	else if (!strcmp(what, "handler"))
		sigaction(SAMPLE_SIGNAL, &(struct sigaction){.sa_handler = handle}, NULL);
	else if (!strcmp(what, "blocked"))
		block(SAMPLE_SIGNAL);
	else if (!strcmp(what, "other-handler"))
		signal(SIGALRM, handle);
	else if (!strcmp(what, "filter"))
		set_filter();
	else
		return 2;
	printf("before %d, after %d\n", before, foreign_timers());
	return 0;
}
