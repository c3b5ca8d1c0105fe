/* SPDX-License-Identifier: Apache-2.0 */
/* pstats: the calls of Python functions (--python-calls, --python-functions-trace) as cProfile counts them, in the file
 * that its dump_stats() writes: a dict of functions in the format of Python's marshal. A function's own time has that
 * of the functions it called that are not traced. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text.h"
#include "report/events/filter.h"
#include "report/events/nvtx/nvtx_function.h"
#include "report/export/export.h"

/* Calls of a function, or those that one function made of another. */
struct tally {
	uint64_t calls, primitive; /* primitive: while no other call of it was in progress */
	uint64_t own_ns, total_ns; /* total: of primitive calls */
	uint64_t depth;		   /* calls in progress */
};

struct pstats_edge {
	struct tally tally;
	uint32_t caller;
	size_t next; /* the next one with the same callee, + 1 */
};

struct pstats_function {
	struct tally tally;
	size_t callers; /* edges of which it is the callee: position + 1 of the first */
};

/* A range of the thread that is being read. Places in the stack are counted from 1; 0: none. */
struct pstats_call {
	uint64_t start, inner_ns; /* inner: of traced functions that it called */
	uint32_t row;		  /* row + 1; 0: not a call */
	bool is_closed;		  /* while a range of another domain above it is open */
	size_t below;		  /* the open range of its domain that it is in */
	size_t caller;		  /* the call that it is in */
	size_t edge;		  /* + 1; 0: it has no caller */
};

struct pstats {
	struct interner keys; /* the first line as its bytes, file, name; number = position in functions */
	struct pstats_function *functions;
	size_t function_count, function_capacity;
	struct pstats_edge *edges;
	size_t edge_count, edge_capacity;
	struct map edge_places; /* caller, callee -> edge + 1 */
	/* of one image and thread */
	struct nvtx_functions named;
	struct map known; /* domain, text -> row + 1; 0: not a call */
	const struct clock_map *clock;
	struct pstats_call *stack;
	size_t depth, capacity;
	size_t top[EVENT_IDS]; /* by domain: its innermost open range */
};

static uint32_t function_row(struct pstats *p, uint32_t domain, uint32_t text)
{
	struct nvtx_function f;
	SCOPED(buffer) key = {0};
	bool is_new;
	uint64_t *row = map_put(&p->known, domain, text, &is_new);
	const char *name;

	if (!is_new || !nvtx_function_find(&p->named, domain, text, &f))
		return (uint32_t)*row;
	name = strcmp(f.file, "~") ? strrchr(f.name, '.') : NULL; /* cProfile does not qualify names of Python's */
	buffer_add(&key, &f.first_line, sizeof(f.first_line));
	buffer_print(&key, "%s%c%s%c", f.file, 0, name ? name + 1 : f.name, 0);
	*row = interner_number(&p->keys, key.data, key.size) + 1;
	if (*row > p->function_count)
		mem_append(p->functions, p->function_count, p->function_capacity, (struct pstats_function){0});
	return (uint32_t)*row;
}

static size_t edge_of(struct pstats *p, uint32_t caller, uint32_t callee)
{
	bool is_new;
	uint64_t *place = map_put(&p->edge_places, caller, callee, &is_new);

	if (is_new) {
		struct pstats_function *f = &p->functions[callee];

		mem_append(p->edges, p->edge_count, p->edge_capacity,
			   (struct pstats_edge){.caller = caller, .next = f->callers});
		*place = f->callers = p->edge_count;
	}
	return *place;
}

/* The innermost call in progress; 0: none. */
static size_t innermost_call(const struct pstats *p)
{
	size_t at = p->depth;

	while (at && (!p->stack[at - 1].row || p->stack[at - 1].is_closed))
		at = p->stack[at - 1].caller;
	return at;
}

static void enter(struct pstats *p, const struct event *e)
{
	size_t *top = &p->top[e->id % EVENT_IDS];
	struct pstats_call call = {
		.start = e->ticks, .below = *top, .row = function_row(p, e->id, e->text), .caller = innermost_call(p)};

	if (call.row)
		p->functions[call.row - 1].tally.depth++;
	if (call.row && call.caller) {
		call.edge = edge_of(p, p->stack[call.caller - 1].row - 1, call.row - 1);
		p->edges[call.edge - 1].tally.depth++;
	}
	mem_append(p->stack, p->depth, p->capacity, call);
	*top = p->depth;
}

static void tally_add(struct tally *t, uint64_t own_ns, uint64_t total_ns)
{
	t->calls++;
	t->own_ns += own_ns;
	if (--t->depth)
		return;
	t->primitive++;
	t->total_ns += total_ns;
}

static void leave(struct pstats *p, struct pstats_call *call, uint64_t end)
{
	uint64_t ns = end > call->start ? clock_map_duration(p->clock, end - call->start) : 0;
	uint64_t own_ns = ns > call->inner_ns ? ns - call->inner_ns : 0;

	call->is_closed = true;
	if (call->row) {
		tally_add(&p->functions[call->row - 1].tally, own_ns, ns);
		if (call->edge)
			tally_add(&p->edges[call->edge - 1].tally, own_ns, ns);
		if (call->caller)
			p->stack[call->caller - 1].inner_ns += ns;
	}
	while (p->depth && p->stack[p->depth - 1].is_closed)
		p->depth--;
}

static void leave_domain(struct pstats *p, uint32_t domain, uint64_t end)
{
	size_t *top = &p->top[domain % EVENT_IDS];
	struct pstats_call *call = *top ? &p->stack[*top - 1] : NULL;

	if (!call)
		return; /* a pop without a push */
	*top = call->below;
	leave(p, call, end);
}

static void read_thread(struct pstats *p, const struct image *image, const struct trace_thread *thread)
{
	struct cursor cursor;
	struct event e;

	if (!(thread->kinds & 1u << TF_PUSH))
		return;
	memset(p->top, 0, sizeof(p->top));
	filter_cursor_init(&cursor, image->trace, thread);
	while (cursor_next(&cursor, &e)) {
		if (e.kind == TF_PUSH)
			enter(p, &e);
		else if (e.kind == TF_POP)
			leave_domain(p, e.id, e.ticks);
	}
	while (p->depth)
		leave(p, &p->stack[p->depth - 1], image_last_ticks(image));
}

static void pstats_read_image(struct pstats *p, const struct model *m, const struct image *image)
{
	nvtx_functions_make(&p->named, image->trace);
	p->clock = &m->machines[image->machine].clock;
	for (size_t i = 0; nvtx_functions_any(&p->named) && i < image->trace->thread_count; i++)
		read_thread(p, image, &image->trace->threads[i]);
	map_done(&p->known);
	p->known = (struct map){0};
	nvtx_functions_done(&p->named);
}

/* ---- marshal ---- */

static void marshal_word(struct sink *out, char type, int32_t value)
{
	sink_add(out, &type, 1);
	sink_add(out, &value, sizeof(value));
}

/* An int of more than 31 bits has digits of 15 bits. */
static void marshal_number(struct sink *out, uint64_t number)
{
	int32_t digits = 0;

	if (number <= INT32_MAX) {
		marshal_word(out, 'i', (int32_t)number);
		return;
	}
	for (uint64_t rest = number; rest; rest >>= 15)
		digits++;
	marshal_word(out, 'l', digits);
	for (; number; number >>= 15) {
		uint16_t digit = number & 0x7fff;

		sink_add(out, &digit, sizeof(digit));
	}
}

static void marshal_seconds(struct sink *out, uint64_t ns)
{
	double seconds = (double)ns / 1e9;

	sink_text(out, "g");
	sink_add(out, &seconds, sizeof(seconds));
}

static void marshal_text(struct sink *out, const char *text)
{
	SCOPED(buffer) b = {0};

	while (*text)
		text_add_code(&b, text_next(&text));
	marshal_word(out, 'u', (int32_t)b.size);
	sink_text(out, buffer_string(&b));
}

static void marshal_key(struct sink *out, const struct interned *key)
{
	const uint32_t *first_line = (const void *)key->text;
	const char *file = (const char *)(first_line + 1);

	marshal_word(out, '(', 3);
	marshal_text(out, file);
	marshal_number(out, *first_line);
	marshal_text(out, file + strlen(file) + 1);
}

static void marshal_function(struct sink *out, const struct pstats *p, size_t i)
{
	const struct pstats_function *f = &p->functions[i];

	marshal_key(out, &p->keys.items[i]);
	marshal_word(out, '(', 5);
	marshal_number(out, f->tally.primitive);
	marshal_number(out, f->tally.calls);
	marshal_seconds(out, f->tally.own_ns);
	marshal_seconds(out, f->tally.total_ns);
	sink_text(out, "{");
	for (size_t k = f->callers; k; k = p->edges[k - 1].next) {
		const struct pstats_edge *e = &p->edges[k - 1];

		marshal_key(out, &p->keys.items[e->caller]);
		marshal_word(out, '(', 4);
		marshal_number(out, e->tally.calls);
		marshal_number(out, e->tally.primitive);
		marshal_seconds(out, e->tally.own_ns);
		marshal_seconds(out, e->tally.total_ns);
	}
	sink_text(out, "0");
}

int export_pstats(struct export *x, struct err *err)
{
	const struct model *m = x->context->model;
	struct pstats p = {0};
	int code = 0;

	for (size_t i = 0; i < m->image_count; i++)
		pstats_read_image(&p, m, &m->images[i]);
	if (!p.function_count)
		code = err_set(err, -ENODATA, "pstats: the captures have no calls of Python functions: record with "
			       "--python-calls=all");
	if (p.function_count)
		sink_text(x->out, "{");
	for (size_t i = 0; i < p.function_count; i++)
		marshal_function(x->out, &p, i);
	if (p.function_count)
		sink_text(x->out, "0");
	interner_done(&p.keys);
	map_done(&p.edge_places);
	free(p.functions);
	free(p.edges);
	free(p.stack);
	return code;
}
