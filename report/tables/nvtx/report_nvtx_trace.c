/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_pushpop_trace: each push/pop range with its position among the others, thread by thread. */
#include <stdlib.h>

#include "report/events/nvtx/nvtx_tree.h"
#include "report/tables/report.h"

static uint64_t *child_durations(const struct nvtx_tree *t, const struct clock_map *clock)
{
	uint64_t *aggregate = mem_alloc((t->count + 1) * sizeof(*aggregate));

	for (size_t i = 0; i < t->count; i++)
		if (t->nodes[i].parent != NVTX_NO_PARENT)
			aggregate[t->nodes[i].parent] += clock_map_duration(clock, t->nodes[i].end - t->nodes[i].start);
	return aggregate;
}

void operator_columns(struct table *table)
{
	table_has(table, COL_SEQ, COL_OPID, COL_SIZES, COL_ARGUMENTS);
}

void operator_cells(struct table *table, const struct operator_text *operator)
{
	SCOPED(buffer) arguments = {0};

	table_text_part(table, operator->seq.text, operator->seq.length);
	table_text_part(table, operator->op_id.text, operator->op_id.length);
	table_text_part(table, operator->sizes.text, operator->sizes.length);
	operator_arguments_text(&operator->arguments, &arguments);
	table_text(table, buffer_string(&arguments));
}

static void nvtx_trace_add_row(const struct report_context *c, struct table *table, const struct nvtx_tree *t, size_t i,
			       size_t first, uint64_t children, bool has_operators)
{
	const struct nvtx_node *n = &t->nodes[i];
	const struct clock_map *clock = &c->model->machines[t->image->machine].clock;
	uint64_t duration = clock_map_duration(clock, n->end - n->start),
		 start = clock_map_ns(clock, n->start) - c->model->origin_ns;
	SCOPED(buffer) name = {0}, path = {0}, indented = {0}, text = {0};
	struct operator_text operator;

	nvtx_tree_name(t, i, &text);
	operator_text_parse(buffer_string(&text), &operator);
	buffer_add(&name, operator.name.text, has_operators && !n->domain ? operator.name.length : text.size);
	nvtx_tree_path(t, i, first, &path);
	for (uint32_t level = 0; level < n->level && level < NVTX_TREE_LEVELS; level++)
		buffer_text(&indented, "--");
	buffer_text(&indented, buffer_string(&name));
	table_cells(table, start, start + duration, duration, children, duration > children ? duration - children : 0,
		    buffer_string(&name), t->image->pid, n->thread->tid, n->level, n->children, first + i + 1,
		    cell_if(n->parent != NVTX_NO_PARENT, first + n->parent + 1), path.data, buffer_string(&indented));
	if (has_operators)
		operator_cells(table, &operator);
}

void report_nvtx_pushpop_trace(const struct report_context *c, struct table *table)
{
	size_t first = 0;
	bool has_operators = nvtx_has_operators(c->model);

	table_has(table, COL_START_NS, COL_END_NS, COL_DURATION_NS, COL_DURCHILD_NS, COL_DURNONCHILD_NS, COL_NAME,
		  COL_PID, COL_TID, COL_LVL, COL_NUM_CHILD, COL_RANGEID, COL_PARENTID, COL_RANGESTACK, COL_NAMETREE);
	if (has_operators)
		operator_columns(table);
	for (size_t i = 0; i < c->model->image_count; i++) {
		SCOPED(nvtx_tree) t = {0};
		SCOPED_MEMORY uint64_t *children = NULL;

		nvtx_tree_make(&t, &c->model->images[i], true);
		children = child_durations(&t, &c->model->machines[c->model->images[i].machine].clock);
		for (size_t k = 0; k < t.count; k++)
			nvtx_trace_add_row(c, table, &t, k, first, children[k], has_operators);
		first += t.count;
	}
}
