/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlocks: deadlock mutexes|main|rwlocks|relock|join. Prints "ready" before the threads take their second lock. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t left = PTHREAD_RWLOCK_INITIALIZER, right = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static pthread_t threads[2];

static void *mutex_one(void *unused)
{
	pthread_mutex_lock(&first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&second); /* one waits */
	return unused;
}

static void *mutex_two(void *unused)
{
	pthread_mutex_lock(&second);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&first); /* two waits */
	return unused;
}

static void *writer_one(void *unused)
{
	pthread_rwlock_wrlock(&left);
	pthread_barrier_wait(&both);
	pthread_rwlock_wrlock(&right); /* writer waits */
	return unused;
}

static void *writer_two(void *unused)
{
	pthread_rwlock_wrlock(&right);
	pthread_barrier_wait(&both);
	pthread_rwlock_rdlock(&left); /* reader waits */
	return unused;
}

static void *join_one(void *unused)
{
	pthread_barrier_wait(&both);
	pthread_join(threads[1], NULL); /* joiner waits */
	return unused;
}

static void *lock_two(void *unused)
{
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&first); /* joined waits */
	return unused;
}

static void *join_holder(void *unused)
{
	pthread_mutex_lock(&first);
	return join_one(unused);
}

static void start(void *(*one)(void *), void *(*two)(void *))
{
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&threads[1], NULL, two, NULL);
	pthread_create(&threads[0], NULL, one, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	puts("ready");
	fflush(stdout);
	if (!strcmp(how, "mutexes")) {
		start(mutex_one, mutex_two);
	} else if (!strcmp(how, "main")) {
		pthread_barrier_init(&both, NULL, 2);
		pthread_create(&threads[1], NULL, mutex_two, NULL);
		mutex_one(NULL);
	} else if (!strcmp(how, "ended")) {
		start(mutex_one, mutex_two);
		pthread_exit(NULL); /* the main thread is a zombie, and the process is none */
	} else if (!strcmp(how, "rwlocks")) {
		start(writer_one, writer_two);
	} else if (!strcmp(how, "join")) {
		start(join_holder, lock_two);
	} else {
		pthread_mutex_lock(&first);
	}
	if (threads[0])
		pthread_join(threads[0], NULL);
	pthread_mutex_lock(&first); /* main relocks */
	return 0;
}
