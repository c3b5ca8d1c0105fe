/* SPDX-License-Identifier: Apache-2.0 */
/* Spools that were not moved into the capture: their launcher was killed, or is still running. */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "report/read/job/model.h"
#include "runtime/shared/spool/spool.h"

/* A spool that was moved this long ago is assumed to be in use if it cannot be looked at. */
enum { RECENT_S = 10 };

static const struct ranges *run_ranges(const struct model *m, const struct run_record *run)
{
	return array_find(ranges, m->ranges, m->ranges_count, ranges->run == run->id);
}

uint64_t model_spool_since(const struct model *m, const struct run_record *run)
{
	const struct ranges *r = run_ranges(m, run);
	uint64_t start = clock_map_realtime(&m->machines[run->machine].clock, run->realtime_ns);

	return r && r->spool_ticks ? clock_map_ns(&m->machines[run->machine].clock, r->spool_ticks) : start;
}

static bool is_recent(const struct model *m, const struct run_record *run)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec < model_spool_since(m, run) / 1000000000 + RECENT_S;
}

enum spool_state model_spool(const struct model *m, const struct run_record *run)
{
	const struct ranges *r = *run->spool ? run_ranges(m, run) : NULL;
	struct spool s;
	int code;

	/* Without a range file nothing could be recorded. */
	if (!r || r->spool_ticks == TF_SPOOL_MOVED || map_find(&m->spool_runs, run->id, 0))
		return SPOOL_MOVED;
	if (!m->machines[run->machine].is_this)
		return is_recent(m, run) ? SPOOL_MOVING : SPOOL_ELSEWHERE;
	code = spool_open(&s, run->spool);
	if (!code && s.run != run->id)
		code = -ENOENT;
	if (!code)
		code = spool_lock(&s);
	spool_close(&s);
	if (code == -ENOENT)
		return is_recent(m, run) ? SPOOL_MOVING : SPOOL_GONE;
	return code == -EWOULDBLOCK ? SPOOL_MOVING : code ? SPOOL_ELSEWHERE : SPOOL_LEFT;
}

void model_spool_text(const struct model *m, const struct run_record *run, enum spool_state state, struct buffer *ret)
{
	const char *host = m->machines[run->machine].host;
	uint64_t ms = model_since_origin(m, model_spool_since(m, run)) / 1000000;

	buffer_print(ret, "%s:%s: what its processes recorded after %" PRIu64 ".%03" PRIu64 " s ", host, run->spool,
		     ms / 1000, ms % 1000);
	if (state == SPOOL_MOVING)
		buffer_text(ret, "is moved while its launcher runs");
	else if (state == SPOOL_LEFT)
		buffer_text(ret, "is not in the capture; pillion recover CAPTURE moves it");
	else if (state == SPOOL_GONE)
		buffer_text(ret, "is lost: the directory does not exist any more");
	else
		buffer_text(ret, "is not in the capture; pillion recover CAPTURE moves it, on that host");
}
