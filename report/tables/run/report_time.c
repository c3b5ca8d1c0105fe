/* SPDX-License-Identifier: Apache-2.0 */
/* time_sum: the partition of time by thread, process, rank or host. */
#include <stdlib.h>
#include <string.h>

#include "report/tables/report.h"
#include "report/time/recorded.h"
#include "report/time/startup.h"

struct time_row {
	const struct thread_time *first, *named; /* named: the last one that has a name, NULL: none */
	uint64_t threads, lifetime_ns, cpu_ns, delay_ns, blocked_ns, unexplained_ns, stopped_ns, peak_kb;
	bool cpu_is_known, delay_is_known; /* of any of its threads; what is not known is in blocked_ns */
	size_t last_process; /* whose peak is in peak_kb */
};

struct time_rows {
	struct time_row *items;
	size_t count, capacity;
	struct map known;
	struct thread_time *unrecorded; /* of processes, in place of threads */
	size_t unrecorded_count;
};

/* Tells rows with one tid apart: of a tid that is reused, and, without a tid, of what no thread has used. */
static uint32_t time_row_number(const struct thread_time *t)
{
	if (!t->tid)
		return t->origin;
	return t->origin == THREAD_RECORDED && t->thread ? t->thread->number + 1 : 0;
}

/* A thread is one row, also if its process has called exec; a tid may be reused within a process. */
static struct time_row *time_row_of(struct time_rows *rows, const struct report_context *c, const struct thread_time *t)
{
	const struct process *p = &c->model->processes[t->process];
	const char *host = c->model->machines[p->machine].host;
	uint64_t a = t->process, b = 0;
	size_t place;

	if (c->by == BY_RANK)
		a = hash_bytes(p->rank, strlen(p->rank));
	else if (c->by == BY_HOST)
		a = hash_bytes(host, strlen(host));
	else if (c->by != BY_PROCESS)
		b = (uint64_t)t->tid << 32 | time_row_number(t);
	place = map_place(&rows->known, a, b, rows->items, rows->count, rows->capacity,
			  (struct time_row){.first = t, .last_process = SIZE_MAX});
	return &rows->items[place];
}

static void time_row_add(struct time_row *row, const struct partition *p, const struct thread_time *t)
{
	row->threads += t->origin < THREAD_CHILDREN;
	if (*t->name)
		row->named = t;
	row->lifetime_ns += t->lifetime_ns;
	row->cpu_ns += t->cpu_ns;
	row->delay_ns += t->delay_ns;
	row->blocked_ns += t->blocked_ns;
	row->unexplained_ns += t->unexplained_ns;
	row->stopped_ns += t->stopped_ns;
	row->cpu_is_known |= t->cpu_is_known;
	row->delay_is_known |= t->delay_is_known;
	if (row->last_process != t->process)
		row->peak_kb += p->processes[t->process].peak_kb;
	row->last_process = t->process;
}

/* What no thread has used has a row of its own. */
static void time_add_unrecorded(struct time_rows *rows, const struct report_context *c, const struct partition *p,
				size_t process)
{
	const struct process *of = &c->model->processes[process];
	const struct process_time *time = &p->processes[process];
	const struct {
		enum thread_origin origin;
		uint64_t ns;
	} parts[] = {{THREAD_CHILDREN, time->children_ns}, {THREAD_END, time->end_ns}};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct thread_time *t;

		if (!parts[i].ns)
			continue;
		t = &rows->unrecorded[rows->unrecorded_count++];
		*t = (struct thread_time){.process = process,
					  .image = &c->model->images[of->first_image + of->image_count - 1],
					  .origin = parts[i].origin,
					  .lifetime_ns = parts[i].ns,
					  .cpu_ns = parts[i].ns,
					  .cpu_is_known = true,
					  .delay_is_known = true};
		time_row_add(time_row_of(rows, c, t), p, t);
	}
}

static const char *label_of(const struct thread_time *t)
{
	switch (t->origin) {
	case THREAD_UNRECORDED:
		return "(other threads)";
	case THREAD_CHILDREN:
		return "(unrecorded time of children)";
	case THREAD_END:
		return "(start and end)";
	default:
		return t->name;
	}
}

static void time_add_labels(const struct report_context *c, const struct time_row *row, struct table *table)
{
	const struct model *m = c->model;
	const struct process *p = &m->processes[row->first->process];

	switch (c->by) {
	case BY_PROCESS:
		table_number(table, p->pid);
		break;
	case BY_RANK:
		table_text(table, p->rank);
		break;
	case BY_HOST:
		table_text(table, m->machines[p->machine].host);
		break;
	default:
		table_cells(table, p->pid, cell_if(row->first->tid, row->first->tid),
			    label_of(row->named ? row->named : row->first));
		return;
	}
	table_number(table, row->threads);
}

void report_time_sum(const struct report_context *c, struct table *table)
{
	SCOPED(partition) p = {0};
	struct time_rows rows = {0};
	SCOPED_MEMORY uint8_t *startup = NULL;

	if (c->by == BY_RANGE) {
		table_lacks(table, "the times are those of whole threads: --by range does not apply");
		return;
	}
	if (c->by == BY_PROCESS || c->by == BY_RANK || c->by == BY_HOST)
		table_has(table, c->by == BY_PROCESS ? COL_PID : c->by == BY_RANK ? COL_RANK : COL_HOST);
	else
		table_has(table, COL_PID, COL_TID, COL_THREAD);
	table_has(table, c->by == BY_NOTHING || c->by == BY_THREAD ? COL_NONE : COL_THREADS, COL_LIFETIME_NS,
		  COL_CPU_NS, COL_RUNNABLE_NS, COL_BLOCKED_NS, COL_IN_CALLS_NS, COL_STOPPED_NS, COL_UNEXPLAINED_NS,
		  COL_PEAK_RSS_KIB);
	startup = startup_find(c->model);
	recorded_partition(c, true, &p);
	rows.unrecorded = mem_alloc((c->model->process_count * 2 + 1) * sizeof(*rows.unrecorded));
	for (size_t i = 0; i < p.count; i++) {
		if (p.threads[i].is_outside)
			continue;
		time_row_add(time_row_of(&rows, c, &p.threads[i]), &p, &p.threads[i]);
		if (i + 1 == p.count || p.threads[i + 1].process != p.threads[i].process)
			time_add_unrecorded(&rows, c, &p, p.threads[i].process);
	}
	list_each(const struct time_row, row, &rows) {
		if (startup[row->first->process] && c->by != BY_RANK && c->by != BY_HOST)
			table_aside(table, STARTUP_WORDS);
		time_add_labels(c, row, table);
		table_cells(table, row->lifetime_ns, cell_if(row->cpu_is_known, row->cpu_ns),
			    cell_if(row->delay_is_known, row->delay_ns), cell_if(row->cpu_is_known, row->blocked_ns),
			    row->blocked_ns - row->stopped_ns - row->unexplained_ns, row->stopped_ns,
			    row->unexplained_ns, cell_if(row->peak_kb, row->peak_kb));
	}
	free(rows.items);
	free(rows.unrecorded);
	map_done(&rows.known);
}
