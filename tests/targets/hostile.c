/* SPDX-License-Identifier: Apache-2.0 */
/* hostile WHAT: a program that removes resources from a library in its process, still makes many calls, and prints what
 * it observes. Its output and status must be the same with and without recording. */
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 100000 };

/* Enough to outgrow several chunks. */
static void make_calls(void)
{
	char byte = 0;
	int fd = open("/dev/null", O_WRONLY);

	for (int i = 0; i < CALLS; i++)
		if (write(fd, &byte, 1) != 1)
			printf("write: %s\n", strerror(errno));
	close(fd);
}

static void print_descriptors(void)
{
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("fd %d\n", fd);
}

static void closerange(void)
{
	char path[] = "/tmp/hostile.XXXXXX";
	struct stat st;
	int fd;

	make_calls();
	syscall(SYS_close_range, 3, ~0u, 0);
	fd = mkstemp(path);
	if (fd < 0 || write(fd, "12345", 5) != 5)
		exit(9);
	for (int i = fd + 1; i < 200; i++)
		dup2(fd, i);
	make_calls();
	fstat(fd, &st);
	printf("fd %d size %ld\n", fd, (long)st.st_size);
	unlink(path);
}

static void few_descriptors(void)
{
	struct rlimit limit = {16, 16};
	int last = -1, fd;

	setrlimit(RLIMIT_NOFILE, &limit);
	make_calls();
	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	printf("last %d: %s\n", last, strerror(errno));
	make_calls();
}

static void in_chroot(void)
{
	char path[] = "/tmp/hostile.XXXXXX";

	if (!mkdtemp(path) || chroot(path) || chdir("/"))
		printf("chroot: %s\n", strerror(errno));
	make_calls();
	for (int i = 0; i < CALLS; i++)
		if (write(1, "", 0))
			exit(9);
	printf("in chroot\n");
}

static void *make_calls_in_thread(void *unused)
{
	make_calls();
	return unused;
}

static void threads(void)
{
	pthread_t id[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&id[i], NULL, make_calls_in_thread, NULL))
			exit(9);
	for (int i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
	printf("threads done\n");
}

static void failed(const char *what, int has_failed)
{
	printf("%s %d %s\n", what, has_failed, strerror(errno));
}

/* A chroot that fails, and then a child that makes calls. */
static void failed_chroot(void)
{
	int result = chroot("/nowhere"), status;

	printf("chroot %d: %s\n", result, strerror(errno));
	fflush(stdout);
	if (fork() == 0) {
		make_calls();
		_exit(0);
	}
	wait(&status);
	printf("child %d\n", status);
}

static void as_nobody(void)
{
	if (setgid(65534) || setuid(65534))
		printf("setuid: %s\n", strerror(errno));
	make_calls();
	printf("uid %d\n", (int)getuid());
}

static int borrowed(void *unused)
{
	char byte = 0;
	int fd;

	(void)unused;
	if (chroot("/nowhere") == 0)
		_exit(3);
	/* calls that succeed, because libc's errno cannot be set here either */
	if (syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &(uint32_t){SECCOMP_RET_ALLOW}))
		_exit(5);
	fd = open("/dev/null", O_WRONLY);
	for (int i = 0; i < 10; i++)
		if (write(fd, &byte, 1) != 1)
			_exit(4);
	close(fd);
	_exit(7);
}

/* Behaves as a sandbox: probes for seccomp filters with a NULL filter, and calls chroot in a child that shares its
 * memory and has zeroed thread-local storage. */
static void borrow(void)
{
	static char stack[1 << 16] __attribute__((aligned(16))), storage[1 << 15] __attribute__((aligned(64)));
	int status = -1, pid;

	printf("prctl %d", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
	printf(" %s\n", strerror(errno));
	printf("seccomp %ld", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL));
	printf(" %s\n", strerror(errno));
	printf("prctl %ld", syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
	printf(" %s\n", strerror(errno));
	fflush(stdout);
	pid = clone(borrowed, stack + sizeof(stack), CLONE_FS | CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD, NULL,
		    NULL, storage + sizeof(storage) / 2, NULL);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		printf("clone: %s\n", strerror(errno));
	printf("child %#x\n", status);
	make_calls();
}

/* Calls that would restrict the process and fail; then calls of the process, and of a child. */
static void failed_restrictions(void)
{
	static struct sock_fprog empty;
	void *volatile nowhere = (void *)8;

	failed("prctl EFAULT", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nowhere));
	failed("prctl EINVAL", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &empty));
	failed("prctl unknown", prctl(PR_SET_SECCOMP, 77, nowhere));
	failed("syscall prctl", (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nowhere));
	failed("seccomp EFAULT", (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nowhere));
	failed("seccomp EINVAL", (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, ~0u, nowhere));
	failed("seccomp strict", (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL));
	failed_chroot();
	make_calls();
}

/* The filter kills the process at any system call that it does not list. */
static void filtered(int by_prctl)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
	int fd = open("/dev/null", O_WRONLY), error;

	setvbuf(stdout, NULL, _IONBF, 0);
	printf("ready\n");
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	error = by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
			 : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	if (error)
		_exit(77);
	for (int i = 0; i < 3 * CALLS; i++)
		if (write(fd, "", 1) != 1)
			_exit(9);
	if (write(1, "filtered\n", 9) != 9)
		_exit(9);
	_exit(4);
}

static void daemonized(void)
{
	int fds[2];
	char byte = 0;

	if (pipe(fds))
		exit(9);
	if (fork() == 0) {
		if (daemon(1, 1))
			_exit(9);
		make_calls();
		if (write(fds[1], "x", 1) != 1)
			_exit(9);
		_exit(0);
	}
	close(fds[1]);
	if (read(fds[0], &byte, 1) == 1)
		printf("daemon %c\n", byte);
	wait(NULL);
}

static void full_of_signals_handler(int signal)
{
	char byte = 0;
	int error = errno;

	(void)signal;
	if (write(3, &byte, 0) > 0)
		abort();
	errno = error;
}

/* Handlers that record, in the middle of recording. */
static void full_of_signals(void)
{
	struct sigaction action = {.sa_handler = full_of_signals_handler, .sa_flags = SA_RESTART};
	timer_t timer;
	struct itimerspec every = {{0, 20000}, {0, 20000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};

	sigaction(SIGUSR1, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		exit(9);
	for (int i = 0; i < 5; i++)
		make_calls();
	timer_delete(timer);
	printf("signals done\n");
}

/* Writes to `path` until the disk has no room. */
static void fill(const char *path)
{
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
}

static void faults_of_exec(void *nowhere)
{
	char *name[] = {"true", NULL}, *bad[] = {"true", nowhere, NULL};
	pid_t pid;

	failed("execve", execve(nowhere, name, name) < 0);
	failed("execve arguments", execve("/bin/true", nowhere, name) < 0);
	failed("execve argument", execve("/bin/true", bad, name) < 0);
	failed("execve environment", execve("/bin/true", name, nowhere) < 0);
	failed("execve variable", execve("/bin/true", name, bad) < 0);
	printf("posix_spawn %d\n", posix_spawn(&pid, "/bin/true", NULL, NULL, name, bad));
}

/* Unmapped addresses: the kernel returns EFAULT, and the recorder must not read them. */
static void faults(void)
{
	void *volatile nowhere = (void *)8;
	struct epoll_event event;
	sigset_t set;
	int fd = epoll_create1(0), s = socket(AF_UNIX, SOCK_STREAM, 0);

	sigemptyset(&set);
	failed("open", open(nowhere, O_RDONLY) < 0);
	failed("openat", openat(AT_FDCWD, nowhere, O_RDONLY) < 0);
	failed("creat", creat(nowhere, 0600) < 0);
	failed("fopen", fopen(nowhere, "r") == NULL);
	failed("epoll_pwait2", epoll_pwait2(fd, &event, 1, nowhere, NULL) < 0);
	failed("sigtimedwait", sigtimedwait(&set, NULL, nowhere) < 0);
	failed("semtimedop", semtimedop(0, nowhere, 1, nowhere) < 0);
	failed("connect", connect(s, nowhere, 16) < 0);
	failed("signalfd", signalfd(-1, nowhere, 0) < 0);
	faults_of_exec(nowhere);
}

/* Each floating-point operation that the recorder made would be seen in the flags, or end the program. */
static void traps(void)
{
	int status;

	printf("flags %d\n", fetestexcept(FE_ALL_EXCEPT));
	feenableexcept(FE_ALL_EXCEPT);
	threads();
	fflush(stdout);
	if (fork() == 0) {
		make_calls();
		_exit(fetestexcept(FE_ALL_EXCEPT));
	}
	wait(&status);
	printf("child %d\n", status);
	for (clock_t end = clock() + CLOCKS_PER_SEC / 10; clock() < end;)
		;
	printf("flags %d\n", fetestexcept(FE_ALL_EXCEPT));
	fflush(stdout);
	execl("/proc/self/exe", "hostile", "flags", NULL);
}

/* Whether true starts with `length` bytes of arguments, of which each string has at most 100,000. */
static bool starts(size_t length, bool by_spawn)
{
	enum { STRING = 100000, STRINGS = 64 };
	static char letters[STRING + 1], rest[STRING + 1];
	char *arguments[STRINGS + 3] = {"true"}, *environment[] = {NULL};
	size_t count = 1;
	int status;
	pid_t pid;

	memset(letters, 'a', STRING);
	memset(rest, 'b', STRING);
	for (; length >= STRING && count <= STRINGS; length -= STRING)
		arguments[count++] = letters;
	rest[length % STRING] = '\0';
	arguments[count] = rest;
	if (by_spawn && posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environment))
		return false;
	if (!by_spawn && (pid = vfork()) == 0) {
		execve("/bin/true", arguments, environment);
		_exit(errno == E2BIG ? 1 : 2);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

/* The longest arguments with which a program starts. */
static void start_longest(void)
{
	for (int by_spawn = 0; by_spawn < 2; by_spawn++) {
		size_t most = 1000, too_many = 6400000;

		while (too_many - most > 1) {
			size_t length = most + (too_many - most) / 2;

			*(starts(length, by_spawn) ? &most : &too_many) = length;
		}
		printf("%zu\n", most);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "descriptors"))
		make_calls(), print_descriptors();
	else if (!strcmp(what, "closerange"))
		closerange();
	else if (!strcmp(what, "few"))
		few_descriptors();
	else if (!strcmp(what, "chroot"))
		in_chroot();
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "killed"))
		make_calls(), kill(getpid(), SIGKILL);
	else if (!strcmp(what, "chroot-fails"))
		failed_chroot();
	else if (!strcmp(what, "restrictions-fail"))
		failed_restrictions();
	else if (!strcmp(what, "nobody"))
		as_nobody();
	else if (!strcmp(what, "seccomp"))
		filtered(1);
	else if (!strcmp(what, "seccomp-syscall"))
		filtered(0);
	else if (!strcmp(what, "borrow"))
		borrow();
	else if (!strcmp(what, "daemon"))
		daemonized();
	else if (!strcmp(what, "signals"))
		full_of_signals();
	else if (!strcmp(what, "longest"))
		start_longest();
	else if (!strcmp(what, "faults"))
		faults();
	else if (!strcmp(what, "traps"))
		traps();
	else if (!strcmp(what, "flags"))
		printf("flags %d\n", fetestexcept(FE_ALL_EXCEPT));
	else if (!strcmp(what, "fill") && argc > 2)
		make_calls(), fill(argv[2]), make_calls(), printf("filled\n");
	else if (!strcmp(what, "calls"))
		make_calls(), printf("calls done\n");
	else
		return fputs("usage: hostile WHAT\n", stderr), 2;
	return 0;
}
