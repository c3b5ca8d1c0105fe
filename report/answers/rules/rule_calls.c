/* SPDX-License-Identifier: Apache-2.0 */
/* implicit_sync, alloc_churn, pageable_copies, unpinned_loader: CUDA calls that cost more than they seem to, by
 * source line. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"

enum { ROWS = 50, MIN_CALLS = 3, CHURN_CALLS = 20, LOADER_COPIES = 8 };
enum { MEMORY_PAGEABLE = 1, COPY_HTOD = 1, COPY_DTOH = 2 };
enum { CALLER_FRAMES = 8 }; /* those of the CUDA libraries, and the one that called them */
enum { MIN_BYTES = 65536, LOADER_BYTES = 4096, PER_MILLE = 10 };

/* Calls or copies, by name and source line. */
struct call_lines {
	struct rules *rules;
	struct aggregate aggregate;
	uint64_t *bytes; /* by row */
	size_t bytes_capacity, bytes_count;
	uint64_t count, total_ns, total_bytes;
	uint64_t span_ns; /* duration of the current process since its first launch */
	uint64_t steady;  /* ticks of that launch */
	uint64_t last_launch; /* ticks of the last one */
	struct map asked; /* image and stack -> 1 + whether the program asked for that wait */
	uint64_t last_copy; /* the thread of the scan whose last CUDA call was an asynchronous copy to the host */
	const struct trace_thread *thread;
};

static void calls_add_time(struct call_lines *l, uint32_t row, uint64_t ns)
{
	aggregate_add(&l->aggregate, row, ns);
	l->count++;
	l->total_ns += ns;
}

/* ---- the steady state ---- */

static bool waits_implicitly(unsigned cuda)
{
	return !(cuda & (CUDA_ASYNC | CUDA_NODE)) && cuda & (CUDA_COPIES | CUDA_ALLOC | CUDA_FREE | CUDA_REGISTER);
}

/* Calls visit for each CUDA call of images that launch anything, and sets the ticks of the first launch and the last;
 * with `later`, of the first tenth of the time between them instead of the first launch. */
static void each_steady(struct call_lines *l, bool later, void (*visit)(struct scan *, const struct event *))
{
	const struct model *m = l->rules->context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		struct steady t = rule_steady(l->rules, &m->images[i]);
		struct scan s = {.context = l->rules->context, .image = &m->images[i], .more = l};

		if (!t.first)
			continue;
		l->span_ns += clock_map_duration(&m->machines[s.image->machine].clock, t.last - t.first);
		l->steady = t.first + (later ? (t.last - t.first) / 10 : 0);
		l->last_launch = t.last;
		scan_image(&s, visit);
	}
}

/* ---- rows ---- */

static void calls_write_finding(struct call_lines *l, struct finding *f, const char *what)
{
	f->cost_ns = l->total_ns;
	buffer_print(&f->text, "%llu %s, ", (unsigned long long)l->count, what);
	rule_time(&f->text, l->total_ns);
	if (l->aggregate.count)
		buffer_print(&f->text, ", most in %s", aggregate_field(&l->aggregate.rows[0], 1));
}

/* ---- implicit_sync ---- */

static bool copies_back(const struct event *e)
{
	uint64_t copy = e->args_count ? event_arg(e, TF_ARG_COPY) : 0;

	return copy && tf_arg_small(copy) == COPY_DTOH;
}

static bool is_python_wait(struct symbols *symbols, struct symbol_frame *f)
{
	symbols_name(symbols, f);
	return function_synchronizes(f->line->function);
}

/* Whether the program itself called the waiting function, or a Python function that waits; a library that was asked
 * for something else (a number, a copy) waits implicitly. */
static bool find_asked(struct call_lines *l, const struct image *image, uint32_t stack)
{
	struct symbols *symbols = l->rules->context->symbols;
	struct symbol_frame frames[CALLER_FRAMES], python;
	size_t count = stack ? symbols_native(symbols, image, stack, frames, CALLER_FRAMES) : 0, at = 0;
	enum python_rank rank;

	if (stack && symbols_python(symbols, image, stack, NULL, &python, &rank) &&
	    is_python_wait(symbols, &python))
		return true;
	while (at < count && strstr(frames[at].module, "/libcuda"))
		at++;
	/* without a stack: a program in C or C++ calls CUDA itself, an interpreter has libraries that do */
	return at < count ? !attribution_is_system(frames[at].module) : !attribution_is_python_program(image);
}

static bool is_asked_for(struct call_lines *l, const struct image *image, uint32_t stack)
{
	uint64_t *known = map_put(&l->asked, (uint64_t)(image - l->rules->context->model->images), stack, NULL);

	if (!*known)
		*known = 1 + find_asked(l, image, stack);
	return *known > 1;
}

static void visit_waiting(struct scan *s, const struct event *e)
{
	struct call_lines *l = s->more;
	const struct function *f = rule_cuda_function(s->image, e);
	unsigned cuda = f ? f->kind.cuda : 0;
	const char *name = NULL;

	if (!f)
		return;
	if (l->thread != s->thread)
		l->last_copy = 0;
	l->thread = s->thread;
	/* What tensor.item(), .cpu() and printing a tensor call. */
	if (l->last_copy && cuda & CUDA_STREAM && !is_asked_for(l, s->image, event_stack(e)))
		name = "copy to the host, then cudaStreamSynchronize";
	else if (waits_implicitly(cuda))
		name = f->name;
	if (name && event_start(e) >= l->steady && event_start(e) < l->last_launch) {
		bool is_pair = l->last_copy && cuda & CUDA_STREAM;

		calls_add_time(l,
			       rule_call_row(l->rules, &l->aggregate, s->image, e->id, is_pair, name, event_stack(e)),
			       clock_map_duration(s->clock, e->duration));
	}
	l->last_copy = cuda & CUDA_ASYNC && copies_back(e);
}

/* Adds rows if there are at least that many calls and they take at least the required share. */
static void calls_rule(struct rules *r, struct finding *f, bool later,
		       void (*visit)(struct scan *, const struct event *), uint64_t least, const char *what)
{
	struct call_lines l = {.rules = r};

	rule_call_columns(f);
	if (!rule_has_calls(r, f))
		return;
	each_steady(&l, later, visit);
	if (l.count >= least && l.total_ns * 1000 >= l.span_ns * PER_MILLE) {
		rule_call_rows(r, &l.aggregate, f);
		calls_write_finding(&l, f, what);
	}
	map_done(&l.asked);
	aggregate_done(&l.aggregate);
}

void rule_implicit_sync(struct rules *r, struct finding *f)
{
	calls_rule(r, f, false, visit_waiting, MIN_CALLS, "calls between launches that wait for the device implicitly");
}

/* ---- alloc_churn ---- */

static void visit_memory(struct scan *s, const struct event *e)
{
	struct call_lines *l = s->more;
	uint64_t memory = e->args_count ? event_arg(e, TF_ARG_MEMORY) : 0;
	const struct function *f = memory ? rule_cuda_function(s->image, e) : NULL;

	if (!f || event_start(e) < l->steady || event_start(e) >= l->last_launch ||
	    (tf_arg_small(memory) & ~(unsigned int)TF_MEMORY_FREE) == TF_MEMORY_POOL)
		return;
	calls_add_time(l, rule_call_row(l->rules, &l->aggregate, s->image, e->id, 0, f->name, event_stack(e)),
		       clock_map_duration(s->clock, e->duration));
}

void rule_alloc_churn(struct rules *r, struct finding *f)
{
	calls_rule(r, f, true, visit_memory, CHURN_CALLS, "allocations and frees after the warm-up");
}

/* ---- pageable_copies, unpinned_loader ---- */

static void add_copy(struct call_lines *l, const struct correlated *k, const struct device_record *record,
		     const struct tf_device_operation *w)
{
	static const char *const directions[] = {"copy", "HtoD", "DtoH"};
	const struct function *f = k->thread ? trace_function(k->image->trace, k->event.id) : NULL;
	unsigned int direction = w->copy <= COPY_DTOH ? w->copy : 0;
	char name[192];
	uint32_t row;

	snprintf(name, sizeof(name), "%s %s", f ? f->name : "(call not recorded)", directions[direction]);
	row = rule_call_row(l->rules, &l->aggregate, k->image, k->thread ? k->event.id : UINT16_MAX, direction, name,
			   k->thread ? event_stack(&k->event) : 0);
	calls_add_time(l, row, record->duration_ns);
	while (l->bytes_count <= row)
		mem_append(l->bytes, l->bytes_count, l->bytes_capacity, 0);
	l->bytes[row] += record->bytes;
	l->total_bytes += record->bytes;
}

static bool is_pageable(const struct tf_device_operation *w)
{
	return w->kind == TF_DEVICE_COPY && (w->source == MEMORY_PAGEABLE || w->target == MEMORY_PAGEABLE);
}

static void visit_pageable(void *context, const struct correlated *k)
{
	for (size_t i = 0; i < k->record_count; i++) {
		struct tf_device_operation w;

		if (k->records[i].bytes >= MIN_BYTES &&
		    device_operation(k->image->trace, k->records[i].operation, &w) && is_pageable(&w))
			add_copy(context, k, &k->records[i], &w);
	}
}

static void visit_loaded(void *context, const struct correlated *k)
{
	struct call_lines *l = context;

	for (size_t i = 0; i < k->record_count; i++) {
		struct tf_device_operation w;

		if (k->thread && k->records[i].bytes >= LOADER_BYTES && event_start(&k->event) >= l->steady &&
		    device_operation(k->image->trace, k->records[i].operation, &w) && is_pageable(&w) &&
		    w.copy == COPY_HTOD)
			add_copy(l, k, &k->records[i], &w);
	}
}

PLACE_COMPARATOR(calls_by_total, struct aggregate_row,
		 order_of(b->total, a->total) ?: strcmp(aggregate_field(a, 1), aggregate_field(b, 1)))

/* Sorts indices, because the numbers of bytes are in a parallel array. */
static void calls_find_copies(struct call_lines *l, struct finding *f)
{
	SCOPED_MEMORY size_t *order = places_in_order(l->aggregate.count, calls_by_total, l->aggregate.rows);

	for (size_t i = 0; i < l->aggregate.count && i < ROWS; i++) {
		const struct aggregate_row *r = &l->aggregate.rows[order[i]];
		char rate[32];

		snprintf(rate, sizeof(rate), "%.3f", r->total ? (double)l->bytes[order[i]] / (double)r->total : 0);
		rule_row(f);
		table_cells(&f->table, l->rules->context->model->processes[rule_call_process(r)].pid, r->total,
			    r->count, (double)l->bytes[order[i]], rate, aggregate_field(r, 1));
		rule_line_cell(f, r->of);
		f->line = f->line ? f->line : r->of;
	}
}

/* Found if there are at least that many. */
static void conclude_copies(struct call_lines *l, struct finding *f, uint64_t least, const char *what)
{
	if (l->count >= least) {
		calls_find_copies(l, f);
		f->cost_ns = l->total_ns;
		buffer_print(&f->text, "%llu %s, %.3f MB, ", (unsigned long long)l->count, what,
			     (double)l->total_bytes / 1e6);
		rule_time(&f->text, l->total_ns);
	}
	rule_missed_devices(l->rules, f);
	aggregate_done(&l->aggregate);
	free(l->bytes);
}

static const enum column_id copy_columns[] = {COL_PID,      COL_TOTAL_TIME_NS, COL_COUNT, COL_TOTAL_MB,
					      COL_GB_PER_S, COL_NAME,		 COL_LINE};
enum { COPY_COLUMNS = sizeof(copy_columns) / sizeof(*copy_columns) };

void rule_pageable_copies(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	struct call_lines l = {.rules = r};
	bool has_any;

	rule_columns(f, copy_columns, COPY_COLUMNS);
	if (!rule_has_devices(r, f))
		return;
	has_any = rule_has_copies(r, MEMORY_PAGEABLE);
	for (size_t i = 0; has_any && i < m->image_count; i++)
		correlate_image(r->context, &m->images[i], &l, visit_pageable, NULL);
	conclude_copies(&l, f, 1, "copies of pageable host memory");
}

static bool has_workers(const struct model *m, const struct image *image)
{
	return array_find(child, m->images, m->image_count,
			  child->parent_nonce == image->nonce && child->via == TF_VIA_FORK && image->nonce) != NULL;
}

void rule_unpinned_loader(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	struct call_lines l = {.rules = r};

	rule_columns(f, copy_columns, COPY_COLUMNS);
	if (!rule_has_devices(r, f))
		return;
	for (size_t i = 0; i < m->image_count; i++) {
		if (!m->images[i].trace || !has_workers(m, &m->images[i]))
			continue;
		l.steady = rule_steady(r, &m->images[i]).first;
		correlate_image(r->context, &m->images[i], &l, visit_loaded, NULL);
	}
	conclude_copies(&l, f, LOADER_COPIES,
			"copies of unpinned batches to the device, in a process with loader workers");
}
