/* SPDX-License-Identifier: Apache-2.0 */
/* Four threads store results under one lock: lock [narrow]. narrow: the slow part is outside of the lock. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 4, ITEMS = 160 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_narrow, stored;

static void format_item(void)
{
	usleep(1250); /* asks another service */
}

static void store_item(void)
{
	if (is_narrow)
		format_item();
	pthread_mutex_lock(&lock);
	if (!is_narrow)
		format_item();
	stored++;
	pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
	for (int i = 0; i < ITEMS; i++)
		store_item();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	is_narrow = argc > 1;
	(void)argv;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d items\n", stored);
	return 0;
}
