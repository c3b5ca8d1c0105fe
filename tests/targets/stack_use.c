/* SPDX-License-Identifier: Apache-2.0 */
/* stack_use: prints how many bytes of its caller's stack each of some calls uses, measured on a painted stack, the
 * first time and again. stack_use small N: N threads, each with the smallest stack that pthread allows, make such
 * calls. stack_use signals: threads whose stacks are new all the time, under signals and forks. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 256 << 10, PAINTED = 32 << 10, SKIP = 256, PAINT = 0xa5, MANY = 6000, FORKED = 300 };

static unsigned char *stack;
static unsigned char *from; /* the frame of the function that makes the call */
static int fds[2];

__attribute__((noinline)) static void call_sleep(void)
{
	from = __builtin_frame_address(0);
	nanosleep(&(struct timespec){0, 1000}, NULL);
}

__attribute__((noinline)) static void call_sleep_elsewhere(void)
{
	from = __builtin_frame_address(0);
	usleep(1);
}

__attribute__((noinline)) static void call_write(void)
{
	from = __builtin_frame_address(0);
	if (write(fds[1], "x", 1) != 1)
		abort();
}

__attribute__((noinline)) static void call_read(void)
{
	char byte;

	from = __builtin_frame_address(0);
	if (read(fds[0], &byte, 1) != 1)
		abort();
}

__attribute__((noinline)) static void call_open(void)
{
	from = __builtin_frame_address(0);
	close(open("/dev/null", O_RDONLY));
}

__attribute__((noinline)) static void call_socket(void)
{
	struct sockaddr_un address = {AF_UNIX, "stack_use.socket"};
	int fd;

	from = __builtin_frame_address(0);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(fd, (struct sockaddr *)&address, sizeof(address));
	unlink(address.sun_path);
	close(fd);
}

__attribute__((noinline)) static void call_action(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	from = __builtin_frame_address(0);
	sigaction(SIGUSR1, &action, NULL);
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {{"attach", call_sleep}, {"sleep", call_sleep}, {"usleep", call_sleep_elsewhere},
	     {"write", call_write},  {"read", call_read},   {"open", call_open},
	     {"socket", call_socket}, {"action", call_action}};

/* Bytes below the frame of the calling function that the call writes to; at least those that are not painted. */
__attribute__((noinline)) static size_t measure(void (*call)(void))
{
	unsigned char *top = (unsigned char *)__builtin_frame_address(0) - SKIP, *at = top - PAINTED;

	for (unsigned char *p = at; p < top; p++)
		*(volatile unsigned char *)p = PAINT;
	call();
	while (at < top && *at == PAINT)
		at++;
	return (size_t)(from - at);
}

/* So many calls that the thread's chunk fills up more than once. */
static void measure_growth(void)
{
	size_t most = 0;

	for (int i = 0; i < MANY; i++) {
		size_t used = measure(i % 3 == 0 ? call_sleep : i % 3 == 1 ? call_open : call_socket);

		most = used > most ? used : most;
	}
	printf("most.2 %zu\n", most);
}

/* The first call of a forked child starts the recorder there. */
static void measure_child(void)
{
	size_t used[2];
	int result[2];

	if (pipe(result))
		abort();
	fflush(stdout);
	if (fork() == 0) {
		used[0] = measure(call_sleep);
		used[1] = measure(call_write);
		_exit(write(result[1], used, sizeof(used)) != sizeof(used));
	}
	if (read(result[0], used, sizeof(used)) != sizeof(used))
		abort();
	wait(NULL);
	printf("child.2 %zu\nchild.3 %zu\n", used[0], used[1]);
}

__attribute__((noinline)) static void call_fork(void)
{
	pid_t pid;

	from = __builtin_frame_address(0);
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* So many images that the recorder maps a further part of the range file before a fork. */
static void measure_forks(void)
{
	size_t most = 0;

	for (int i = 0; i < FORKED; i++) {
		size_t used = measure(call_fork);

		most = used > most ? used : most;
	}
	printf("fork.2 %zu\n", most);
}

static void *measure_all(void *unused)
{
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			printf("%s.%d %zu\n", calls[i].name, round, measure(calls[i].call));
	measure_growth();
	measure_child();
	measure_forks();
	return unused;
}

static void *call_all(void *unused)
{
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			calls[i].call();
	return unused;
}

/* ---- new stacks all the time, under signals whose handlers make calls and leave by siglongjmp, and forks ---- */

enum { ROUNDS = 20000, WALKERS = 6, FORKS = 20, DEPTH = 14 };

static __thread sigjmp_buf start;
static __thread volatile int has_start;
static long handled;
static int null;

static void write_null(void)
{
	if (write(null, "x", 1) != 1)
		abort();
}

static void on_signal(int signal)
{
	long n = __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);

	(void)signal;
	write_null();
	if (has_start && n % 3 == 0) {
		has_start = 0;
		siglongjmp(start, 1);
	}
}

/* Each value of `way` gives a different stack. */
__attribute__((noinline)) static void descend(unsigned way, int left)
{
	if (left == 0) {
		write_null();
	} else if (way & 1) {
		descend(way >> 1, left - 1);
		__asm__ volatile("nop");
	} else {
		descend(way >> 1, left - 1);
		__asm__ volatile("nop; nop");
	}
	__asm__ volatile("" ::: "memory");
}

static void *walk(void *seed)
{
	unsigned state = (unsigned)(uintptr_t)seed;

	for (int i = 0; i < ROUNDS; i++) {
		if (sigsetjmp(start, 1))
			continue;
		has_start = 1;
		descend((unsigned)rand_r(&state), DEPTH);
		has_start = 0;
	}
	return NULL;
}

static void new_stacks_under_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	pthread_t walkers[WALKERS];
	int status;

	null = open("/dev/null", O_WRONLY);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uintptr_t i = 0; i < WALKERS; i++)
		if (pthread_create(&walkers[i], NULL, walk, (void *)i))
			abort();
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (unsigned k = 0; k < 50; k++)
				descend(k * 77, DEPTH);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			abort();
	}
	for (int i = 0; i < WALKERS; i++)
		pthread_join(walkers[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("done\n");
}

static void small_threads(int count)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, 16384))
		abort();
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, call_all, NULL) || pthread_join(thread, NULL))
			abort();
	printf("%d\n", count);
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return 1;
	if (argc > 2 && !strcmp(argv[1], "small")) {
		small_threads(atoi(argv[2]));
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "signals")) {
		new_stacks_under_signals();
		return 0;
	}
	printf("measured\n"); /* stdio allocates its buffer here and not on the painted stack */
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attributes);
	if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, STACK) ||
	    pthread_create(&thread, &attributes, measure_all, NULL) || pthread_join(thread, NULL))
		return 1;
	return 0;
}
