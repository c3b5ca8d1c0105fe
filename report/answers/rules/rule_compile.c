/* SPDX-License-Identifier: Apache-2.0 */
/* recompilation: a line that has code compiled again and again (JAX, torch.compile, numba), because each new shape,
 * type or value needs code of its own. Where --jax recorded JAX's compilations, they are taken as they are; the others
 * are derived from stacks of calls and of CPU samples. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/events/jax/jax_functions.h"
#include "report/events/stacks/samples.h"
#include "report/names/python.h"

/* TIMES: fewer are usual, for the first step, the last batch, another data type. A thread without any event for
 * GAP_NS may have done something else meanwhile. */
enum { ROWS = 20, FOUND_PERCENT = 10, TIMES = 4 };
#define GAP_NS 1000000000ull

static const char by_stacks[] = "compile"; /* the name of a row */

struct compilations {
	struct rules *rules;
	struct aggregate aggregate; /* with the number of compilations */
	struct map known; /* (stack, image) -> enum what_runs, or COMPILES + row */
	struct jax_functions functions; /* JAX's own compilations, which need no stacks */
	bool has_jax;
	/* the previous event with a stack of the thread */
	const struct trace_thread *thread;
	uint64_t last_ticks;
	uint32_t last_row;
	uint64_t prepared_ns; /* up to the previous event, for what is compiled next */
};

enum what_runs { OTHER_CODE = 1, PREPARES, COMPILES };

static bool is_other_compiler_file(const char *file)
{
	/* Threads of the pool of compile workers wait for work or for results. */
	if (strstr(file, "/torch/_inductor/compile_worker/"))
		return false;
	return text_any(text_has, file, "/torch/_dynamo/convert_frame.py", "/torch/_inductor/",
			"/numba/core/compiler", "/triton/compiler/");
}

static bool is_compiler_file(const char *file)
{
	return text_any(text_has, file, "/jax/_src/compiler.py", "/jax/_src/interpreters/mlir.py") ||
	       is_other_compiler_file(file);
}

/* JAX's code for a call of which it has no compiled code: what traces the function, whose own lines are innermost. */
static bool is_tracing_file(const char *file)
{
	return text_ends_with(file, "/jax/_src/pjit.py");
}

static bool is_executing_file(const char *file)
{
	return text_ends_with(file, "/jax/_src/interpreters/pxla.py");
}

static uint64_t what_runs(struct compilations *p, const struct image *image, uint32_t stack)
{
	uint64_t *known = map_put(&p->known, stack, (uint64_t)(image - p->rules->context->model->images), NULL);
	uint64_t value = OTHER_CODE;

	if (!*known) {
		bool has_phases = jax_has_phases(image);

		/* The import of a compiler compiles nothing. */
		if (attribution_has_import(image, stack))
			value = OTHER_CODE;
		else if (python_has_file(image->trace, stack, has_phases ? is_other_compiler_file : is_compiler_file))
			value = COMPILES + rule_call_row(p->rules, &p->aggregate, image, 0, 0, by_stacks, stack);
		else if (!has_phases && python_has_file(image->trace, stack, is_tracing_file) &&
			 !python_has_file(image->trace, stack, is_executing_file))
			value = PREPARES;
		*known = value;
	}
	return *known;
}

static uint64_t *times_of(struct compilations *p, uint32_t row)
{
	return aggregate_more(&p->aggregate, row, sizeof(uint64_t));
}

static void visit_compilation(struct scan *s, const struct event *e)
{
	struct compilations *p = s->more;
	bool is_sample = e->kind == TF_SAMPLE, is_near, is_next;
	uint32_t stack = is_sample || e->kind == TF_CALL ? event_stack(e) : 0, row;
	uint64_t ns, gap, what;

	if (!stack)
		return;
	what = what_runs(p, s->image, stack);
	row = what >= COMPILES ? (uint32_t)(what - COMPILES) : UINT32_MAX;
	ns = is_sample ? samples_ns(e) : clock_map_duration(s->clock, e->duration);
	gap = p->thread == s->thread && e->ticks > p->last_ticks
		      ? clock_map_duration(s->clock, e->ticks - p->last_ticks)
		      : 0;
	is_near = p->thread == s->thread && gap < GAP_NS + ns;
	is_next = is_near && row != UINT32_MAX && p->last_row == row;
	if (is_next)
		ns = gap;
	else if (is_near && p->prepared_ns)
		ns = p->prepared_ns + gap;
	if (row != UINT32_MAX) {
		*times_of(p, row) += !is_next;
		aggregate_add(&p->aggregate, row, ns);
	}
	p->prepared_ns = what == PREPARES ? ns : 0;
	p->thread = s->thread;
	p->last_ticks = e->ticks;
	p->last_row = row;
}

/* Each process compiles its own. */
static void add_functions(struct compilations *p)
{
	struct report_context c = *p->rules->context;

	c.by = BY_PROCESS;
	jax_functions_make(&c, &p->functions);
	for (size_t i = 0; i < p->functions.keys.count; i++) {
		const struct jax_function *f = p->functions.keys.rows[i].more;
		uint32_t row;

		if (!f->counts[JAX_COMPILE])
			continue;
		p->has_jax = true;
		row = rule_call_row(p->rules, &p->aggregate, f->image, 0, (unsigned)i + 1,
				    aggregate_field(&p->functions.keys.rows[i], 1), f->stack);
		*times_of(p, row) += f->counts[JAX_COMPILE];
		aggregate_add_total(&p->aggregate, row, f->counts[JAX_COMPILE], jax_compile_ns(f));
		p->aggregate.rows[row].most = f->longest_ns;
	}
}

/* What JAX says has changed before one of the compilations of a row. */
static void add_change(const struct compilations *p, const struct aggregate_row *row, struct buffer *text)
{
	array_each(const struct aggregate_row, of, p->functions.keys.rows, p->functions.keys.count) {
		const struct jax_function *f = of->more;

		if (f->change && !strcmp(aggregate_field(of, 1), aggregate_field(row, 1))) {
			buffer_print(text, ", for a change of %s", f->change);
			return;
		}
	}
}

PLACE_COMPARATOR(rows_by_total, struct aggregate_row, order_of(b->total, a->total))

/* The name of a function, or what stacks show. */
static const char *compiled_words(const struct aggregate_row *row, struct buffer *ret)
{
	const char *name = aggregate_field(row, 1);

	if (!strcmp(name, by_stacks))
		return "one line has code";
	buffer_print(ret, "JAX's function %s is", name);
	return ret->data;
}

/* One compilation stays. The thread waits for threads of a compiler meanwhile, and no edge tells for which, so the
 * graph has no price. By stacks the number of compilations is a bit too small, and the first one often takes longer. */
static void price_compilations(uint64_t times, struct finding *f)
{
	uint64_t each_ns = f->cost_ns / times;

	f->saves = (struct saving){.saved_ns = f->cost_ns - each_ns, .low_ns = f->cost_ns - 2 * each_ns,
				   .high_ns = f->cost_ns, .cost_ns = f->cost_ns};
	f->is_priced = true;
}

void rule_recompilation(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	struct compilations p = {.rules = r};
	SCOPED(buffer) words = {0};
	size_t *order, shown = 0;

	rule_call_columns(f);
	add_functions(&p);
	scan_events(&(struct scan){.context = r->context, .args = 1u << TF_ARG_STACK,
				   .call_args = 1u << TF_ARG_STACK, .code = is_compiler_file, .more = &p},
		    visit_compilation);
	order = places_in_order(p.aggregate.count, rows_by_total, p.aggregate.rows);
	for (size_t i = 0; i < p.aggregate.count && shown < ROWS; i++) {
		const struct aggregate_row *row = &p.aggregate.rows[order[i]];
		uint64_t wall = recorded_wall(m, &m->processes[rule_call_process(row)]);
		uint64_t times = *times_of(&p, (uint32_t)order[i]);

		if (times < TIMES || row->total * 100 < wall * FOUND_PERCENT)
			continue;
		rule_call_add_row(p.rules, row, f);
		if (!shown++) {
			f->cost_ns = row->total < wall ? row->total : wall;
			buffer_print(&f->text, "%s compiled %llu times, ", compiled_words(row, &words),
				     (unsigned long long)times);
			rule_time(&f->text, f->cost_ns);
			add_change(&p, row, &f->text);
			price_compilations(times, f);
		}
	}
	if (!p.has_jax)
		rule_needs_python(r, f);
	jax_functions_done(&p.functions);
	aggregate_done(&p.aggregate);
	map_done(&p.known);
	free(order);
}
