/* SPDX-License-Identifier: Apache-2.0 */
/* Threads add addresses and remove those of their neighbours: each is removed once, and none is left or lost. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "preload/heap/heap_table.h"

enum { THREADS = 4, BLOCKS = 20000, STRIDE = 16 };

static char blocks[THREADS][BLOCKS][STRIDE];
static unsigned added, removed;

static void *add(void *number)
{
	char(*mine)[STRIDE] = number;

	for (uint64_t i = 0; i < BLOCKS; i++)
		if (heap_table_add(mine[i], 1 + i * 997) && heap_table_may_have(mine[i]))
			__atomic_fetch_add(&added, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* All threads try all of them. */
static void *remove_all(void *unused)
{
	for (int t = 0; t < THREADS; t++)
		for (int i = 0; i < BLOCKS; i++)
			if (heap_table_may_have(blocks[t][i]) && heap_table_remove(blocks[t][i]))
				__atomic_fetch_add(&removed, 1, __ATOMIC_RELAXED);
	return unused;
}

static void run(void *(*work)(void *))
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, blocks[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	unsigned left = 0;
	bool removes_null, is_weighed;
	uint64_t weight = 0;

	run(add);
	printf("%sok 1 - all are added\n", added == THREADS * BLOCKS ? "" : "not ");
	for (uint64_t i = 0; i < BLOCKS; i++)
		weight += THREADS * (1 + i * 997);
	is_weighed = (uint64_t)heap_in_use <= weight && (uint64_t)heap_in_use > weight - weight / 1000;
	run(remove_all);
	is_weighed = is_weighed && heap_in_use == 0;
	printf("%sok 2 - each is removed once\n", removed == THREADS * BLOCKS ? "" : "not ");
	for (int t = 0; t < THREADS; t++)
		for (int i = 0; i < BLOCKS; i++)
			left += heap_table_remove(blocks[t][i]);
	printf("%sok 3 - none is left\n", left ? "not " : "");
	removes_null = heap_table_remove(NULL);
	printf("%sok 4 - NULL, which free() accepts, is no block\n", removes_null ? "not " : "");
	printf("%sok 5 - what is in use is known to 0.1 %%, and 0 at the end\n1..5\n", is_weighed ? "" : "not ");
	return !is_weighed || added != THREADS * BLOCKS || removed != THREADS * BLOCKS || left || removes_null;
}
