/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates events by the source line to which they are attributed. */
#include "report/derive/stacks/lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/derive/stacks/attribution.h"
#include "report/derive/device/attribute.h"
#include "report/derive/stacks/frame.h"
#include "report/derive/stacks/samples.h"

enum { WITHIN = 64 };

static const char no_stack[] = "(no stack)";

/* A call or sample that has ended on a thread and may be inside a call that is still to come: calls are written when
 * they end. */
struct within {
	uint64_t start; /* ticks */
	uint64_t total, os, cuda; /* ns */
};

/* Sums before they are named: the place of a frame, in one group of --by. */
struct site {
	const struct image *image;
	const struct trace_thread *thread;
	uint32_t range;
	bool is_users, is_stackless;
	struct symbol_frame frame;
	uint64_t values[LINE_VALUES];
	uint32_t row; /* once it has one */
	bool has_row;
};

struct lines_pass {
	struct scan scan;
	struct lines *lines;
	struct attribution attribution;
	struct site *sites;
	size_t site_count, site_capacity;
	struct map numbers; /* image, range and place of a frame -> site + 1 */
	struct map stacks;  /* image, range and stack -> site << 1 | whether its innermost frame is the interpreter's */
	const struct trace_thread *thread; /* the thread to which `within` belongs */
	struct within within[WITHIN];
	size_t within_count;
	lines_each *each; /* NULL: nobody is told */
	void *more;
};

/* ---- rows ---- */

/* Fields: file, line, function. */
static void lines_add_frame(const struct symbol_frame *f, struct buffer *key)
{
	struct frame parts;

	frame_split(f->text, &parts);
	buffer_text(key, parts.file ? parts.file : "");
	buffer_add(key, "", 1);
	if (parts.file)
		buffer_print(key, "%" PRIu32, parts.line);
	buffer_add(key, "", 1);
	frame_function(f, parts.name, key);
	frame_done(&parts);
}

/* Attributes a stack that was not seen before; returns the value stored in `stacks`. */
static uint64_t new_stack(struct lines_pass *w, uint64_t group, uint32_t range, uint32_t stack)
{
	struct scan *s = &w->scan;
	struct site site = {.image = s->image, .thread = s->thread, .range = range};
	uint64_t *number;

	site.is_stackless = !attribution_stack(&w->attribution, s->image, stack, &site.frame, &site.is_users);
	number = map_put(&w->numbers, group, site.is_stackless ? UINT64_MAX : site.frame.place, NULL);
	if (!*number) {
		w->sites = mem_grow(w->sites, w->site_count, &w->site_capacity, sizeof(*w->sites));
		w->sites[w->site_count] = site;
		*number = ++w->site_count;
	}
	return (*number - 1) << 1 |
	       (!site.is_stackless && symbols_ends_in_interpreter(w->attribution.symbols, s->image, stack));
}

/* The line of an event. Valid until the next call. */
static struct site *lines_site_of(struct lines_pass *w, const struct event *e, bool *ret_is_interpreter)
{
	struct scan *s = &w->scan;
	uint32_t stack = e->args_count ? (uint32_t)tf_arg_value(event_arg(e, TF_ARG_STACK)) : 0;
	uint32_t range = s->thread ? scan_range(s, event_start(e)) : 0;
	uint64_t group = (uint64_t)(s->image - s->context->model->images) << 32 | range;
	bool is_new;
	uint64_t *known = map_put(&w->stacks, group, stack, &is_new);

	if (is_new)
		*known = new_stack(w, group, range, stack);
	if (ret_is_interpreter)
		*ret_is_interpreter = *known & 1;
	return &w->sites[*known >> 1];
}

/* The row of a site, named at the first call. */
static uint32_t lines_row(struct lines_pass *w, struct site *site)
{
	struct lines *l = w->lines;
	struct buffer key = {0};

	if (site->has_row)
		return site->row;
	w->scan.image = site->image;
	w->scan.thread = site->thread;
	scan_group(&w->scan, site->range, &key);
	if (site->is_stackless) {
		buffer_add(&key, "\0", 2);
		buffer_text(&key, no_stack);
	} else {
		symbols_name(w->attribution.symbols, &site->frame);
		lines_add_frame(&site->frame, &key);
	}
	site->row = scan_row(&w->scan, &key);
	site->has_row = true;
	buffer_done(&key);
	if (site->row == l->count) {
		l->values = mem_grow(l->values, l->count, &l->capacity, sizeof(*l->values));
		l->values[l->count++] = (struct line_values){.is_users = site->is_users};
	}
	return site->row;
}

/* Adds a site to its row. */
static void lines_add_row(struct lines_pass *w, struct site *site)
{
	uint32_t row = lines_row(w, site);

	for (size_t i = 0; i < LINE_VALUES; i++)
		w->lines->values[row].of[i] += site->values[i];
}

/* ---- events ---- */

static void push_within(struct lines_pass *w, struct within item)
{
	if (w->within_count == WITHIN) {
		/* Joins the two oldest entries: this matters only for a call that began between them. */
		w->within[1].start = w->within[0].start;
		w->within[1].total += w->within[0].total;
		w->within[1].os += w->within[0].os;
		w->within[1].cuda += w->within[0].cuda;
		memmove(w->within, w->within + 1, (WITHIN - 1) * sizeof(*w->within));
		w->within_count--;
	}
	w->within[w->within_count++] = item;
}

static struct within collect_within(struct lines_pass *w, uint64_t start)
{
	struct within sum = {0};

	while (w->within_count && w->within[w->within_count - 1].start >= start) {
		const struct within *last = &w->within[--w->within_count];

		sum.total += last->total;
		sum.os += last->os;
		sum.cuda += last->cuda;
	}
	return sum;
}

static uint64_t difference_or_zero(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static void add_total(struct lines_pass *w, struct site *site, const struct event *e, uint64_t ns)
{
	site->values[LINE_TOTAL] += ns;
	if (w->each)
		w->each(w->more, lines_row(w, site), &w->scan, e, ns);
}

static void lines_add_sample(struct lines_pass *w, const struct event *e)
{
	bool is_interpreter;
	struct site *site = lines_site_of(w, e, &is_interpreter);
	uint64_t ns = samples_ns(e);

	site->values[is_interpreter ? LINE_PYTHON : LINE_NATIVE] += ns;
	site->values[LINE_SAMPLES]++;
	add_total(w, site, e, ns);
	push_within(w, (struct within){.start = e->ticks, .total = ns});
}

static void add_memory(uint64_t *line, const struct event *e)
{
	uint64_t memory = event_arg(e, TF_ARG_MEMORY), copy = event_arg(e, TF_ARG_COPY);

	if (event_arg(e, TF_ARG_RESULT))
		return;
	if (memory && !(tf_arg_small(memory) & TF_MEMORY_FREE) && tf_arg_small(memory) != TF_MEMORY_HOST)
		line[LINE_ALLOCATED] += tf_arg_value(event_arg(e, TF_ARG_BYTES));
	if (copy)
		line[LINE_COPIED] += tf_arg_value(copy);
}

static void lines_add_call(struct lines_pass *w, const struct event *e)
{
	const struct function *f = trace_function(w->scan.image->trace, e->id);
	bool is_os = f && f->group == TF_GROUP_OSRT,
	     is_cuda = f && (f->group == TF_GROUP_CUDA || f->group == TF_GROUP_CUDA_DRIVER);
	uint64_t ns = clock_map_duration(w->scan.clock, e->duration), start = event_start(e), *line;
	struct within in;
	struct site *site;

	if (!is_os && !is_cuda)
		return;
	site = lines_site_of(w, e, NULL);
	line = site->values;
	in = collect_within(w, start);
	line[LINE_CALLS]++;
	add_total(w, site, e, difference_or_zero(ns, in.total));
	if (is_os) {
		line[LINE_OS] += difference_or_zero(ns, in.os);
		line[LINE_OFF_CPU] += difference_or_zero(ns, in.total);
		in.os = ns;
	} else {
		line[LINE_CUDA] += difference_or_zero(ns, in.cuda);
		in.cuda = ns;
	}
	if (e->args_count)
		add_memory(line, e);
	push_within(w, (struct within){start, ns > in.total ? ns : in.total, in.os, in.cuda});
}

static void lines_visit_event(struct scan *s, const struct event *e)
{
	struct lines_pass *w = s->more;

	if (w->thread != s->thread)
		w->within_count = 0;
	w->thread = s->thread;
	if (e->kind == TF_SAMPLE)
		lines_add_sample(w, e);
	else if (e->kind == TF_CALL)
		lines_add_call(w, e);
}

static void lines_visit_correlated(void *context, const struct correlated *k)
{
	struct lines_pass *w = context;
	uint64_t ns = 0;

	if (!k->record_count)
		return;
	for (size_t i = 0; i < k->record_count; i++)
		ns += k->records[i].duration_ns;
	w->scan.thread = k->thread;
	lines_site_of(w, k->thread ? &k->event : &(struct event){0}, NULL)->values[LINE_GPU] += ns;
}

/* ---- from events to lines ---- */

static void lines_pass_begin(struct lines_pass *w, const struct report_context *context, struct lines *ret)
{
	*ret = (struct lines){0};
	*w = (struct lines_pass){.scan = {.context = context}, .lines = ret};
	w->attribution = (struct attribution){.symbols = context->symbols, .is_innermost = context->lines_all};
	w->scan.aggregate = &ret->keys;
	w->scan.more = w;
}

static void lines_pass_done(struct lines_pass *w)
{
	free(w->sites);
	map_done(&w->numbers);
	map_done(&w->stacks);
	attribution_done(&w->attribution);
}

static bool image_has_args(const struct image *image, uint32_t args)
{
	const struct trace *t = image->trace;

	for (size_t k = 0; t && k < t->thread_count; k++)
		if (t->threads[k].args & args)
			return true;
	return false;
}

static void lines_read_image(struct lines_pass *w)
{
	const struct model *m = w->scan.context->model;

	scan_events(&w->scan, lines_visit_event);
	for (size_t i = 0; i < m->image_count; i++) {
		w->scan.image = &m->images[i];
		if (w->scan.args && !image_has_args(&m->images[i], w->scan.args))
			continue;
		attribute_image(w->scan.context, w->scan.image, w, lines_visit_correlated);
	}
	for (size_t i = 0; i < w->site_count; i++)
		w->lines->has_stacks |= !w->sites[i].is_stackless;
}

void lines_gather(const struct report_context *context, struct lines *ret)
{
	lines_gather_each(context, NULL, NULL, ret);
}

void lines_gather_each(const struct report_context *context, lines_each *each, void *more, struct lines *ret)
{
	struct lines_pass w;

	lines_pass_begin(&w, context, ret);
	w.each = each;
	w.more = more;
	lines_read_image(&w);
	for (size_t i = 0; i < w.site_count; i++)
		lines_add_row(&w, &w.sites[i]);
	lines_pass_done(&w);
}

/* ---- the first few ---- */

/* A site in user code, with the values of all sites of its file and line. */
struct ranked {
	struct site *site;
	const uint64_t *line; /* LINE_VALUES */
	uint32_t number;      /* of the file and line */
};

static int compare_line_values(const uint64_t *a, const uint64_t *b)
{
	static const enum line_value keys[] = {LINE_TOTAL, LINE_GPU, LINE_ALLOCATED, LINE_COPIED};

	for (size_t n = 0; n < sizeof(keys) / sizeof(*keys); n++)
		if (a[keys[n]] != b[keys[n]])
			return a[keys[n]] > b[keys[n]] ? -1 : 1;
	return 0;
}

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	return compare_line_values(a->line, b->line) ?: order_of(a->number, b->number) ?:
	       order_of((uintptr_t)a->site, (uintptr_t)b->site);
}

/* File and line without the function, whose name is the expensive part of a native frame. */
static void lines_add_place(struct lines_pass *w, struct site *site, struct buffer *key)
{
	uint32_t line;
	const char *file = symbols_source(w->attribution.symbols, &site->frame, &line);
	struct frame parts;

	if (!site->frame.is_python) {
		buffer_print(key, "%s:%" PRIu32, file, line);
		return;
	}
	symbols_name(w->attribution.symbols, &site->frame);
	frame_split(site->frame.text, &parts);
	buffer_print(key, "%s:%" PRIu32, parts.file, parts.line);
	frame_done(&parts);
}

/* The sites in user code, those of the most expensive line first. Returns how many; ret_lines holds the values that
 * their `line` points to. */
static size_t lines_rank_stacks(struct lines_pass *w, struct ranked *ret, uint64_t **ret_lines)
{
	uint64_t *lines = mem_alloc((w->site_count + 1) * LINE_VALUES * sizeof(*lines));
	struct aggregate places = {0};
	size_t count = 0;

	for (size_t i = 0; i < w->site_count; i++) {
		struct site *site = &w->sites[i];
		struct buffer key = {0};
		uint32_t row;

		if (!site->is_users)
			continue;
		lines_add_place(w, site, &key);
		row = aggregate_row(&places, key.data, key.size);
		buffer_done(&key);
		for (size_t k = 0; k < LINE_VALUES; k++)
			lines[row * LINE_VALUES + k] += site->values[k];
		ret[count++] = (struct ranked){site, lines + row * LINE_VALUES, row};
	}
	aggregate_done(&places);
	qsort(ret, count, sizeof(*ret), compare_ranked);
	*ret_lines = lines;
	return count;
}

/* Whether that many rows precede all rows that this line can have: a row has at most the values of its line. */
static bool has_before(const struct lines *l, size_t wanted, const uint64_t *line)
{
	size_t before = 0;

	for (size_t i = 0; i < l->count; i++)
		before += compare_line_values(l->values[i].of, line) <= 0;
	return before >= wanted;
}

void lines_top(const struct report_context *context, size_t wanted, struct lines *ret)
{
	struct report_context plain = *context;
	struct ranked *ranked;
	uint64_t *lines;
	struct lines_pass w;
	size_t count;

	plain.by = BY_NOTHING;
	plain.lines_all = false;
	lines_pass_begin(&w, &plain, ret);
	w.scan.args = 1u << TF_ARG_STACK;
	lines_read_image(&w);
	ranked = mem_alloc((w.site_count + 1) * sizeof(*ranked));
	count = lines_rank_stacks(&w, ranked, &lines);
	for (size_t i = 0; i < count; i++) {
		if ((!i || ranked[i].number != ranked[i - 1].number) && has_before(ret, wanted, ranked[i].line))
			break;
		lines_add_row(&w, ranked[i].site);
	}
	free(ranked);
	free(lines);
	lines_pass_done(&w);
}

/* ---- order ---- */

struct sorting {
	const struct report_context *context;
	const struct lines *lines;
};

/* Library threads that wait for work would otherwise precede the program's own lines. */
static int line_kind(const struct sorting *s, size_t row)
{
	if (lines_is_stackless(s->context, s->lines, row))
		return 2;
	return !s->lines->values[row].is_users && !s->context->lines_all;
}

static int compare_line_rows(size_t i, size_t k, const void *context)
{
	const struct sorting *s = context;

	return line_kind(s, i) - line_kind(s, k) ?: compare_line_values(s->lines->values[i].of, s->lines->values[k].of);
}

size_t *lines_order(const struct report_context *context, const struct lines *l)
{
	return places_in_order(l->count, compare_line_rows, &(struct sorting){context, l});
}

void lines_done(struct lines *l)
{
	aggregate_done(&l->keys);
	free(l->values);
	*l = (struct lines){0};
}

const char *lines_field(const struct report_context *context, const struct lines *l, size_t row, size_t i)
{
	return aggregate_field(&l->keys.rows[row], i + (context->by != BY_NOTHING));
}

bool lines_is_stackless(const struct report_context *context, const struct lines *l, size_t row)
{
	return !*lines_field(context, l, row, 0) && !strcmp(lines_field(context, l, row, 2), no_stack);
}
