/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what threads used with what they may use. The samples of the launcher tell it for each interval; a run that
 * has fewer than two is judged as a whole. */
#include "report/time/pressure.h"

#include <stdlib.h>
#include <string.h>

enum { WAITS = 10 };

/* What the threads of one limit used in one interval, and the sums over all intervals, in seconds. */
struct pressure_interval {
	uint64_t cpu_ns, delay_ns;
	size_t threads; /* that used or wanted a CPU */
	double waited, others, weighted; /* weighted: waited, times the number of runnable threads */
};

struct last_sample {
	uint64_t cpu_ns, delay_ns;
	size_t item;
};

struct pressure_finder {
	const struct report_context *context;
	struct pressures *pressures;
	struct cpu_limits *limits;
	struct map waiting; /* (process, mask) -> threads for which competes() holds */
	struct pressure_interval *intervals; /* by item */
	struct map known;	    /* (pid and tid, process_start) -> last + 1 */
	struct last_sample *last;
	size_t last_count, last_capacity;
};

static struct pressure *pressure_get(struct pressures *p, size_t machine, const struct cpu_limit *limit)
{
	uint64_t *place = map_put(&p->known, limit->mask, machine, NULL);

	if (!*place) {
		list_add(p, (struct pressure){.machine = machine, .limit = *limit});
		*place = p->count;
	}
	return &p->items[*place - 1];
}

const struct pressure *pressures_of(const struct pressures *p, size_t machine, uint64_t mask)
{
	const uint64_t *place = map_find(&p->known, mask, machine);

	return place ? &p->items[*place - 1] : NULL;
}

/* Runnable for half of its life, and without a CPU for a part of that. What a process was before exec is no thread. */
static bool competes(const struct thread_time *t)
{
	return t->image->end != TF_END_EXEC && (t->cpu_ns + t->delay_ns) * 2 >= t->lifetime_ns &&
	       t->delay_ns * WAITS >= t->lifetime_ns;
}

static void add_thread(struct pressure_finder *f, const struct thread_time *t)
{
	const struct process *process = &f->context->model->processes[t->process];
	struct pressure *p = pressure_get(f->pressures, t->image->machine, &t->limit);

	p->threads += t->delay_ns > 0;
	if (competes(t) && ++*map_put(&f->waiting, t->process, t->limit.mask, NULL) == 2) {
		p->is_nested = p->has_threads;
		p->has_threads = true;
	}
	p->cpu_ns += t->cpu_ns;
	p->delay_ns += t->delay_ns;
	if (!p->first_ns || process->start_ns < p->first_ns)
		p->first_ns = process->start_ns;
	if (process->end_ns > p->last_ns)
		p->last_ns = process->end_ns;
	p->limit.throttled_ns = larger_of(p->limit.throttled_ns, t->limit.throttled_ns);
}

/* ---- intervals between the launcher's samples ---- */

/* While a thread waits, no CPU that it may use is idle: what the job does not use, others do. A launcher that waits for
 * a CPU itself reads a thread late, and finds more than the interval has: no thread is runnable more than once. */
static void interval_add(struct pressure_interval *sums, double width, double seconds, double cpu, double delay)
{
	double left = width * seconds > cpu ? width * seconds - cpu : 0;
	double runnable = (cpu + delay) / seconds;

	sums->waited += delay;
	sums->others += delay < left ? delay : left;
	sums->weighted += delay * (runnable < (double)sums->threads ? runnable : (double)sums->threads);
}

/* 0 seconds: the first samples have what was used since the threads began. */
static void interval_end(struct pressure_finder *f, double seconds)
{
	for (size_t i = 0; i < f->pressures->count; i++) {
		struct pressure_interval *now = &f->intervals[i];

		if (seconds > 0)
			interval_add(now, cpu_limit_width(&f->pressures->items[i].limit), seconds,
				     (double)now->cpu_ns / 1e9, (double)now->delay_ns / 1e9);
		now->cpu_ns = now->delay_ns = now->threads = 0;
	}
}

static struct last_sample *last_of(struct pressure_finder *f, const struct usage_samples *u,
				   const struct tf_usage_sample *s)
{
	uint64_t *place = map_put(&f->known, (uint64_t)s->pid << 32 | s->tid, s->process_start, NULL);

	if (!*place) {
		const struct cpu_thread of = {u->machine, u->run, s->pid, s->tid, s->process_start};
		struct cpu_limit limit = cpu_limits_of(f->limits, &of);
		const struct pressure *p = pressures_of(f->pressures, u->machine, limit.mask);

		mem_append(f->last, f->last_count, f->last_capacity,
			   (struct last_sample){.item = p ? (size_t)(p - f->pressures->items) : SIZE_MAX});
		*place = f->last_count;
	}
	return &f->last[*place - 1];
}

static void add_sample(struct pressure_finder *f, const struct usage_samples *u, const struct tf_usage_sample *s)
{
	struct last_sample *last = last_of(f, u, s);

	if (s->delay_ns == TF_USAGE_UNKNOWN)
		return;
	if (last->item != SIZE_MAX && s->cpu_ns >= last->cpu_ns && s->delay_ns >= last->delay_ns) {
		f->intervals[last->item].cpu_ns += s->cpu_ns - last->cpu_ns;
		f->intervals[last->item].delay_ns += s->delay_ns - last->delay_ns;
		f->intervals[last->item].threads += s->cpu_ns > last->cpu_ns || s->delay_ns > last->delay_ns;
	}
	last->cpu_ns = s->cpu_ns;
	last->delay_ns = s->delay_ns;
}

static void add_samples(struct pressure_finder *f, const struct usage_samples *u)
{
	const struct clock_map *clock = &f->context->model->machines[u->machine].clock;
	uint64_t round = 0, before = 0;

	for (size_t i = 0; i <= u->count; i++) {
		const struct tf_usage_sample *s = i < u->count ? &u->items[i] : NULL;

		if (s && s->kind == TF_USAGE_THREAD && s->tid)
			add_sample(f, u, s);
		if (s && s->kind != TF_USAGE_ROUND)
			continue;
		interval_end(f, before && round > before ? (double)clock_map_duration(clock, round - before) / 1e9
							 : 0);
		before = round;
		round = s ? s->ticks : 0;
	}
}

/* Threads that end between two samples are missing in the intervals: those must have most of the delay. */
static void conclude(struct pressure *p, const struct pressure_interval *intervals)
{
	double width = cpu_limit_width(&p->limit), seconds = (double)(p->last_ns - p->first_ns) / 1e9,
	       delay = (double)p->delay_ns / 1e9;
	struct pressure_interval all = *intervals;

	if (all.waited < delay / 2 && seconds > 0) {
		all = (struct pressure_interval){.threads = p->threads};
		interval_add(&all, width, seconds, (double)p->cpu_ns / 1e9, delay);
	}
	p->is_known = width > 0;
	p->others = all.waited > 0 ? all.others / all.waited : 0;
	p->runnable = all.waited > 0 ? all.weighted / all.waited : 0;
}

void pressures_find(const struct report_context *c, const struct partition *p, struct pressures *ret)
{
	const struct model *m = c->model;
	struct pressure_finder f = {.context = c, .pressures = ret, .limits = cpu_limits_new(m)};

	*ret = (struct pressures){0};
	for (size_t i = 0; i < p->count; i++)
		add_thread(&f, &p->threads[i]);
	f.intervals = mem_alloc((ret->count + 1) * sizeof(*f.intervals));
	for (size_t i = 0; i < m->usage_count; i++)
		add_samples(&f, &m->usages[i]);
	for (size_t i = 0; i < ret->count; i++)
		conclude(&ret->items[i], &f.intervals[i]);
	cpu_limits_free(f.limits);
	map_done(&f.known);
	map_done(&f.waiting);
	free(f.intervals);
	free(f.last);
}

void pressures_done(struct pressures *p)
{
	free(p->items);
	map_done(&p->known);
	*p = (struct pressures){0};
}
