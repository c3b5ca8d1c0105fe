/* SPDX-License-Identifier: Apache-2.0 */
/* When quiet processes are looked into, with stand-ins for all that the launcher knows. */
#include <criterion/criterion.h>
#include <time.h>

#include "runtime/launch/run.h"

enum { LOOK_MS = 20, INTERVAL_MS = 250, QUIET_NS = 600000000, ROUNDS = 40 };

static struct living process;
static struct run run;
static unsigned looks, verdicts;
static bool is_disk_full;
static uint64_t quiet_ns;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- stand-ins ---- */

size_t living_processes(struct run *r, struct living **ret)
{
	*ret = &process;
	return 1;
}

uint64_t calls_oldest(const struct run *r, struct living *p, uint64_t *ret_ns)
{
	*ret_ns = 0;
	return 0;
}

uint64_t usage_quiet_ns(struct living *p, uint64_t *ret_cpu_ns)
{
	*ret_cpu_ns = 1;
	return quiet_ns;
}

double usage_quiet_share(const struct living *p)
{
	return 0;
}

/* As of a process with many mappings and threads. */
size_t where_look_quiet(struct run *r, struct living *p, bool is_busy)
{
	for (uint64_t end = cpu_ns() + LOOK_MS * 1000000ull; cpu_ns() < end;)
		;
	looks++;
	return is_disk_full ? 0 : 1;
}

bool where_was_signaled(uint64_t within_ns)
{
	return false;
}

bool verdict_names(uint32_t pid)
{
	return false;
}

void verdict_moved(const struct run *r)
{
}

bool verdict_is_claimed(const struct run *r)
{
	return false;
}

void verdict_prepare(struct run *r)
{
	verdicts++;
}

bool verdict_say_live(void)
{
	return false;
}

void verdict_make(struct run *r)
{
}

/* ---- tests ---- */

Test(where_quiet, a_look_that_takes_long_does_not_delay_the_next_round)
{
	int ms;

	run.options.hang_s = 30;
	quiet_ns = QUIET_NS;
	ms = where_quiet_tick(&run);
	cr_assert_eq(looks, 1);
	cr_assert_eq(verdicts, 1);
	cr_assert_leq(ms, INTERVAL_MS + 1, "the next round is due in %d ms", ms);
}

Test(where_quiet, nothing_that_moves_is_looked_into)
{
	run.options.hang_s = 30;
	cr_assert_leq(where_quiet_tick(&run), INTERVAL_MS + 1);
	cr_assert_eq(looks, 0);
	cr_assert_eq(verdicts, 0);
}

/* It rests as before: only the look can tell what it waits for. */
Test(where_quiet, a_look_that_could_not_be_written_is_made_again)
{
	run.options.hang_s = 30;
	quiet_ns = QUIET_NS;
	is_disk_full = true;
	where_quiet_tick(&run);
	cr_assert_eq(looks, 1);
	cr_assert_eq(verdicts, 0, "nothing was seen");
	is_disk_full = false;
	for (int rounds = 0; rounds < ROUNDS && looks < 2; rounds++) {
		struct timespec rest = {0, where_quiet_tick(&run) * 1000000L};

		nanosleep(&rest, NULL);
	}
	cr_assert_eq(looks, 2);
	cr_assert_eq(verdicts, 1);
}
