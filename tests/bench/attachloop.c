/* SPDX-License-Identifier: Apache-2.0 */
/* attachloop MODE THREADS: CPU time in ns per thread, creation and end included, of threads that make one blocking
 * call each. All are alive until the last has made its call.
 * 	started		each makes its call as soon as it runs
 * 	released	all wait on one futex, by syscall(), and are woken together
 * Prints "median=NS min=NS wall_ms=MS": median and min are equal, because the harness reads both. */
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/shared/common/sys.h"
#include "bench.h"

enum { MAX_THREADS = 30000, STACK = 128 << 10 };

static uint32_t gate, all_called, arrived, called;
static long count;

/* By raw system calls, so that each thread makes only one recorded call. */
static void wait_for(uint32_t *word)
{
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		sys_call(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL);
}

static void open_gate(uint32_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	sys_call(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL);
}

static void call_made(void)
{
	if (__atomic_add_fetch(&called, 1, __ATOMIC_ACQ_REL) == (uint32_t)count)
		open_gate(&all_called);
	else
		wait_for(&all_called);
}

static void *run_started(void *unused)
{
	usleep(1);
	call_made();
	return unused;
}

static void *run_released(void *unused)
{
	__atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	call_made();
	return unused;
}

static void nap(void)
{
	struct timespec pause = {0, 20000000};

	sys_call(SYS_nanosleep, &pause, NULL, 0, 0);
}

static double cpu_ns(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e9 +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e3;
}

int main(int argc, char **argv)
{
	static pthread_t threads[MAX_THREADS];
	bool is_released = argc > 1 && !strcmp(argv[1], "released");
	pthread_attr_t attributes;
	double start_cpu_ns, per_thread;
	uint64_t start_ns;

	count = bench_number(argc > 2 ? argv[2] : "", "THREADS", 1, MAX_THREADS);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	start_ns = bench_now_ns();
	start_cpu_ns = cpu_ns();
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, is_released ? run_released : run_started, NULL)) {
			fprintf(stderr, "attachloop: thread %ld cannot be made\n", i);
			return 1;
		}
	if (is_released) {
		while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < (uint32_t)count)
			nap();
		nap();
		open_gate(&gate);
	}
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	per_thread = (cpu_ns() - start_cpu_ns) / (double)count;
	printf("median=%.0f min=%.0f wall_ms=%.1f\n", per_thread, per_thread,
	       (double)(bench_now_ns() - start_ns) / 1e6);
	return 0;
}
