/* SPDX-License-Identifier: Apache-2.0 */
/* Seccomp filters.
 *   filtered NUMBER[,NUMBER...] kill|errno COMMAND...   runs COMMAND under a filter that kills the process for these
 *                                                       system calls, or lets them fail with EPERM
 *   filtered own prctl|seccomp   installs a filter by an instruction of its own that kills for what CPU samples need
 *                                to end: the program computes for longer than they take to look */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };

static long call(long number, long a, long b, long c)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
#else
	return syscall(number, a, b, c, 0, 0);
#endif
}

static int run_command(char *numbers, const char *action, char **command)
{
	unsigned effect = !strcmp(action, "kill") ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM;
	struct sock_filter filter[2 * MOST + 2];
	struct sock_fprog program = {0, filter};

	filter[program.len++] =
	    (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (char *n = strtok(numbers, ","); n && program.len < 2 * MOST; n = strtok(NULL, ",")) {
		filter[program.len++] =
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(n), 0, 1);
		filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, effect);
	}
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		return 77;
	}
	execvp(command[0], command);
	perror(command[0]);
	return 1;
}

static volatile unsigned long sum;

static void compute(double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

	do
		for (unsigned long i = 0; i < 1000000; i++)
			sum += i;
	while (clock() < end);
}

static void *run_thread(void *unused)
{
	compute(0.1);
	return unused;
}

/* Computes long enough for the samples to find the filter. */
static int run_own(const char *how)
{
	static const unsigned forbidden[] = {SYS_timer_create, SYS_timer_settime, SYS_timer_delete, SYS_sigaltstack,
					     SYS_rt_sigtimedwait};
	struct sock_filter filter[2 * MOST];
	struct sock_fprog program = {0, filter};
	pthread_t thread;
	long result;

	compute(0.2);
	filter[program.len++] =
	    (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
		filter[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i], 0, 1);
		filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0);
	result = !strcmp(how, "prctl") ? call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program)
				       : call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program);
	if (result)
		return 77;
	compute(1.5);
	if (pthread_create(&thread, NULL, run_thread, NULL) || pthread_join(thread, NULL))
		return 1;
	puts("alive");
	return 3;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "own"))
		return run_own(argv[2]);
	if (argc >= 4)
		return run_command(argv[1], argv[2], argv + 3);
	return 2;
}
