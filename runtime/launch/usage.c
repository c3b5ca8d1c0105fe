/* SPDX-License-Identifier: Apache-2.0 */
/* Samples CPU time, run delay, state and memory of the run's processes from /proc about once per second, and the
 * CPUs that they may use, into HOST.RUN.usage. What a process that is killed has used is therefore known up to its
 * last sample. Only values that changed are written, and all of them when
 * a turn of the file begins. A round that takes long, because there are thousands of
 * threads, makes the next one come later, so that sampling uses at most 1/COST_SHARE of a CPU; each round states
 * how long the previous one took. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/cpus.h"
#include "runtime/launch/perf/sample_file.h"
#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

/* MEMORY_INTERVAL_MS: the interval with --memory. CHANGE_NS: a smaller change of a thread's values is not written.
 * AGE_MS: of a younger process its CPUs are not read. QUOTA_ROUNDS: a process without a quota is looked at again
 * after as many rounds. */
enum { INTERVAL_MS = 1000, MEMORY_INTERVAL_MS = 100, COST_SHARE = 200, CHANGE_NS = 1000000 };
enum { AGE_MS = 500, QUOTA_ROUNDS = 8, QUIET_SHARE = 20 };

struct usage_thread {
	struct usage_thread *next;
	struct tf_usage_sample last; /* as written */
	uint64_t mask; /* of its CPUs, as written; 0: that of its process */
	uint32_t round; /* in which it was listed */
	uint32_t turn;	/* of the file, in which `last` was written */
};

struct usage_process {
	struct tf_usage_sample last;
	struct usage_thread *threads;
	struct tf_usage_cpus cpus; /* as last read; kind 0: not yet */
	uint32_t quota_round;	   /* in which its quota was read */
	uint32_t turn;		   /* of the file, in which `last` was written */
	uint64_t cpu_ns;	   /* of its threads in this round */
	/* Its CPU time, and when that was read (CLOCK_MONOTONIC); since when the process has used less than
	 * 1/QUIET_SHARE of a CPU */
	uint64_t quiet_cpu_ns, quiet_read_ns, quiet_since_ns;
	uint64_t quiet_begin_ns; /* its CPU time when it became quiet */
};

static struct {
	struct sample_file file;
	bool is_open;
	uint64_t step; /* see sample_file_step() */
	uint64_t due_ns, began_ns, cost_ns, interval_ms, wanted_ms, tick_ns, online;
	uint32_t round, turn, processes, threads;
	struct tf_usage_sample *list; /* to be written */
	size_t count, room;
	struct usage_process launcher; /* only its CPUs */
} usage = {.file.fd = -1, .interval_ms = INTERVAL_MS, .wanted_ms = INTERVAL_MS};

/* ---- the file ---- */

static void usage_forget(struct living *p);

static void usage_open(const struct run *run)
{
	struct tf_usage_head head = {.magic = TF_USAGE_MAGIC,
				     .run = run->id,
				     .clock = clock_kind,
				     .sample_bytes = sizeof(struct tf_usage_sample)};
	char name[INDEX_NAME_BYTES];

	living_on_end(usage_forget);
	usage.is_open = true;
	usage.step = sample_file_step(run);
	usage.tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	usage.online = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	memcpy(head.boot, run->boot, sizeof(head.boot));
	index_run_name(name, sizeof(name), run->host, run->id, ".usage");
	sample_file_open(&usage.file, run, name, &head, sizeof(head));
}

static void usage_add(const struct tf_usage_sample *sample)
{
	if (usage.count == usage.room) {
		size_t room = usage.room * 2 + 64;
		void *more = realloc(usage.list, room * sizeof(*usage.list));

		if (!more)
			return;
		usage.list = more;
		usage.room = room;
	}
	usage.list[usage.count++] = *sample;
}

static void usage_flush(void)
{
	sample_file_add(&usage.file, usage.list, usage.count * sizeof(*usage.list));
	usage.count = 0;
	while (!usage.file.is_ring && usage.file.added > usage.step * (usage.interval_ms / usage.wanted_ms))
		usage.interval_ms *= 2;
}

/* ---- the CPUs that may be used ---- */

static void cpus_add(const struct tf_usage_cpus *cpus)
{
	struct tf_usage_sample sample;

	memcpy(&sample, cpus, sizeof(sample));
	usage_add(&sample);
}

static bool cpus_differ(const struct tf_usage_cpus *a, const struct tf_usage_cpus *b)
{
	return a->mask != b->mask || a->quota_ns != b->quota_ns ||
	       (a->quota_ns != TF_USAGE_UNKNOWN && a->throttled_ns != b->throttled_ns);
}

/* Reads what the process may use, and writes it if it has changed or, at first, differs from what the launcher may.
 * `now` has the process; pid 0 is the launcher. */
static void cpus_sample(struct usage_process *p, struct tf_usage_cpus now)
{
	const struct tf_usage_cpus *known = p->cpus.kind ? &p->cpus : &usage.launcher.cpus;
	char path[48], groups[4096];

	now.kind = TF_USAGE_CPUS;
	now.ticks = clock_now();
	now.online = (uint32_t)usage.online;
	cpus_affinity(now.pid, &now);
	now.quota_ns = p->cpus.quota_ns;
	now.throttled_ns = p->cpus.throttled_ns;
	if (!p->cpus.kind || p->cpus.quota_ns != TF_USAGE_UNKNOWN || usage.round - p->quota_round >= QUOTA_ROUNDS) {
		p->quota_round = usage.round;
		snprintf(path, sizeof(path), now.pid ? "/proc/%u/cgroup" : "/proc/self/cgroup", now.pid);
		if (sys_read_file(path, groups, sizeof(groups)) < 0)
			groups[0] = '\0';
		cpus_quota("/sys/fs/cgroup", groups, &now);
	}
	if (!known->kind || cpus_differ(&now, known))
		cpus_add(&now);
	p->cpus = now;
}

/* Whether the process began long enough ago. Its start is in ticks since boot. */
static bool is_old(uint64_t start)
{
	return sys_clock_ns(CLOCK_BOOTTIME) >= start * usage.tick_ns + AGE_MS * 1000000ull;
}

static void thread_cpus_sample(struct usage_thread *t, const struct usage_process *p)
{
	struct tf_usage_cpus now = p->cpus;

	if (!p->cpus.kind || t->last.tid == p->last.pid)
		return;
	cpus_affinity(t->last.tid, &now);
	if (!now.cpus || now.mask == (t->mask ? t->mask : p->cpus.mask))
		return;
	now.tid = t->last.tid;
	t->mask = now.mask;
	cpus_add(&now);
}

/* ---- /proc ---- */

/* What a stat file has. */
static void stat_sample(const struct process_stat *stat, struct tf_usage_sample *ret)
{
	memcpy(ret->name, stat->name, sizeof(ret->name));
	ret->state = stat->state;
	ret->cpu_ns = stat->cpu_ticks * usage.tick_ns;
	ret->delay_ns = TF_USAGE_UNKNOWN;
	ret->resident_kb = (uint32_t)(stat->resident_pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024);
}

static void schedule_read(const char *directory, struct tf_usage_sample *ret)
{
	char path[96], text[96];
	unsigned long long cpu, delay;

	snprintf(path, sizeof(path), "%s/schedstat", directory);
	if (sys_read_file(path, text, sizeof(text)) > 0 && sscanf(text, "%llu %llu", &cpu, &delay) == 2 &&
	    (cpu || delay)) {
		ret->cpu_ns = cpu;
		ret->delay_ns = delay;
	}
}

static bool has_changed(const struct tf_usage_sample *now, const struct tf_usage_sample *last)
{
	uint64_t delay = now->delay_ns == TF_USAGE_UNKNOWN ? 0 : now->delay_ns - last->delay_ns;
	uint32_t resident = now->resident_kb > last->resident_kb ? now->resident_kb - last->resident_kb
								  : last->resident_kb - now->resident_kb;

	return !last->kind || now->cpu_ns - last->cpu_ns + delay >= CHANGE_NS ||
	       (now->state == 'T') != (last->state == 'T') || (now->state == 'Z') != (last->state == 'Z') ||
	       resident > last->resident_kb / 64;
}

static void sample_add(struct tf_usage_sample *now, struct tf_usage_sample *last, uint32_t *turn)
{
	if (*turn == usage.turn && !has_changed(now, last))
		return;
	*last = *now;
	*turn = usage.turn;
	usage_add(now);
}

static void gone_add(const struct tf_usage_sample *last)
{
	struct tf_usage_sample gone = *last;

	gone.kind = TF_USAGE_GONE;
	gone.tid = last->kind == TF_USAGE_THREAD ? last->tid : 0;
	gone.ticks = clock_now();
	usage_add(&gone);
}

static struct usage_thread *thread_find(struct usage_process *p, uint32_t tid)
{
	struct usage_thread *t;

	for (struct usage_thread **at = &p->threads; (t = *at); at = &t->next) {
		if (t->last.tid != tid)
			continue;
		*at = t->next; /* to the front: the next search for its neighbour is short */
		break;
	}
	if (!t)
		t = calloc(1, sizeof(*t));
	if (t) {
		t->next = p->threads;
		p->threads = t;
		t->last.tid = tid;
	}
	return t;
}

/* Name and state of a thread are read once, except those of the main thread: a stop applies to the whole process. */
static void thread_sample(struct usage_process *p, const struct tf_usage_sample *process, uint32_t tid)
{
	struct usage_thread *t = thread_find(p, tid);
	struct tf_usage_sample now = *process;
	char path[64], stat_path[80], text[1024];

	if (!t)
		return;
	t->round = usage.round; /* it lives, also if no further file can be opened to read it */
	snprintf(path, sizeof(path), "/proc/%u/task/%u", process->pid, tid);
	now.kind = TF_USAGE_THREAD;
	now.tid = tid;
	now.delay_ns = TF_USAGE_UNKNOWN;
	if (t->last.kind) {
		memcpy(now.name, t->last.name, sizeof(now.name));
		now.cpu_ns = t->last.cpu_ns;
	}
	schedule_read(path, &now);
	if (!t->last.kind || now.delay_ns == TF_USAGE_UNKNOWN) {
		struct tf_usage_sample own = now;
		struct process_stat stat;

		snprintf(stat_path, sizeof(stat_path), "%s/stat", path);
		if (sys_read_file(stat_path, text, sizeof(text)) <= 0 || !process_stat_parse(text, &stat))
			return;
		stat_sample(&stat, &own);
		memcpy(now.name, own.name, sizeof(now.name));
		now.cpu_ns = now.delay_ns == TF_USAGE_UNKNOWN ? own.cpu_ns : now.cpu_ns;
	}
	now.resident_kb = 0;
	p->cpu_ns += now.cpu_ns;
	usage.threads++;
	if (t->turn != usage.turn)
		t->mask = 0;
	sample_add(&now, &t->last, &t->turn);
	thread_cpus_sample(t, p);
}

static void threads_sample(struct usage_process *p, const struct tf_usage_sample *process)
{
	struct dirent *entry;
	char path[48];
	bool is_whole;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/task", process->pid);
	d = opendir(path);
	if (!d)
		return;
	while (errno = 0, (entry = readdir(d))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (tid)
			thread_sample(p, process, tid);
	}
	is_whole = !errno;
	closedir(d);
	for (struct usage_thread **at = &p->threads, *t; (t = *at);) {
		if (t->round == usage.round || !is_whole) {
			at = &t->next;
			continue;
		}
		*at = t->next;
		if (t->last.kind)
			gone_add(&t->last);
		free(t);
	}
}

static void usage_forget(struct living *p)
{
	while (p->usage && p->usage->threads) {
		struct usage_thread *t = p->usage->threads;

		p->usage->threads = t->next;
		free(t);
	}
	free(p->usage);
	p->usage = NULL;
}

/* *ret_is_gone: it has ended and was waited for. One that was not waited for still has its CPU time, and of one that
 * lives nothing can be read while no file can be opened. */
static bool process_read(const struct living *p, struct tf_usage_sample *ret, bool *ret_is_gone)
{
	struct process_stat stat;
	bool is_read = process_stat_read(p->pid, &stat);

	*ret_is_gone = is_read ? stat.start != p->start : getsid((pid_t)p->pid) < 0;
	*ret = (struct tf_usage_sample){
		.kind = TF_USAGE_PROCESS, .pid = p->pid, .process_start = p->start, .ticks = clock_now()};
	if (!is_read || *ret_is_gone)
		return false;
	stat_sample(&stat, ret);
	return true;
}

static bool usage_of_process(struct living *p)
{
	if (!p->usage)
		p->usage = calloc(1, sizeof(*p->usage));
	return p->usage;
}

/* One system call for all threads, so that a hang is seen before the next round. */
static bool process_cpu(uint32_t pid, uint64_t *ret)
{
	struct timespec t;
	clockid_t id;

	if (clock_getcpuclockid((pid_t)pid, &id) || clock_gettime(id, &t))
		return false;
	*ret = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return true;
}

uint64_t usage_quiet_ns(struct living *p, uint64_t *ret_cpu_ns)
{
	uint64_t now = clock_monotonic_ns(), cpu;
	struct usage_process *u;

	*ret_cpu_ns = 0;
	if (!usage_of_process(p) || !process_cpu(p->pid, &cpu))
		return 0;
	u = p->usage;
	if (!u->quiet_read_ns || cpu - u->quiet_cpu_ns > (now - u->quiet_read_ns) / QUIET_SHARE) {
		u->quiet_since_ns = now;
		u->quiet_begin_ns = cpu;
	}
	u->quiet_cpu_ns = *ret_cpu_ns = cpu;
	u->quiet_read_ns = now;
	return now - u->quiet_since_ns;
}

double usage_quiet_share(const struct living *p)
{
	const struct usage_process *u = p->usage;
	uint64_t ns = u ? u->quiet_read_ns - u->quiet_since_ns : 0;

	return ns ? (double)(u->quiet_cpu_ns - u->quiet_begin_ns) / (double)ns : 0;
}

static void process_sample(struct living *p)
{
	struct tf_usage_sample now;
	bool is_gone;

	if (p->has_ended || !usage_of_process(p))
		return;
	if (!process_read(p, &now, &is_gone)) {
		if (!is_gone)
			return;
		p->has_ended = true;
		if (p->usage->last.kind)
			gone_add(&p->usage->last);
		usage_forget(p);
		return;
	}
	usage.processes++;
	if (p->usage->turn != usage.turn)
		p->usage->cpus.kind = 0;
	sample_add(&now, &p->usage->last, &p->usage->turn);
	if (p->usage->cpus.kind || is_old(p->start))
		cpus_sample(p->usage, (struct tf_usage_cpus){.pid = p->pid, .process_start = p->start});
	p->usage->cpu_ns = 0;
	threads_sample(p->usage, &now);
}

/* ---- rounds ---- */

void usage_sample(struct run *run)
{
	uint64_t cpu = sys_clock_ns(CLOCK_PROCESS_CPUTIME_ID), now = clock_monotonic_ns(), monotonic = usage.began_ns;
	struct living *list;
	size_t count = living_processes(run, &list);

	if (!usage.is_open)
		usage_open(run);
	if (usage.file.fd < 0)
		return;
	usage.began_ns = now;
	usage.round++;
	if (sample_file_turn(&usage.file, run)) {
		usage.turn++;
		usage.launcher.cpus.kind = 0;
	}
	usage.processes = usage.threads = 0;
	usage_add(&(struct tf_usage_sample){.kind = TF_USAGE_ROUND,
					    .ticks = clock_now(),
					    .cpu_ns = usage.cost_ns,
					    .delay_ns = monotonic ? now - monotonic : 0});
	cpus_sample(&usage.launcher, (struct tf_usage_cpus){0});
	for (size_t i = 0; i < count; i++)
		process_sample(&list[i]);
	oom_note(run); /* not only at the end, which a SIGKILL prevents */
	usage.list[0].pid = usage.processes;
	usage.list[0].tid = usage.threads;
	usage_flush();
	usage.cost_ns = sys_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
}

/* A round may miss a short stop, or see it late; this is called when it begins and when it ends. */
void usage_state(struct run *run, char state)
{
	struct living *list;
	size_t count = living_processes(run, &list), i = 0;
	struct tf_usage_sample now;
	bool is_gone;

	while (i < count && list[i].pid != (uint32_t)run->child)
		i++;
	if (i == count || list[i].has_ended)
		return;
	if (!usage.is_open)
		usage_open(run);
	if (usage.file.fd < 0 || !usage_of_process(&list[i]) || !process_read(&list[i], &now, &is_gone))
		return;
	now.state = state;
	sample_add(&now, &list[i].usage->last, &list[i].usage->turn);
	usage_flush();
}

/* How long the quota has held back the processes up to their end. */
void usage_finish(void)
{
	if (usage.file.fd < 0 || usage.launcher.cpus.quota_ns == TF_USAGE_UNKNOWN)
		return;
	cpus_sample(&usage.launcher, (struct tf_usage_cpus){0});
	usage_flush();
}

int usage_tick(struct run *run)
{
	static bool is_noted;
	uint64_t now = clock_monotonic_ns(), pause;

	if (!usage.due_ns && run->options.memory)
		usage.interval_ms = usage.wanted_ms = MEMORY_INTERVAL_MS;
	pause = usage.interval_ms * 1000000u;
	if (!usage.due_ns)
		usage.due_ns = now + pause;
	if (now < usage.due_ns)
		return (int)((usage.due_ns - now) / 1000000u) + 1;
	usage_sample(run);
	if (usage.is_open && usage.file.fd < 0)
		return -1;
	if (pause < usage.cost_ns * COST_SHARE)
		pause = usage.cost_ns * COST_SHARE;
	if (pause > 2 * INTERVAL_MS * 1000000u && !is_noted) {
		is_noted = true;
		capture_line_note(
			run, "the launcher samples CPU time less than once per second: many threads, or a long run");
	}
	usage.due_ns = clock_monotonic_ns() + pause;
	return (int)(pause / 1000000u);
}
