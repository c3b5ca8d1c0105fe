/* SPDX-License-Identifier: Apache-2.0 */
/* A ptrace parent that prints each signal at which its child stops. traced traceme|seize [COMMAND...]
 * Without a COMMAND the child works, handles signals and ends by itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
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
	int is_seized = argc > 1 && !strcmp(argv[1], "seize"), status, begin[2];
	pid_t child;
	char byte;

	if (argc < 2 || pipe(begin))
		return 2;
	child = fork();
	if (!child) {
		if (!is_seized && ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(3);
		if (is_seized && read(begin[0], &byte, 1) != 1)
			_exit(4);
		if (argc > 2)
			execvp(argv[2], argv + 2);
		work();
		_exit(7);
	}
	if (is_seized) {
		if (ptrace(PTRACE_SEIZE, child, NULL, NULL))
			perror("PTRACE_SEIZE");
		(void)!write(begin[1], "", 1);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		int signal = WSTOPSIG(status);

		printf("stopped by signal %d\n", signal);
		ptrace(PTRACE_CONT, child, NULL, (void *)(long)(signal == SIGTRAP ? 0 : signal));
	}
	printf("ended %x\n", (unsigned)status);
	return 0;
}
