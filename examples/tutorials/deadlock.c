/* SPDX-License-Identifier: Apache-2.0 */
/* Two accounts, and two transfers in opposite directions: each thread waits for the lock that the other one holds. */
#include <pthread.h>
#include <stdio.h>

struct account {
	pthread_mutex_t lock;
	int money;
};

static struct account ours = {PTHREAD_MUTEX_INITIALIZER, 100}, theirs = {PTHREAD_MUTEX_INITIALIZER, 100};
static pthread_barrier_t both; /* makes the deadlock certain, which is rare otherwise */

static void transfer(struct account *from, struct account *to)
{
	pthread_mutex_lock(&from->lock);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&to->lock);
	from->money--;
	to->money++;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
}

static void *pay(void *unused)
{
	transfer(&ours, &theirs);
	return unused;
}

static void *collect(void *unused)
{
	transfer(&theirs, &ours);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&threads[0], NULL, pay, NULL);
	pthread_create(&threads[1], NULL, collect, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	puts("done");
	return 0;
}
