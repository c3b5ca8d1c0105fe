/* SPDX-License-Identifier: Apache-2.0 */
/* --on: dumps what --ring has kept when something has gone wrong, and goes on. The launcher sees it from outside: the
 * ends of processes in their trace files, the kernel's count of out-of-memory kills, the CPU time of processes. Slow
 * steps are found by pillion-report in what the ring has. */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"

/* STEP_MARGIN_NS: what a thread may take to store an event. STEP_MOST_NS: with a ring of bytes. */
enum { INTERVAL_MS = 1000, CHILD_MS = 100, REASON_BYTES = 128, COST_SHARE = 50, DUMP_FOUND = 3 };
#define STEP_MARGIN_NS 100000000ull
#define STEP_MOST_NS 2000000000ull

static struct {
	uint64_t *ended; /* images whose end was a reason */
	size_t ended_count, ended_room;
	uint64_t oom_kills;
	bool hangs;
	char reason[REASON_BYTES]; /* of the dump that is due; "": none is */
	pid_t child;		   /* that dumps; 0: none */
	bool is_step;		   /* only if it finds a slow step */
	unsigned next, oldest;	   /* numbers of dumps: the next one that may be free, the oldest one that is kept */
	uint64_t due_ns;
	uint64_t step_from_ns, step_to_ns, step_due_ns; /* see step_begin() */
} trigger = {.next = 1, .oldest = 1};

/* Reasons that come while one waits are of the same dump. */
static void trigger_pull(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void trigger_pull(const char *format, ...)
{
	va_list arguments;

	if (trigger.reason[0])
		return;
	va_start(arguments, format);
	vsnprintf(trigger.reason, sizeof(trigger.reason), format, arguments);
	va_end(arguments);
}

/* False: this image was a reason already. */
static bool is_new_end(uint64_t nonce)
{
	for (size_t i = 0; i < trigger.ended_count; i++)
		if (trigger.ended[i] == nonce)
			return false;
	if (trigger.ended_count == trigger.ended_room) {
		size_t room = trigger.ended_room * 2 + 64;
		uint64_t *more = realloc(trigger.ended, room * sizeof(*more));

		if (!more)
			return false;
		trigger.ended = more;
		trigger.ended_room = room;
	}
	trigger.ended[trigger.ended_count++] = nonce;
	return true;
}

void trigger_end(const struct run *run, const struct tf_header *h)
{
	bool is_signal = h->end == TF_END_NONE || h->end == TF_END_ABORT;

	if (run->options.on & ON_SIGNAL && is_signal && is_new_end(h->nonce))
		trigger_pull("process %u was ended by a signal", h->pid);
	if (run->options.on & ON_EXIT && h->end == TF_END_EXIT && h->end_status && is_new_end(h->nonce))
		trigger_pull("process %u exited with %d", h->pid, h->end_status);
}

static void look_for_oom(const struct run *run)
{
	uint64_t kills = run->options.on & ON_OOM ? oom_kills() : 0;

	if (kills > trigger.oom_kills)
		trigger_pull("the kernel has killed a process for want of memory");
	trigger.oom_kills = kills;
}

/* Once, until a process has used CPU time again; or, where a process is in a call of MPI or NCCL for as long, until
 * such a call has ended in any. */
static void look_for_hang(struct run *run)
{
	struct living *all;
	size_t count = run->options.on & ON_HANG ? living_processes(run, &all) : 0, alive = 0;
	uint64_t least = UINT64_MAX, oldest = 0, same = UINT64_MAX, limit = run->options.on_hang_ns, cpu_ns, ns;
	bool is_quiet, stands;

	for (size_t i = 0; i < count; i++) {
		if (all[i].has_ended)
			continue;
		alive++;
		ns = usage_quiet_ns(&all[i], &cpu_ns);
		least = ns < least ? ns : least;
		calls_oldest(run, &all[i], &ns);
		oldest = ns > oldest ? ns : oldest;
		ns = calls_same_ns(&all[i]);
		same = ns < same ? ns : same;
	}
	is_quiet = alive && least >= limit;
	stands = alive && oldest >= limit && same >= limit;
	if (!trigger.hangs && is_quiet)
		trigger_pull("no process has used CPU time for %.0f s", (double)limit / 1e9);
	else if (!trigger.hangs && stands)
		trigger_pull("no call of MPI or NCCL has ended for %.0f s", (double)limit / 1e9);
	trigger.hangs = is_quiet || stands;
}

/* The path of a dump, without .pillion. */
static void dump_name(const struct run *run, unsigned number, char ret[PATH_MAX + 32])
{
	char capture[PATH_MAX];

	strcpy(capture, run->directory);
	name_strip(capture);
	snprintf(ret, PATH_MAX + 32, "%s.dump%u", capture, number);
}

/* A capture is a directory of files. */
static void dump_remove(const struct run *run, unsigned number)
{
	char path[PATH_MAX + 64];
	DIR *d;

	dump_name(run, number, path);
	strcat(path, ".pillion");
	d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

static void dump_begin(struct run *run, const char *slow_step)
{
	char name[PATH_MAX + 32], path[PATH_MAX + 64];

	for (;; trigger.next++) {
		dump_name(run, trigger.next, name);
		snprintf(path, sizeof(path), "%s.pillion", name);
		if (access(path, F_OK))
			break;
	}
	trigger.child = summary_dump(run, name, slow_step);
	trigger.is_step = slow_step != NULL;
}

static void dump_end(const struct run *run, int status)
{
	char name[PATH_MAX + 32];

	trigger.child = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != (trigger.is_step ? DUMP_FOUND : 0))
		return;
	dump_name(run, trigger.next, name);
	say("%s.pillion", name);
	trigger.next++;
	while (trigger.next - trigger.oldest > run->options.keep)
		dump_remove(run, trigger.oldest++);
}

/* ---- slow steps ---- */

/* The steps that are known since the last look, which found out whether they are slow. Reading what the ring has takes
 * time: at most 1/COST_SHARE of a CPU, but each step is looked at while the ring has it and what was before it. */
static void step_begin(struct run *run)
{
	const struct options *o = &run->options;
	uint64_t quarter = o->ring_ns ? o->ring_ns / 4 : STEP_MOST_NS;
	char text[128];

	trigger.step_to_ns = clock_realtime_ns() - STEP_MARGIN_NS;
	if (!trigger.step_from_ns)
		trigger.step_from_ns = trigger.step_to_ns;
	snprintf(text, sizeof(text), "%g,%llu,%llu,%llu", o->on_slow_step, (unsigned long long)quarter,
		 (unsigned long long)trigger.step_from_ns, (unsigned long long)trigger.step_to_ns);
	trigger.step_due_ns = clock_monotonic_ns() + quarter;
	dump_begin(run, text);
}

static void step_end(const struct run *run, int status, const struct rusage *used)
{
	uint64_t quarter = run->options.ring_ns ? run->options.ring_ns / 4 : STEP_MOST_NS,
		 pause = usage_cpu_ns(used) * COST_SHARE, now = clock_monotonic_ns();

	if (WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == DUMP_FOUND))
		trigger.step_from_ns = trigger.step_to_ns;
	pause = pause < INTERVAL_MS * 1000000ull ? INTERVAL_MS * 1000000ull : pause;
	trigger.step_due_ns = now + (pause < quarter ? pause : quarter);
}

/* ---- */

static void child_reap(const struct run *run, int flags)
{
	struct rusage used;
	int status;

	if (!trigger.child || wait4(trigger.child, &status, flags, &used) != trigger.child)
		return;
	if (trigger.is_step)
		step_end(run, status, &used);
	dump_end(run, status);
}

int trigger_tick(struct run *run)
{
	uint64_t now = clock_monotonic_ns();

	if (!run->options.on)
		return -1;
	child_reap(run, WNOHANG);
	if (now >= trigger.due_ns) {
		look_for_oom(run);
		look_for_hang(run);
		trigger.due_ns = now + INTERVAL_MS * 1000000ull;
	}
	if (trigger.child)
		return CHILD_MS;
	if (trigger.reason[0]) {
		say("%s; what was recorded before it:", trigger.reason);
		trigger.reason[0] = '\0';
		dump_begin(run, NULL);
	} else if (run->options.on & ON_SLOW_STEP && run->is_creator && now >= trigger.step_due_ns) {
		step_begin(run);
	}
	return trigger.child ? CHILD_MS : INTERVAL_MS;
}

void trigger_finish(const struct run *run)
{
	child_reap(run, 0);
}
