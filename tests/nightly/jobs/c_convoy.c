// SPDX-License-Identifier: Apache-2.0
// c_convoy planted|clean: as many threads as there are CPUs, at least two, count the words of a text.
// Planted: the mutex of the shared table is held while a chunk is hashed. Clean: each thread counts into a table of
// its own and adds it to the shared one at its end.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 64, BUCKETS = 4096, CHUNKS = 192000, CHUNK = 16384 };

static char text[1 << 20];
static uint64_t shared[BUCKETS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static long threads;
static int planted;

static void count_words(uint64_t *table, const char *chunk)
{
	uint32_t hash = 2166136261u;

	for (int i = 0; i < CHUNK; i++) {
		if (chunk[i] == ' ') {
			table[hash % BUCKETS]++;
			hash = 2166136261u;
		} else {
			hash = (hash ^ (unsigned char)chunk[i]) * 16777619u;
		}
	}
}

static void *work(void *argument)
{
	uint64_t own[BUCKETS] = { 0 };

	for (long i = (long)argument; i < CHUNKS; i += threads) {
		const char *chunk = text + (size_t)i * 4099 % (sizeof text - CHUNK);

		if (planted) {
			pthread_mutex_lock(&table_lock); // PLANT
			count_words(shared, chunk); // PLANT
			pthread_mutex_unlock(&table_lock);
		} else {
			count_words(own, chunk);
		}
	}
	pthread_mutex_lock(&table_lock);
	for (int i = 0; i < BUCKETS; i++)
		shared[i] += own[i];
	pthread_mutex_unlock(&table_lock);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[THREADS];
	uint64_t sum = 0;
	uint32_t state = 1;

	planted = argc > 1 && strcmp(argv[1], "planted") == 0;
	threads = sysconf(_SC_NPROCESSORS_ONLN);
	threads = threads < 2 ? 2 : threads > THREADS ? THREADS : threads;
	for (size_t i = 0; i < sizeof text; i++) {
		state = state * 1664525u + 1013904223u;
		text[i] = state >> 28 ? (char)('a' + (state >> 20) % 26) : ' ';
	}
	for (long i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, work, (void *)i);
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < BUCKETS; i++)
		sum += shared[i] * (uint64_t)(i + 1);
	printf("checksum %llu\n", (unsigned long long)sum);
	return 0;
}
