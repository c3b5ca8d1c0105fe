/* SPDX-License-Identifier: Apache-2.0 */
/* wakes [child|shared]: threads that wait for each other in planted chains. Prints, for the longest wait of each
 * thread, "KIND WAITER WAKER": the TIDs of the thread that waits and of the one that ends the wait. Links follow each
 * other 4 ms apart at least; each is made only once the waiter sleeps. With "child" all of this is in a forked process,
 * with "shared" by objects that processes may share. */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINKS = 5 };

struct link {
	pthread_t id;
	int number;
	_Atomic int tid;
};

static struct link links[LINKS];
static pthread_mutex_t mutexes[LINKS + 1], shared_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t conditions[LINKS + 1];
static sem_t semaphores[LINKS + 1];
static pthread_rwlock_t rwlocks[LINKS + 1];
static pthread_barrier_t barriers[LINKS + 1];
static _Atomic int turn, futexes[LINKS + 1];
static int signalled[LINKS + 1];
static bool is_shared;

static int thread_id(void)
{
	return (int)syscall(SYS_gettid);
}

static void rest(long ms)
{
	struct timespec t = {0, ms * 1000000};

	syscall(SYS_nanosleep, &t, NULL);
}

/* Until the thread sleeps in the kernel, in this and in the next 4 ms. */
static void until_asleep(int tid)
{
	char path[64], line[256], state;
	int calm = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	while (calm < 2) {
		FILE *f = fopen(path, "r");

		rest(4);
		if (!f)
			continue;
		if (fgets(line, sizeof(line), f) && sscanf(line, "%*d %*s %c", &state) == 1 && state == 'S')
			calm++;
		else
			calm = 0;
		fclose(f);
	}
}

static void until_turn(int n)
{
	while (turn < n)
		rest(1);
}

static int futex(_Atomic int *at, int operation, int value)
{
	return (int)syscall(SYS_futex, at, operation | (is_shared ? 0 : FUTEX_PRIVATE_FLAG), value, NULL, NULL, 0);
}

/* ---- a link waits for the previous one, and then ends the wait of the next one ---- */

/* Thread N holds mutex N + 1 from the start and wants mutex N, which thread N - 1 holds. */
static void mutex_link(int n)
{
	pthread_mutex_lock(&mutexes[n + 1]);
	turn++;
	until_turn(LINKS);
	pthread_mutex_lock(&mutexes[n]);
	if (n + 1 < LINKS)
		until_asleep(links[n + 1].tid);
	pthread_mutex_unlock(&mutexes[n + 1]);
	pthread_mutex_unlock(&mutexes[n]);
}

static void rwlock_link(int n)
{
	pthread_rwlock_wrlock(&rwlocks[n + 1]);
	turn++;
	until_turn(LINKS);
	if (n % 2)
		pthread_rwlock_wrlock(&rwlocks[n]);
	else
		pthread_rwlock_rdlock(&rwlocks[n]);
	if (n + 1 < LINKS)
		until_asleep(links[n + 1].tid);
	pthread_rwlock_unlock(&rwlocks[n + 1]);
	pthread_rwlock_unlock(&rwlocks[n]);
}

/* All links share a mutex: each wait on a condition releases it. */
static void condition_link(int n)
{
	pthread_mutex_lock(&shared_mutex);
	turn++;
	while (!signalled[n])
		pthread_cond_wait(&conditions[n], &shared_mutex);
	pthread_mutex_unlock(&shared_mutex);
	if (n + 1 < LINKS)
		until_asleep(links[n + 1].tid);
	pthread_mutex_lock(&shared_mutex);
	signalled[n + 1] = 1;
	if (n % 2)
		pthread_cond_signal(&conditions[n + 1]);
	else
		pthread_cond_broadcast(&conditions[n + 1]);
	pthread_mutex_unlock(&shared_mutex);
}

static void semaphore_link(int n)
{
	struct timespec far = {time(NULL) + 3600, 0};

	turn++;
	if (n % 2)
		sem_wait(&semaphores[n]);
	else
		sem_timedwait(&semaphores[n], &far);
	if (n + 1 < LINKS)
		until_asleep(links[n + 1].tid);
	sem_post(&semaphores[n + 1]);
}

static void futex_link(int n)
{
	turn++;
	while (!futexes[n])
		futex(&futexes[n], FUTEX_WAIT, 0);
	if (n + 1 < LINKS)
		until_asleep(links[n + 1].tid);
	futexes[n + 1] = 1;
	futex(&futexes[n + 1], FUTEX_WAKE, 1);
}

/* Barrier N has threads N and N - 1: the latter arrives last. */
static void barrier_link(int n)
{
	turn++;
	pthread_barrier_wait(&barriers[n]);
	if (n + 1 < LINKS)
		until_asleep(links[n + 1].tid);
	pthread_barrier_wait(&barriers[n + 1]);
}

/* As a semaphore, but the post is in a signal handler of the thread. */
static sem_t *handled;

static void post(int signal)
{
	(void)signal;
	sem_post(handled);
}

static void handler_link(int n)
{
	turn++;
	sem_wait(&semaphores[n]);
	if (n + 1 < LINKS)
		until_asleep(links[n + 1].tid);
	handled = &semaphores[n + 1];
	raise(SIGUSR1);
}

static const struct kind {
	const char *name;
	void (*link)(int n);
} kinds[] = {{"mutex", mutex_link},	    {"rwlock", rwlock_link}, {"condition", condition_link},
	     {"semaphore", semaphore_link}, {"futex", futex_link},   {"barrier", barrier_link},
	     {"handler", handler_link}};
static const struct kind *kind;

static void *run(void *from)
{
	struct link *l = from;

	l->tid = thread_id();
	kind->link(l->number);
	return NULL;
}

/* The main thread is before the first link. */
static void begin(void)
{
	const int sharing = is_shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
	pthread_mutexattr_t of_mutex;
	pthread_condattr_t of_condition;
	pthread_rwlockattr_t of_rwlock;
	pthread_barrierattr_t of_barrier;

	pthread_mutexattr_init(&of_mutex);
	pthread_mutexattr_setpshared(&of_mutex, sharing);
	pthread_condattr_init(&of_condition);
	pthread_condattr_setpshared(&of_condition, sharing);
	pthread_rwlockattr_init(&of_rwlock);
	pthread_rwlockattr_setpshared(&of_rwlock, sharing);
	pthread_barrierattr_init(&of_barrier);
	pthread_barrierattr_setpshared(&of_barrier, sharing);
	for (int i = 0; i <= LINKS; i++) {
		pthread_mutex_init(&mutexes[i], &of_mutex);
		pthread_cond_init(&conditions[i], &of_condition);
		pthread_rwlock_init(&rwlocks[i], &of_rwlock);
		sem_init(&semaphores[i], is_shared, 0);
		pthread_barrier_init(&barriers[i], &of_barrier, i < LINKS ? 2 : 1);
		signalled[i] = 0;
		futexes[i] = 0;
	}
	turn = 0;
	pthread_mutex_lock(&mutexes[0]);
	pthread_rwlock_wrlock(&rwlocks[0]);
}

static void release_first(void)
{
	pthread_mutex_unlock(&mutexes[0]);
	pthread_rwlock_unlock(&rwlocks[0]);
	pthread_mutex_lock(&shared_mutex);
	signalled[0] = 1;
	pthread_cond_signal(&conditions[0]);
	pthread_mutex_unlock(&shared_mutex);
	sem_post(&semaphores[0]);
	futexes[0] = 1;
	futex(&futexes[0], FUTEX_WAKE, 1);
	if (kind->link == barrier_link)
		pthread_barrier_wait(&barriers[0]);
}

int main(int argc, char **argv)
{
	int status;

	signal(SIGUSR1, post);
	is_shared = argc > 1 && !strcmp(argv[1], "shared");
	if (argc > 1 && !strcmp(argv[1], "child") && fork())
		return wait(&status) < 0 || status;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		kind = &kinds[k];
		begin();
		for (int i = 0; i < LINKS; i++) {
			links[i].number = i;
			links[i].tid = 0;
			if (pthread_create(&links[i].id, NULL, run, &links[i]))
				return 2;
		}
		until_turn(LINKS);
		until_asleep(links[0].tid);
		release_first();
		for (int i = 0; i < LINKS; i++)
			pthread_join(links[i].id, NULL);
		for (int i = 0; i < LINKS; i++)
			printf("%s %d %d\n", kind->name, links[i].tid, i ? links[i - 1].tid : thread_id());
	}
	return 0;
}
