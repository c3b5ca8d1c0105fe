/* SPDX-License-Identifier: Apache-2.0 */
/* Looks into processes that use hardly any CPU time, so that the capture has what their threads waited for, even if all
 * processes and the launcher are killed at once. A process is looked at when it has been quiet for QUIET_MS, and again
 * when something has moved in it since, after pauses that double from PAUSE_MS to PAUSE_MOST_MS; the longest pause
 * doubles with each FILE_BYTES written. All looks together use at most 1/COST_SHARE of a CPU and CREDIT_MS. */
#include <time.h>

#include "runtime/launch/where.h"
#include "runtime/shared/common/clock.h"

enum { INTERVAL_MS = 1000, QUIET_MS = 1000, PAUSE_MS = 2000, PAUSE_MOST_MS = 64000 };
enum { COST_SHARE = 200, CREDIT_MS = 1000, FILE_BYTES = 16 << 20, DOUBLED_MOST = 10 };

static struct {
	uint64_t began_ns, cost_ns; /* CPU time of all looks so far */
	uint64_t bytes;		    /* that they wrote */
	uint64_t due_ns;	    /* CLOCK_MONOTONIC: of the next round */
} quiet;

static uint64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t pause_ns(unsigned count)
{
	uint64_t most = (uint64_t)PAUSE_MOST_MS, ms = PAUSE_MS;

	for (uint64_t i = 0; i < quiet.bytes / FILE_BYTES && i < DOUBLED_MOST; i++)
		most *= 2;
	while (count-- && ms < most)
		ms *= 2;
	return (ms < most ? ms : most) * 1000000u;
}

static bool is_due(const struct living *p, uint64_t now, uint64_t *ret_cpu_ns)
{
	return !p->has_ended && usage_quiet_ns(p, ret_cpu_ns) >= QUIET_MS * 1000000ull && now >= p->quiet.due_ns &&
	       (!p->quiet.count || *ret_cpu_ns != p->quiet.cpu_ns);
}

static void look_into_quiet(struct run *run, uint64_t now)
{
	struct living *list;
	uint64_t cpu_ns;
	size_t count;

	count = living_processes(run, &list);
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = cpu_now();

		if (quiet.cost_ns > (now - quiet.began_ns) / COST_SHARE + CREDIT_MS * 1000000ull)
			return;
		if (!is_due(&list[i], now, &cpu_ns))
			continue;
		list[i].quiet.cpu_ns = cpu_ns;
		quiet.bytes += where_look_quiet(run, &list[i]);
		list[i].quiet.due_ns = now + pause_ns(list[i].quiet.count++);
		quiet.cost_ns += cpu_now() - begin;
	}
}

int where_quiet_tick(struct run *run)
{
	uint64_t now = clock_monotonic_ns();

	if (!quiet.began_ns)
		quiet.began_ns = now;
	if (now >= quiet.due_ns) {
		quiet.due_ns = now + INTERVAL_MS * 1000000ull;
		look_into_quiet(run, now);
	}
	return (int)((quiet.due_ns - now) / 1000000) + 1;
}
