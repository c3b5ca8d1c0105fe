/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops recording on request: of `pillion start`, stop and cancel, which put a request into the capture
 * (where.c reads it), and of the signal of --on-signal. The launcher changes one word of the run's range page, which
 * all processes of the run have mapped and read before each call, so that they and those that begin later follow at
 * once, without a signal. The answer is a file .answer.RUN in the capture, complete when it has this name:
 *   request=<16 hexadecimal digits>
 *   error=<0, or an errno: range.h; ECANCELED: a start at a time is no longer planned>
 *   range=<number of the range>
 *   processes=<as far as the launcher knows them> */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/range.h"

enum { HOUR_MS = 3600000 };

static struct {
	uint64_t opens_ns, closes_ns; /* CLOCK_MONOTONIC, 0: not scheduled */
	uint64_t for_ns;	      /* of the range that is to be opened */
	bool has_answered;
} session;

/* The space of the first entries exists, see range_make(). */
static int make_room(const struct run *run)
{
	enum { EXISTING = (RANGE_FIRST_BYTES - sizeof(struct tf_range_page)) / sizeof(struct tf_range) };

	return run->range->begun < EXISTING ? 0 : range_allocate(range_clock_directory(run), run->host, run->id);
}

static int range_start_now(struct run *run, uint64_t for_ns, uint32_t *ret_range)
{
	int error = make_room(run);

	session.opens_ns = session.closes_ns = 0;
	*ret_range = run->range->begun;
	if (!error)
		error = range_request_open(run->range, clock_now(), ret_range);
	if (!error && for_ns)
		session.closes_ns = clock_monotonic_ns() + for_ns;
	return error;
}

static uint64_t ticks_now(void)
{
	return clock_now();
}

static int range_stop_now(struct run *run, bool is_cancelled, uint32_t *ret_range)
{
	bool is_planned = session.opens_ns != 0;
	int error = range_request_close(run->range, ticks_now, run->start_ticks, is_cancelled, ret_range);

	session.opens_ns = session.closes_ns = 0;
	if (error != -EALREADY || !is_planned)
		return error;
	++*ret_range;
	return -ECANCELED;
}

/* The start at a time of CLOCK_REALTIME. */
static int range_start_later(struct run *run, const struct session_request *r, uint32_t *ret_range)
{
	uint64_t now = clock_realtime_ns();

	if (r->opens_ns <= now)
		return range_start_now(run, r->for_ns, ret_range);
	*ret_range = run->range->begun + 1;
	if (run->range->recording)
		return -EALREADY;
	if (range_has_ended(run->range))
		return -EPERM;
	session.opens_ns = clock_monotonic_ns() + (r->opens_ns - now);
	session.closes_ns = 0;
	session.for_ns = r->for_ns;
	return 0;
}

static void answer_path(const struct run *run, const char *suffix, char ret[PATH_MAX + 64])
{
	snprintf(ret, PATH_MAX + 64, "%s/.answer.%016llx%s", run->directory, (unsigned long long)run->id, suffix);
}

static void answer_write(struct run *run, uint64_t request, int error, uint32_t range)
{
	char path[PATH_MAX + 64], unfinished[PATH_MAX + 64];
	int fd;

	answer_path(run, "", path);
	answer_path(run, ".new", unfinished);
	fd = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (dprintf(fd, "request=%016llx\nerror=%d\nrange=%u\nprocesses=%u\n", (unsigned long long)request, -error,
		    range, living_count(run, true)) < 0 || rename(unfinished, path))
		unlink(unfinished);
	close(fd);
	session.has_answered = true;
}

void session_answer(struct run *run, const struct session_request *r)
{
	uint32_t range = 0;
	int error = -ENOSYS;

	if (!run->range)
		error = -EPERM;
	else if (!strcmp(r->action, "start"))
		error = range_start_later(run, r, &range);
	else if (!strcmp(r->action, "stop") || !strcmp(r->action, "cancel"))
		error = range_stop_now(run, r->action[0] == 'c', &range);
	answer_write(run, r->id, error, range);
}

int session_tick(struct run *run)
{
	uint64_t now, due;
	uint32_t range;

	if (!run->range || (!session.opens_ns && !session.closes_ns))
		return -1;
	now = clock_monotonic_ns();
	if (session.opens_ns && now >= session.opens_ns)
		range_start_now(run, session.for_ns, &range);
	if (session.closes_ns && now >= session.closes_ns)
		range_stop_now(run, false, &range);
	due = session.opens_ns ? session.opens_ns : session.closes_ns;
	if (!due)
		return -1;
	now = clock_monotonic_ns();
	return due <= now ? 0 : due - now > HOUR_MS * 1000000ull ? HOUR_MS : (int)((due - now + 999999) / 1000000);
}

bool session_signal(struct run *run, const siginfo_t *info)
{
	uint32_t range;

	if (!run->options.on_signal || info->si_signo != run->options.on_signal || !run->range)
		return false;
	if (run->range->recording)
		range_stop_now(run, false, &range);
	else
		range_start_now(run, 0, &range);
	return true;
}

void session_finish(struct run *run)
{
	char path[PATH_MAX + 64];

	if (!session.has_answered)
		return;
	answer_path(run, "", path);
	unlink(path);
}
