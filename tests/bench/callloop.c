/* SPDX-License-Identifier: Apache-2.0 */
/* callloop KIND CALLS SLICES THREADS
 * Makes CALLS cheap calls, SLICES times over, in each of THREADS threads, and prints
 *	median=NS min=NS end_ns=T
 * ns per call of the slowest thread; T is CLOCK_MONOTONIC after the last call. No figure includes start-up and exit, so
 * the cost of recording a call is the difference between two runs. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#ifdef HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

enum { MAX_THREADS = 256, MAX_SLICES = 1000 };

struct job {
	pthread_t id;
	double median_ns, min_ns;
	int null_fd, zero_fd;
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	sem_t semaphore;
};

struct kind {
	const char *name;
	void (*make)(struct job *job, long calls);
};

static const struct kind *kind;
static long calls, slices;
static pthread_barrier_t together;

static void make_writes(struct job *job, long n)
{
	while (n-- > 0)
		if (write(job->null_fd, "", 1) != 1)
			abort();
}

static void make_reads(struct job *job, long n)
{
	char byte;

	while (n-- > 0)
		if (read(job->zero_fd, &byte, 1) != 1)
			abort();
}

/* Two calls each. */
static void make_opens(struct job *job, long n)
{
	int fd;

	(void)job;
	while (n-- > 0)
		if ((fd = open("/dev/null", O_RDONLY)) < 0 || close(fd))
			abort();
}

/* The cheapest call that is recorded without arguments. */
static void make_polls(struct job *job, long n)
{
	(void)job;
	while (n-- > 0)
		if (poll(NULL, 0, 0))
			abort();
}

static void make_locks(struct job *job, long n)
{
	while (n-- > 0) {
		pthread_mutex_lock(&job->mutex);
		pthread_mutex_unlock(&job->mutex);
	}
}

/* Of a condition for which nobody waits. */
static void make_signals(struct job *job, long n)
{
	while (n-- > 0)
		pthread_cond_signal(&job->condition);
}

static void make_posts(struct job *job, long n)
{
	while (n-- > 0) {
		sem_post(&job->semaphore);
		sem_wait(&job->semaphore);
	}
}

#ifdef HAVE_NVTX
static void make_ranges(struct job *job, long n)
{
	(void)job;
	while (n-- > 0) {
		nvtxRangePushA("step");
		nvtxRangePop();
	}
}

static void make_marks(struct job *job, long n)
{
	(void)job;
	while (n-- > 0)
		nvtxMarkA("step");
}
#endif

static const struct kind kinds[] = {
    {"write", make_writes}, {"read", make_reads}, {"poll", make_polls}, {"mutex", make_locks},
    {"open", make_opens},   {"signal", make_signals}, {"post", make_posts},
#ifdef HAVE_NVTX
    {"nvtx", make_ranges},  {"mark", make_marks},
#endif
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	fprintf(stderr, "callloop: no such kind: %s\n", name);
	exit(2);
}

static void *run(void *arg)
{
	struct job *job = arg;
	double ns[MAX_SLICES];

	kind->make(job, calls / 10 + 1); /* warm-up: page faults, attaching, the first small chunks */
	pthread_barrier_wait(&together);
	for (long s = 0; s < slices; s++) {
		uint64_t start = bench_now_ns();

		kind->make(job, calls);
		ns[s] = (double)(bench_now_ns() - start) / (double)calls;
	}
	job->median_ns = bench_median(ns, (size_t)slices);
	job->min_ns = ns[0];
	return NULL;
}

int main(int argc, char **argv)
{
	static struct job jobs[MAX_THREADS];
	double median = 0, min = 0;
	long threads;

	if (argc != 5) {
		fputs("usage: callloop KIND CALLS SLICES THREADS\n", stderr);
		return 2;
	}
	kind = find_kind(argv[1]);
	calls = bench_number(argv[2], "CALLS", 1, 1000000000);
	slices = bench_number(argv[3], "SLICES", 1, MAX_SLICES);
	threads = bench_number(argv[4], "THREADS", 1, MAX_THREADS);
	pthread_barrier_init(&together, NULL, (unsigned)threads);
	for (long i = 0; i < threads; i++) {
		jobs[i].null_fd = open("/dev/null", O_WRONLY);
		jobs[i].zero_fd = open("/dev/zero", O_RDONLY);
		pthread_mutex_init(&jobs[i].mutex, NULL);
	}
	for (long i = 1; i < threads; i++)
		if (pthread_create(&jobs[i].id, NULL, run, &jobs[i])) {
			perror("callloop: pthread_create");
			return 1;
		}
	run(&jobs[0]);
	for (long i = 1; i < threads; i++)
		pthread_join(jobs[i].id, NULL);
	for (long i = 0; i < threads; i++) {
		median = jobs[i].median_ns > median ? jobs[i].median_ns : median;
		min = jobs[i].min_ns > min ? jobs[i].min_ns : min;
	}
	printf("median=%.3f min=%.3f end_ns=%llu\n", median, min, (unsigned long long)bench_now_ns());
	return 0;
}
