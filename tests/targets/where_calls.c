/* SPDX-License-Identifier: Apache-2.0 */
/* A thread in each call that blocks, until a line arrives on stdin. Then each call is given what it waits for. Prints
 * how each ended: one that something has interrupted ends with EINTR, or too early. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* pipes: one for each call that reads from one. */
enum { PIPE_READ, PIPE_READV, PIPE_POLL, PIPE_PPOLL, PIPE_SELECT, PIPE_PSELECT, PIPE_EPOLL, PIPE_SPLICE, PIPE_CHILD,
       PIPE_CHILD_ID, PIPES };
static int pipes[PIPES][2], full[2], pair[2], pair_timed[2], pair_message[2];
static int event, watch, queue, semaphores, locked, signals;
static int word, word_timed;
static bool is_released;
static char path[] = "where_calls.file";
static sem_t semaphore, semaphore_timed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pid_t child, child_id;
static const struct timespec long_time = {100000, 0};

static struct timespec far_away(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 100000;
	return t;
}

static long do_read(void)
{
	char byte;

	return read(pipes[PIPE_READ][0], &byte, 1);
}

static long do_readv(void)
{
	char byte;

	return readv(pipes[PIPE_READV][0], &(struct iovec){&byte, 1}, 1);
}

static long do_poll(void)
{
	return poll(&(struct pollfd){pipes[PIPE_POLL][0], POLLIN, 0}, 1, -1);
}

static long do_ppoll(void)
{
	return ppoll(&(struct pollfd){pipes[PIPE_PPOLL][0], POLLIN, 0}, 1, &long_time, NULL);
}

static long do_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipes[PIPE_SELECT][0], &set);
	return select(pipes[PIPE_SELECT][0] + 1, &set, NULL, NULL, NULL);
}

static long do_pselect(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipes[PIPE_PSELECT][0], &set);
	return pselect(pipes[PIPE_PSELECT][0] + 1, &set, NULL, NULL, &long_time, NULL);
}

static long do_epoll(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, pipes[PIPE_EPOLL][0], &e);
	return epoll_wait(fd, &e, 1, 100000000);
}

static long do_splice(void)
{
	return splice(pipes[PIPE_SPLICE][0], NULL, open("/dev/null", O_WRONLY), NULL, 1, 0);
}

static long do_write(void)
{
	char bytes[8192] = "";

	return write(full[1], bytes, sizeof(bytes)) == sizeof(bytes);
}

static long do_recv(void)
{
	char byte;

	return recv(pair[0], &byte, 1, 0);
}

static long do_recv_timed(void)
{
	const struct timeval t = {100000, 0};
	char byte;

	setsockopt(pair_timed[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	return recv(pair_timed[0], &byte, 1, 0);
}

static long do_recvmsg(void)
{
	char byte;
	struct iovec vector = {&byte, 1};

	return recvmsg(pair_message[0], &(struct msghdr){.msg_iov = &vector, .msg_iovlen = 1}, 0);
}

static long do_eventfd(void)
{
	uint64_t value;

	return read(event, &value, sizeof(value)) == sizeof(value);
}

static long do_inotify(void)
{
	char bytes[4096];

	return read(watch, bytes, sizeof(bytes)) > 0;
}

static long do_signalfd(void)
{
	struct signalfd_siginfo info;

	return read(signals, &info, sizeof(info)) == sizeof(info);
}

static long do_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &long_time) == SIGUSR2;
}

static long do_msgrcv(void)
{
	struct {
		long type;
		char text[8];
	} message;

	return msgrcv(queue, &message, sizeof(message.text), 1, 0) >= 0;
}

static long do_semop(void)
{
	return !semop(semaphores, &(struct sembuf){0, -1, 0}, 1);
}

static long do_semtimedop(void)
{
	return !semtimedop(semaphores, &(struct sembuf){1, -1, 0}, 1, &long_time);
}

static long do_sem_wait(void)
{
	return !sem_wait(&semaphore);
}

static long do_sem_timedwait(void)
{
	struct timespec t = far_away();

	return !sem_timedwait(&semaphore_timed, &t);
}

static long do_cond_wait(void)
{
	pthread_mutex_lock(&mutex);
	while (!is_released)
		pthread_cond_wait(&condition, &mutex);
	return !pthread_mutex_unlock(&mutex);
}

static long do_futex(void)
{
	return !syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static long do_futex_timed(void)
{
	return !syscall(SYS_futex, &word_timed, FUTEX_WAIT, 0, &long_time, NULL, 0);
}

static long do_waitpid(void)
{
	return waitpid(child, NULL, 0) == child;
}

static long do_waitid(void)
{
	siginfo_t info;

	return !waitid(P_PID, (id_t)child_id, &info, WEXITED);
}

static long do_flock(void)
{
	return !flock(open(path, O_RDWR), LOCK_EX);
}

static const struct {
	const char *name;
	long (*call)(void);
} calls[] = {
#define CALL(name) {#name, do_##name}
	CALL(read), CALL(readv), CALL(poll), CALL(ppoll), CALL(select), CALL(pselect), CALL(epoll), CALL(splice),
	CALL(write), CALL(recv), CALL(recv_timed), CALL(recvmsg), CALL(eventfd), CALL(inotify), CALL(signalfd),
	CALL(sigtimedwait), CALL(msgrcv), CALL(semop), CALL(semtimedop), CALL(sem_wait), CALL(sem_timedwait),
	CALL(cond_wait), CALL(futex), CALL(futex_timed), CALL(waitpid), CALL(waitid), CALL(flock),
};
enum { CALLS = sizeof(calls) / sizeof(*calls) };
static long results[CALLS];
static int errors[CALLS];

static void *run(void *argument)
{
	size_t i = (size_t)argument;

	errno = 0;
	results[i] = calls[i].call();
	errors[i] = results[i] < 1 ? errno : 0;
	if (!__atomic_load_n(&is_released, __ATOMIC_ACQUIRE))
		errors[i] = ECANCELED;
	return NULL;
}

/* A child that ends when its pipe is closed. */
static pid_t child_new(int number)
{
	pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	for (int i = 0; i < PIPES; i++)
		close(pipes[i][1]);
	_exit(read(pipes[number][0], &byte, 1) ? 1 : 0);
}

static void prepare(void)
{
	char bytes[4096] = "";
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigdelset(&set, SIGUSR2);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	for (int i = 0; i < PIPES; i++)
		if (pipe2(pipes[i], O_CLOEXEC))
			exit(1);
	child = child_new(PIPE_CHILD);
	child_id = child_new(PIPE_CHILD_ID);
	if (pipe2(full, O_CLOEXEC) || fcntl(full[1], F_SETFL, O_NONBLOCK))
		exit(1);
	while (write(full[1], bytes, sizeof(bytes)) > 0)
		;
	fcntl(full[1], F_SETFL, 0);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair_timed);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair_message);
	event = eventfd(0, 0);
	locked = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	flock(locked, LOCK_EX);
	watch = inotify_init1(IN_CLOEXEC);
	inotify_add_watch(watch, path, IN_MODIFY);
	queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	semaphores = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600);
	sem_init(&semaphore, 0, 0);
	sem_init(&semaphore_timed, 0, 0);
}

static void wake(int *futex)
{
	__atomic_store_n(futex, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, futex, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void release(void)
{
	struct {
		long type;
		char text[8];
	} message = {1, "x"};
	char bytes[65536];
	uint64_t one = 1;

	pthread_mutex_lock(&mutex);
	__atomic_store_n(&is_released, true, __ATOMIC_RELEASE);
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < PIPES; i++)
		if (write(pipes[i][1], "x", 1) < 0)
			perror("write");
	while (read(full[0], bytes, sizeof(bytes)) == sizeof(bytes))
		;
	if (write(pair[1], "x", 1) < 0 || write(pair_timed[1], "x", 1) < 0 || write(pair_message[1], "x", 1) < 0 ||
	    write(event, &one, sizeof(one)) < 0 || write(locked, "x", 1) < 0)
		perror("write");
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	msgsnd(queue, &message, sizeof(message.text), 0);
	semop(semaphores, (struct sembuf[]){{0, 1, 0}, {1, 1, 0}}, 2);
	sem_post(&semaphore);
	sem_post(&semaphore_timed);
	wake(&word);
	wake(&word_timed);
	flock(locked, LOCK_UN);
}

int main(void)
{
	pthread_t threads[CALLS];
	char line[16];

	prepare();
	for (size_t i = 0; i < CALLS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	release();
	for (size_t i = 0; i < CALLS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < CALLS; i++)
		printf("%s %s\n", calls[i].name, errors[i] ? strerror(errors[i]) : "ended");
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	unlink(path);
	return 0;
}
