// SPDX-License-Identifier: Apache-2.0
// openmp_imbalance KIND: three threads that sleep as their work. region: one has more of it in a region; barrier:
// before a barrier; even: none has.
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 3, TURNS = 20, SHORT_US = 5000, LONG_US = 25000 };

static void work(int us)
{
	usleep(us);
}

__attribute__((noinline)) static void region(int late)
{
#pragma omp parallel num_threads(THREADS)
	work(omp_get_thread_num() == late ? LONG_US : SHORT_US);
}

__attribute__((noinline)) static void barrier(int late)
{
#pragma omp parallel num_threads(THREADS)
	{
		work(omp_get_thread_num() == late ? LONG_US : SHORT_US);
#pragma omp barrier
		work(SHORT_US);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "even";

	for (int i = 0; i < TURNS; i++)
		if (!strcmp(kind, "region"))
			region(1);
		else if (!strcmp(kind, "barrier"))
			barrier(1);
		else
			barrier(-1);
	return puts(kind) < 0;
}
