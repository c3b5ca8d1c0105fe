/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the launcher's records of CPUs. */
#include "report/time/cpu_limit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct record {
	struct cpu_thread of; /* run: 0, except in a launcher's own record, which has pid 0 */
	uint64_t ticks, throttled_ns;
	struct cpu_limit limit;
};

struct cpu_limits {
	const struct model *model;
	struct record *records; /* by thread */
	size_t count, capacity;
};

static int compare_threads(const struct cpu_thread *a, const struct cpu_thread *b)
{
	return order_of(a->machine, b->machine) ?: order_of(a->run, b->run) ?: order_of(a->pid, b->pid)
	       ?: order_of(a->process_start, b->process_start) ?: order_of(a->tid, b->tid);
}

COMPARATOR(compare_records, struct record, compare_threads(&a->of, &b->of) ?: order_of(a->ticks, b->ticks))

static void add_record(struct cpu_limits *l, const struct usage_samples *u, const struct tf_usage_cpus *c)
{
	mem_append(l->records, l->count, l->capacity,
		   (struct record){
			.of = {u->machine, c->pid ? 0 : u->run, c->pid, c->tid, c->process_start},
			.ticks = c->ticks,
			.throttled_ns = c->throttled_ns,
			.limit = {.mask = c->mask, .cpus = c->cpus, .online = c->online, .quota_ns = c->quota_ns}});
}

static bool has_throttled(const struct record *r)
{
	return r->limit.quota_ns != TF_USAGE_UNKNOWN && r->throttled_ns != TF_USAGE_UNKNOWN;
}

/* Keeps the last record of each thread. */
static void merge_records(struct cpu_limits *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct record *last = kept ? &l->records[kept - 1] : NULL, r = l->records[i];

		if (last && !compare_threads(&last->of, &r.of)) {
			r.limit.throttled_ns = last->limit.throttled_ns;
			if (has_throttled(last) && has_throttled(&r) && r.throttled_ns > last->throttled_ns)
				r.limit.throttled_ns += r.throttled_ns - last->throttled_ns;
			kept--;
		}
		l->records[kept++] = r;
	}
	l->count = kept;
}

struct cpu_limits *cpu_limits_new(const struct model *m)
{
	struct cpu_limits *l = mem_alloc(sizeof(*l));

	l->model = m;
	for (size_t i = 0; i < m->usage_count; i++)
		for (size_t k = 0; k < m->usages[i].count; k++) {
			struct tf_usage_cpus c;

			memcpy(&c, &m->usages[i].items[k], sizeof(c));
			if (c.kind == TF_USAGE_CPUS)
				add_record(l, &m->usages[i], &c);
		}
	array_sort(l->records, l->count, compare_records);
	merge_records(l);
	return l;
}

void cpu_limits_free(struct cpu_limits *l)
{
	if (l)
		free(l->records);
	free(l);
}

static const struct cpu_limit *limit_find(const struct cpu_limits *l, struct cpu_thread wanted)
{
	size_t at = first_place(i, 0, l->count, compare_threads(&l->records[i].of, &wanted) < 0);

	return at < l->count && !compare_threads(&l->records[at].of, &wanted) ? &l->records[at].limit : NULL;
}

struct cpu_limit cpu_limits_of(const struct cpu_limits *l, const struct cpu_thread *t)
{
	struct cpu_thread of = {t->machine, 0, t->pid, 0, t->process_start};
	const struct cpu_limit *process = limit_find(l, of), *own;
	struct cpu_limit limit = {.quota_ns = TF_USAGE_UNKNOWN};

	if (!process)
		process = limit_find(l, (struct cpu_thread){.machine = t->machine, .run = t->run});
	if (process) {
		limit = *process;
	} else if (l->model->machines[t->machine].is_this) {
		limit.online = limit.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	}
	of.tid = t->tid;
	own = t->tid ? limit_find(l, of) : NULL;
	if (own) { /* only its mask is its own */
		limit.mask = own->mask;
		limit.cpus = own->cpus;
	}
	return limit;
}

double cpu_limit_width(const struct cpu_limit *l)
{
	double quota = (double)l->quota_ns / 1e9;

	return l->quota_ns != TF_USAGE_UNKNOWN && quota < l->cpus ? quota : l->cpus;
}
