/* SPDX-License-Identifier: Apache-2.0 */
/* recompilation: a line that has code compiled again and again (JAX, torch.compile, numba), because each new shape,
 * type or value needs code of its own. Derived from stacks of calls and of CPU samples. */
#include <stdlib.h>
#include <string.h>

#include "report/analyze/rule.h"
#include "report/derive/stacks/samples.h"

/* TIMES: fewer are usual, for the first step, the last batch, another data type. A thread without any event for
 * GAP_NS may have done something else meanwhile. */
enum { ROWS = 20, FOUND_PERCENT = 10, TIMES = 4 };
#define GAP_NS 1000000000ull

struct compilations {
	struct rules *rules;
	struct aggregate aggregate;
	struct map known;  /* (stack, image) -> row + 2; 1: not compiling */
	uint64_t *times;   /* by row: compilations */
	size_t capacity, count;
	bool has_python;
	/* the previous event with a stack of the thread */
	const struct trace_thread *thread;
	uint64_t last_ticks;
	uint32_t last_row;
};

static bool is_compiler_file(const char *file)
{
	static const char *const parts[] = {"/jax/_src/compiler.py", "/jax/_src/interpreters/mlir.py",
					    "/torch/_dynamo/convert_frame.py", "/torch/_inductor/",
					    "/numba/core/compiler", "/triton/compiler/"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(file, parts[i]))
			return true;
	return false;
}

/* UINT32_MAX: it does not compile. */
static uint32_t compiled_row(struct compilations *p, const struct image *image, uint32_t stack)
{
	uint64_t *known = map_put(&p->known, stack, (uint64_t)(image - p->rules->context->model->images), NULL);
	uint64_t value = 1;

	if (!*known) {
		p->has_python |= trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack) != NULL;
		/* The import of a compiler compiles nothing. */
		if (symbols_has_python(image, stack, is_compiler_file) &&
		    !symbols_has_python(image, stack, attribution_is_import))
			value = 2 + rule_call_row(p->rules, &p->aggregate, image, 0, 0, "compile", stack);
		*known = value;
	}
	return *known == 1 ? UINT32_MAX : (uint32_t)(*known - 2);
}

static void visit_compilation(struct scan *s, const struct event *e)
{
	struct compilations *p = s->more;
	bool is_sample = e->kind == TF_SAMPLE, is_next;
	uint32_t stack = is_sample || e->kind == TF_CALL ? rule_stack(e) : 0, row;
	uint64_t ns, gap;

	if (!stack)
		return;
	row = compiled_row(p, s->image, stack);
	if (row != UINT32_MAX) {
		ns = is_sample ? samples_ns(e) : clock_map_duration(s->clock, e->duration);
		gap = p->thread == s->thread && e->ticks > p->last_ticks
			      ? clock_map_duration(s->clock, e->ticks - p->last_ticks)
			      : 0;
		is_next = p->thread == s->thread && p->last_row == row && gap < GAP_NS + ns;
		while (p->count <= row) {
			p->times = mem_grow(p->times, p->count, &p->capacity, sizeof(*p->times));
			p->times[p->count++] = 0;
		}
		p->times[row] += !is_next;
		aggregate_add(&p->aggregate, row, is_next ? gap : ns);
	}
	p->thread = s->thread;
	p->last_ticks = e->ticks;
	p->last_row = row;
}

static int rows_by_total(size_t left, size_t right, const void *rows)
{
	const struct aggregate_row *all = rows;

	return order_of(all[right].total, all[left].total) ?: order_of(left, right);
}

void rule_recompilation(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	struct compilations p = {.rules = r};
	size_t *order, shown = 0;

	rule_call_columns(f);
	scan_events(&(struct scan){.context = r->context, .args = 1u << TF_ARG_STACK, .more = &p}, visit_compilation);
	order = places_in_order(p.aggregate.count, rows_by_total, p.aggregate.rows);
	for (size_t i = 0; i < p.count && shown < ROWS; i++) {
		const struct aggregate_row *row = &p.aggregate.rows[order[i]];
		uint64_t wall = rule_wall(&m->processes[rule_call_process(row)]);

		if (p.times[order[i]] < TIMES || row->total * 100 < wall * FOUND_PERCENT)
			continue;
		rule_call_add_row(row, f);
		if (!shown++) {
			f->cost_ns = row->total < wall ? row->total : wall;
			buffer_print(&f->text, "one line has code compiled %llu times, ",
				     (unsigned long long)p.times[order[i]]);
			rule_time(&f->text, f->cost_ns);
		}
	}
	if (!p.has_python)
		rule_unchecked(f, "no Python stacks were recorded");
	aggregate_done(&p.aggregate);
	map_done(&p.known);
	free(p.times);
	free(order);
}
