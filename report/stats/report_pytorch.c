/* SPDX-License-Identifier: Apache-2.0 */
/* pytorch_sum: PyTorch operators by name and argument sizes, with their time on the CPU and on the devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/derive/device/attribute.h"
#include "report/derive/nvtx/nvtx_tree.h"
#include "report/derive/nvtx/operator_text.h"
#include "report/stats/report.h"

/* Total: including nested operators; an operator nested in one of the same name is counted once. Self: without
 * nested operators. */
struct operator_sum {
	uint64_t calls, cpu_total, cpu_self, gpu_total, gpu_self;
	size_t open; /* number of open ranges, while ranges are read */
};

/* The operator of a range. */
struct place {
	uint32_t row; /* SCAN_NO_ROW: not an operator */
	bool is_within_its_like;
	uint64_t self; /* ticks */
};

struct operators {
	struct scan scan;
	struct nvtx_tree tree;
	struct place *places; /* of the tree's nodes */
	struct operator_sum *items; /* by row of the aggregate */
	size_t count, capacity;
	uint64_t gpu; /* device time in ns of the current call */
	struct operator_sum *innermost;
};

/* ---- the text ---- */

static bool operator_key(struct scan *s, const void *of, struct buffer *fields)
{
	const struct nvtx_node *n = of;
	struct operator_text operator;
	struct buffer text = {0};
	bool is_operator;

	if (n->domain || !n->is_pushpop)
		return false;
	nvtx_name(s->image->trace, 0, n->text, &text);
	/* Ranges without a number are identified by PyTorch's naming: aten::empty, Optimizer.step#SGD.step. */
	is_operator = text.data && (operator_text_parse(text.data, &operator) || strpbrk(text.data, "#:"));
	if (is_operator) {
		buffer_add(fields, operator.name.text, operator.name.length);
		buffer_add(fields, "", 1);
		buffer_add(fields, operator.sizes.text, operator.sizes.length);
	}
	buffer_done(&text);
	return is_operator;
}

/* ---- time of each operator ---- */

static uint32_t operator_row_of(struct operators *o, const struct nvtx_node *n)
{
	uint64_t what = (uint64_t)n->is_pushpop << 63 | (uint64_t)n->domain << 32 | n->text;
	uint32_t row;

	o->scan.thread = n->thread;
	row = scan_row_of(&o->scan, n->start, what, operator_key, n);
	while (row != SCAN_NO_ROW && o->count <= row) {
		o->items = mem_grow(o->items, o->count, &o->capacity, sizeof(*o->items));
		o->items[o->count++] = (struct operator_sum){0};
	}
	return row;
}

/* Ranges of one domain nest: those around a range are the previous ones that have not ended. */
static void find_places(struct operators *o)
{
	const struct nvtx_node *nodes = o->tree.nodes;
	size_t *open = mem_alloc((o->tree.count + 1) * sizeof(*open)), count = 0;

	for (size_t i = 0; i < o->tree.count; i++) {
		struct place *p = &o->places[i], *around;

		p->row = operator_row_of(o, &nodes[i]);
		if (p->row == SCAN_NO_ROW)
			continue;
		for (; count &&
		       (nodes[open[count - 1]].thread != nodes[i].thread || nodes[open[count - 1]].end < nodes[i].end);
		     count--)
			o->items[o->places[open[count - 1]].row].open--;
		p->is_within_its_like = o->items[p->row].open++ > 0;
		p->self = nodes[i].end - nodes[i].start;
		around = count ? &o->places[open[count - 1]] : NULL;
		if (around)
			around->self -= p->self < around->self ? p->self : around->self;
		open[count++] = i;
	}
	while (count)
		o->items[o->places[open[--count]].row].open--;
	free(open);
}

static void add_cpu(struct operators *o)
{
	for (size_t i = 0; i < o->tree.count; i++) {
		const struct nvtx_node *n = &o->tree.nodes[i];
		const struct place *p = &o->places[i];

		if (p->row == SCAN_NO_ROW)
			continue;
		o->items[p->row].calls++;
		o->items[p->row].cpu_self += clock_map_duration(o->scan.clock, p->self);
		o->items[p->row].cpu_total +=
			p->is_within_its_like ? 0 : clock_map_duration(o->scan.clock, n->end - n->start);
	}
}

static void add_gpu(void *context, size_t node)
{
	struct operators *o = context;
	const struct place *p = &o->places[node];

	if (p->row == SCAN_NO_ROW)
		return;
	o->innermost = &o->items[p->row];
	o->innermost->gpu_total += p->is_within_its_like ? 0 : o->gpu;
}

static void pytorch_add_correlated(void *context, const struct correlated *k)
{
	struct operators *o = context;

	if (!k->thread || !k->record_count)
		return;
	o->gpu = 0;
	for (size_t i = 0; i < k->record_count; i++)
		o->gpu += k->records[i].duration_ns;
	o->innermost = NULL;
	attribute_ranges(&o->tree, k, o, add_gpu);
	if (o->innermost)
		o->innermost->gpu_self += o->gpu;
}

static void pytorch_add_image(struct operators *o, const struct image *image)
{
	o->scan.image = image;
	o->scan.clock = &o->scan.context->model->machines[image->machine].clock;
	nvtx_tree_make(&o->tree, image, true);
	o->places = mem_alloc((o->tree.count + 1) * sizeof(*o->places));
	find_places(o);
	add_cpu(o);
	if (o->count)
		attribute_image(o->scan.context, image, o, pytorch_add_correlated);
	free(o->places);
	nvtx_tree_done(&o->tree);
}

/* ---- the table ---- */

static int operators_by_self(size_t i, size_t k, const void *context)
{
	const struct operators *o = context;
	const struct operator_sum *a = &o->items[i], *b = &o->items[k];

	return order_of(b->gpu_self, a->gpu_self) ?: order_of(b->cpu_self, a->cpu_self) ?:
	       strcmp(o->scan.aggregate->rows[i].key, o->scan.aggregate->rows[k].key);
}

static double operator_percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static void pytorch_fill_table(struct operators *o, struct table *table)
{
	const struct report_context *c = o->scan.context;
	size_t *order = places_in_order(o->count, operators_by_self, o);
	uint64_t cpu = 0, gpu = 0;

	for (size_t i = 0; i < o->count; i++) {
		cpu += o->items[i].cpu_self;
		gpu += o->items[i].gpu_self;
	}
	for (size_t i = 0; i < o->count; i++) {
		const struct aggregate_row *row = &o->scan.aggregate->rows[order[i]];
		const struct operator_sum *s = &o->items[order[i]];
		size_t field = 0;

		if (c->by != BY_NOTHING)
			by_cell(c, table, aggregate_field(row, field++));
		table_real(table, operator_percent(s->gpu_self, gpu));
		table_number(table, s->gpu_self);
		table_number(table, s->gpu_total);
		table_real(table, operator_percent(s->cpu_self, cpu));
		table_number(table, s->cpu_self);
		table_number(table, s->cpu_total);
		table_number(table, s->calls);
		table_text(table, aggregate_field(row, field));
		table_text(table, aggregate_field(row, field + 1));
	}
	free(order);
}

int report_pytorch_sum(const struct report_context *c, struct table *table, struct err *err)
{
	struct aggregate aggregate = {0};
	struct operators o = {.scan = {.context = c, .aggregate = &aggregate}};

	by_column(c, table);
	table_has(table, {"GPU (%)", COLUMN_PERCENT}, {"GPU Self (ns)", COLUMN_NS}, {"GPU Total (ns)", COLUMN_NS},
		  {"CPU (%)", COLUMN_PERCENT}, {"CPU Self (ns)", COLUMN_NS}, {"CPU Total (ns)", COLUMN_NS},
		  {"Calls", COLUMN_COUNT}, {"Operator", COLUMN_TEXT}, {"Sizes", COLUMN_TEXT});
	for (size_t i = 0; i < c->model->image_count; i++)
		pytorch_add_image(&o, &c->model->images[i]);
	pytorch_fill_table(&o, table);
	free(o.items);
	aggregate_done(&aggregate);
	return table_rows(table)
		       ? 0
		       : err_set(err, -ENODATA,
				 "no PyTorch operators: record with --pytorch=autograd-nvtx, or autograd-shapes-nvtx");
}
