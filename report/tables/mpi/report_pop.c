/* SPDX-License-Identifier: Apache-2.0 */
/* pop_sum, pop_steps: POP's efficiencies of a job of several ranks, and of each of its steps. */
#include <stdlib.h>

#include "report/causes/ranks/pop.h"
#include "report/tables/report.h"
#include "report/time/steps/steps.h"

#define NO_RANKS "fewer than two ranks with calls of MPI or NCCL were recorded"

static void pop_cells(struct table *table, const struct pop *p)
{
	table_cells(table, 100 * p->parallel, 100 * p->balance, 100 * p->communication, 100 * p->serialisation,
		    100 * p->transfer);
}

void report_pop_sum(const struct report_context *c, struct table *table)
{
	struct pop p;

	table_has(table, COL_KIND, COL_RANKS, COL_DURATION_NS, COL_EFFICIENCY_PARALLEL_PERCENT,
		  COL_LOAD_BALANCE_PERCENT, COL_EFFICIENCY_COMMUNICATION_PERCENT,
		  COL_EFFICIENCY_SERIALISATION_PERCENT, COL_EFFICIENCY_TRANSFER_PERCENT);
	if (!pop_find(c, &p)) {
		table_lacks(table, NO_RANKS);
		return;
	}
	table_cells(table, !p.has_nccl ? "MPI" : !p.has_mpi ? "NCCL" : "MPI and NCCL", p.ranks, p.run_ns);
	pop_cells(table, &p);
}

/* A step of the job begins when the last rank begins it. Returns the number of steps that all ranks have, and where
 * they begin; the last one ends with the last rank. The caller frees *ret. */
static size_t step_borders(const struct step_list *l, uint64_t **ret)
{
	size_t count = SIZE_MAX;
	uint64_t *borders;

	for (size_t i = 0; i < l->count; i++)
		if (*image_rank(l->items[i].image) && l->items[i].count < count)
			count = l->items[i].count;
	count = count == SIZE_MAX ? 0 : count;
	*ret = borders = mem_alloc((count + 1) * sizeof(*borders));
	for (size_t i = 0; i < l->count; i++)
		for (size_t k = 0; *image_rank(l->items[i].image) && k <= count; k++) {
			const struct run_step *steps = l->items[i].items;
			uint64_t ns = k < count ? steps[k].start_ns : k ? steps[k - 1].end_ns : 0;

			borders[k] = ns > borders[k] ? ns : borders[k];
		}
	return count;
}

void report_pop_steps(const struct report_context *c, struct table *table)
{
	SCOPED(step_list) list = {0};
	SCOPED_MEMORY uint64_t *borders = NULL;
	SCOPED_MEMORY struct pop *steps = NULL;
	size_t count;
	bool has;

	steps_find(c, &list);
	count = step_borders(&list, &borders);
	steps = mem_alloc((count + 1) * sizeof(*steps));
	table_has(table, COL_STEP_NUMBER, COL_START_NS, COL_DURATION_NS, COL_EFFICIENCY_PARALLEL_PERCENT,
		  COL_LOAD_BALANCE_PERCENT, COL_EFFICIENCY_COMMUNICATION_PERCENT,
		  COL_EFFICIENCY_SERIALISATION_PERCENT, COL_EFFICIENCY_TRANSFER_PERCENT);
	has = pop_find_parts(c, borders, count, steps);
	for (size_t i = 0; has && i < count; i++) {
		if (!steps[i].ranks)
			continue;
		table_cells(table, i, model_since_origin(c->model, steps[i].from_ns), steps[i].run_ns);
		pop_cells(table, &steps[i]);
	}
	if (!table_rows(table))
		table_lacks(table, has ? "no rank has a loop of ranges or calls" : NO_RANKS);
}
