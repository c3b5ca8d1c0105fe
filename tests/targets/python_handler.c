/* SPDX-License-Identifier: Apache-2.0 */
/* For ctypes: a handler in C that comes every millisecond, wherever the interpreter is, and makes a call that is
 * recorded. */
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static void handler(int number)
{
	int error = errno;

	usleep(20);
	errno = error;
}

void start_interrupting(void)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct itimerval timer = {{0, 1000}, {0, 1000}};

	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
}
