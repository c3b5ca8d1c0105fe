/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a function in several threads. */
#include "report/base/parallel.h"

#include <pthread.h>
#include <sched.h>

struct worker {
	void (*work)(void *argument, size_t thread);
	void *argument;
	size_t number;
	pthread_t thread;
};

size_t parallel_threads(size_t most)
{
	cpu_set_t cpus;
	size_t count = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (size_t)CPU_COUNT(&cpus);

	count = count < PARALLEL_MOST ? count : PARALLEL_MOST;
	return count < most ? count : most ? most : 1;
}

static void *run_worker(void *argument)
{
	struct worker *w = argument;

	w->work(w->argument, w->number);
	return NULL;
}

void parallel_run(size_t threads, void (*work)(void *argument, size_t thread), void *argument)
{
	struct worker workers[PARALLEL_MOST];
	size_t started = 0;

	while (started + 1 < threads && started + 1 < PARALLEL_MOST) {
		struct worker *w = &workers[started];

		*w = (struct worker){.work = work, .argument = argument, .number = started + 1};
		if (pthread_create(&w->thread, NULL, run_worker, w))
			break;
		started++;
	}
	work(argument, 0);
	while (started)
		pthread_join(workers[--started].thread, NULL);
}
