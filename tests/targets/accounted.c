/* SPDX-License-Identifier: Apache-2.0 */
/* accounted RECORDS PLAN: runs the processes and threads of a plan, which tests/e2e/accounts.py writes. Each thread
 * appends to RECORDS what it knows of its own time, by raw system calls. The same file is a module for Python.
 *
 *   process := "(" thread+ ")" end      thread := "[" operation* "]"; the first is the main thread
 *   end := e: exit   _: _exit   k: SIGKILL   x process: exec of this program, which goes on with the process
 *   operation := a letter and milliseconds:
 *     b: burns CPU time   s: nanosleep   p: poll   c: waits on a condition   l: sleeps with the lock of the process
 *     r: sleeps by a raw system call, which is not recorded
 *     f process: forks it and waits for its end
 *
 * A record of a thread has what was true when its last operation had ended:
 *   end PID TID NOW BORN_AFTER BORN_BEFORE CPU DELAY RAW BURNED
 * all in ns; RAW: time in raw system calls that wait; BURNED: CPU time outside of recorded calls, at least;
 * and what was true after its end, from its last destructor or the parent of its process:
 *   after PID TID NOW CPU DELAY */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ll

enum { MAX_THREADS = 16, LINE = 256, TICK_NS = 10000000 };

struct account {
	long long born_after, born_before, raw, burned;
	int rounds; /* of the key's destructor */
};

static int records = -1;
static const char *records_path;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread struct account self;

static long long now(clockid_t clock)
{
	struct timespec t;

	syscall(SYS_clock_gettime, clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static long read_all(const char *path, char *text, size_t size)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long got = fd < 0 ? -1 : syscall(SYS_read, fd, text, size - 1);

	text[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		syscall(SYS_close, fd);
	return got;
}

static void schedule_of(const char *path, long long *ret_cpu, long long *ret_delay)
{
	char text[LINE];

	if (read_all(path, text, sizeof(text)) <= 0 || sscanf(text, "%lld %lld", ret_cpu, ret_delay) != 2)
		*ret_cpu = *ret_delay = -1;
}

static void write_record(const char *line, int length)
{
	syscall(SYS_write, records, line, length);
}

/* ---- for Python, too ---- */

static void after_end(void *unused)
{
	long long cpu, delay;
	char line[LINE];

	/* The recorder's own destructor does its work in the last round, before this one, because its key is older. */
	if (++self.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(key, unused);
		return;
	}
	schedule_of("/proc/thread-self/schedstat", &cpu, &delay);
	write_record(line, snprintf(line, sizeof(line), "after %ld %ld %lld %lld %lld\n", syscall(SYS_getpid),
				    syscall(SYS_gettid), now(CLOCK_MONOTONIC), cpu, delay));
}

static void make_key(void)
{
	pthread_key_create(&key, after_end);
}

void account_open(const char *path)
{
	records_path = path;
	records = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	pthread_once(&once, make_key);
}

void account_begin(long long born_after, long long born_before, long long raw, long long burned)
{
	self = (struct account){born_after, born_before ? born_before : now(CLOCK_MONOTONIC), raw, burned, 0};
	pthread_setspecific(key, &self);
}

/* Of the main thread of a program, the kernel tells its start to a clock tick. */
void account_begin_program(void)
{
	long long from_boot = now(CLOCK_BOOTTIME) - now(CLOCK_MONOTONIC), start = 0;
	char text[1024], *at;

	read_all("/proc/self/stat", text, sizeof(text));
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
	start = (at ? strtoll(at, NULL, 10) : 0) * TICK_NS - from_boot;
	account_begin(start, start + TICK_NS, 0, 0);
}

void account_sleep(long long ns)
{
	struct timespec t = {ns / SECOND, ns % SECOND};
	long long from = now(CLOCK_MONOTONIC);

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
	self.raw += now(CLOCK_MONOTONIC) - from;
}

void account_burned(long long ns)
{
	self.burned += ns;
}

void account_end(void)
{
	long long cpu, delay, at = now(CLOCK_MONOTONIC); /* a run delay between the readings is in neither */
	char line[LINE];

	schedule_of("/proc/thread-self/schedstat", &cpu, &delay);
	write_record(line, snprintf(line, sizeof(line), "end %ld %ld %lld %lld %lld %lld %lld %lld %lld\n",
				    syscall(SYS_getpid), syscall(SYS_gettid), at, self.born_after, self.born_before,
				    cpu, delay, self.raw, self.burned));
}

long long account_now(void)
{
	return now(CLOCK_MONOTONIC);
}

/* The words of the account that a program needs which this one executes. */
void account_words(char *ret, size_t size)
{
	snprintf(ret, size, "%lld %lld %lld %lld", self.born_after, self.born_before, self.raw, self.burned);
}

/* Waits until the child has ended, whose main thread has its accounts until it is waited for. */
void account_child(int pid)
{
	long long cpu, delay, from = now(CLOCK_MONOTONIC);
	char path[LINE], line[LINE];

	while (syscall(SYS_waitid, P_PID, pid, NULL, WEXITED | WNOWAIT, NULL) < 0 && errno == EINTR)
		;
	self.raw += now(CLOCK_MONOTONIC) - from;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	schedule_of(path, &cpu, &delay);
	write_record(line, snprintf(line, sizeof(line), "after %d %d %lld %lld %lld\n", pid, pid, now(CLOCK_MONOTONIC),
				    cpu, delay));
}

void account_exit(void)
{
	exit(0);
}

/* ---- plans ---- */

#ifndef PYTHON
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the process */

struct thread_plan {
	const char *operations;
	long long born_after;
	pthread_t id;
};

static void run_process(const char *plan) __attribute__((noreturn));

static void burn(long long ns)
{
	long long end = now(CLOCK_THREAD_CPUTIME_ID) + ns;
	volatile double x = 1;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 5000; i++)
			x = x * 1.0000001 + 1e-9;
	account_burned(ns);
}

static void nap(long long ns)
{
	struct timespec t = {ns / SECOND, ns % SECOND};

	nanosleep(&t, NULL);
}

static void wait_condition(long long ns)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	ns += t.tv_sec * SECOND + t.tv_nsec;
	t = (struct timespec){ns / SECOND, ns % SECOND};
	pthread_mutex_lock(&own);
	while (!pthread_cond_timedwait(&never, &own, &t))
		;
	pthread_mutex_unlock(&own);
}

/* The place behind the bracket that closes the first one. */
static const char *behind_group(const char *at)
{
	int depth = 0;

	do
		depth += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
	while (*at++ && depth);
	return at;
}

/* A process that executes another one ends as that one does. */
static const char *behind_process(const char *at)
{
	at = behind_group(at);
	return *at == 'x' ? behind_process(at + 1) : at + 1;
}

static void run_child(const char *plan)
{
	long long before = now(CLOCK_MONOTONIC);
	pid_t pid = fork();

	if (!pid) {
		pthread_mutex_init(&lock, NULL); /* another thread may have held it */
		account_begin(before, 0, 0, 0);
		run_process(plan);
	}
	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	account_child(pid);
	waitpid(pid, NULL, 0);
}

static void run_operation(char letter, long long ns)
{
	switch (letter) {
	case 'b':
		burn(ns);
		break;
	case 's':
		nap(ns);
		break;
	case 'p':
		poll(NULL, 0, (int)(ns / 1000000));
		break;
	case 'c':
		wait_condition(ns);
		break;
	case 'l':
		pthread_mutex_lock(&lock);
		nap(ns);
		pthread_mutex_unlock(&lock);
		break;
	case 'r':
		account_sleep(ns);
		break;
	}
}

/* Begins at the "[". */
static void run_operations(const char *at)
{
	for (at++; *at && *at != ']';) {
		char letter = *at++;

		if (letter == 'f') {
			run_child(at);
			at = behind_process(at);
		} else {
			run_operation(letter, strtoll(at, (char **)&at, 10) * 1000000);
		}
	}
}

static void *run_thread(void *argument)
{
	const struct thread_plan *t = argument;

	account_begin(t->born_after, 0, 0, 0);
	run_operations(t->operations);
	account_end();
	return NULL;
}

static void execute(const char *plan)
{
	char words[LINE];

	account_words(words, sizeof(words));
	execl("/proc/self/exe", "accounted", records_path, plan, words, NULL);
	perror("exec");
	exit(1);
}

static void run_process(const char *plan)
{
	static struct thread_plan threads[MAX_THREADS];
	const char *at = behind_group(plan + 1);
	int count = 0;

	for (; *at == '[' && count < MAX_THREADS; at = behind_group(at)) {
		struct thread_plan *t = &threads[count++];

		t->operations = at;
		t->born_after = now(CLOCK_MONOTONIC);
		if (pthread_create(&t->id, NULL, run_thread, t))
			exit(1);
	}
	run_operations(plan + 1);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i].id, NULL);
	at++;
	if (*at == 'x')
		execute(at + 1);
	if (*at == 'k')
		syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
	account_end();
	if (*at == '_')
		_exit(0);
	account_exit();
	abort();
}

int main(int argc, char **argv)
{
	long long after, before, raw, burned;

	if (argc < 3)
		return 2;
	account_open(argv[1]);
	if (argc > 3 && sscanf(argv[3], "%lld %lld %lld %lld", &after, &before, &raw, &burned) == 4)
		account_begin(after, before, raw, burned);
	else
		account_begin_program();
	run_process(argv[2]);
}
#endif
