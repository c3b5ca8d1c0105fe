/* SPDX-License-Identifier: Apache-2.0 */
/* chains DEPTH WAY: the main thread waits on a condition for the first helper, which waits on a semaphore for the
 * second, which, if DEPTH is 3, joins the third. The last of them sleeps, reads from a timer, or computes, for a
 * second. If WAY is stay, the second one sleeps and does not end. Two further threads have nothing to do with it: one
 * sleeps for longer, the other waits for nothing. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS 1000000000ll

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int has_result, depth;
static const char *way;

static void nap(long long ns)
{
	struct timespec t = {ns / 1000000000, ns % 1000000000};

	nanosleep(&t, NULL);
}

static void compute(void)
{
	volatile double x = 1;
	struct timespec t;

	do {
		for (int i = 0; i < 5000; i++)
			x = x * 1.0000001 + 1e-9;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000000000ll + t.tv_nsec < WORK_NS);
}

static void slow_read(void)
{
	const struct itimerspec once = {.it_value = {WORK_NS / 1000000000, WORK_NS % 1000000000}};
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	long long times;

	if (timerfd_settime(timer, 0, &once, NULL) || read(timer, &times, sizeof(times)) != sizeof(times))
		abort();
}

static void work(void)
{
	if (!strcmp(way, "sleep") || !strcmp(way, "stay"))
		nap(WORK_NS);
	else if (!strcmp(way, "read"))
		slow_read();
	else
		compute();
}

static void wait_forever(void)
{
	pthread_mutex_lock(&other);
	pthread_cond_wait(&never, &other);
}

static void *run_third(void *unused)
{
	pthread_setname_np(pthread_self(), "third");
	work();
	return unused;
}

static void *run_second(void *unused)
{
	pthread_t third;

	pthread_setname_np(pthread_self(), "second");
	if (depth > 2 && !pthread_create(&third, NULL, run_third, NULL))
		pthread_join(third, NULL);
	else
		work();
	sem_post(&semaphore);
	if (!strcmp(way, "stay"))
		wait_forever();
	return unused;
}

static void *run_first(void *unused)
{
	pthread_setname_np(pthread_self(), "first");
	sem_wait(&semaphore);
	pthread_mutex_lock(&mutex);
	has_result = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *run_sleeper(void *unused)
{
	pthread_setname_np(pthread_self(), "sleeper");
	nap(3 * WORK_NS);
	return unused;
}

static void *run_idle(void *unused)
{
	pthread_setname_np(pthread_self(), "idle");
	wait_forever();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	depth = argc > 1 ? atoi(argv[1]) : 2;
	way = argc > 2 ? argv[2] : "sleep";
	sem_init(&semaphore, 0, 0);
	pthread_create(&threads[0], NULL, run_sleeper, NULL);
	pthread_create(&threads[1], NULL, run_idle, NULL);
	pthread_create(&threads[2], NULL, run_first, NULL);
	pthread_create(&threads[3], NULL, run_second, NULL);
	pthread_mutex_lock(&mutex);
	while (!has_result)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(threads[2], NULL);
	return strcmp(way, "stay") ? pthread_join(threads[3], NULL) : 0;
}
