/* SPDX-License-Identifier: Apache-2.0 */
/* held_threads N: twice N threads at once, each of which writes a byte to /dev/null. Prints how many mappings the
 * process has then, the larger of both times. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int null_device;
static pthread_barrier_t all;

static void *hold(void *unused)
{
	if (write(null_device, "x", 1) != 1)
		exit(1);
	pthread_barrier_wait(&all); /* all are there */
	pthread_barrier_wait(&all); /* they have been counted */
	return unused;
}

static int count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int c, lines = 0;

	while (maps && (c = getc(maps)) != EOF)
		lines += c == '\n';
	if (maps)
		fclose(maps);
	return lines;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, most = 0;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_t small;

	null_device = open("/dev/null", O_WRONLY);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN > 65536 ? PTHREAD_STACK_MIN : 65536);
	if (count <= 0 || !threads || pthread_barrier_init(&all, NULL, (unsigned)count + 1))
		return 2;
	for (int round = 0; round < 2; round++) {
		int mappings;

		for (int i = 0; i < count; i++)
			if (pthread_create(&threads[i], &small, hold, NULL))
				return 77;
		pthread_barrier_wait(&all);
		mappings = count_mappings();
		most = mappings > most ? mappings : most;
		pthread_barrier_wait(&all);
		for (int i = 0; i < count; i++)
			pthread_join(threads[i], NULL);
	}
	printf("%d\n", most);
	return 0;
}
