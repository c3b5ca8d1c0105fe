/* SPDX-License-Identifier: Apache-2.0 */
/* What rules about calls share: their calls by process, function and source line. */
#include "report/answers/rule.h"

enum { ROWS = 50 };

void rule_call_columns(struct finding *f)
{
	rule_has(f, COL_PID, COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_AVG_NS, COL_MAX_NS, COL_NAME, COL_LINE);
}

uint32_t rule_call_row(struct rules *r, struct aggregate *aggregate, const struct image *image, uint32_t function,
		       unsigned int variant, const char *name, uint32_t stack)
{
	uint64_t a = (uint64_t)(image - r->context->model->images) << 16 | function;
	uint64_t b = (uint64_t)variant << 32 | stack;
	const uint64_t *known = aggregate_recall(aggregate, a, b);
	const struct code_line *line = known ? NULL : rule_line(r, image, stack);
	SCOPED(buffer) key = {0};
	uint32_t row;

	if (known)
		return (uint32_t)*known;
	buffer_print(&key, "%u%c%s%c", image->pid, 0, name, 0);
	code_line_text(line, &key);
	buffer_add(&key, "", 1);
	buffer_print(&key, "%zu", image->process);
	row = aggregate_row(aggregate, key.data, key.size);
	aggregate->rows[row].report_value = image->process;
	aggregate->rows[row].of = line;
	aggregate_remember(aggregate, a, b, row);
	return row;
}

void rule_call_add_row(const struct rules *r, const struct aggregate_row *row, struct finding *f)
{
	rule_row(f);
	table_cells(&f->table, r->context->model->processes[rule_call_process(row)].pid, row->total, row->count,
		    (double)row->total / (double)row->count, row->most, aggregate_field(row, 1));
	rule_line_cell(f, row->of);
	f->line = f->line ? f->line : row->of;
}

void rule_call_rows(const struct rules *r, struct aggregate *aggregate, struct finding *f)
{
	aggregate_sort(aggregate);
	for (size_t i = 0; i < aggregate->count && i < ROWS; i++)
		rule_call_add_row(r, &aggregate->rows[i], f);
}
