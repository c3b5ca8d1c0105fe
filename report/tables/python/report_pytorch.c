/* SPDX-License-Identifier: Apache-2.0 */
/* pytorch_sum: PyTorch operators by name and argument sizes, or another group, with their time on the CPU and on the
 * devices, device memory and floating-point operations: torch.profiler's key_averages(). */
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/attribute.h"
#include "report/events/energy/energy_share.h"
#include "report/events/nvtx/nvtx_tree.h"
#include "report/events/nvtx/operator_work.h"
#include "report/tables/ops/ops.h"
#include "report/tables/python/operator_groups.h"
#include "report/tables/python/operator_memory.h"
#include "report/tables/report.h"

/* Total: including nested operators; an operator nested in one of the same name is counted once. Self: without
 * nested operators. */
struct operator_sum {
	uint64_t calls, cpu_total, cpu_self, gpu_total, gpu_self;
	uint64_t allocated; /* device memory, by the innermost operators */
	double flops;	    /* of operators without others within them whose operations are known */
	double joules;	    /* that gpu_self took: an estimate, see energy_share.h */
	double ideal_ns;    /* the time that their kernels would take at the peak rates of the devices */
	struct operator_memory {
		int64_t self, total; /* allocated minus freed */
		uint64_t peak;	     /* in use when the process used most */
	} memory[TENSOR_PLACES];
};

/* The operator of a range. */
struct range_operator {
	uint32_t row; /* SCAN_NO_ROW: not an operator */
	bool is_within_its_like;
	size_t around; /* the innermost operator around it */
	size_t children;
	uint64_t self; /* ticks */
};

struct operators {
	struct scan scan;
	struct nvtx_tree tree;
	struct range_operator *places; /* of the tree's nodes */
	struct operator_sum *items; /* by row of the aggregate */
	size_t count, capacity;
	uint64_t gpu; /* device time in ns of the current call */
	bool has_energy; /* power was sampled */
	bool has_memory; /* blocks of PyTorch's allocators were recorded */
	const struct tensor_change *change; /* the current one */
	uint32_t owner; /* its row */
	struct operator_sum *innermost;
	struct operator_groups groups;
	struct map ideal; /* number of the image, range -> ps at the peak rate */
};

struct keyed {
	const struct nvtx_node *node; /* NULL: memory outside of all operators */
	const char *group; /* NULL: by sizes or name */
};

/* ---- the text ---- */

static const char outside[] = "[memory]"; /* as torch.profiler calls it */

static bool operator_key(struct scan *s, const void *of, struct buffer *fields)
{
	const struct keyed *k = of;
	struct operator_text operator;
	SCOPED(buffer) text = {0};
	bool is_operator;

	if (!k->node) {
		buffer_add(fields, outside, sizeof(outside));
		buffer_text(fields, k->group ? k->group : "");
		return true;
	}
	nvtx_name(s->image->trace, 0, k->node->text, &text);
	/* Ranges without a number are identified by PyTorch's naming: aten::empty, Optimizer.step#SGD.step. */
	is_operator = text.data && (operator_text_parse(text.data, &operator) || strpbrk(text.data, "#:"));
	if (is_operator) {
		buffer_add(fields, operator.name.text, operator.name.length);
		buffer_add(fields, "", 1);
		if (k->group)
			buffer_text(fields, k->group);
		else if (s->context->group == GROUP_SHAPE)
			buffer_add(fields, operator.sizes.text, operator.sizes.length);
	}
	return is_operator;
}

/* ---- time of each operator ---- */

static bool is_grouped(const struct operators *o)
{
	return o->scan.context->group != GROUP_SHAPE && o->scan.context->group != GROUP_NAME;
}

static uint32_t operator_row(struct operators *o, const struct trace_thread *thread, uint64_t ticks, uint64_t what,
			     const struct keyed *k)
{
	uint32_t row;

	o->scan.thread = thread;
	row = scan_row_of(&o->scan, ticks, what, operator_key, k);
	while (row != SCAN_NO_ROW && o->count <= row)
		list_add(o, (struct operator_sum){0});
	return row;
}

static uint32_t operator_row_of(struct operators *o, size_t node)
{
	const struct nvtx_node *n = &o->tree.nodes[node];
	uint32_t group = is_grouped(o) ? o->groups.numbers[node] : 0;
	struct keyed k = {n, is_grouped(o) ? interner_field(&o->groups.texts, group, 0) : NULL};

	if (n->domain || !n->is_pushpop)
		return SCAN_NO_ROW;
	return operator_row(o, n->thread, n->start, (uint64_t)group << 32 | n->text, &k);
}

static bool is_same_operator(const struct operators *o, uint32_t row, uint32_t other)
{
	size_t field = o->scan.context->by != BY_NOTHING;

	return !strcmp(aggregate_field(&o->scan.aggregate->rows[row], field),
		       aggregate_field(&o->scan.aggregate->rows[other], field));
}

/* Of what is around each operator, the innermost that is still one; and what is its own. Recursions may be deep. */
static void place_selves(struct operators *o)
{
	SCOPED_MEMORY uint32_t *open = mem_alloc((o->count + 1) * sizeof(*open)); /* by row: around the current one */
	size_t last = NVTX_NO_PARENT;

	for (size_t i = 0; i < o->tree.count; i++) {
		struct range_operator *p = &o->places[i];

		if (p->around != NVTX_NO_PARENT && o->places[p->around].row == SCAN_NO_ROW)
			p->around = o->places[p->around].around;
		if (p->row == SCAN_NO_ROW)
			continue;
		for (; last != p->around; last = o->places[last].around)
			open[o->places[last].row]--;
		p->is_within_its_like = open[p->row]++ > 0;
		p->self = o->tree.nodes[i].end - o->tree.nodes[i].start;
		if (p->around != NVTX_NO_PARENT)
			o->places[p->around].self = rest_of(o->places[p->around].self, p->self);
		last = i;
	}
}

/* Ranges of one domain nest: those around a range are the previous one and those around that. If an operator has a
 * single inner operator, and both have the same name, they count as one call, as in torch.profiler: PyTorch
 * redispatches aten::mean to an overload of aten::mean. */
static void find_places(struct operators *o)
{
	const struct nvtx_node *nodes = o->tree.nodes;
	size_t last = NVTX_NO_PARENT;

	for (size_t i = 0; i < o->tree.count; i++) {
		struct range_operator *p = &o->places[i];

		p->row = operator_row_of(o, i);
		if (p->row == SCAN_NO_ROW)
			continue;
		while (last != NVTX_NO_PARENT &&
		       (nodes[last].thread != nodes[i].thread || nodes[last].end < nodes[i].end))
			last = o->places[last].around;
		p->around = last;
		if (last != NVTX_NO_PARENT)
			o->places[last].children++;
		last = i;
	}
	for (size_t i = o->tree.count; i-- > 0;) {
		const struct range_operator *p = &o->places[i],
					    *around = p->row == SCAN_NO_ROW || p->around == NVTX_NO_PARENT
							      ? NULL
							      : &o->places[p->around];

		if (around && around->children == 1 && is_same_operator(o, p->row, around->row))
			o->places[i].row = SCAN_NO_ROW;
	}
	place_selves(o);
}

static void add_cpu(struct operators *o)
{
	for (size_t i = 0; i < o->tree.count; i++) {
		const struct nvtx_node *n = &o->tree.nodes[i];
		const struct range_operator *p = &o->places[i];

		if (p->row == SCAN_NO_ROW)
			continue;
		o->items[p->row].calls++;
		o->items[p->row].cpu_self += clock_map_duration(o->scan.clock, p->self);
		o->items[p->row].cpu_total +=
			p->is_within_its_like ? 0 : clock_map_duration(o->scan.clock, n->end - n->start);
	}
}

/* A collective that runs in another thread has no own time, as in torch.profiler. */
static void add_collective(void *context, const struct nvtx_range *r)
{
	struct nvtx_node node = {.thread = r->thread, .start = r->start, .text = r->text};
	struct operators *o = context;
	struct keyed k = {&node, is_grouped(o) ? "" : NULL};
	SCOPED(buffer) text = {0};
	uint32_t row = SCAN_NO_ROW;

	nvtx_name(o->scan.image->trace, r->domain, r->text, &text);
	if (!r->is_pushpop && !r->is_unfinished && !r->domain && operator_is_collective(buffer_string(&text)))
		row = operator_row(o, r->thread, r->start, (uint64_t)UINT32_MAX << 32 | r->text, &k);
	if (row == SCAN_NO_ROW)
		return;
	o->items[row].calls++;
	o->items[row].cpu_total += clock_map_duration(o->scan.clock, r->end - r->start);
}

static void add_gpu(void *context, size_t node)
{
	struct operators *o = context;
	const struct range_operator *p = &o->places[node];

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
	o->gpu += array_sum(record, k->records, k->record_count, record->duration_ns);
	o->innermost = NULL;
	attribute_ranges(&o->tree, k, o, add_gpu);
	if (!o->innermost)
		return;
	o->innermost->gpu_self += o->gpu;
	for (size_t i = 0; o->has_energy && i < k->record_count; i++)
		o->innermost->joules += energy_of_record(o->scan.context, k->image, &k->records[i]);
}

/* ---- floating-point operations ---- */

static bool parse_node(const struct operators *o, size_t node, struct buffer *text, struct operator_text *ret)
{
	buffer_clear(text);
	nvtx_tree_name(&o->tree, node, text);
	return operator_text_parse(buffer_string(text), ret);
}

enum { BY_SEQUENCE, BY_MAKER };

/* The sizes of a convolution's result are those of its gradient, by sequence number, or those that the first operator
 * that takes it has, by the number of the operator that made it. */
static void find_results(const struct operators *o, struct map *ret)
{
	struct operator_text t;
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < o->tree.count; i++) {
		uint64_t *place;

		if (o->places[i].row == SCAN_NO_ROW || !parse_node(o, i, &text, &t) || !t.sizes.length)
			continue;
		if (t.seq.length && operator_class_of(&t.name) == OPERATOR_CONVOLUTION_BACKWARD)
			*map_put(ret, operator_seq(&t), BY_SEQUENCE, NULL) = i + 1;
		for (struct operator_argument a = {.of = &t}; operator_argument_next(&a);)
			if (a.made_by && !*(place = map_put(ret, a.made_by, BY_MAKER, NULL)))
				*place = i + 1;
	}
}

/* The sizes of an operator's result in `text`, if another operator is known to have them. */
static struct operator_field result_of(const struct operators *o, const struct operator_text *t,
				       const struct map *results, struct buffer *text)
{
	uint64_t id = t->op_id.length ? strtoull(t->op_id.text, NULL, 10) : 0;
	const uint64_t *place = t->seq.length ? map_find(results, operator_seq(t), BY_SEQUENCE) : NULL;
	struct operator_text other;

	if (place && parse_node(o, *place - 1, text, &other))
		return other.sizes;
	place = map_find(results, id, BY_MAKER);
	if (place && parse_node(o, *place - 1, text, &other))
		for (struct operator_argument a = {.of = &other}; operator_argument_next(&a);)
			if (a.made_by == id)
				return a.sizes;
	return (struct operator_field){0};
}

static bool work_of(const struct operators *o, size_t node, const struct map *results, struct operator_work *ret)
{
	SCOPED(buffer) text = {0}, of_result = {0};
	struct operator_field result;
	struct operator_text t;
	bool is_known;

	parse_node(o, node, &text, &t);
	result = result_of(o, &t, results, &of_result);
	is_known = t.sizes.length && operator_work(&t, &result, ret);
	/* a gradient of the input and one of the weight */
	if (is_known && ret->class == OPERATOR_CONVOLUTION_BACKWARD)
		ret->flops = ret->flops > UINT64_MAX / 2 ? UINT64_MAX : 2 * ret->flops;
	return is_known;
}

/* A convolution has its operations in the outermost of the operators that pass it on, as in PyTorch's profiler. */
static bool is_passed_on(const struct operators *o, size_t node, const struct map *results)
{
	size_t parent = o->tree.nodes[node].parent;
	struct operator_work work;
	struct operator_text t;
	SCOPED(buffer) text = {0};

	return parent != NVTX_NO_PARENT && o->places[parent].row != SCAN_NO_ROW && parse_node(o, parent, &text, &t) &&
	       operator_class_of(&t.name) == OPERATOR_CONVOLUTION && work_of(o, parent, results, &work);
}

/* The tree lists an operator before its inner operators, so a loop from the end visits the inner operators first. */
static void add_flops(struct operators *o)
{
	SCOPED_MEMORY bool *is_within = mem_alloc(o->tree.count + 1); /* one is, whose operations are known */
	struct operator_work work;
	SCOPED(map) results = {0};

	find_results(o, &results);
	for (size_t i = o->tree.count; i-- > 0;) {
		size_t parent = o->tree.nodes[i].parent;
		bool is_known = o->places[i].row != SCAN_NO_ROW && !is_within[i] && work_of(o, i, &results, &work) &&
				(work.class != OPERATOR_CONVOLUTION || !is_passed_on(o, i, &results));

		if (is_known)
			o->items[o->places[i].row].flops += (double)work.flops;
		if (parent != NVTX_NO_PARENT)
			is_within[parent] = is_within[parent] || is_within[i] ||
					    (is_known && work.class != OPERATOR_ELEMENTWISE);
	}
}

static void add_ideal(void *context, const struct image *image, const struct op *op, const struct ops_rate *rate,
		      uint32_t stack)
{
	struct operators *o = context;
	double ps = rate->peak > 0 ? 1e12 * (double)rate->flops / rate->peak : 0;

	(void)stack;
	if (op->operator != NVTX_NO_PARENT && ps > 0 && ps < 1e18)
		*map_put(&o->ideal, (uint64_t)(image - o->scan.context->model->images), op->operator, NULL) +=
			(uint64_t)ps;
}

/* The ranges have the same numbers in report/tables/ops. */
static void add_peaks(struct operators *o)
{
	uint64_t number = (uint64_t)(o->scan.image - o->scan.context->model->images);

	for (size_t i = 0; i < o->tree.count; i++) {
		const uint64_t *ps = map_find(&o->ideal, number, i);
		size_t k = i;

		while (ps && k != NVTX_NO_PARENT && o->places[k].row == SCAN_NO_ROW)
			k = o->tree.nodes[k].parent;
		if (ps && k != NVTX_NO_PARENT)
			o->items[o->places[k].row].ideal_ns += (double)*ps / 1e3;
	}
}

/* ---- device memory ---- */

static void take_innermost(void *context, size_t node)
{
	struct operators *o = context;

	if (o->places[node].row != SCAN_NO_ROW)
		o->innermost = &o->items[o->places[node].row];
}

static void add_memory(struct scan *s, const struct event *e)
{
	struct operators *o = s->more;
	uint64_t memory = e->kind == TF_CALL && e->args_count ? event_arg(e, TF_ARG_MEMORY) : 0;

	if (!memory || event_arg(e, TF_ARG_RESULT) || tf_arg_small(memory) & TF_MEMORY_FREE ||
	    tf_arg_small(memory) == TF_MEMORY_HOST)
		return;
	o->innermost = NULL;
	nvtx_tree_around(&o->tree, s->thread, event_start(e), e->ticks, o, take_innermost);
	if (o->innermost)
		o->innermost->allocated += tf_arg_value(event_arg(e, TF_ARG_BYTES));
}

/* ---- memory of tensors ---- */

static void add_around_change(void *context, size_t node)
{
	struct operators *o = context;
	uint32_t row = o->places[node].row;

	if (row == SCAN_NO_ROW)
		return;
	o->owner = row;
	if (o->change->is_shown)
		o->items[row].memory[o->change->place].total += o->change->bytes;
}

/* torch.profiler, too, adds what an operator frees to the operator, whoever has allocated it. */
static uint32_t add_change(void *context, const struct tensor_change *change)
{
	struct keyed memory = {.group = is_grouped(context) ? "" : NULL};
	struct operators *o = context;

	o->change = change;
	o->owner = SCAN_NO_ROW;
	nvtx_tree_around(&o->tree, change->thread, change->ticks, change->ticks, o, add_around_change);
	if (o->owner == SCAN_NO_ROW) {
		o->owner = operator_row(o, change->thread, change->ticks, UINT64_MAX, &memory);
		o->items[o->owner].calls += change->is_shown;
		o->items[o->owner].memory[change->place].total += change->is_shown ? change->bytes : 0;
	}
	o->items[o->owner].memory[change->place].self += change->is_shown ? change->bytes : 0;
	return o->owner;
}

static void add_peak(void *context, uint32_t owner, enum tensor_place place, uint64_t bytes)
{
	((struct operators *)context)->items[owner].memory[place].peak += bytes;
}

static void pytorch_add_image(struct operators *o, const struct image *image)
{
	o->scan.image = image;
	o->scan.clock = &o->scan.context->model->machines[image->machine].clock;
	nvtx_tree_make(&o->tree, image, true);
	o->places = mem_alloc((o->tree.count + 1) * sizeof(*o->places));
	if (image->trace)
		operator_groups_of(&o->groups, &o->tree);
	find_places(o);
	add_cpu(o);
	if (image->trace)
		nvtx_ranges(image, NULL, o, add_collective);
	if (o->count) {
		struct scan s = {.context = o->scan.context, .image = image, .args = 1u << TF_ARG_MEMORY, .more = o};

		attribute_image(o->scan.context, image, o, pytorch_add_correlated);
		scan_image(&s, add_memory);
		add_flops(o);
		add_peaks(o);
		if (tensors_are_recorded(image))
			tensors_replay(o->scan.context->model, image,
				       &(struct tensor_visitor){o, add_change, add_peak});
	}
	free(o->places);
	nvtx_tree_done(&o->tree);
}

/* ---- the table ---- */

static double mean_of(uint64_t sum, uint64_t count)
{
	return count ? (double)sum / (double)count : 0;
}

static double sort_value(const struct operators *o, const struct operator_sum *s)
{
	const struct operator_memory *cpu = &s->memory[TENSOR_CPU], *gpu = &s->memory[TENSOR_DEVICE];
	const double values[] = {
		[SORT_CPU_TIME] = mean_of(s->cpu_total, s->calls),
		[SORT_CUDA_TIME] = mean_of(s->gpu_total, s->calls),
		[SORT_CPU_TIME_TOTAL] = (double)s->cpu_total,
		[SORT_CUDA_TIME_TOTAL] = (double)s->gpu_total,
		[SORT_SELF_CPU_TIME_TOTAL] = (double)s->cpu_self,
		[SORT_SELF_CUDA_TIME_TOTAL] = (double)s->gpu_self,
		[SORT_CUDA_MEMORY_USAGE] = o->has_memory ? (double)gpu->total : (double)s->allocated,
		[SORT_CPU_MEMORY_USAGE] = (double)cpu->total,
		[SORT_SELF_CPU_MEMORY_USAGE] = (double)cpu->self,
		[SORT_SELF_CUDA_MEMORY_USAGE] = (double)gpu->self,
		[SORT_FLOPS] = s->flops,
		[SORT_COUNT] = (double)s->calls,
	};
	size_t sort = (size_t)o->scan.context->sort;

	return sort < sizeof(values) / sizeof(*values) ? values[sort] : 0;
}

static int operators_in_order(size_t i, size_t k, const void *context)
{
	const struct operators *o = context;
	const struct operator_sum *a = &o->items[i], *b = &o->items[k];
	double of_a = sort_value(o, a), of_b = sort_value(o, b);

	return (of_a < of_b) - (of_a > of_b) ?: order_of(b->gpu_self, a->gpu_self) ?:
	       order_of(b->cpu_self, a->cpu_self) ?:
	       strcmp(o->scan.aggregate->rows[i].key, o->scan.aggregate->rows[k].key);
}

static const enum column_id group_columns[GROUP_COUNT] = {[GROUP_SHAPE] = COL_SIZES,
								[GROUP_STACK] = COL_STACK,
								[GROUP_LINE] = COL_LINE,
								[GROUP_MODULE] = COL_MODULE,
								[GROUP_PHASE] = COL_PHASE};

static void pytorch_fill_table(struct operators *o, struct table *table)
{
	const struct report_context *c = o->scan.context;
	SCOPED_MEMORY size_t *order = places_in_order(o->count, operators_in_order, o);
	uint64_t cpu = 0, gpu = 0;

	for (size_t i = 0; i < o->count; i++) {
		cpu += o->items[i].cpu_self;
		gpu += o->items[i].gpu_self;
	}
	for (size_t i = 0; i < o->count; i++) {
		const struct aggregate_row *row = &o->scan.aggregate->rows[order[i]];
		const struct operator_sum *s = &o->items[order[i]];
		size_t field;

		if (!s->calls)
			continue;
		field = by_key_cell(c, table, row);
		table_cells(table, share_percent((double)s->gpu_self, (double)gpu), s->gpu_self, s->gpu_total,
			    mean_of(s->gpu_total, s->calls));
		if (o->has_energy)
			table_real(table, s->joules * 1e6);
		table_cells(table, share_percent((double)s->cpu_self, (double)cpu), s->cpu_self, s->cpu_total,
			    mean_of(s->cpu_total, s->calls), s->allocated);
		for (size_t k = 0; o->has_memory && k < TENSOR_PLACES; k++)
			table_cells(table, (double)s->memory[k].self, (double)s->memory[k].total, s->memory[k].peak);
		table_cells(table, cell_if(s->flops > 0, s->flops / 1e9),
			    cell_if(s->ideal_ns > 0 && s->gpu_self, 100 * s->ideal_ns / (double)s->gpu_self), s->calls,
			    aggregate_field(row, field));
		if (group_columns[c->group])
			table_text(table, aggregate_field(row, field + 1));
	}
}

void report_pytorch_sum(const struct report_context *c, struct table *table)
{
	SCOPED(aggregate) aggregate = {0};
	struct operators o = {.scan = {.context = c, .aggregate = &aggregate}, .groups = {.context = c}};

	o.has_energy = energies_of(c->model)->count > 0;
	for (size_t i = 0; i < c->model->image_count; i++)
		o.has_memory |= tensors_are_recorded(&c->model->images[i]);
	by_column(c, table);
	/* energy: of GPU Self */
	table_has(table, COL_GPU_PERCENT, COL_GPU_SELF_NS, COL_GPU_TOTAL_NS, COL_GPU_AVG_NS,
		  o.has_energy ? COL_ENERGY_EST_J : COL_NONE, COL_CPU_PERCENT, COL_CPU_SELF_NS, COL_CPU_TOTAL_NS,
		  COL_CPU_AVG_NS, COL_ALLOCATED_MB);
	if (o.has_memory)
		table_has(table, COL_CPU_MEM_SELF_MB, COL_CPU_MEM_TOTAL_MB, COL_CPU_MEM_PEAK_MB, COL_CUDA_MEM_SELF_MB,
			  COL_CUDA_MEM_TOTAL_MB, COL_CUDA_MEM_PEAK_MB);
	table_has(table, COL_GFLOPS, COL_PEAK_PERCENT, COL_CALLS, COL_OPERATOR, group_columns[c->group]);
	table->hides_zeros = true;
	if (nvtx_has_operators(c->model))
		ops_visit(c, &o, add_ideal);
	for (size_t i = 0; i < c->model->image_count; i++)
		pytorch_add_image(&o, &c->model->images[i]);
	pytorch_fill_table(&o, table);
	free(o.items);
	map_done(&o.ideal);
	operator_groups_done(&o.groups);
	if (!table_rows(table))
		table_lacks(table, "no PyTorch operators: record with --pytorch=autograd-nvtx, or "
				   "autograd-shapes-nvtx");
}
