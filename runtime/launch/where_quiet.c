/* SPDX-License-Identifier: Apache-2.0 */
/* Looks into processes that use hardly any CPU time, so that the capture has what their threads waited for, even if all
 * processes and the launcher are killed at once. A process is looked at when it has been quiet for QUIET_MS, and again
 * when something has moved in it since, after pauses that double from PAUSE_MS to PAUSE_MOST_MS; the longest pause
 * doubles with each FILE_BYTES written, and before that a look is due when a launcher asks why. All looks together use
 * at most 1/COST_SHARE of a CPU and CREDIT_MS.
 *
 * Ranks that wait for each other poll. A process that has been in one call of MPI or NCCL for STALL_MS is looked at as
 * well, and so are, once a launcher of the capture asks why (verdict.c), those that it may wait for.
 *
 * After a look the verdict is made, and again when the process has been quiet for STALL_MS, because ranks may be late
 * by less, and for --hang, when it is printed if there is one: a shell and a server are quiet as well. */
#include <time.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/range.h"
#include "runtime/shared/common/sys.h"

enum { INTERVAL_MS = 250, QUIET_MS = 500, STALL_MS = 1300, ENDING_MS = 2000, PAUSE_MS = 500, PAUSE_MOST_MS = 64000 };
enum { ABORT_REST_MS = 5, ABORT_RESTS = 20 };
enum { COST_SHARE = 200, CREDIT_MS = 1000, FILE_BYTES = 16 << 20, DOUBLED_MOST = 10 };
/* A process that has used less CPU time since a look is where the look found it, apart from USUAL_TIMES what it used
 * before while it was quiet: threads of PyTorch use 2 ms a second. WOKEN_NS: a signal of the terminal wakes it as soon
 * as the launcher. */
enum { STILL_NS = 1000000, WOKEN_NS = 50000000, USUAL_TIMES = 2 };

static struct {
	uint64_t began_ns, cost_ns; /* CPU time of all looks and verdicts so far */
	uint64_t looks_ns;	    /* of the looks alone */
	uint64_t helpers_ns;	    /* of the launcher's helpers, as far as it is part of cost_ns */
	uint64_t bytes;		    /* that the looks wrote */
	uint64_t due_ns;	    /* CLOCK_MONOTONIC: of the next round */
	uint64_t claimed_ns;	    /* CLOCK_MONOTONIC: since when a launcher has asked why; 0: none has */
} quiet;

static uint64_t pause_ns(unsigned count)
{
	uint64_t most = (uint64_t)PAUSE_MOST_MS, ms = PAUSE_MS;

	for (uint64_t i = 0; i < quiet.bytes / FILE_BYTES && i < DOUBLED_MOST; i++)
		most *= 2;
	while (count-- && ms < most)
		ms *= 2;
	return (ms < most ? ms : most) * 1000000u;
}

/* How a process stands still: for how long, and in which call of calls_oldest; 0: it is quiet. */
struct stillness {
	uint64_t ns, cpu_ns, call;
};

static struct stillness standing_of(const struct run *run, struct living *p)
{
	struct stillness s = {0};
	uint64_t quiet_ns = usage_quiet_ns(p, &s.cpu_ns);

	s.call = calls_oldest(run, p, &s.ns);
	if (s.ns < STALL_MS * 1000000ull)
		s = (struct stillness){quiet_ns, s.cpu_ns, 0};
	return s;
}

/* Whether the verdict is to be made for a process that stands still for so long: after its first look, and when it has
 * stood still for STALL_MS and for --hang. */
static bool is_verdict_due(const struct run *run, struct living *p, uint64_t ns)
{
	uint64_t hang_ns = (uint64_t)(run->options.hang_s * 1e9);
	unsigned stages = 1 + (ns >= STALL_MS * 1000000ull) + (ns >= hang_ns);
	bool is_due = p->quiet.count && p->quiet.asked < stages;

	if (is_due)
		p->quiet.asked = stages;
	return is_due;
}

/* Whether what was said may not be true any more: the process has left a call that it was seen in; or it has used CPU
 * time, and was named. Others, such as torchrun, look after their workers from time to time. */
static bool has_moved(const struct living *p, uint64_t call, uint64_t cpu_ns, uint64_t most_ns)
{
	double usual_ns = p->quiet.share * (double)(clock_monotonic_ns() - p->quiet.looked_ns);

	if (!p->quiet.count || p->quiet.is_busy)
		return false;
	if (p->quiet.call)
		return p->quiet.call != call;
	return (double)(cpu_ns - p->quiet.cpu_ns) > (double)most_ns + USUAL_TIMES * usual_ns && verdict_names(p->pid);
}

static void look(struct run *run, struct living *p, uint64_t now, const struct stillness *s, bool is_busy)
{
	uint64_t begin = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	size_t bytes = where_look_quiet(run, p, is_busy || s->call);

	p->quiet.due_ns = now + pause_ns(p->quiet.count);
	if (bytes) { /* else it is looked at again, because nobody has seen it, as on a full disk */
		p->quiet.cpu_ns = s->cpu_ns;
		p->quiet.looked_ns = now;
		p->quiet.share = usage_quiet_share(p);
		p->quiet.call = s->call;
		p->quiet.is_busy = is_busy;
		p->quiet.count++;
		p->quiet.asked = 0;
	}
	quiet.bytes += bytes;
	quiet.looks_ns += sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

/* Looks if it is time. Returns whether the verdict is to be made. */
static bool look_into(struct run *run, struct living *p, uint64_t now)
{
	struct stillness s = standing_of(run, p);
	/* What was seen of it before a launcher asked why is no answer. */
	bool is_asked_for = p->quiet.looked_ns < quiet.claimed_ns && quiet.bytes < FILE_BYTES;
	bool is_look_due = now >= p->quiet.due_ns || is_asked_for;
	bool is_same = s.call && s.call == p->quiet.call, is_asked_again = is_same && now >= p->quiet.due_ns;

	if (has_moved(p, s.call, s.cpu_ns, STILL_NS)) {
		verdict_moved(run);
		p->quiet.is_busy = true; /* once: others may wait while it computes */
	}
	if (s.ns < QUIET_MS * 1000000ull) {
		p->quiet.asked = 0;
		if (is_look_due && quiet.claimed_ns) /* others wait, perhaps for this one */
			look(run, p, now, &s, true);
		return false;
	}
	if (is_asked_again) /* the text says for how long, and what the looks of other launchers have found meanwhile */
		p->quiet.due_ns = now + pause_ns(p->quiet.count++);
	else if (is_look_due && !is_same &&
		 (!p->quiet.count || s.call || p->quiet.call || s.cpu_ns != p->quiet.cpu_ns))
		look(run, p, now, &s, false);
	return is_verdict_due(run, p, s.ns) || is_asked_again;
}

/* Returns whether the verdict is to be made. */
static bool look_into_all(struct run *run, uint64_t now, uint64_t begin, bool *ret_hung)
{
	struct living *list;
	size_t count = living_processes(run, &list);
	bool is_due = false;

	for (size_t i = 0; i < count; i++) {
		uint64_t cost_ns = quiet.cost_ns + sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;

		if (cost_ns > (now - quiet.began_ns) / COST_SHARE + CREDIT_MS * 1000000ull)
			break;
		is_due |= !list[i].has_ended && look_into(run, &list[i], now);
		*ret_hung |= list[i].quiet.asked > 2;
	}
	return is_due;
}

/* Returns the CPU time without that of the looks. */
static uint64_t look_into_quiet(struct run *run, uint64_t now)
{
	uint64_t begin = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID), looks_ns = quiet.looks_ns, cost_ns;
	bool is_hung = false;

	if (!verdict_is_claimed(run))
		quiet.claimed_ns = 0;
	else if (!quiet.claimed_ns)
		quiet.claimed_ns = now;
	if (look_into_all(run, now, begin, &is_hung)) {
		if (!quiet.claimed_ns) {
			quiet.claimed_ns = now;
			look_into_all(run, now, begin, &is_hung);
		}
		verdict_prepare(run);
	}
	if (is_hung)
		verdict_say_live();
	cost_ns = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	quiet.cost_ns += cost_ns + run->helpers_ns - quiet.helpers_ns;
	quiet.helpers_ns = run->helpers_ns;
	return cost_ns - (quiet.looks_ns - looks_ns);
}

/* The stack of a thread that runs is not known. The one that is to abort sleeps soon; other ranks may never. */
static void await_sleep(const struct living *list, size_t count)
{
	const struct timespec rest = {0, ABORT_REST_MS * 1000000};
	bool is_running = true;

	for (int tries = 0; is_running && tries < ABORT_RESTS; tries++) {
		is_running = false;
		for (size_t i = 0; i < count && !is_running; i++) {
			struct process_stat stat;

			is_running = !list[i].has_ended && process_stat_read(list[i].pid, &stat) && stat.state == 'R';
		}
		if (is_running)
			nanosleep(&rest, NULL);
	}
}

void where_quiet_abort(struct run *run)
{
	struct living *list;
	size_t count;

	if (!run->range || !range_is_aborting(run->range))
		return;
	count = living_processes(run, &list);
	await_sleep(list, count);
	for (size_t i = 0; i < count; i++)
		if (!list[i].has_ended)
			where_look_quiet(run, &list[i], true);
	verdict_make(run);
	range_abort_said(run->range);
}

bool where_quiet_was_still(struct run *run)
{
	struct living *list;
	size_t count = living_processes(run, &list);
	uint64_t cpu_ns, ns;

	for (size_t i = 0; i < count; i++) {
		uint64_t call = list[i].has_ended ? 0 : calls_oldest(run, &list[i], &ns);

		if (list[i].has_ended)
			continue;
		usage_quiet_ns(&list[i], &cpu_ns);
		/* One that has ended is where it was, as far as is known: the signal may have ended it already. */
		if (cpu_ns && has_moved(&list[i], call, cpu_ns, WOKEN_NS))
			return false;
	}
	return true;
}

/* Rounds over thousands of processes come less often. Looks have pauses of their own, and must not delay the next one:
 * of a process with PyTorch each takes 10 ms, and the verdict waits for it. */
static uint64_t interval_ns(uint64_t cost_ns)
{
	uint64_t least = INTERVAL_MS * 1000000ull;

	return cost_ns * COST_SHARE > least ? cost_ns * COST_SHARE : least;
}

int where_quiet_tick(struct run *run)
{
	uint64_t now = clock_monotonic_ns();

	if (run->options.hang_s <= 0)
		return -1;
	if (!quiet.began_ns)
		quiet.began_ns = now;
	/* What COMMAND does then is its end: the look at the signal is the one to keep. */
	if (now >= quiet.due_ns && !where_was_signaled(ENDING_MS * 1000000ull))
		quiet.due_ns = now + interval_ns(look_into_quiet(run, now) / 4);
	return now < quiet.due_ns ? (int)((quiet.due_ns - now) / 1000000) + 1 : INTERVAL_MS;
}
