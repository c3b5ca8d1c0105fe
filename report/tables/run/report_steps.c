/* SPDX-License-Identifier: Apache-2.0 */
/* steps: each step of each process, with what is unusual about it. steps_sum: how many there are and how long they
 * take, also of --mode=profile. */
#include <math.h>

#include "report/tables/report.h"
#include "report/time/steps/steps.h"

#define NO_STEPS "no process has a loop of ranges or calls"
#define NO_SUMS "no process has ranges that are steps, and in profile mode loops of calls are not found"

static void step_row(const struct model *m, const struct step_series *s, size_t i, struct table *table)
{
	const struct run_step *step = &s->items[i];
	uint64_t start_ns = model_since_origin(m, step->start_ns);

	table_cells(table, image_rank(s->image), s->image->pid, s->thread->tid, step_sources[s->source], i, start_ns,
		    start_ns + step->end_ns - step->start_ns, step->end_ns - step->start_ns, (double)step->usual_ns,
		    step->is_warmup ? "warm-up" : step->is_slow ? "slow" : "",
		    cell_if(step->change > 0, 100 * (step->change - 1)));
}

void report_steps(const struct report_context *c, struct table *table)
{
	SCOPED(step_list) list = {0};

	steps_find(c, &list);
	table_has(table, COL_RANK, COL_PID, COL_TID, COL_SOURCE, COL_STEP_NUMBER, COL_START_NS, COL_END_NS,
		  COL_DURATION_NS, COL_MED_NS, COL_STATE, COL_CHANGE_PERCENT);
	for (size_t i = 0; i < list.count; i++)
		for (size_t k = 0; k < list.items[i].count; k++)
			step_row(c->model, &list.items[i], k, table);
	if (!table_rows(table))
		table_lacks(table, NO_STEPS);
}

static double deviation_of(const struct step_sum *s)
{
	double mean = (double)s->total_ns / (double)s->count, squares = s->squares - mean * (double)s->total_ns;

	return s->count > 1 && squares > 0 ? sqrt(squares / (double)(s->count - 1)) : 0;
}

static void sum_row(const struct step_sum *s, struct table *table)
{
	table_cells(table, image_rank(s->image), s->image->pid, s->tid, step_sources[s->source], s->total_ns, s->count,
		    (double)s->total_ns / (double)s->count, cell_if(s->median_ns > 0, s->median_ns), s->least_ns,
		    s->most_ns, deviation_of(s));
}

void report_steps_sum(const struct report_context *c, struct table *table)
{
	SCOPED(step_sums) sums = {0};

	steps_sum(c, &sums);
	table_has(table, COL_RANK, COL_PID, COL_TID, COL_SOURCE, COL_TOTAL_TIME_NS, COL_STEPS, COL_AVG_NS, COL_MED_NS,
		  COL_MIN_NS, COL_MAX_NS, COL_STDDEV_NS);
	for (size_t i = 0; i < sums.count; i++)
		sum_row(&sums.items[i], table);
	if (!table_rows(table))
		table_lacks(table, c->model->has_profile ? NO_SUMS : NO_STEPS);
}
