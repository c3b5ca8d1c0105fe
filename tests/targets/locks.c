/* SPDX-License-Identifier: Apache-2.0 */
/* locks convoy|own: four threads that hold a lock for most of the time: one lock for all, or one each. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, TURNS = 50 };

static pthread_mutex_t locks[THREADS];
static int is_convoy;

static void *work(void *number)
{
	pthread_mutex_t *lock = &locks[is_convoy ? 0 : *(int *)number];

	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(lock);
		usleep(2000);
		pthread_mutex_unlock(lock);
		usleep(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];

	is_convoy = argc > 1 && !strcmp(argv[1], "convoy");
	for (int i = 0; i < THREADS; i++)
		pthread_mutex_init(&locks[i], NULL);
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &numbers[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts(argc > 1 ? argv[1] : "");
	return 0;
}
