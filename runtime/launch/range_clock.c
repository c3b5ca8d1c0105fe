/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's side of the capture range: creates the page, opens and closes ranges by time, drops processes
 * that died inside one, and applies --kill at the end of a range that requests it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/shared/common/clock.h"
#include "runtime/launch/run.h"
#include "runtime/shared/common/range.h"

enum { POLL_MS = 50, HOUR_MS = 3600000, ANSWER_MS = 2000 };

static struct {
	uint64_t opens_ns, closes_ns; /* CLOCK_MONOTONIC, 0: not scheduled */
	bool is_polled; /* processes open and close ranges */
	bool has_killed;
} clockwork;

const char *range_clock_directory(const struct run *run)
{
	return run->spool[0] ? run->spool : run->directory;
}

int range_clock_prepare(struct run *run)
{
	const struct options *o = &run->options;
	bool has_ranges = o->capture_range != CAPTURE_ALL, is_timed = o->delay_s > 0 || o->duration_s > 0;
	struct tf_range_page head = range_head(o, run->id, clock_kind);
	struct tf_clock_pair now;
	int rc;

	clock_pair(&now);
	run->start_ticks = now.ticks;
	head.launcher = (uint32_t)getpid();
	rc = range_make(range_clock_directory(run), run->host, run->boot, &now, &head);

	if (!rc)
		run->range = range_map_all(range_clock_directory(run), run->host, run->id);
	/* Without a page everything is recorded, which is correct for a run without ranges. */
	if (!run->range && (rc != -EFBIG || has_ranges || is_timed || o->is_launched)) {
		say("cannot create the range file in %s: %s", range_clock_directory(run),
		    rc ? strerror(-rc) : "it cannot be mapped");
		return NO_CAPTURE;
	}
	/* --duration without --delay: the range is open before COMMAND makes its first call. */
	if (run->range && o->duration_s > 0 && o->delay_s <= 0 && !has_ranges)
		range_open(run->range, clock_now());
	return 0;
}

static uint64_t time_after(double seconds)
{
	return clock_monotonic_ns() + (uint64_t)(seconds * 1e9);
}

void range_clock_begin(struct run *run)
{
	const struct options *o = &run->options;

	clockwork.is_polled = run->range && o->capture_range != CAPTURE_ALL;
	if (!run->range)
		return;
	if (o->delay_s > 0)
		clockwork.opens_ns = time_after(o->delay_s);
	else if (o->duration_s > 0 && !clockwork.is_polled)
		clockwork.closes_ns = time_after(o->duration_s);
}

/* CUPTI returns full buffers only, and a thread of each process reads the others at its next call of CUDA. One that
 * makes none is not waited for longer than until CUPTI's own flush, where that returns all buffers. */
void range_clock_collect(struct run *run)
{
	uint64_t limit_ns, until;

	if (!run->range || !__atomic_load_n(&run->range->device_open, __ATOMIC_ACQUIRE))
		return;
	limit_ns = (run->options.cuda_flush_interval_ms + 100ull) * 1000000;
	until = clock_monotonic_ns() + (limit_ns < ANSWER_MS * 1000000ull ? limit_ns : ANSWER_MS * 1000000ull);
	__atomic_store_n(&run->range->device_answers, 0, __ATOMIC_RELAXED);
	__atomic_add_fetch(&run->range->device_asked, 1, __ATOMIC_RELEASE);
	while (clock_monotonic_ns() < until && process_is_alive((uint32_t)run->child)) {
		uint32_t answers = __atomic_load_n(&run->range->device_answers, __ATOMIC_ACQUIRE);

		if (answers >= __atomic_load_n(&run->range->device_open, __ATOMIC_ACQUIRE))
			break;
		usleep(1000);
	}
}

static void kill_command(struct run *run)
{
	if (!clockwork.has_killed && run->child > 0 && run->options.kill_signal) {
		range_clock_collect(run);
		kill(run->child, run->options.kill_signal);
	}
	clockwork.has_killed = true;
	range_killed(run->range);
}

static void clock_tick(struct run *run, uint64_t now)
{
	const struct options *o = &run->options;

	if (clockwork.opens_ns && now >= clockwork.opens_ns) {
		clockwork.opens_ns = 0;
		range_release(run->range, clock_now());
		if (!clockwork.is_polled)
			range_open(run->range, clock_now());
		if (o->duration_s > 0 && !clockwork.is_polled)
			clockwork.closes_ns = time_after(o->duration_s);
	}
	if (clockwork.closes_ns && now >= clockwork.closes_ns) {
		clockwork.closes_ns = 0;
		clockwork.is_polled = false;
		range_end(run->range, clock_now());
		kill_command(run);
	}
}

static int nearer_deadline(int ms, uint64_t deadline_ns, uint64_t now)
{
	int left;

	if (!deadline_ns)
		return ms;
	if (deadline_ns <= now)
		left = 0;
	else if (deadline_ns - now > HOUR_MS * 1000000ull)
		left = HOUR_MS;
	else
		left = (int)((deadline_ns - now + 999999) / 1000000);
	return ms < 0 || left < ms ? left : ms;
}

int range_clock_tick(struct run *run)
{
	uint64_t now = clock_monotonic_ns();
	int ms = -1;

	if (!run->range)
		return -1;
	clock_tick(run, now);
	if (clockwork.is_polled) {
		range_drop_dead(run->range, clock_now(), process_is_alive);
		/* If the program marks ranges, --duration starts with the first one. */
		if (run->options.duration_s > 0 && !clockwork.closes_ns && run->range->begun)
			clockwork.closes_ns = time_after(run->options.duration_s);
		if (range_has_ended(run->range)) {
			clockwork.is_polled = false;
			if (run->range->shutdown == RANGE_SHUTDOWN)
				kill_command(run);
		} else {
			ms = POLL_MS;
		}
	}
	return nearer_deadline(nearer_deadline(ms, clockwork.opens_ns, now), clockwork.closes_ns, now);
}

/* With -x true, recording ends when the launcher does, even if processes are alive; with -x false they continue. */
void range_clock_leave(struct run *run)
{
	if (run->range && run->options.stop_on_exit)
		range_end(run->range, clock_now());
}
