/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/diff/gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/attribute.h"
#include "report/events/nvtx/filter_nvtx.h"
#include "report/events/nvtx/nvtx_tree.h"
#include "report/events/nvtx/operator_text.h"
#include "report/events/stacks/lines.h"
#include "report/events/stacks/samples.h"
#include "report/names/attribution.h"
#include "report/time/blocked.h"
#include "report/time/recorded.h"

const char *const diff_by_names[DIFF_BY_COUNT] = {"auto", "kernel", "api", "line", "range", "op", "rank"};

struct diff_gatherer {
	struct scan scan;
	struct gathered *ret;
	enum diff_by by;
	struct nvtx_instance *steps; /* by image, then by start; NULL: none */
	size_t step_count;
	struct map cells;  /* (row, step) -> ns */
	struct map rows;   /* (image, what the name follows from) -> row + 1 */
	struct map stacks; /* (image, stack) -> line + 1; 0: none */
	struct map parts;  /* (row, line) -> ns */
	struct attribution attribution;
};

/* ---- values ---- */

static uint32_t row_of(struct diff_gatherer *g, const char *name, const char *like)
{
	struct gathered *r = g->ret;
	SCOPED(buffer) key = {0};
	uint32_t row;

	buffer_add(&key, name, strlen(name) + 1);
	buffer_add(&key, like, strlen(like) + 1);
	row = aggregate_row(&r->names, key.data, key.size);
	while (r->count <= row)
		mem_append(r->series, r->count, r->capacity, (struct series){0});
	return row;
}

static size_t step_of(const struct diff_gatherer *g, const struct image *image, uint64_t ns)
{
	const struct nvtx_instance *s = g->steps;
	size_t after = first_place(at, 0, g->step_count,
				   s[at].image < image || (s[at].image == image && s[at].from_ns <= ns));

	return after && s[after - 1].image == image && ns <= s[after - 1].to_ns ? after - 1 : SIZE_MAX;
}

/* Adds a value that began at that time. False: it is in no step. */
static bool add_value(struct diff_gatherer *g, uint32_t row, const struct image *image, uint64_t at_ns, uint64_t ns,
		      bool is_sample)
{
	size_t step;

	if (is_sample)
		g->ret->series[row].sampled += (double)ns * (double)ns;
	if (!g->steps) {
		series_add(&g->ret->series[row], (double)ns);
		return true;
	}
	step = step_of(g, image, at_ns);
	if (step == SIZE_MAX)
		return false;
	*map_put(&g->cells, row, step, NULL) += ns;
	return true;
}

/* A row that a step lacks took no time in it. */
static void add_steps(struct diff_gatherer *g)
{
	for (uint32_t row = 0; row < g->ret->count; row++)
		for (size_t step = 0; step < g->step_count; step++) {
			const uint64_t *ns = map_find(&g->cells, row, step);

			series_add(&g->ret->series[row], ns ? (double)*ns : 0);
		}
	g->ret->steps = g->step_count;
}

/* ---- source lines ---- */

static uint32_t line_of(struct diff_gatherer *g, const struct image *image, uint32_t stack)
{
	bool is_new;
	uint64_t *known = map_put(&g->stacks, (uint64_t)(image - g->scan.context->model->images), stack, &is_new);
	const struct code_line *line = is_new ? attribution_exact(&g->attribution, image, stack) : NULL;
	SCOPED(buffer) text = {0};

	code_line_text(line, &text);
	if (line)
		*known = 1 + aggregate_row(&g->ret->lines, text.data, text.size + 1);
	return (uint32_t)*known;
}

static void add_line(struct diff_gatherer *g, uint32_t row, const struct image *image, const struct event *e,
		     uint64_t ns)
{
	uint32_t stack = event_stack(e),
		 line = stack ? line_of(g, image, stack) : 0;

	if (line)
		*map_put(&g->parts, row, line - 1, NULL) += ns;
}

static void keep_parts(struct diff_gatherer *g)
{
	struct gathered *r = g->ret;

	r->parts = mem_alloc((g->parts.count + 1) * sizeof(*r->parts));
	array_each(const struct map_slot, s, g->parts.slots, g->parts.size)
		if (s->used)
			r->parts[r->part_count++] = (struct gathered_line){(uint32_t)s->a, (uint32_t)s->b, s->value};
}

/* ---- kernels ---- */

/* "add" of "void add<float>(float*, int)", so that another instance of a template is known again. */
static void base_name(const char *name, struct buffer *ret)
{
	size_t length = *name == '[' || *name == '(' ? strlen(name) : strcspn(name, "<(");

	buffer_clear(ret);
	while (length && name[length - 1] == ' ')
		length--;
	for (size_t i = length; i-- > 0;)
		if (name[i] == ' ') {
			buffer_add(ret, name + i + 1, length - i - 1);
			return;
		}
	buffer_add(ret, name, length);
}

static uint32_t kernel_row(struct diff_gatherer *g, const struct image *image, uint32_t id)
{
	uint64_t *known = map_put(&g->rows, (uint64_t)(image - g->scan.context->model->images), id, NULL);
	SCOPED(buffer) name = {0}, base = {0};
	struct tf_device_operation operation;

	if (*known)
		return (uint32_t)*known - 1;
	if (!device_operation(image->trace, id, &operation))
		operation = (struct tf_device_operation){.kind = TF_DEVICE_KERNEL};
	device_operation_name(g->scan.context, image->trace, &operation, &name);
	base_name(buffer_string(&name), &base);
	*known = 1 + row_of(g, buffer_string(&name), buffer_string(&base));
	return (uint32_t)*known - 1;
}

static void visit_correlated(void *context, const struct correlated *k)
{
	struct diff_gatherer *g = context;
	const struct clock_map *clock = &g->scan.context->model->machines[k->image->machine].clock;

	array_each(const struct device_record, r, k->records, k->record_count) {
		uint32_t row = kernel_row(g, k->image, r->operation);
		uint64_t at = k->thread ? clock_map_ns(clock, event_start(&k->event))
					: clock_map_monotonic(clock, r->start_ns);

		if (add_value(g, row, k->image, at, r->duration_ns, false) && k->thread)
			add_line(g, row, k->image, &k->event, r->duration_ns);
	}
}

static void gather_kernels(struct diff_gatherer *g)
{
	const struct model *m = g->scan.context->model;

	for (size_t i = 0; i < m->image_count; i++)
		if (m->images[i].trace)
			attribute_image(g->scan.context, &m->images[i], g, visit_correlated);
}

/* ---- calls ---- */

static void visit_call(struct scan *s, const struct event *e)
{
	struct diff_gatherer *g = s->more;
	const struct function *f = event_function(s->image->trace, e);
	uint64_t ns, *known;

	if (!f)
		return;
	known = map_put(&g->rows, (uint64_t)(s->image - s->context->model->images), e->id, NULL);
	if (!*known)
		*known = 1 + row_of(g, f->name, "");
	ns = clock_map_duration(s->clock, e->duration);
	if (add_value(g, (uint32_t)*known - 1, s->image, clock_map_ns(s->clock, event_start(e)), ns, false))
		add_line(g, (uint32_t)*known - 1, s->image, e, ns);
}

/* ---- lines ---- */

struct line_rows {
	struct diff_gatherer *g;
	struct lines lines;
	struct map rows; /* row of lines.keys -> row + 1 */
	struct descriptor_search descriptors;
	bool has_samples;
};

/* What another thread or process computes meanwhile has samples of its own, and the wait for it depends on what else
 * the machine does. */
static bool waits_for_others(struct line_rows *l, const struct scan *s, const struct event *e)
{
	const struct function *f = event_function(s->image->trace, e);

	if (!l->has_samples || !f || f->group != TF_GROUP_OSRT)
		return false;
	if (!l->descriptors.of || l->descriptors.of->trace != s->image->trace)
		l->descriptors = descriptor_search(s->image->trace);
	return blocked_waits_for_others(blocked_kind_of(&l->descriptors, e, f->kind.waits));
}

static void visit_line(void *more, uint32_t row, const struct scan *s, const struct event *e, uint64_t ns)
{
	struct line_rows *l = more;
	struct diff_gatherer *g = l->g;
	uint64_t *known;

	if (waits_for_others(l, s, e))
		return;
	known = map_put(&l->rows, row, 0, NULL);
	if (!*known) {
		const struct aggregate_row *r = &l->lines.keys.rows[row];
		const char *file = aggregate_field(r, 0), *function = aggregate_field(r, 2);
		SCOPED(buffer) name = {0}, like = {0};

		buffer_text(&name, function);
		if (*file)
			buffer_print(&name, " (%s:%s)", file, aggregate_field(r, 1));
		buffer_print(&like, "%s %s", file, function);
		*known = 1 + row_of(g, name.data, like.data);
	}
	add_value(g, (uint32_t)*known - 1, s->image, clock_map_ns(s->clock, event_start(e)), ns, e->kind == TF_SAMPLE);
}

static void gather_lines(struct diff_gatherer *g)
{
	struct line_rows l = {.g = g, .has_samples = samples_any(g->scan.context->model)};

	lines_gather(g->scan.context, visit_line, &l, &l.lines);
	g->ret->is_foreign = mem_alloc((g->ret->count + 1) * sizeof(*g->ret->is_foreign));
	for (uint32_t i = 0; i < l.lines.count; i++) {
		const uint64_t *row = map_find(&l.rows, i, 0);

		if (row)
			g->ret->is_foreign[*row - 1] = !l.lines.values[i].is_users;
	}
	lines_done(&l.lines);
	map_done(&l.rows);
}

/* ---- ranges, operators ---- */

/* The name that ranges are summed by; false: a range that is no operator, where those are compared. */
static bool node_name(const struct diff_gatherer *g, const struct nvtx_tree *t, size_t node, struct buffer *ret)
{
	struct operator_text operator;

	buffer_clear(ret);
	if (g->by == DIFF_RANGE) {
		nvtx_tree_sum_name(t, node, ret);
		return true;
	}
	nvtx_tree_name(t, node, ret);
	if (t->nodes[node].domain || !t->nodes[node].is_pushpop ||
	    (!operator_text_parse(buffer_string(ret), &operator) && !strpbrk(buffer_string(ret), "#:")))
		return false;
	ret->size = operator.name.length;
	buffer_add(ret, "", 0);
	ret->data[ret->size] = 0;
	return true;
}

/* Each range counts without those in it. */
static void gather_nodes(struct diff_gatherer *g, const struct nvtx_tree *t, const struct image *image)
{
	const struct clock_map *clock = &g->scan.context->model->machines[image->machine].clock;
	SCOPED_MEMORY uint64_t *inner = mem_alloc((t->count + 1) * sizeof(*inner));
	SCOPED_MEMORY uint32_t *rows = mem_alloc((t->count + 1) * sizeof(*rows));
	SCOPED(buffer) name = {0};

	for (size_t i = 0; i < t->count; i++) {
		const struct nvtx_node *n = &t->nodes[i];
		size_t around = n->parent;

		if (!node_name(g, t, i, &name))
			continue;
		rows[i] = 1 + row_of(g, buffer_string(&name), "");
		while (around != NVTX_NO_PARENT && !rows[around])
			around = t->nodes[around].parent;
		if (around != NVTX_NO_PARENT)
			inner[around] += n->end - n->start;
	}
	for (size_t i = 0; i < t->count; i++) {
		const struct nvtx_node *n = &t->nodes[i];
		uint64_t length = n->end - n->start;

		if (rows[i])
			add_value(g, rows[i] - 1, image, clock_map_ns(clock, n->start),
				  clock_map_duration(clock, length > inner[i] ? length - inner[i] : 0), false);
	}
}

static void gather_ranges(struct diff_gatherer *g)
{
	const struct model *m = g->scan.context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		SCOPED(nvtx_tree) t = {0};

		if (!m->images[i].trace)
			continue;
		nvtx_tree_make(&t, &m->images[i], g->by == DIFF_OP);
		gather_nodes(g, &t, &m->images[i]);
	}
}

/* ---- ranks ---- */

static void gather_ranks(struct diff_gatherer *g)
{
	const struct model *m = g->scan.context->model;

	for (size_t i = 0; i < g->step_count; i++) {
		const struct nvtx_instance *s = &g->steps[i];
		const char *rank = m->processes[s->image->process].rank;

		if (*rank)
			*map_put(&g->cells, row_of(g, rank, ""), i, NULL) = s->to_ns - s->from_ns;
	}
	for (size_t i = 0; !g->steps && i < m->process_count; i++) {
		const struct process *p = &m->processes[i];

		if (*p->rank && p->end_ns > p->start_ns) {
			size_t row = row_of(g, p->rank, ""); /* moves the series */

			series_add(&g->ret->series[row], (double)(p->end_ns - p->start_ns));
		}
	}
}

/* ---- the whole run ---- */

/* Of a capture range, only what it recorded. */
static void gather_whole(const struct report_context *context, struct whole_run *ret)
{
	const struct model *m = context->model;
	struct recorded recorded = recorded_find(m);
	SCOPED(partition) p = {0};

	recorded_partition(context, false, &p);
	for (size_t i = 0; i < p.count; i++) {
		ret->cpu_ns += p.threads[i].cpu_ns;
		ret->delay_ns += p.threads[i].delay_ns;
	}
	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *process = &m->processes[i];

		if (!recorded.is_part)
			ret->cpu_ns += p.processes[i].children_ns + p.processes[i].end_ns;
		if (process->end_ns > m->origin_ns && process->end_ns - m->origin_ns > ret->wall_ns)
			ret->wall_ns = process->end_ns - m->origin_ns;
	}
	if (recorded.is_part)
		ret->wall_ns = recorded.ns;
	ret->is_sampled = samples_any(m);
}

/* ---- all ---- */

enum diff_by gather_default(const struct model *m)
{
	if (device_any(m))
		return DIFF_KERNEL;
	if (samples_any(m))
		return DIFF_LINE;
	return model_bits(m).kinds & 1u << TF_PUSH ? DIFF_RANGE : DIFF_API;
}

COMPARATOR(instances_by_image, struct nvtx_instance,
	   order_of((uintptr_t)a->image, (uintptr_t)b->image) ?: order_of(a->from_ns, b->from_ns))

static const char *missing(enum diff_by by)
{
	static const char *const reasons[DIFF_BY_COUNT] = {
		[DIFF_KERNEL] = "no device records; --by api compares the host's calls",
		[DIFF_API] = "no calls were recorded",
		[DIFF_LINE] = "no samples and calls; record with -s cpu",
		[DIFF_RANGE] = "no NVTX ranges",
		[DIFF_OP] = "no operators of PyTorch; record with --pytorch=autograd-nvtx",
		[DIFF_RANK] = "no ranks",
	};

	return reasons[by];
}

int gather(const struct report_context *context, enum diff_by by, const char *over, struct gathered *ret,
	   struct err *err)
{
	struct diff_gatherer g = {.scan = {.context = context}, .ret = ret, .by = by};
	int code = 0;

	*ret = (struct gathered){0};
	g.scan.more = &g;
	g.attribution.symbols = context->symbols;
	if (over)
		code = nvtx_instances(context->model, "--over", over, &g.steps, &g.step_count, err);
	if (code) {
		free(g.steps);
		return code;
	}
	array_sort(g.steps, g.step_count, instances_by_image);
	if (by == DIFF_KERNEL)
		gather_kernels(&g);
	else if (by == DIFF_API)
		scan_events(&g.scan, visit_call);
	else if (by == DIFF_LINE)
		gather_lines(&g);
	else if (by == DIFF_RANK)
		gather_ranks(&g);
	else
		gather_ranges(&g);
	if (g.steps)
		add_steps(&g);
	else
		gather_whole(context, &ret->whole);
	keep_parts(&g);
	map_done(&g.cells);
	map_done(&g.rows);
	map_done(&g.stacks);
	map_done(&g.parts);
	attribution_done(&g.attribution);
	free(g.steps);
	return ret->count ? 0 : err_set(err, -ENODATA, "%s", missing(by));
}

void gathered_done(struct gathered *g)
{
	aggregate_done(&g->names);
	aggregate_done(&g->lines);
	free(g->series);
	free(g->parts);
	free(g->is_foreign);
}
