/* SPDX-License-Identifier: Apache-2.0 */
/* stress ROUNDS: 32 threads work on files, pipes, sockets, streams and locks; a timer's handler comes in between and
 * makes calls of its own; the main thread forks, spawns and cancels meanwhile. Prints what was done, which is the
 * same each time; exits while some threads still run. Where the machine gives no thread or process, it ends at once
 * with the reason: the threads wait for each other in a barrier. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 32 };

extern char **environ;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static _Atomic long done, wrong, signals;
static int rounds;

static void expect(int fact)
{
	if (!fact)
		wrong++;
}

/* Of pthread_create and posix_spawn, which return an error, and fork, whose result is -1. */
static void need(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "stress: %s: %s\n", what, strerror(error < 0 ? errno : error));
	_exit(3);
}

static pthread_t start(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	need(pthread_create(&thread, NULL, run, argument), "pthread_create");
	return thread;
}

static void *wait_for_ever(void *unused)
{
	for (;;) {
		struct pollfd none = {.fd = -1};

		poll(&none, 1, 1);
	}
	return unused;
}

static void start_and_cancel(void)
{
	pthread_t thread = start(wait_for_ever, NULL);

	expect(!pthread_cancel(thread) && !pthread_join(thread, NULL));
}

/* Only what a handler may call; errno is the interrupted code's. */
static void on_alarm(int number)
{
	int error = errno, p[2], fd = open("/dev/null", O_WRONLY);
	struct stat st;
	char byte = (char)number;

	signals++;
	expect(fd < 0 || write(fd, &byte, 1) == 1);
	if (fd >= 0)
		close(fd);
	if (!pipe(p)) {
		expect(write(p[1], &byte, 1) == 1 && read(p[0], &byte, 1) == 1);
		close(p[0]);
		close(p[1]);
	}
	expect(stat("/", &st) == 0);
	errno = error;
}

static ssize_t all(ssize_t (*call)(int, void *, size_t), int fd, void *bytes, size_t size)
{
	ssize_t n;

	do
		n = call(fd, bytes, size);
	while (n < 0 && errno == EINTR);
	return n;
}

static ssize_t put(int fd, void *bytes, size_t size)
{
	return write(fd, bytes, size);
}

static void work_once(long self, int round)
{
	char name[64], bytes[512], back[512];
	int fd, p[2];
	FILE *f;
	void *map;

	snprintf(name, sizeof(name), "file.%d.%ld", getpid(), self);
	memset(bytes, (int)('a' + (self + round) % 26), sizeof(bytes));
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	expect(all(put, fd, bytes, sizeof(bytes)) == sizeof(bytes));
	expect(pread(fd, back, sizeof(back), 0) == sizeof(back) && !memcmp(bytes, back, sizeof(back)));
	map = mmap(NULL, sizeof(bytes), PROT_READ, MAP_SHARED, fd, 0);
	expect(map != MAP_FAILED && !memcmp(map, bytes, sizeof(bytes)));
	munmap(map, sizeof(bytes));
	close(fd);
	f = fopen(name, "r");
	expect(f && fgetc(f) == bytes[0] && fread(back, 1, 100, f) == 100 && !memcmp(back, bytes, 100));
	if (f)
		fclose(f);
	unlink(name);
	expect(socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0);
	expect(all(put, p[0], bytes, 64) == 64 && all(read, p[1], back, 64) == 64 && !memcmp(bytes, back, 64));
	expect(shutdown(p[0], SHUT_RDWR) == 0);
	close(p[0]);
	close(p[1]);
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	done++;
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_unlock(&mutex);
	sem_post(&semaphore);
	while (sem_wait(&semaphore) && errno == EINTR)
		;
}

static void *work(void *self)
{
	for (int round = 0; round < rounds; round++) {
		work_once((long)self, round);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* Runs in a child of the multithreaded parent: starts a thread and ends in one of several ways. */
static void child(int round)
{
	/* Other threads of the parent may have held these locks or waited for them. */
	mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
	sem_init(&semaphore, 0, 0);
	for (int i = 0; i < 3; i++)
		work_once(100 + round, i);
	start_and_cancel();
	if (round % 3 == 0)
		kill(getpid(), SIGKILL);
	if (round % 3 == 1)
		_exit(wrong ? 1 : 7);
	exit(wrong ? 1 : 7);
}

static void make_children(int round)
{
	char *const arguments[] = {"true", NULL};
	int status;
	pid_t pid;

	pid = fork();
	need(pid < 0 ? -1 : 0, "fork");
	if (!pid)
		child(round);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	expect(round % 3 == 0 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
			      : WIFEXITED(status) && WEXITSTATUS(status) == 7);
	need(posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ), "posix_spawn");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	expect(status == 0);
	start_and_cancel();
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 1000}, {0, 1000}};
	pthread_t threads[THREADS];

	rounds = argc > 1 ? atoi(argv[1]) : 1;
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&barrier, NULL, THREADS);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (long i = 0; i < THREADS; i++)
		threads[i] = start(work, (void *)i);
	for (int i = 0; i < 4; i++)
		start(wait_for_ever, NULL);
	for (int i = 0; i < 6; i++)
		make_children(i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("done %ld, wrong %ld, signals %s\n", (long)done, (long)wrong, signals ? "yes" : "none");
	return wrong != 0;
}
