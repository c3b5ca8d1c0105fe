/* SPDX-License-Identifier: Apache-2.0 */
/* masked_waits ROUNDS: calls that unblock a signal while they wait, each ended by that signal, which a child sends to
 * the process. The handler must have run when the call returns. Prints how many returned before. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	(void)signal;
	handled = 1;
}

/* Sends a signal to its parent for each byte. */
static pid_t start_sender(int pipe_ends[2])
{
	pid_t parent = getpid(), child = fork();
	char byte;

	if (child)
		return child;
	close(pipe_ends[1]);
	while (read(pipe_ends[0], &byte, 1) == 1)
		kill(parent, SIGUSR1);
	_exit(0);
}

static int wait_once(unsigned how, int epoll, const sigset_t *none)
{
	struct epoll_event event;

	switch (how) {
	case 0:
		return sigsuspend(none);
	case 1:
		return ppoll(NULL, 0, NULL, none);
	case 2:
		return pselect(0, NULL, NULL, NULL, NULL, none);
	default:
		return epoll_pwait(epoll, &event, 1, -1, none);
	}
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000, early = 0;
	int pipe_ends[2], epoll = epoll_create1(0);
	sigset_t blocked, none;
	pid_t sender;

	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, NULL);
	if (pipe(pipe_ends) || epoll < 0 || (sender = start_sender(pipe_ends)) < 0)
		return 2;
	close(pipe_ends[0]);
	for (long i = 0; i < rounds; i++) {
		handled = 0;
		if (write(pipe_ends[1], "", 1) != 1)
			return 2;
		if (wait_once((unsigned)i % 4, epoll, &none) != -1 || errno != EINTR)
			return 3;
		early += !handled;
		while (!handled)
			sigsuspend(&none);
	}
	errno = 0;
	if (ppoll(NULL, 0, NULL, (sigset_t *)16) != -1 || errno != EFAULT || sigsuspend((sigset_t *)16) != -1 ||
	    errno != EFAULT)
		return 4;
	close(pipe_ends[1]);
	while (waitpid(sender, NULL, 0) < 0)
		;
	printf("%ld returned before the handler had run\n", early);
	return early != 0;
}
