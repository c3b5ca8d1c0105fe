/* SPDX-License-Identifier: Apache-2.0 */
/* Tests CPU samples of this process, taken by a signal that the program may reclaim. */
#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/recorder/stack/sample.h"
#include "runtime/recorder/stack/sampler.h"
#include "runtime/shared/common/sys.h"
#include "recorder.h"

RECORDER_FUNCTIONS({"alpha", TF_GROUP_OSRT});

#define PERIOD_NS 1000000ull
#define LIMIT_NS 20000000000ull

/* The sampling of the test's thread began between these two readings of its CPU clock. */
static uint64_t before_ns, after_ns;

/* Reads the clock that this thread's sampling timer uses. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void start(void)
{
	setenv("PILLION_SAMPLE", "cpu", 1);
	setenv("PILLION_SAMPLING_FREQUENCY", "1000", 1);
	cr_assert(recording_begin());
	before_ns = cpu_ns();
	cr_assert(hook_attached());
	after_ns = cpu_ns();
	if (!sample_signal)
		cr_skip_test("no samples on this kernel or C library");
}

static void clean(void)
{
	cr_assert(recording_end());
}

TestSuite(sample, .init = start, .fini = clean);

static void burn(uint64_t ns)
{
	uint64_t end = cpu_ns() + ns;

	while (cpu_ns() < end)
		;
}

struct samples {
	uint64_t count, us; /* us: the CPU time that they represent */
};

static void add_samples(const struct tf_chunk *w, void *sum)
{
	const uint64_t *slot = (const uint64_t *)((const char *)w + tf_slots_offset(w));
	const uint64_t *end = (const uint64_t *)((const char *)w + w->size_bytes);
	struct samples *s = sum;

	for (; slot < end; slot++) {
		if (tf_kind(*slot) != TF_SAMPLE)
			continue;
		s->count++;
		s->us += tf_event_last(*slot);
	}
}

/* Returns the samples taken so far; the first record creates the file. */
static struct samples samples(void)
{
	struct samples sum = {0};

	cr_assert(!process.header || recording_each_chunk(process.path, add_samples, &sum));
	return sum;
}

/* Runs until `count` more samples were taken; returns the thread's CPU clock from before the last one. The rate depends
 * on the kernel's tick, and time stolen by a hypervisor may count as CPU time: the limit only detects that no samples
 * are taken at all. */
static uint64_t burn_until_more(uint64_t count)
{
	uint64_t begin = cpu_ns(), wanted = samples().count + count, now = begin, known;

	do {
		known = now;
		cr_assert_lt(known - begin, LIMIT_NS, "no samples are taken");
		burn(1000000);
		now = cpu_ns();
	} while (samples().count < wanted);
	return known;
}

Test(sample, come_while_a_thread_runs_and_stand_for_all_of_its_time)
{
	uint64_t known = burn_until_more(12), us = samples().us;

	cr_assert_leq(us, (cpu_ns() - before_ns + PERIOD_NS) / 1000); /* the first expiry is at a random time */
	cr_assert_geq(us + 1, (known - after_ns) / 1000);
}

/* The kernel checks for expired timers at its tick, so the CPU time used before may cause one late sample, and each
 * period in which the thread still runs causes another. None may come for the time in which the thread waits. */
Test(sample, do_not_come_while_it_waits)
{
	const struct timespec moment = {0, 300000000};
	struct timespec left;
	uint64_t begin, before, came;

	burn_until_more(1);
	begin = cpu_ns();
	before = samples().count;
	cr_assert_eq(nanosleep(&moment, &left), 0, "samples must not interrupt a system call");
	came = samples().count - before;
	cr_assert_leq(came, 2 + (cpu_ns() - begin) / PERIOD_NS);
}

Test(sample, move_to_another_signal_and_leave_the_first_as_it_was)
{
	int first = sample_signal;
	struct sigaction now;

	sample_release(first);
	cr_assert_neq(sample_signal, first);
	cr_assert_neq(sample_signal, 0);
	cr_assert_eq(sigaction(first, NULL, &now), 0);
	cr_assert_eq(now.sa_handler, SIG_DFL);
	burn_until_more(1);
}

Test(sample, end_when_no_signal_is_left_and_errno_stays)
{
	uint64_t before;

	errno = EXDEV;
	while (sample_signal) {
		int signal = sample_signal;

		sample_release(signal);
		cr_assert(sample_signal < signal);
	}
	cr_assert_eq(errno, EXDEV);
	before = samples().count;
	burn(50000000);
	cr_assert_eq(samples().count, before);
}

Test(sample, release_of_another_signal_is_nothing)
{
	int signal = sample_signal;

	sample_release(SIGPROF);
	sample_release(0);
	cr_assert_eq(sample_signal, signal);
}

static void *short_life(void *unused)
{
	hook_attached();
	return unused;
}

Test(sample, timers_end_with_their_threads)
{
	pthread_t id;
	char line[64];
	FILE *timers;
	int count = 0;

	for (int i = 0; i < 100; i++) {
		pthread_create(&id, NULL, short_life, NULL);
		pthread_join(id, NULL);
	}
	timers = fopen("/proc/self/timers", "r");
	while (timers && fgets(line, sizeof(line), timers))
		count += !strncmp(line, "ID:", 3);
	if (!timers)
		cr_skip_test("no /proc/self/timers");
	fclose(timers);
	cr_assert_eq(count, 1);
}

static void ignore(int signal)
{
	(void)signal;
}

Test(sample, handlers_are_found_that_were_installed_before_ours)
{
	struct sample_status status;
	uint64_t one = 1;

	signal(SIGUSR2, ignore);
	signal(SIGUSR1, SIG_IGN);
	cr_assert(sample_read_status(&status));
	cr_assert_not(status.is_traced);
	cr_assert(status.handled & one << (SIGUSR2 - 1));
	cr_assert_not(status.handled & one << (SIGUSR1 - 1));
}

static const char *stacks[40];
static int stack_count;

static void *live_until_all_do(void *all)
{
	stack_t registered;

	hook_attached();
	sys_call(SYS_sigaltstack, NULL, &registered, 0, 0);
	stacks[__atomic_fetch_add(&stack_count, 1, __ATOMIC_RELAXED)] = registered.ss_sp;
	pthread_barrier_wait(all);
	return NULL;
}

Test(sample, threads_have_stacks_of_their_own)
{
	enum { THREADS = sizeof(stacks) / sizeof(*stacks) };
	pthread_t threads[THREADS];
	pthread_barrier_t all;

	pthread_barrier_init(&all, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		cr_assert_not(pthread_create(&threads[i], NULL, live_until_all_do, &all));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		for (int j = 0; j < i; j++)
			cr_assert(stacks[i] + SAMPLER_STACK_BYTES <= stacks[j] ||
				  stacks[j] + SAMPLER_STACK_BYTES <= stacks[i]);
}
