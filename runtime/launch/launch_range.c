/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's side of the capture range: makes the page, opens and closes it by the clock, drops processes that died
 * inside, and applies --kill when a range that asks for it has ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/clock.h"
#include "runtime/launch/launch.h"
#include "runtime/common/range.h"

enum { POLL_MS = 50, HOUR_MS = 3600000 };

static struct {
	uint64_t opens_ns, closes_ns; /* CLOCK_MONOTONIC, 0: not pending */
	bool is_polled; /* processes open and close it */
	bool has_killed;
} clockwork;

static const char *page_directory(const struct launch *l)
{
	return l->spool[0] ? l->spool : l->directory;
}

int range_prepare(struct launch *l)
{
	const struct options *o = &l->options;
	bool has_ranges = o->capture_range != CAPTURE_ALL, is_timed = o->delay_s > 0 || o->duration_s > 0;
	struct tf_range_page head = range_head(o, l->run, clock_kind);
	int rc;

	head.launcher = (uint32_t)getpid();
	rc = range_make(page_directory(l), l->host, &head);

	if (!rc)
		l->range = range_map(page_directory(l), l->host, l->run);
	/* Without a page everything is recorded, which is what most runs want. */
	if (l->range || (rc == -EFBIG && !has_ranges && !is_timed))
		return 0;
	say("cannot make the range file in %s: %s", page_directory(l), rc ? strerror(-rc) : "it cannot be mapped");
	return EXIT_USAGE;
}

static uint64_t after(double seconds)
{
	return monotonic_ns() + (uint64_t)(seconds * 1e9);
}

void range_begin(struct launch *l)
{
	const struct options *o = &l->options;

	clockwork.is_polled = l->range && o->capture_range != CAPTURE_ALL;
	if (!l->range)
		return;
	if (o->delay_s > 0) {
		clockwork.opens_ns = after(o->delay_s);
	} else if (o->duration_s > 0 && !clockwork.is_polled) {
		range_open(l->range, clock_now());
		clockwork.closes_ns = after(o->duration_s);
	}
}

static void kill_command(struct launch *l)
{
	if (!clockwork.has_killed && l->child > 0 && l->options.kill_signal)
		kill(l->child, l->options.kill_signal);
	clockwork.has_killed = true;
}

static void clock_tick(struct launch *l, uint64_t now)
{
	const struct options *o = &l->options;

	if (clockwork.opens_ns && now >= clockwork.opens_ns) {
		clockwork.opens_ns = 0;
		range_release(l->range, clock_now());
		if (!clockwork.is_polled)
			range_open(l->range, clock_now());
		if (o->duration_s > 0 && !clockwork.is_polled)
			clockwork.closes_ns = after(o->duration_s);
	}
	if (clockwork.closes_ns && now >= clockwork.closes_ns) {
		clockwork.closes_ns = 0;
		clockwork.is_polled = false;
		range_end(l->range, clock_now());
		kill_command(l);
	}
}

static int nearer(int ms, uint64_t deadline_ns, uint64_t now)
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

int range_tick(struct launch *l)
{
	uint64_t now = monotonic_ns();
	int ms = -1;

	if (!l->range)
		return -1;
	clock_tick(l, now);
	if (clockwork.is_polled) {
		range_drop_dead(l->range, clock_now(), process_is_alive);
		/* With ranges of the program's own, --duration counts from the first one. */
		if (l->options.duration_s > 0 && !clockwork.closes_ns && l->range->begun)
			clockwork.closes_ns = after(l->options.duration_s);
		if (range_has_ended(l->range)) {
			clockwork.is_polled = false;
			if (l->range->shutdown == RANGE_SHUTDOWN)
				kill_command(l);
		} else {
			ms = POLL_MS;
		}
	}
	return nearer(nearer(ms, clockwork.opens_ns, now), clockwork.closes_ns, now);
}

/* -x true, and we leave before the last process: nothing more is recorded. -x false: they go on. */
void range_leave(struct launch *l)
{
	if (l->range && l->options.stop_on_exit)
		range_end(l->range, clock_now());
}
