/* SPDX-License-Identifier: Apache-2.0 */
/* Samples in this very process: taken while it runs, by a signal that it may take back. */
#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../runtime/sample.h"
#include "recorder.h"

RECORDER_FUNCTIONS({"alpha", TF_GROUP_OSRT});

static void start(void)
{
	setenv("PILLION_SAMPLE", "cpu", 1);
	setenv("PILLION_SAMPLING_FREQUENCY", "1000", 1);
	cr_assert(recorder_begin());
	cr_assert(event_enter());
	if (!sample_signal)
		cr_skip_test("no samples on this kernel or C library");
}

static void clean(void)
{
	cr_assert(recorder_end());
}

TestSuite(sample, .init = start, .fini = clean);

static void burn(double seconds)
{
	struct timespec t;
	double end = 0;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		if (end == 0)
			end = (double)t.tv_sec + (double)t.tv_nsec / 1e9 + seconds;
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < end);
}

/* Slots written by this thread, of all windows it had. */
static uint64_t written(void)
{
	return thread_self.windows ? (thread_self.next - thread_self.base) / TF_SLOT : 0;
}

Test(sample, come_while_a_thread_runs)
{
	burn(0.2);
	cr_assert_gt(written(), 10);
}

Test(sample, do_not_come_while_it_waits)
{
	const struct timespec moment = {0, 300000000};
	struct timespec left;
	uint64_t before;

	burn(0.05);
	before = written();
	cr_assert_eq(nanosleep(&moment, &left), 0);
	cr_assert_leq(written(), before + 2);
}

Test(sample, move_to_another_signal_and_leave_the_first_as_it_was)
{
	int first = sample_signal;
	struct sigaction now;
	uint64_t before;

	sample_release(first);
	cr_assert_neq(sample_signal, first);
	cr_assert_neq(sample_signal, 0);
	cr_assert_eq(sigaction(first, NULL, &now), 0);
	cr_assert_eq(now.sa_handler, SIG_DFL);
	before = written();
	burn(0.1);
	cr_assert_gt(written(), before);
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
	before = written();
	burn(0.05);
	cr_assert_eq(written(), before);
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
	event_enter();
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
