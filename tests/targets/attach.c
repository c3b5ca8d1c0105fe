/* SPDX-License-Identifier: Apache-2.0 */
/* attach MODE THREADS [FILE]: many threads, each of which makes few calls.
 *	started		THREADS threads make one write() each, and live until the last of them has written
 *	released	the same, but they first wait on one futex, by syscall(), and are woken together
 *	waves		endless waves of THREADS threads with up to 8 write() each; FILE has a struct wave_thread for
 *			each, so that the calls that returned are known however the process is killed
 *	forks		THREADS threads each start short threads one after the other, which attach, while the main
 *			thread forks children that start threads too
 * Prints the total number of write() calls. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_THREADS = 20000, STACK = 128 << 10, WAVE_THREADS = 1 << 18, CHILDREN = 12, CHILD_THREADS = 8 };

struct wave_thread {
	uint32_t tid;
	_Atomic uint32_t returned;
};

static pthread_t threads[MAX_THREADS];
static pthread_attr_t attributes;
static pthread_barrier_t all_have_written;
static _Atomic uint32_t gate, arrived;
static _Atomic long writes;
static _Atomic int is_over;
static struct wave_thread *wave_threads;
static int null;

static void fail(const char *what, int error)
{
	fprintf(stderr, "attach: %s: %s\n", what, strerror(error));
	_exit(1);
}

static void write_once(void)
{
	if (write(null, "x", 1) != 1)
		fail("write", errno);
}

static void start(long i, void *(*run)(void *), void *argument)
{
	int error = pthread_create(&threads[i], &attributes, run, argument);

	if (error)
		fail("pthread_create", error);
}

static void *write_and_wait(void *is_held)
{
	if (is_held) {
		arrived++;
		while (!gate)
			syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	}
	write_once();
	writes++;
	pthread_barrier_wait(&all_have_written);
	return NULL;
}

static void run_together(long count, void *is_held)
{
	pthread_barrier_init(&all_have_written, NULL, (unsigned)count);
	for (long i = 0; i < count; i++)
		start(i, write_and_wait, is_held);
	while (is_held && arrived < count)
		usleep(1000);
	gate = 1;
	syscall(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void *write_and_count(void *wave_thread)
{
	struct wave_thread *t = wave_thread;

	t->tid = (uint32_t)syscall(SYS_gettid);
	for (long i = 0; i < 1 + (t - wave_threads) % 8; i++) {
		write_once();
		t->returned++;
	}
	return NULL;
}

static void run_waves(long count, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	long next = 0;

	if (fd < 0 || ftruncate(fd, WAVE_THREADS * sizeof(*wave_threads)))
		fail(path, errno);
	wave_threads = mmap(NULL, WAVE_THREADS * sizeof(*wave_threads), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (wave_threads == MAP_FAILED)
		fail(path, errno);
	for (; next + count <= WAVE_THREADS; next += count) {
		for (long i = 0; i < count; i++)
			start(i, write_and_count, &wave_threads[next + i]);
		for (long i = 0; i < count; i++)
			pthread_join(threads[i], NULL);
	}
	fail(path, ENOSPC);
}

static void *write_in_vain(void *unused)
{
	write_once();
	writes++;
	return unused;
}

static void *start_short_threads(void *unused)
{
	while (!is_over) {
		pthread_t thread;
		int error = pthread_create(&thread, &attributes, write_in_vain, NULL);

		if (error)
			fail("pthread_create", error);
		pthread_join(thread, NULL);
	}
	return unused;
}

static void run_forks(long count)
{
	int status;
	pid_t pid;

	for (long i = 0; i < count; i++)
		start(i, start_short_threads, NULL);
	for (int child = 0; child < CHILDREN; child++) {
		pid = fork();
		if (pid < 0)
			fail("fork", errno);
		if (!pid) {
			for (long i = 0; i < CHILD_THREADS; i++)
				start(i, write_in_vain, NULL);
			for (long i = 0; i < CHILD_THREADS; i++)
				pthread_join(threads[i], NULL);
			_exit(7);
		}
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
			fail("a child's status", 0);
	}
	is_over = 1;
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	writes += CHILDREN * CHILD_THREADS;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	long count = argc > 2 ? atol(argv[2]) : 0;

	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0 || count < 1 || count > MAX_THREADS)
		fail("arguments", EINVAL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (!strcmp(mode, "started"))
		run_together(count, NULL);
	else if (!strcmp(mode, "released"))
		run_together(count, &gate);
	else if (!strcmp(mode, "waves") && argc > 3)
		run_waves(count, argv[3]);
	else if (!strcmp(mode, "forks"))
		run_forks(count);
	else
		fail(mode, EINVAL);
	printf("%ld\n", (long)writes);
	return 0;
}
