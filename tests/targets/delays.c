/* SPDX-License-Identifier: Apache-2.0 */
/* delays PROGRAM: makes 20 calls of poll() that return at once, at a place of a program whose slack is known. By how
 * much the run becomes longer for each second of delay in these calls is in the table below, for a delay of 5 ms. */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 20 };

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t full;

static void calls(int n)
{
	while (n-- > 0)
		poll(NULL, 0, 0);
}

static void work(int ms)
{
	usleep((useconds_t)ms * 1000);
}

static void *all_calls(void *nothing)
{
	(void)nothing;
	calls(CALLS);
	return NULL;
}

static void *half_of_calls(void *nothing)
{
	(void)nothing;
	calls(CALLS / 2);
	return NULL;
}

/* Begins f in a thread, does `ms` of work and `n` calls, and joins it. */
static void beside(void *(*f)(void *), int ms, int n)
{
	pthread_t id;

	pthread_create(&id, NULL, f, NULL);
	work(ms);
	calls(n);
	pthread_join(id, NULL);
}

static void serial(void)
{
	calls(CALLS);
}

static void slack(void)
{
	beside(all_calls, 400, 0);
}

static void half(void)
{
	beside(half_of_calls, 300, CALLS / 2);
}

static void parallel(void)
{
	beside(half_of_calls, 0, CALLS / 2);
}

static void exhausted(void)
{
	beside(all_calls, 30, 0);
}

/* A step of two threads ends at a barrier: one needs 10 ms, the other 25 ms. */
static void *quick_steps(void *is_called)
{
	for (int i = 0; i < CALLS; i++) {
		work(10);
		calls(is_called != NULL);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void steps(void *quick_is_called)
{
	pthread_t id;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&id, NULL, quick_steps, quick_is_called);
	for (int i = 0; i < CALLS; i++) {
		work(25);
		calls(!quick_is_called);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(id, NULL);
}

static void late_at_barrier(void)
{
	steps(NULL);
}

static void early_at_barrier(void)
{
	steps(&barrier);
}

/* One stage needs 15 ms for each item, the other 2 ms. */
static void *consume(void *is_slow)
{
	for (int i = 0; i < CALLS; i++) {
		sem_wait(&full);
		work(is_slow ? 15 : 2);
		calls(!is_slow);
	}
	return NULL;
}

static void queue(void *consumer_is_slow)
{
	pthread_t id;

	sem_init(&full, 0, 0);
	pthread_create(&id, NULL, consume, consumer_is_slow);
	for (int i = 0; i < CALLS; i++) {
		work(consumer_is_slow ? 2 : 15);
		calls(consumer_is_slow != NULL);
		sem_post(&full);
	}
	pthread_join(id, NULL);
}

/* The consumer has the calls, and time for them, but for the last item. */
static void quick_consumer(void)
{
	queue(NULL);
}

/* The producer has the calls and is ahead, but for the first item. */
static void quick_producer(void)
{
	queue(&full);
}

/* Two threads hold a lock for 15 ms in turn; the calls are made with the lock or without it. */
static void *lock_turns(void *is_inside)
{
	for (int i = 0; i < CALLS / 2; i++) {
		pthread_mutex_lock(&mutex);
		work(15);
		calls(is_inside != NULL);
		pthread_mutex_unlock(&mutex);
		calls(is_inside == NULL);
		work(3);
	}
	return NULL;
}

static void lock(void *is_inside)
{
	pthread_t id;

	pthread_create(&id, NULL, lock_turns, is_inside);
	lock_turns(is_inside);
	pthread_join(id, NULL);
}

static void inside_lock(void)
{
	lock(&mutex);
}

static void outside_lock(void)
{
	lock(NULL);
}

static void child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		calls(CALLS);
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

static void unjoined(void)
{
	pthread_t id;

	pthread_create(&id, NULL, all_calls, NULL);
	work(200);
}

/* Outside of the lock the last of ten calls of one thread delays the end. */
static const struct program {
	const char *name;
	void (*run)(void);
	double slope;
} programs[] = {
	{"serial", serial, 1},		   {"slack", slack, 0},
	{"half", half, 0.5},		   {"parallel", parallel, 0.5},
	{"exhausted", exhausted, 0.7},	   {"late_at_barrier", late_at_barrier, 1},
	{"early_at_barrier", early_at_barrier, 0}, {"quick_consumer", quick_consumer, 0.05},
	{"quick_producer", quick_producer, 0.05}, {"inside_lock", inside_lock, 1},
	{"outside_lock", outside_lock, 0.05}, {"child", child, 1},
	{"unjoined", unjoined, 0},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (argc < 2)
			printf("%s %g\n", programs[i].name, programs[i].slope);
		else if (!strcmp(argv[1], programs[i].name))
			return programs[i].run(), 0;
	}
	return argc > 1 ? 2 : 0;
}
