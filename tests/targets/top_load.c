/* SPDX-License-Identifier: Apache-2.0 */
/* A known load: uses 500 ms of CPU time, reads and writes 1 MB, prints its CPU time in ns and what it has read and
 * written, as the kernel counts it, then waits. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { CPU_NS = 500000000, PART = 1 << 10, PARTS = 1 << 10 };

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static volatile long sum;

static void work(void)
{
	for (long i = 0; i < 100000; i++)
		sum += i;
}

static void wait_here(void)
{
	while (1)
		pause(); /* waits here */
}

int main(void)
{
	static char bytes[PART];
	int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	struct rusage usage;

	for (int i = 0; i < PARTS; i++)
		if (read(zero, bytes, PART) != PART || write(null, bytes, PART) != PART)
			return 1;
	while (cpu_ns() < CPU_NS)
		work();
	getrusage(RUSAGE_SELF, &usage);
	printf("ready %lld\n", (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ll + usage.ru_utime.tv_usec +
	       usage.ru_stime.tv_usec);
	fflush(stdout);
	wait_here();
}
