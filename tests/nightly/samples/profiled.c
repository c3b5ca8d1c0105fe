/* SPDX-License-Identifier: Apache-2.0 */
/* Work in two threads, for gperftools: its profiler uses SIGPROF and ITIMER_PROF, its allocator replaces malloc. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 1000, ROUNDS = 10000 };

static void *work(void *sum)
{
	static __thread char *blocks[BLOCKS];

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < BLOCKS; i++) {
			free(blocks[i]);
			blocks[i] = calloc(1, (size_t)(i % 97) * 16 + 1);
			blocks[i][i % 16 ? 0 : i % 97 * 16] = (char)i;
		}
		for (int i = 0; i < BLOCKS; i++)
			*(long *)sum += blocks[i][0];
	}
	return NULL;
}

int main(void)
{
	long sums[2] = {0, 0};
	pthread_t thread;

	pthread_create(&thread, NULL, work, &sums[0]);
	work(&sums[1]);
	pthread_join(thread, NULL);
	printf("%ld %ld\n", sums[0], sums[1]);
	return 5;
}
