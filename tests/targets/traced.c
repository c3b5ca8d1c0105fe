/* SPDX-License-Identifier: Apache-2.0 */
/* A ptrace parent that prints each signal at which its child stops. traced traceme|seize [COMMAND...]
 * Without a COMMAND the child works, handles signals and ends by itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void on_signal(int signal)
{
	(void)signal;
}

static void work(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	struct timespec now;

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec < 1);
}

int main(int argc, char **argv)
{
	int is_seized = argc > 1 && !strcmp(argv[1], "seize"), status;
	volatile int *is_seized_now =
		mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (argc < 2 || is_seized_now == MAP_FAILED)
		return 2;
	/* A child that is to be seized makes no call before that, not even a fork handler's: it has no CPU samples yet.
	 */
	child = is_seized ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	if (!child) {
		if (!is_seized && ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(3);
		while (is_seized && !*is_seized_now)
			;
		if (argc > 2)
			execvp(argv[2], argv + 2);
		work();
		_exit(7);
	}
	if (is_seized) {
		if (ptrace(PTRACE_SEIZE, child, NULL, NULL))
			perror("PTRACE_SEIZE");
		*is_seized_now = 1;
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		int signal = WSTOPSIG(status);

		printf("stopped by signal %d\n", signal);
		ptrace(PTRACE_CONT, child, NULL, (void *)(long)(signal == SIGTRAP ? 0 : signal));
	}
	printf("ended %x\n", (unsigned)status);
	return 0;
}
