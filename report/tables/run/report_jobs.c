/* SPDX-License-Identifier: Apache-2.0 */
/* jobs: the batch jobs, array tasks, steps and nodes that the processes ran in. processes keeps the columns that it
 * has. */
#include <string.h>

#include "report/tables/report.h"

enum { FIELDS = 7 };

/* The row of a run; NULL: it is in no batch job. */
static struct aggregate_row *row_of(const struct model *m, const struct run_record *r, struct aggregate *jobs)
{
	const char *fields[FIELDS];
	SCOPED(buffer) key = {0};
	uint32_t row;

	if (!r || !*r->scheduler)
		return NULL;
	memcpy(fields,
	       (const char *[]){r->scheduler, r->job, r->task, r->step, r->restart, r->node,
				m->machines[r->machine].host},
	       sizeof(fields));
	for (size_t i = 0; i < FIELDS; i++)
		buffer_add(&key, fields[i], strlen(fields[i]) + 1);
	row = aggregate_row(jobs, key.data, key.size);
	return &jobs->rows[row];
}

/* Counts processes in `count`, ranks in `report_value`. */
static void count_processes(const struct model *m, struct aggregate *jobs)
{
	SCOPED(map) ranks = {0};

	array_each(const struct process, p, m->processes, m->process_count) {
		struct aggregate_row *row = row_of(m, model_run(m, &m->images[p->first_image]), jobs);
		bool is_new = false;

		if (!row)
			continue;
		row->count++;
		if (*p->rank)
			map_put(&ranks, hash_bytes(p->rank, strlen(p->rank)), (uint64_t)(row - jobs->rows), &is_new);
		row->report_value += is_new;
	}
}

void report_jobs(const struct report_context *c, struct table *table)
{
	const struct model *m = c->model;
	SCOPED(aggregate) jobs = {0};

	table_has(table, COL_SCHEDULER, COL_JOB, COL_ARRAY_TASK, COL_STEP, COL_RESTARTS, COL_NODE, COL_HOST, COL_RANKS,
		  COL_PROCESSES);
	for (size_t i = 0; i < m->run_count; i++)
		row_of(m, &m->runs[i], &jobs);
	count_processes(m, &jobs);
	for (size_t i = 0; i < jobs.count; i++) {
		for (size_t k = 0; k < FIELDS; k++)
			table_text(table, aggregate_field(&jobs.rows[i], k));
		table_cells(table, jobs.rows[i].report_value, jobs.rows[i].count);
	}
}
