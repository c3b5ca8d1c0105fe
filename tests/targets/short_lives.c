/* SPDX-License-Identifier: Apache-2.0 */
/* short_lives WHAT COUNT: so many lives that each use 2 ms of CPU time, which is less than the kernel's tick: threads
 * one after the other, threads side by side, or children of fork. Prints the CPU time of all in microseconds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIFE_NS = 2000000, ABREAST = 8 };

static volatile unsigned long sum;

static void *live(void *unused)
{
	struct timespec now;

	do {
		for (unsigned long i = 0; i < 20000; i++)
			sum += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_nsec < LIFE_NS && !now.tv_sec);
	return unused;
}

/* The main thread of a forked child has used nothing. */
static void fork_one(void)
{
	pid_t child = fork();

	if (!child) {
		live(NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static long long microseconds(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ll + usage.ru_utime.tv_usec +
	       usage.ru_stime.tv_usec;
}

int main(int argc, char **argv)
{
	pthread_t threads[ABREAST];
	int abreast, count = argc > 2 ? atoi(argv[2]) : 0;

	if (count <= 0)
		return 2;
	abreast = !strcmp(argv[1], "abreast") ? ABREAST : 1;
	for (int i = 0; i < count && !strcmp(argv[1], "forks"); i++)
		fork_one();
	for (int i = 0; i < count && strcmp(argv[1], "forks") != 0; i += abreast) {
		for (int k = 0; k < abreast; k++)
			if (pthread_create(&threads[k], NULL, live, NULL))
				return 1;
		for (int k = 0; k < abreast; k++)
			pthread_join(threads[k], NULL);
	}
	printf("%lld\n", microseconds(RUSAGE_SELF) + microseconds(RUSAGE_CHILDREN));
	return 0;
}
