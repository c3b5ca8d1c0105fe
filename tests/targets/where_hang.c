/* SPDX-License-Identifier: Apache-2.0 */
/* Hangs in ways that `pillion where` explains. where_hang mutexes|waits|workers
 * mutexes: two threads take two mutexes in opposite order. waits: each thread waits for something else; one computes.
 * workers: one forked child makes two calls and hangs in the second, another one has overwritten its variables and
 * hangs before it makes a call, a third one does not let others read its memory.
 * A line "ready" says that the threads have been started; the script looks until they wait. */
#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int ends[2], listener, connection, word;

static void *forward(void *unused)
{
	pthread_mutex_lock(&first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&second); /* forward waits */
	return unused;
}

static void *backward(void *unused)
{
	pthread_mutex_lock(&second);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&first); /* backward waits */
	return unused;
}

static void *reader(void *unused)
{
	char byte;

	return read(ends[0], &byte, 1) < 0 ? NULL : unused;
}

static void *receiver(void *unused)
{
	char byte;

	return recv(connection, &byte, 1, 0) < 0 ? NULL : unused;
}

static void *accepter(void *unused)
{
	return accept(listener, NULL, NULL) < 0 ? NULL : unused;
}

static void *waiter(void *unused)
{
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	return unused;
}

static void *watcher(void *unused)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event);
	epoll_wait(fd, &event, 1, -1);
	return unused;
}

static void *relocker(void *unused)
{
	pthread_mutex_lock(&own);
	pthread_mutex_lock(&own);
	return unused;
}

static void *computer(void *unused)
{
	volatile uint64_t turns = 0;

	while (turns != UINT64_MAX)
		turns += 2;
	return unused;
}

static void start(void *(*function)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, function, NULL);
}

static __attribute__((noinline)) int hang_mutexes(void)
{
	pthread_t thread;

	pthread_barrier_init(&both, NULL, 2);
	start(forward);
	pthread_create(&thread, NULL, backward, NULL);
	puts("ready");
	fflush(stdout);
	return pthread_join(thread, NULL);
}

/* The child has the other ends of the pipe and of the connection. */
static __attribute__((noinline)) int hang_waits(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	int accepted, status;
	pid_t child;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	connection = socket(AF_INET, SOCK_STREAM, 0);
	if (pipe(ends) || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size) ||
	    connect(connection, (struct sockaddr *)&address, size))
		return 1;
	accepted = accept(listener, NULL, NULL);
	child = fork();
	if (!child) {
		close(ends[0]);
		close(connection);
		close(listener);
		for (;;)
			pause();
	}
	close(accepted);
	close(ends[1]);
	start(reader);
	start(receiver);
	start(accepter);
	start(waiter);
	start(watcher);
	start(relocker);
	start(computer);
	puts("ready");
	fflush(stdout);
	return waitpid(child, &status, 0) < 0;
}

static __attribute__((noinline)) void worker_two_calls(void)
{
	char byte;

	usleep(1);
	if (read(ends[0], &byte, 1) < 0)
		_exit(1);
}

static __attribute__((noinline)) void worker_no_call(void)
{
	char byte;

	for (char **variable = environ; *variable; variable++)
		memset(*variable, 0, strlen(*variable));
	while (syscall(SYS_read, ends[0], &byte, 1) < 0)
		;
}

static __attribute__((noinline)) void worker_protected(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	for (;;)
		pause();
}

static __attribute__((noinline)) int hang_workers(void)
{
	void (*const workers[])(void) = {worker_two_calls, worker_no_call, worker_protected};
	int status;

	if (pipe(ends))
		return 1;
	for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++)
		if (!fork()) {
			workers[i]();
			_exit(0);
		}
	puts("ready");
	fflush(stdout);
	return wait(&status) < 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	return !strcmp(how, "mutexes") ? hang_mutexes() : !strcmp(how, "workers") ? hang_workers() : hang_waits();
}
