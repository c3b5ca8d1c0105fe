/* SPDX-License-Identifier: Apache-2.0 */
/* spins WAY: the first thread computes for 0.4 s of CPU time. A second one meanwhile polls for it in that way, or
 * computes (burn), or does first the one, then the other (mixed). */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define BURN_NS 400000000ll

static pthread_spinlock_t spin;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static volatile int has_ended;
static const char *way;

static long long used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static __attribute__((noinline)) void burn(void)
{
	volatile double x = 1;

	for (long long end = used_ns() + BURN_NS; used_ns() < end;)
		for (int i = 0; i < 5000; i++)
			x = x * 1.0000001 + 1e-9;
}

static int is_ready(int epoll)
{
	struct epoll_event event;

	if (!strcmp(way, "spintry"))
		return !pthread_spin_trylock(&spin);
	if (!strcmp(way, "trylock") || !strcmp(way, "mixed"))
		return !pthread_mutex_trylock(&mutex);
	if (!strcmp(way, "trywait"))
		return !sem_trywait(&semaphore);
	if (!strcmp(way, "yield"))
		sched_yield();
	else if (!strcmp(way, "poll"))
		poll(NULL, 0, 0);
	else
		epoll_wait(epoll, &event, 1, 0);
	return has_ended;
}

static void *second(void *unused)
{
	int epoll = epoll_create1(0);

	pthread_setname_np(pthread_self(), "second");
	if (!strcmp(way, "spin"))
		pthread_spin_lock(&spin);
	else if (strcmp(way, "burn"))
		while (!is_ready(epoll))
			;
	if (!strcmp(way, "burn") || !strcmp(way, "mixed"))
		burn();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	way = argc > 1 ? argv[1] : "burn";
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&semaphore, 0, 0);
	pthread_spin_lock(&spin);
	pthread_mutex_lock(&mutex);
	if (pthread_create(&thread, NULL, second, NULL))
		return 1;
	burn();
	has_ended = 1;
	pthread_spin_unlock(&spin);
	pthread_mutex_unlock(&mutex);
	sem_post(&semaphore);
	return pthread_join(thread, NULL);
}
