// SPDX-License-Identifier: Apache-2.0
// openmp_regions ROUNDS THREADS FILE: regions with all constructs, nested ones, and teams of other sizes. Its result
// goes to stdout; FILE gets how often each construct was executed, and two times of the regions in ns: as the
// encountering thread saw them from within and from outside.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long regions, parts, barriers, loops, criticals, tasks, inside_ns, outside_ns;
static omp_lock_t lock;

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void count(long *counter)
{
#pragma omp atomic
	++*counter;
}

static void work(int us)
{
	usleep(us);
}

__attribute__((noinline)) static long constructs(int threads)
{
	long sum = 0, start = now();

	count(&regions);
#pragma omp parallel num_threads(threads) reduction(+ : sum)
	{
		long inside = now();

		count(&parts);
		work(100);
		count(&barriers);
#pragma omp barrier
		count(&loops);
#pragma omp for schedule(dynamic, 2)
		for (int i = 0; i < 16; i++)
			sum += i;
		count(&criticals);
#pragma omp critical
		work(10);
		omp_set_lock(&lock);
		sum++;
		omp_unset_lock(&lock);
		if (!omp_get_thread_num())
			inside_ns += now() - inside;
	}
	outside_ns += now() - start;
	return sum;
}

__attribute__((noinline)) static long nested(int threads)
{
	long sum = 0, start = now();

	count(&regions);
#pragma omp parallel num_threads(2) reduction(+ : sum)
	{
		long inside = now();

		count(&parts);
		count(&regions);
#pragma omp parallel num_threads(threads) reduction(+ : sum)
		{
			count(&parts);
			work(50);
			sum += omp_get_level();
		}
		if (!omp_get_thread_num())
			inside_ns += now() - inside;
	}
	outside_ns += now() - start;
	return sum;
}

__attribute__((noinline)) static long tasked(int threads)
{
	long sum = 0, start = now();

	count(&regions);
#pragma omp parallel num_threads(threads)
	{
		long inside = now();

		count(&parts);
#pragma omp single nowait
		for (int i = 0; i < 12; i++)
#pragma omp task firstprivate(i) shared(sum)
		{
			count(&tasks);
			work(50);
#pragma omp atomic
			sum += i;
		}
#pragma omp taskwait
		if (!omp_get_thread_num())
			inside_ns += now() - inside;
	}
	outside_ns += now() - start;
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 1, threads = argc > 2 ? atoi(argv[2]) : 2;
	FILE *file = fopen(argc > 3 ? argv[3] : "/dev/null", "w");
	long sum = 0;

	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
	omp_init_lock(&lock);
	for (int i = 0; i < rounds; i++)
		sum += constructs(i % 3 ? threads : threads + 1) + nested(1 + i % 2) + tasked(threads);
	printf("%ld\n", sum);
	fprintf(file, "regions %ld\nparts %ld\nbarriers %ld\nloops %ld\ncriticals %ld\ntasks %ld\n", regions, parts,
		barriers, loops, criticals, tasks);
	fprintf(file, "inside_ns %ld\noutside_ns %ld\n", inside_ns, outside_ns);
	return fclose(file) ? 1 : 3;
}
