/* SPDX-License-Identifier: Apache-2.0 */
/* Spends its time in one known way, for tests of the partition of time. Amounts are of CPU time, so that they do not
 * depend on the machine's load. At its end it prints the CPU time in ns that getrusage reports of it and its
 * children. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 4, HELPERS = 8, FLUSHES = 40, CHILDREN = 2000 };

static __attribute__((noinline)) void compute(double seconds)
{
	struct timespec t;
	double start;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	start = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 - start < seconds);
}

static void pin(void)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &one);
			break;
		}
	sched_setaffinity(0, sizeof(one), &one);
}

static void starve(void)
{
	pin();
	for (int i = 0; i < WORKERS; i++)
		if (!fork()) {
			compute(0.5);
			exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static __attribute__((noinline)) void doze(void)
{
	usleep(2000000);
	compute(0.05);
}

/* A test preloads a slow fsync. */
static __attribute__((noinline)) void flush(void)
{
	int fd = open("flushed", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < FLUSHES; i++)
		if (write(fd, "x", 1) != 1 || fsync(fd))
			exit(1);
	close(fd);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *help(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	return NULL;
}

static void have_helpers(void)
{
	pthread_t thread;

	for (int i = 0; i < HELPERS; i++)
		pthread_create(&thread, NULL, help, NULL);
	compute(0.6);
}

/* The grandchild computes until it is killed. */
static void have_grandchild(void)
{
	if (!fork()) {
		if (!fork())
			for (;;)
				compute(1);
		wait(NULL);
		exit(0);
	}
	wait(NULL);
}

static void *compute_and_end(void *unused)
{
	compute(0.3);
	return unused;
}

/* Threads that end before the program, and one that never makes a recorded call. */
static void have_threads(void)
{
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, compute_and_end, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	compute(0.2);
}

static void *crowd(void *unused)
{
	usleep(1);
	compute(0.15);
	return unused;
}

/* Threads that compete for one CPU and end before the program. */
static void have_crowd(void)
{
	pthread_t thread[WORKERS];

	pin();
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&thread[i], NULL, crowd, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
}

/* Short children, of which the kernel's own work at their end is a large part. */
static void have_children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		if (!fork())
			_exit(0);
		wait(NULL);
	}
}

/* A child that records no end. */
static void kill_child(void)
{
	int ready[2], child;
	char byte = 0;

	if (pipe(ready))
		exit(1);
	child = fork();
	if (!child) {
		compute(0.5);
		byte = write(ready[1], &byte, 1) != 1;
		for (;;)
			pause();
	}
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	kill(child, SIGKILL);
	wait(NULL);
}

/* Inline bodies of getc_unlocked call __uflow, and nothing else. */
static void read_stream(void)
{
#ifdef __GLIBC__
	int ends[2];
	FILE *f;

	if (pipe(ends))
		exit(1);
	if (!fork()) {
		usleep(2000000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	f = fdopen(ends[0], "r");
	if (!f || __uflow(f) != 'x')
		exit(1);
	fclose(f);
	wait(NULL);
#endif
}

/* A child that shares the memory makes so many calls that the parent's trace file begins meanwhile. */
static void have_vfork(void)
{
	if (!vfork()) {
		for (int i = 0; i < 300; i++)
			if (access("/", F_OK))
				_exit(1);
		execl("/proc/self/exe", "time_parts", NULL);
		_exit(1);
	}
	wait(NULL);
}

static void become_another(const char *program)
{
	compute(0.3);
	execl(program, program, "compute", NULL);
	exit(1);
}

static void compute_once(void)
{
	compute(0.6);
}

static void wait_for_signal(void)
{
	sigset_t one;
	int signal;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	sigprocmask(SIG_BLOCK, &one, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&one, &signal);
}

static long long cpu_ns(const struct rusage *r)
{
	return (r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000000000ll +
	       (r->ru_utime.tv_usec + r->ru_stime.tv_usec) * 1000ll;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {{"compute", compute_once}, {"starve", starve},	       {"sleep", doze},
		    {"fsync", flush},	       {"helpers", have_helpers},      {"grandchild", have_grandchild},
		    {"threads", have_threads}, {"signal", wait_for_signal}, {"crowd", have_crowd},
		    {"children", have_children}, {"killed", kill_child},    {"stream", read_stream},
		    {"vfork", have_vfork}};
	struct rusage r, children;

	if (argc == 2 && !strcmp(argv[1], "exec"))
		become_another(argv[0]);
	for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			getrusage(RUSAGE_SELF, &r);
			getrusage(RUSAGE_CHILDREN, &children);
			printf("%lld\n", cpu_ns(&r) + cpu_ns(&children));
			return 0;
		}
	return 2;
}
