/* SPDX-License-Identifier: Apache-2.0 */
/* forks HOW CHILDREN CALLS THREADS: while THREADS threads make usleep(100) calls, the main thread makes CHILDREN
 * children one after the other by fork, raw clone, clone with an own stack, vfork+exec, posix_spawn or daemon-like
 * double fork; each makes CALLS usleep(100) calls and leaves by _exit. Prints "threads N" with the calls that the
 * threads made in all. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static _Atomic long made;
static atomic_bool stop;
static long calls;

static void *work(void *unused)
{
	(void)unused;
	while (!stop) {
		usleep(100);
		made++;
	}
	return NULL;
}

static int child(void *unused)
{
	(void)unused;
	for (long i = 0; i < calls; i++)
		usleep(100);
	_exit(0);
}

static pid_t make(const char *how, char *self)
{
	char text[32];
	char *arguments[] = {self, "child", "0", text, "0", NULL};
	pid_t pid;

	snprintf(text, sizeof(text), "%ld", calls);
	if (!strcmp(how, "fork")) {
		pid = fork();
		if (!pid)
			child(NULL);
	} else if (!strcmp(how, "rawclone")) {
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (!pid)
			child(NULL);
	} else if (!strcmp(how, "clone")) {
		static char stack[65536] __attribute__((aligned(16)));

		pid = clone(child, stack + sizeof(stack), SIGCHLD, NULL);
	} else if (!strcmp(how, "vfork")) {
		pid = vfork();
		if (!pid) {
			execv(self, arguments);
			_exit(9);
		}
	} else if (!strcmp(how, "cleanenv")) {
		char *empty[] = {NULL};

		pid = fork();
		if (!pid) {
			execve(self, arguments, empty);
			_exit(9);
		}
	} else {
		if (posix_spawn(&pid, self, NULL, NULL, arguments, environ))
			pid = -1;
	}
	return pid;
}

int main(int argc, char **argv)
{
	long children, threads;
	pthread_t ids[256];
	int bad = 0;

	if (argc < 5)
		return fputs("usage: forks HOW CHILDREN CALLS THREADS\n", stderr), 2;
	children = atol(argv[2]);
	calls = atol(argv[3]);
	threads = atol(argv[4]);
	if (!strcmp(argv[1], "child"))
		child(NULL);
	for (long i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, work, NULL);
	for (long i = 0; i < children; i++) {
		pid_t pid = make(argv[1], argv[0]);
		int status = -1;

		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			bad++;
	}
	stop = true;
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("threads %ld bad %d\n", made, bad);
	return bad ? 1 : 0;
}
