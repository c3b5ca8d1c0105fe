/* SPDX-License-Identifier: Apache-2.0 */
/* rank_cause_sum: why ranks wait for each other. */
#include "report/causes/ranks/rank_cause.h"
#include "report/tables/report.h"

static void parts_cell(struct table *table, const struct rank_cause *r)
{
	SCOPED(buffer) text = {0};

	if (r->parts)
		buffer_text(&text, r->parts);
	else if (r->faults)
		buffer_print(&text, "%llu page faults more than a typical rank", (unsigned long long)r->faults);
	table_text(table, buffer_string(&text));
}

void report_rank_cause_sum(const struct report_context *c, struct table *table)
{
	SCOPED(rank_causes) all = {0};
	double sum;

	rank_causes_find(c, NULL, &all);
	table_has(table, COL_TIME_PERCENT, COL_TOTAL_WAIT_NS, COL_WAITS, COL_NAME, COL_LINE, COL_LATE_RANKS, COL_CAUSE,
		  COL_LATE_NAME, COL_LATE_LINE, COL_EXPLAINED_PERCENT, COL_PARTS);
	sum = array_sum(item, all.items, all.count, (double)item->wait_ns);
	list_each(const struct rank_cause, r, &all) {
		table_cells(table, 100 * (double)r->wait_ns / sum, r->wait_ns, r->count, r->wait_name);
		code_line_cell(r->wait_line, "?", table);
		table_cells(table, r->ranks, rank_cause_kinds[r->kind], r->name);
		code_line_cell(r->line, "?", table);
		table_real(table, 100 * (double)r->cause_ns / (double)r->wait_ns);
		parts_cell(table, r);
	}
	if (!all.ranks)
		table_lacks(table, "ranks were not matched: %s",
			    all.reason ? all.reason : "there are not two ranks that were recorded since MPI_Init");
}
