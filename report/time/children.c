/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what the kernel accounted to the parents of processes with what the processes recorded. */
#include "report/time/children.h"

#include <stdlib.h>

/* Less than LEAST_NS is left to the parent, so that not each shell has a row for the end of its command. */
enum { LEAST_NS = 1000000 };

struct finder {
	const struct model *model;
	struct process_time *processes;
	size_t *by_end;		/* processes */
	uint64_t *accounted_ns; /* by process: of its descendants that have ended before it */
	uint64_t *strays;	/* ends of processes whose parent is not recorded, in this order */
	size_t stray_count;
};

static int compare_ends(const void *left, const void *right, void *processes)
{
	const struct process *a = (const struct process *)processes + *(const size_t *)left,
			     *b = (const struct process *)processes + *(const size_t *)right;

	return order_of(a->end_ns, b->end_ns) ?: order_of(b->start_ns, a->start_ns);
}

static void find_strays(struct finder *f)
{
	for (size_t i = 0; i < f->model->process_count; i++) {
		size_t process = f->by_end[i];

		if (f->model->processes[process].parent == SIZE_MAX && !f->processes[process].total_ns)
			f->strays[f->stray_count++] = f->model->processes[process].end_ns;
	}
}

/* A descendant by way of a program that is not recorded may be part of what it waited for. It is not one itself. */
static bool may_have_strays(const struct finder *f, const struct process *p)
{
	size_t at = first_place(i, 0, f->stray_count, f->strays[i] < p->start_ns);

	return at < f->stray_count && f->strays[at] < p->end_ns;
}

static void add_process(struct finder *f, size_t process)
{
	const struct process *all = f->model->processes, *p = &all[process];
	struct process_time *t = &f->processes[process];
	uint64_t own_ns = t->cpu_ns != TF_USAGE_UNKNOWN ? t->cpu_ns : 0, sum_ns;

	if (t->waited_ns != TF_USAGE_UNKNOWN && t->waited_ns > f->accounted_ns[process] && !may_have_strays(f, p))
		t->children_ns = t->waited_ns - f->accounted_ns[process];
	if (t->children_ns < LEAST_NS)
		t->children_ns = 0;
	sum_ns = own_ns + t->children_ns + f->accounted_ns[process];
	if (t->total_ns > sum_ns && !may_have_strays(f, p))
		t->end_ns = t->total_ns - sum_ns;
	for (size_t at = p->parent; at != SIZE_MAX; at = all[at].parent)
		if (all[at].end_ns >= p->end_ns)
			f->accounted_ns[at] += own_ns + t->children_ns + t->end_ns;
}

void children_find(const struct model *m, struct process_time *processes)
{
	size_t bytes = (m->process_count + 1) * sizeof(size_t);
	struct finder f = {.model = m,
			   .processes = processes,
			   .by_end = mem_alloc(bytes),
			   .accounted_ns = mem_alloc(bytes),
			   .strays = mem_alloc(bytes)};

	for (size_t i = 0; i < m->process_count; i++)
		f.by_end[i] = i;
	if (m->process_count)
		qsort_r(f.by_end, m->process_count, sizeof(*f.by_end), compare_ends, m->processes);
	find_strays(&f);
	for (size_t i = 0; i < m->process_count; i++)
		add_process(&f, f.by_end[i]);
	free(f.by_end);
	free(f.accounted_ns);
	free(f.strays);
}
