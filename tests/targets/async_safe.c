/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the async-signal-safe functions (signal-safety(7)) where the thread itself, or another one, may hold a lock of
 * the loader, of malloc or of stdio. Writes a file into the working directory.
 *	async_safe held                another thread holds the loader's lock and that of stdout; the same in a child
 *	async_safe handler HZ TICKS    in a signal handler, beside busy threads
 *	async_safe alone HZ TICKS      in a signal handler of a single thread, where glibc's fork is safe, too
 *	async_safe forks COUNT         in children that are forked beside busy threads
 * Prints "done". A child that hangs is killed after a minute, which is an error. */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

enum { CHILD_SECONDS = 60, BUSY_THREADS = 3 };

static volatile long result;
static volatile sig_atomic_t ticks;
static volatile bool is_over;
static bool is_alone;
static int null_fd;
static sem_t semaphore, is_held, is_done;
static timer_t timer;

static long suspend(void)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	raise(SIGUSR1);
	sigdelset(&all, SIGUSR1);
	sigsuspend(&all);
	return pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static long handle(void)
{
	struct sigaction old;

	return sigaction(SIGUSR2, NULL, &old) + sigaction(SIGUSR2, &old, NULL) + (signal(SIGURG, SIG_IGN) == SIG_ERR);
}

static long talk(int flags)
{
	struct sockaddr_un name = {0};
	char byte = 'x';
	struct iovec vector = {&byte, 1};
	struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
	socklen_t size = sizeof(name), option = sizeof(int);
	int pair[2] = {-1, -1}, value;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return -1;
	result = send(pair[0], &byte, 1, flags) + recv(pair[1], &byte, 1, flags);
	result = sendto(pair[0], &byte, 1, flags, NULL, 0) + recvfrom(pair[1], &byte, 1, flags, NULL, NULL);
	result = sendmsg(pair[0], &message, flags) + recvmsg(pair[1], &message, flags);
	result = getsockname(pair[0], (struct sockaddr *)&name, &size);
	size = sizeof(name);
	result = getpeername(pair[0], (struct sockaddr *)&name, &size);
	result = getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &value, &option);
	result = setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &(int){0}, sizeof(int)) + shutdown(pair[0], SHUT_RDWR);
	return close(pair[0]) + close(pair[1]);
}

static long wait_nothing(void)
{
	struct timespec none = {0};
	struct timeval now = {0};
	struct pollfd polled = {.fd = null_fd};

	return select(0, NULL, NULL, NULL, &now) + pselect(0, NULL, NULL, NULL, &none, NULL) + poll(&polled, 1, 0) +
	       nanosleep(&none, NULL) + (long)sleep(0);
}

#define CALL(expression)                                                                                               \
	case __COUNTER__:                                                                                              \
		result = (long)(expression);                                                                           \
		break;

/* setuid and setgid are left out: glibc's take a lock where there are threads. */
enum { BASE = __COUNTER__ };
static void call(unsigned which)
{
	struct timeval times_of[2] = {{1, 0}, {1, 0}};
	struct timespec spec[2] = {{1, 0}, {1, 0}};
	struct itimerspec never = {{0, 0}, {0, 0}};
	struct aiocb request = {.aio_fildes = -1};
	struct utsname name;
	struct termios terminal = {0};
	struct tms usage;
	sigset_t set;
	char bytes[64] = "x";
	struct stat st;
	int pair[2] = {-1, -1};

	switch (which + BASE + 1) {
		CALL(close(open("/dev/null", O_RDONLY)))
		CALL(close(open("file", O_RDWR | O_CREAT, 0600)))
		CALL(close(openat(AT_FDCWD, "/dev/null", O_RDONLY)))
		CALL(close(creat("file", 0600)))
		CALL(access("file", R_OK) + faccessat(AT_FDCWD, "file", R_OK, 0))
		CALL(chmod("file", 0600) + fchmod(-1, 0600) + fchmodat(AT_FDCWD, "file", 0600, 0))
		CALL(chown("file", getuid(), getgid()) + fchown(-1, getuid(), getgid()))
		CALL(fchownat(AT_FDCWD, "file", getuid(), getgid(), 0))
		CALL(chdir(".") + fchdir(-1))
		CALL(stat("file", &st) + lstat("file", &st))
		CALL(fstat(null_fd, &st) + fstatat(AT_FDCWD, "file", &st, 0))
		CALL(fcntl(null_fd, F_GETFD))
		CALL(fdatasync(null_fd) + fsync(null_fd) + ftruncate(null_fd, 0))
		CALL(futimens(-1, spec) + utimensat(AT_FDCWD, "file", spec, 0) + utimes("file", times_of) +
		     utime("file", NULL))
		CALL(link("file", "/nowhere/a") + linkat(AT_FDCWD, "file", AT_FDCWD, "/nowhere/a", 0))
		CALL(symlink("file", "/nowhere/a") + symlinkat("file", AT_FDCWD, "/nowhere/a"))
		CALL(readlink("/proc/self/exe", bytes, sizeof(bytes)) +
		     readlinkat(AT_FDCWD, "/proc/self/exe", bytes, sizeof(bytes)))
		CALL(mkdir("/nowhere/a", 0700) + mkdirat(AT_FDCWD, "/nowhere/a", 0700))
		CALL(mkfifo("/nowhere/a", 0600) + mkfifoat(AT_FDCWD, "/nowhere/a", 0600))
		CALL(mknod("/nowhere/a", S_IFIFO, 0) + mknodat(AT_FDCWD, "/nowhere/a", S_IFIFO, 0))
		CALL(rename("/nowhere/a", "/nowhere/b") + renameat(AT_FDCWD, "/nowhere/a", AT_FDCWD, "/nowhere/b"))
		CALL(rmdir("/nowhere/a") + unlink("/nowhere/a") + unlinkat(AT_FDCWD, "/nowhere/a", 0))
		CALL(lseek(null_fd, 0, SEEK_SET) + read(null_fd, bytes, sizeof(bytes)))
		CALL(write(null_fd, bytes, sizeof(bytes)))
		CALL(umask(umask(022)))
		CALL(close(dup(null_fd)) + dup2(null_fd, null_fd))
		CALL(pipe(pair) + write(pair[1], bytes, 1) + read(pair[0], bytes, 1) + close(pair[0]) + close(pair[1]))
		CALL(accept(-1, NULL, NULL) + bind(-1, NULL, 0) + connect(-1, NULL, 0) + listen(-1, 1))
		CALL(close(socket(AF_UNIX, SOCK_STREAM, 0)) + sockatmark(-1))
		CALL(talk(MSG_DONTWAIT))
		CALL(getpid() + getppid() + getpgrp() + (long)getuid() + (long)geteuid() + (long)getgid() +
		     (long)getegid() + getgroups(0, NULL))
		CALL(setpgid(-1, 0) + tcgetpgrp(-1) + tcsetpgrp(-1, 0))
		CALL(tcgetattr(-1, &terminal) + tcsetattr(-1, TCSANOW, &terminal) + tcdrain(-1) + tcflow(-1, TCOON) +
		     tcflush(-1, TCIFLUSH) + tcsendbreak(-1, 0))
		CALL(cfsetispeed(&terminal, B9600) + cfsetospeed(&terminal, B9600) + (long)cfgetispeed(&terminal))
		CALL(clock_gettime(CLOCK_MONOTONIC, spec) + time(NULL) + (long)times(&usage) + uname(&name))
		CALL(timer_settime(timer, 0, &never, NULL) + timer_gettime(timer, &never) + timer_getoverrun(timer))
		CALL(sem_post(&semaphore))
		CALL(kill(getpid(), 0) + raise(SIGURG) + pthread_kill(pthread_self(), 0) +
		     pthread_equal(pthread_self(), pthread_self()) + killpg(0, 0))
		CALL(sigqueue(getpid(), SIGURG, (union sigval){0}))
		CALL(sigemptyset(&set) + sigaddset(&set, SIGURG) + sigismember(&set, SIGURG) + sigpending(&set))
		CALL(sigprocmask(SIG_BLOCK, NULL, &set))
		CALL(handle())
		CALL(suspend())
		CALL(wait_nothing())
		CALL(waitpid(-1, NULL, WNOHANG) * is_alone)
		CALL(aio_error(&request) + aio_return(&request))
		CALL(execl("/nowhere/a", "a", NULL) + execle("/nowhere/a", "a", NULL, environ))
		CALL(execv("/nowhere/a", (char *[]){bytes, NULL}))
		CALL(execve("/nowhere/a", (char *[]){bytes, NULL}, environ))
		CALL(fexecve(null_fd, (char *[]){bytes, NULL}, environ))
	}
}
enum { CALLS = __COUNTER__ - BASE - 1 };

static void call_all(void)
{
	for (unsigned i = 0; i < CALLS; i++)
		call(i);
}

/* A child that calls all functions and ends in one of the ways that are safe; whether that worked. */
static bool child(unsigned how)
{
	static const int wanted[] = {0, 0, SIGABRT, 0};
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(CHILD_SECONDS);
		is_alone = true;
		call_all();
		if (how % 4 == 1)
			execl("/bin/true", "true", NULL);
		if (how % 4 == 2)
			abort();
		if (how % 4 == 3)
			_Exit(0);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == wanted[how % 4];
}

static void fail(const char *what)
{
	write(2, what, strlen(what));
	_exit(1);
}

/* ---- the modes ---- */

static int hold(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info, (void)size, (void)unused;
	flockfile(stdout);
	sem_post(&is_held);
	while (sem_wait(&is_done))
		;
	funlockfile(stdout);
	return 1;
}

static void *hold_locks(void *unused)
{
	dl_iterate_phdr(hold, unused);
	return NULL;
}

static void held(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hold_locks, NULL);
	while (sem_wait(&is_held))
		;
	call_all();
	for (unsigned i = 0; i < 4; i++)
		if (!child(i))
			fail("a child failed\n");
	sem_post(&is_done);
	pthread_join(thread, NULL);
}

static int visit(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info, (void)size, (void)unused;
	return 0;
}

/* What a program may do where a handler interrupts it, or beside a fork. */
static void work(unsigned round)
{
	void *block = malloc(100 + round % 5000), *library;

	dl_iterate_phdr(visit, NULL);
	close(open("/dev/null", O_RDONLY));
	if (round % 50 == 0 && (library = dlopen("libm.so.6", RTLD_LAZY)))
		dlclose(library);
	free(block);
	fprintf(stderr, "%s", "");
	write(null_fd, "x", 1);
}

static void *keep_busy(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (unsigned round = 0; !is_over; round++)
		work(round);
	return unused;
}

static void on_tick(int number)
{
	int error = errno;

	(void)number;
	call((unsigned)ticks % CALLS);
	if (is_alone && ticks % 100 == 0 && !child((unsigned)ticks / 100))
		fail("a child of the handler failed\n");
	ticks++;
	errno = error;
}

static void handler(long hz, long wanted)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct itimerval timer_value = {{0, 1000000 / hz}, {0, 1000000 / hz}};
	struct itimerval stop = {{0, 0}, {0, 0}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer_value, NULL);
	for (unsigned round = 0; ticks < wanted; round++)
		work(round);
	setitimer(ITIMER_REAL, &stop, NULL);
}

static void nothing(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	struct sigevent event = {.sigev_notify = SIGEV_NONE};
	struct sigaction action = {.sa_handler = nothing};
	struct rlimit no_core = {0, 0};
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t threads[BUSY_THREADS];
	bool is_busy = !strcmp(mode, "handler") || !strcmp(mode, "forks");

	setrlimit(RLIMIT_CORE, &no_core);
	null_fd = open("/dev/null", O_RDWR);
	sigaction(SIGUSR1, &action, NULL);
	signal(SIGURG, SIG_IGN);
	if (null_fd < 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) || sem_init(&semaphore, 0, 0) ||
	    sem_init(&is_held, 0, 0) || sem_init(&is_done, 0, 0))
		return 2;
	is_alone = !strcmp(mode, "alone");
	for (int i = 0; is_busy && i < BUSY_THREADS; i++)
		pthread_create(&threads[i], NULL, keep_busy, NULL);
	if (!strcmp(mode, "held"))
		held();
	else if ((!strcmp(mode, "handler") || is_alone) && argc == 4)
		handler(atol(argv[2]), atol(argv[3]));
	else if (!strcmp(mode, "forks") && argc == 3)
		for (unsigned i = 0; i < (unsigned)atol(argv[2]); i++) {
			if (!child(i))
				fail("a child failed\n");
		}
	else
		return 2;
	is_over = true;
	for (int i = 0; is_busy && i < BUSY_THREADS; i++)
		pthread_join(threads[i], NULL);
	return puts("done") < 0;
}
