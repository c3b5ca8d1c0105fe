/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_gpu_proj_trace, nvtx_gpu_proj_sum, nvtx_kern_sum: NVTX ranges with the device operations of the calls inside
 * them. */
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/attribute.h"
#include "report/events/nvtx/nvtx_tree.h"
#include "report/tables/sorted_rows.h"

/* A range and the device operations of its calls. CLOCK_REALTIME. */
struct projection {
	uint64_t start_ns, end_ns;
	uint64_t calls; /* calls with device operations, nsys's "GPU ops" */
};

struct projecting {
	const struct report_context *context;
	struct nvtx_tree tree;
	struct projection *projections; /* of the tree's nodes */
	const struct correlated *call;	/* the one being added */
};

static uint64_t record_start(const struct projecting *p, const struct device_record *r)
{
	return clock_map_monotonic(&p->context->model->machines[p->call->image->machine].clock, r->start_ns);
}

static void projection_widen(void *context, size_t node)
{
	struct projecting *p = context;
	struct projection *j = &p->projections[node];

	j->calls++;
	for (size_t i = 0; i < p->call->record_count; i++) {
		uint64_t start = record_start(p, &p->call->records[i]), end = start + p->call->records[i].duration_ns;

		if (!j->end_ns || start < j->start_ns)
			j->start_ns = start;
		if (end > j->end_ns)
			j->end_ns = end;
	}
}

static void projection_add_correlated(void *context, const struct correlated *k)
{
	struct projecting *p = context;

	if (!k->thread || !k->record_count)
		return;
	p->call = k;
	attribute_ranges(&p->tree, k, p, projection_widen);
}

static void projecting_image(struct projecting *p, const struct image *image)
{
	nvtx_tree_make(&p->tree, image, false);
	p->projections = mem_alloc((p->tree.count + 1) * sizeof(*p->projections));
	if (p->tree.count)
		attribute_image(p->context, image, p, projection_add_correlated);
}

static void projecting_done(struct projecting *p)
{
	free(p->projections);
	nvtx_tree_done(&p->tree);
}

static const char *range_style(const struct nvtx_node *n)
{
	return n->is_pushpop ? "PushPop" : "StartEnd";
}

/* The number of children with device operations. */
static uint32_t *count_children(const struct projecting *p)
{
	uint32_t *children = mem_alloc((p->tree.count + 1) * sizeof(*children));

	for (size_t i = 0; i < p->tree.count; i++)
		if (p->projections[i].calls && p->tree.nodes[i].parent != NVTX_NO_PARENT)
			children[p->tree.nodes[i].parent]++;
	return children;
}

/* ---- the trace ---- */

struct range_row {
	struct sorted_row sorted; /* by the start of the projection, then its duration in descending order */
	struct projection projection;
	uint64_t start_ns, duration_ns;
	char *name, *path;
	const char *style;
	uint32_t pid, tid, level, children;
	size_t id, parent; /* parent 0: none */
};

static void ranges_add(struct sorted_rows *rows, const struct projecting *p, size_t first)
{
	const struct clock_map *clock = &p->context->model->machines[p->tree.image->machine].clock;
	SCOPED_MEMORY uint32_t *children = count_children(p);

	for (size_t i = 0; i < p->tree.count; i++) {
		const struct nvtx_node *n = &p->tree.nodes[i];
		const struct projection *j = &p->projections[i];
		struct buffer name = {0}, path = {0};
		struct range_row *row;

		if (!j->calls)
			continue;
		nvtx_tree_name(&p->tree, i, &name);
		nvtx_tree_path(&p->tree, i, first, &path);
		row = sorted_rows_add(rows, j->start_ns, UINT64_MAX - (j->end_ns - j->start_ns), first + i + 1);
		row->projection = *j;
		row->start_ns = clock_map_ns(clock, n->start);
		row->duration_ns = clock_map_duration(clock, n->end - n->start);
		row->name = name.data ? name.data : mem_copy_text("", 0);
		row->path = path.data;
		row->style = range_style(n);
		row->pid = p->tree.image->pid;
		row->tid = n->thread->tid;
		row->level = n->level;
		row->children = children[i];
		row->id = first + i + 1;
		row->parent = n->parent == NVTX_NO_PARENT ? 0 : first + n->parent + 1;
	}
}

static void ranges_collect(struct sorted_rows *rows)
{
	const struct report_context *c = rows->context;
	struct projecting p = {.context = c};
	size_t first = 0;

	if (nvtx_has_operators(c->model))
		operator_columns(rows->table);
	for (size_t i = 0; i < c->model->image_count; i++) {
		projecting_image(&p, &c->model->images[i]);
		ranges_add(rows, &p, first);
		first += p.tree.count;
		projecting_done(&p);
	}
}

static void range_cells(struct sorted_rows *rows, const void *of, struct table *table)
{
	const struct range_row *row = of;
	const struct model *m = rows->context->model;
	bool has_operators = nvtx_has_operators(m);
	struct operator_text operator;

	operator_text_parse(row->name, &operator);
	if (has_operators)
		table_text_part(table, operator.name.text, operator.name.length);
	else
		table_text(table, row->name);
	table_cells(table, row->projection.start_ns - m->origin_ns, row->projection.end_ns - row->projection.start_ns,
		    row->start_ns - m->origin_ns, row->duration_ns, row->style, row->pid, row->tid,
		    row->projection.calls, row->level, row->children, row->id, cell_if(row->parent, row->parent),
		    row->path);
	if (has_operators)
		operator_cells(table, &operator);
	free(row->name);
	free(row->path);
}

void report_nvtx_gpu_proj_trace(const struct report_context *c, struct table *table)
{
	static const struct row_report report = {
		{COL_NAME, COL_PROJECTED_START_NS, COL_PROJECTED_DURATION_NS, COL_ORIG_START_NS, COL_ORIG_DURATION_NS,
		 COL_STYLE, COL_PID, COL_TID, COL_NUM_GPU_OPS, COL_LVL, COL_NUM_CHILD, COL_RANGEID, COL_PARENTID,
		 COL_RANGESTACK},
		sizeof(struct range_row), ranges_collect, range_cells};

	report_rows(c, table, &report, NULL);
	device_none(c->model, table);
}

/* ---- the summary ---- */

struct nvtx_group {
	uint64_t range_ns, calls, levels, children;
};

/* The rows are of projected durations, with struct nvtx_group. */
static void add_groups(struct aggregate *groups, const struct projecting *p)
{
	const struct clock_map *clock = &p->context->model->machines[p->tree.image->machine].clock;
	SCOPED_MEMORY uint32_t *children = count_children(p);

	for (size_t i = 0; i < p->tree.count; i++) {
		const struct nvtx_node *n = &p->tree.nodes[i];
		SCOPED(buffer) key = {0};
		struct nvtx_group *g;
		uint32_t row;

		if (!p->projections[i].calls)
			continue;
		nvtx_tree_sum_name(&p->tree, i, &key);
		buffer_print(&key, "%c%s%c", 0, range_style(n), 0);
		row = aggregate_row(groups, key.data, key.size);
		g = aggregate_more(groups, row, sizeof(*g));
		aggregate_add(groups, row, p->projections[i].end_ns - p->projections[i].start_ns);
		if (groups->pass)
			continue;
		g->range_ns += clock_map_duration(clock, n->end - n->start);
		g->calls += p->projections[i].calls;
		g->levels += n->level;
		g->children += children[i];
	}
}

COMPARATOR(groups_by_total, struct aggregate_row, order_of(b->total, a->total))

static void group_row(struct table *table, const struct aggregate_row *r)
{
	const struct nvtx_group *g = r->more;
	double count = (double)r->count;

	table_cells(table, aggregate_field(r, 0), aggregate_field(r, 1), r->total, g->range_ns, r->count,
		    (double)r->total / count);
	spread_cells(table, r);
	table_cells(table, g->calls, (double)g->calls / count, (double)g->levels / count, (double)g->children / count);
}

void report_nvtx_gpu_proj_sum(const struct report_context *c, struct table *table)
{
	struct projecting p = {.context = c};
	SCOPED(aggregate) groups = {0};

	table_has(table, COL_RANGE, COL_STYLE, COL_TOTAL_PROJ_TIME_NS, COL_TOTAL_RANGE_TIME_NS, COL_RANGE_INSTANCES,
		  COL_PROJ_AVG_NS, COL_PROJ_MED_NS, COL_PROJ_MIN_NS, COL_PROJ_MAX_NS, COL_PROJ_STDDEV_NS,
		  COL_TOTAL_GPU_OPS, COL_AVG_GPU_OPS, COL_AVG_RANGE_LVL, COL_AVG_NUM_CHILD);
	do
		for (size_t i = 0; i < c->model->image_count; i++) {
			projecting_image(&p, &c->model->images[i]);
			add_groups(&groups, &p);
			projecting_done(&p);
		}
	while (aggregate_next_pass(&groups));
	aggregate_sort_by(&groups, groups_by_total);
	for (size_t i = 0; i < groups.count; i++)
		group_row(table, &groups.rows[i]);
	device_none(c->model, table);
}

/* ---- kernels by range ---- */

struct nvtx_kernels {
	struct projecting p;
	struct aggregate aggregate;
	struct map ranges; /* (row, range) that occurred; report_value: how many of the row */
	size_t first;	   /* number of the tree's first range */
	const struct device_record *record;
	const char *kernel;
	bool is_inside; /* aggregated over all ranges */
};

/* The begin of a key; the range, its style and the kernel follow. */
struct kernels_key {
	uint32_t pid, tid; /* 0: the thread is not known */
};

static const char *kernels_name(const struct aggregate_row *r, size_t i)
{
	return field_of_text(r->key + sizeof(struct kernels_key), r->key_size - sizeof(struct kernels_key), i);
}

static void kernels_add(struct nvtx_kernels *k, const char *range, const char *how, size_t id)
{
	const struct correlated *call = k->p.call;
	struct kernels_key of = {call->image->pid, call->thread ? call->thread->tid : 0};
	SCOPED(buffer) key = {0};
	bool is_new;
	uint32_t row;

	buffer_add(&key, &of, sizeof(of));
	buffer_print(&key, "%s%c%s%c%s%c", range, 0, how, 0, k->kernel, 0);
	row = aggregate_row(&k->aggregate, key.data, key.size);
	aggregate_add(&k->aggregate, row, k->record->duration_ns);
	if (k->aggregate.pass || !id)
		return;
	map_put(&k->ranges, row, id, &is_new);
	k->aggregate.rows[row].report_value += is_new;
}

static void add_to_range(void *context, size_t node)
{
	struct nvtx_kernels *k = context;
	SCOPED(buffer) name = {0};

	nvtx_tree_sum_name(&k->p.tree, node, &name);
	kernels_add(k, buffer_string(&name), range_style(&k->p.tree.nodes[node]), k->first + node + 1);
	k->is_inside = true;
}

static void visit_kernels(void *context, const struct correlated *call)
{
	struct nvtx_kernels *k = context;

	k->p.call = call;
	for (size_t i = 0; i < call->record_count; i++) {
		SCOPED(buffer) name = {0};
		struct tf_device_operation operation;

		if (!device_operation(call->image->trace, call->records[i].operation, &operation))
			operation = (struct tf_device_operation){.kind = TF_DEVICE_KERNEL};
		if (operation.kind != TF_DEVICE_KERNEL)
			continue;
		device_operation_name(k->p.context, call->image->trace, &operation, &name);
		k->kernel = buffer_string(&name);
		k->record = &call->records[i];
		k->is_inside = false;
		if (call->thread)
			attribute_ranges(&k->p.tree, call, k, add_to_range);
		if (!k->is_inside)
			kernels_add(k, "", "", 0);
	}
}

static int compare_threads(const struct kernels_key *a, const struct kernels_key *b)
{
	return order_of(a->pid, b->pid) ?: order_of(a->tid, b->tid);
}

COMPARATOR(by_range, struct aggregate_row,
	   strcmp(kernels_name(a, 0), kernels_name(b, 0)) ?:
	   compare_threads((const void *)a->key, (const void *)b->key) ?: order_of(b->total, a->total) ?:
	   strcmp(kernels_name(a, 2), kernels_name(b, 2)))

static void kernels_add_line(struct table *table, const struct aggregate_row *r)
{
	const struct kernels_key *key = (const void *)r->key;

	table_cells(table, kernels_name(r, 0), kernels_name(r, 1), key->pid, cell_if(key->tid, key->tid),
		    r->report_value, r->count, r->total, (double)r->total / (double)r->count);
	spread_cells(table, r);
	table_text(table, kernels_name(r, 2));
}

void report_nvtx_kern_sum(const struct report_context *c, struct table *table)
{
	struct nvtx_kernels k = {.p = {.context = c}};

	table_has(table, COL_NVTX_RANGE, COL_STYLE, COL_PID, COL_TID, COL_NVTX_INST, COL_KERN_INST, COL_TOTAL_TIME_NS,
		  COL_AVG_NS, COL_MED_NS, COL_MIN_NS, COL_MAX_NS, COL_STDDEV_NS, COL_KERNEL_NAME);
	do {
		k.first = 0;
		for (size_t i = 0; i < c->model->image_count; i++) {
			nvtx_tree_make(&k.p.tree, &c->model->images[i], false);
			attribute_image(c, &c->model->images[i], &k, visit_kernels);
			k.first += k.p.tree.count;
			nvtx_tree_done(&k.p.tree);
		}
	} while (aggregate_next_pass(&k.aggregate));
	aggregate_sort_by(&k.aggregate, by_range);
	for (size_t i = 0; i < k.aggregate.count; i++)
		kernels_add_line(table, &k.aggregate.rows[i]);
	aggregate_done(&k.aggregate);
	map_done(&k.ranges);
	device_none(c->model, table);
}
