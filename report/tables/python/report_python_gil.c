/* SPDX-License-Identifier: Apache-2.0 */
/* python_gil_sum, python_gil_trace: waits of Python threads for the global interpreter lock (GIL).
 *
 * CPython's other locks are semaphores: it waits on a condition variable only to take the GIL
 * (pthread_cond_timedwait, in pieces of the switch interval), and after a request to release it until another thread
 * has taken it (pthread_cond_wait). The stack of such a call tells that the interpreter made it. A call without a
 * stack, because it is shorter than --osrt-backtrace-threshold, is a row of its own: it may be a wait of a library for
 * something else. Free-threaded builds have no GIL, and no rows. See docs/decisions/python-gil.md. */
#include <string.h>

#include "report/names/attribution.h"
#include "report/tables/sorted_rows.h"
#include "report/time/profile.h"

enum gil_state { GIL_NONE, GIL_TAKES, GIL_RELEASES, GIL_UNKNOWN };
static const char *const state_names[] = {
	[GIL_TAKES] = "Waiting for GIL",
	[GIL_RELEASES] = "Released GIL, waiting for its next holder",
	[GIL_UNKNOWN] = "Waiting, not known for what (no stack)",
};

struct gil {
	struct attribution attribution;
	struct map callers;	/* (image, stack) -> 1 + whether the interpreter made the call */
	const struct image *image;
	bool is_python; /* the program of that image */
};

struct gil_wait {
	struct sorted_event call;
	uint32_t stack;
	enum gil_state state;
};

static void begin_image(struct gil *g, const struct image *image)
{
	g->image = image;
	g->is_python = attribution_is_python_program(image);
}

static bool is_made_by_interpreter(struct gil *g, const struct scan *s, uint32_t stack)
{
	size_t image = (size_t)(s->image - s->context->model->images);
	uint64_t *known = map_put(&g->callers, image, stack, NULL);

	if (!*known)
		*known = 1 + attribution_is_interpreter(s->context->symbols, s->image, stack);
	return *known > 1;
}

static enum gil_state state_of(struct gil *g, struct scan *s, const struct event *e, uint32_t *ret_stack)
{
	const struct function *f = event_function(s->image->trace, e);

	if (!f || !(f->kind.does & FUNCTION_CONDITION) || !(f->kind.does & FUNCTION_AWAITS))
		return GIL_NONE;
	if (g->image != s->image)
		begin_image(g, s->image);
	*ret_stack = event_stack(e);
	if (!*ret_stack)
		return g->is_python ? GIL_UNKNOWN : GIL_NONE;
	if (!is_made_by_interpreter(g, s, *ret_stack))
		return GIL_NONE;
	return f->kind.does & FUNCTION_TIMED ? GIL_TAKES : GIL_RELEASES;
}

/* The line that waited, as report lines attributes it. */
static void line_of(struct gil *g, const struct report_context *c, const struct image *image, uint32_t stack,
		    struct buffer *ret)
{
	g->attribution.symbols = c->symbols;
	attribution_text(&g->attribution, image, stack, "?", ret);
}

static void gil_done(struct gil *g)
{
	attribution_done(&g->attribution);
	map_done(&g->callers);
}

static void gil_none(const struct model *m, struct table *table)
{
	if (!(model_bits(m).groups & 1u << TF_GROUP_OSRT))
		table_lacks(table, "no OS calls were recorded: -t python-gil or -t osrt records them");
	else
		table_lacks(table,
		       "no waits for the GIL of Python by calls longer than --osrt-backtrace-threshold; without stacks "
		       "(--python-backtrace, --osrt-backtrace-threshold) they cannot be told from others");
}

/* ---- python_gil_sum ---- */

static bool wait_key(struct scan *s, const void *of, struct buffer *fields)
{
	const struct gil_wait *w = of;

	thread_label(s->thread, fields);
	buffer_add(fields, "", 1);
	buffer_field(fields, state_names[w->state]);
	line_of(s->more, s->context, s->image, w->stack, fields);
	return true;
}

static void sum_visit(struct scan *s, const struct event *e)
{
	struct gil_wait w = {0};

	w.state = state_of(s->more, s, e, &w.stack);
	if (w.state)
		scan_add_call(s, e, (uint64_t)s->thread->number << 34 | (uint64_t)w.state << 32 | w.stack, wait_key,
			      &w);
}

void report_python_gil_sum(const struct report_context *c, struct table *table)
{
	static const struct sum_report report = {.shape = {.total = COL_TOTAL_TIME_NS,
							   .count = COL_WAITS,
							   .names = {COL_THREAD, COL_STATE, COL_LINE},
							   .has_percent = true},
						 .groups = 1u << TF_GROUP_OSRT,
						 .visit = sum_visit};
	SCOPED(gil) g = {0};

	report_sums(c, table, &report, &g);
	if (!table_rows(table))
		gil_none(c->model, table);
}

/* ---- python_gil_trace ---- */

static void wait_add(struct scan *s, const struct event *e)
{
	const struct sorted_rows *rows = s->more;
	uint32_t stack;
	enum gil_state state = state_of(rows->data, s, e, &stack);
	struct gil_wait *w;

	if (!state)
		return;
	w = sorted_rows_add_event(s, e);
	w->stack = stack;
	w->state = state;
}

static void waits_collect(struct sorted_rows *rows)
{
	scan_events(&(struct scan){.context = rows->context, .groups = 1u << TF_GROUP_OSRT, .more = rows}, wait_add);
}

static void wait_cells(struct sorted_rows *rows, const void *of, struct table *table)
{
	const struct gil_wait *w = of;
	SCOPED(buffer) line = {0};

	line_of(rows->data, rows->context, w->call.image, w->stack, &line);
	table_cells(table, model_since_origin(rows->context->model, w->call.sorted.key[0]), w->call.duration_ns,
		    w->call.image->pid, w->call.thread->tid, w->call.thread->name, state_names[w->state],
		    buffer_string(&line));
}

void report_python_gil_trace(const struct report_context *c, struct table *table)
{
	static const struct row_report report = {
		{COL_START_NS, COL_DURATION_NS, COL_PID, COL_TID, COL_THREAD_NAME, COL_STATE, COL_LINE},
		sizeof(struct gil_wait), waits_collect, wait_cells};
	SCOPED(gil) g = {0};

	report_rows(c, table, &report, &g);
	if (!table_rows(table))
		gil_none(c->model, table);
}
