/* SPDX-License-Identifier: Apache-2.0 */
/* sample_sum, sample_line_sum, sample_python_sum, sample_thread_sum: where threads were while they ran. A sample
 * represents the CPU time that its thread has used since its previous sample. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/filter.h"
#include "report/events/nvtx/nvtx_function.h"
#include "report/events/stacks/samples.h"
#include "report/tables/report.h"

enum { STACK_FRAMES = TF_BLOB_BYTES / sizeof(uint64_t), NANOSECONDS = 1000 };

/* ---- by function, by line ---- */

/* All samples of one stack. */
struct bucket {
	const struct image *image;
	const struct trace_thread *thread; /* with --by thread the thread of all of them, else of the first */
	uint32_t range, stack;
	uint64_t count, ns;
};

enum unit { FUNCTIONS, LINES, PYTHON_FUNCTIONS };

struct function_share {
	/* native: part of self spent in C code called by a Python function */
	uint64_t self_count, self_ns, native_ns, ns;
	size_t counted; /* 1 + the last bucket that was added: a recursive function counts once */
	uint64_t calls;
	uint32_t first_line; /* first line of the Python function; 0: there are several, or it is not known */
};

struct samples_pass {
	struct bucket *buckets;
	size_t bucket_count, bucket_capacity;
	struct map places; /* image, range and stack -> bucket */
	struct aggregate names; /* with struct function_share */
	struct map rows; /* image and place of a native frame, range or thread -> row + 1 */
	uint64_t ns;
	enum unit unit;
};

static void samples_visit_sample(struct scan *s, const struct event *e)
{
	struct samples_pass *w = s->more;
	uint32_t range, stack = event_stack(e);
	size_t place;

	if (!samples_are(e))
		return;
	range = scan_range(s, e->ticks);
	place = map_place(&w->places, (uint64_t)(s->image - s->context->model->images) << 32 | range, stack,
			  w->buckets, w->bucket_count, w->bucket_capacity,
			  (struct bucket){s->image, s->thread, range, stack, 0, 0});
	w->buckets[place].count += samples_count(e);
	w->buckets[place].ns += samples_ns(e);
}

static struct function_share *share_at(struct samples_pass *w, uint64_t row)
{
	return aggregate_more(&w->names, (uint32_t)row, sizeof(struct function_share));
}

static uint32_t samples_make_row(struct scan *s, uint32_t range, const struct symbol_frame *f)
{
	struct samples_pass *w = s->more;
	SCOPED(buffer) key = {0};
	uint32_t row;

	scan_group(s, range, &key);
	if (w->unit == LINES && !code_line_place(f->line, &key))
		buffer_text(&key, "?");
	if (w->unit == LINES)
		buffer_add(&key, "", 1);
	buffer_field(&key, f->line->function);
	if (w->unit == PYTHON_FUNCTIONS)
		buffer_text(&key, f->line->file ? f->line->file : "?");
	else
		buffer_text(&key, *f->module ? f->module : "?");
	row = scan_row(s, &key);
	if (!w->names.rows[row].more)
		share_at(w, row)->first_line = f->first_line;
	else if (share_at(w, row)->first_line != f->first_line)
		share_at(w, row)->first_line = 0;
	return row;
}

/* The key of a frame is long where C++ has templates: it is made once for each place. Python code has no module of its
 * own, so its place is not all of its key. */
static uint32_t samples_name_row(struct scan *s, uint32_t range, const struct symbol_frame *f)
{
	struct samples_pass *w = s->more;
	uint64_t image = (uint64_t)(s->image - s->context->model->images),
		 part = s->context->by == BY_THREAD ? (uint64_t)(uintptr_t)s->thread : range, *row;

	if (f->is_python || f->place == SYMBOL_NO_PLACE)
		return samples_make_row(s, range, f);
	row = map_put(&w->rows, image << 32 | f->place, part, NULL);
	if (!*row)
		*row = samples_make_row(s, range, f) + 1;
	return (uint32_t)(*row - 1);
}

static void share_bucket(struct scan *s, size_t number, struct symbol_frame *frames)
{
	static const struct code_line remark = {.function = "(stack lost)"};
	static const struct symbol_frame lost = {&remark, &remark, .module = "", .place = SYMBOL_NO_PLACE};
	struct samples_pass *w = s->more;
	const struct bucket *b = &w->buckets[number];
	size_t count = b->stack ? symbols_frames(s->context->symbols, b->image, b->stack, frames, STACK_FRAMES) : 0;
	bool is_found = false, is_native = false;

	s->image = b->image;
	s->thread = b->thread;
	w->ns += b->ns;
	if (!count) {
		frames[0] = lost;
		count = 1;
	}
	for (size_t i = 0; i < count; i++) {
		struct function_share *share;

		if (w->unit == PYTHON_FUNCTIONS && !frames[i].is_python) {
			is_native = is_native || !frames[i].is_interpreter;
			continue;
		}
		share = share_at(w, samples_name_row(s, b->range, &frames[i]));
		if (!is_found) {
			share->self_count += b->count;
			share->self_ns += b->ns;
			share->native_ns += is_native ? b->ns : 0;
		}
		is_found = true;
		if (share->counted != number + 1)
			share->ns += b->ns;
		share->counted = number + 1;
	}
}

/* ---- calls: --python-functions-trace records a range for each ---- */

struct counting {
	struct scan *scan;
	struct nvtx_functions functions;
	struct map known; /* domain and text, range -> row + 1; 0: not such a range */
};

/* 1 + the row of the function whose call the range is, or 0. Rows without samples are not shown. */
static uint64_t samples_count_range(struct counting *c, const struct nvtx_range *r, uint32_t range)
{
	struct symbol_frame f = {.module = "", .place = SYMBOL_NO_PLACE};
	struct nvtx_function function;

	if (!nvtx_function_find(&c->functions, r->domain, r->text, &function))
		return 0;
	f.line = symbols_line(c->scan->context->symbols, function.name, function.file, 1);
	f.first_line = function.first_line;
	return samples_name_row(c->scan, range, &f) + 1;
}

static void samples_count_call(void *context, const struct nvtx_range *r)
{
	struct counting *c = context;
	struct samples_pass *w = c->scan->more;
	uint64_t *row;
	uint32_t range;
	bool is_new;

	c->scan->thread = r->thread;
	range = scan_range(c->scan, r->start);
	row = map_put(&c->known, (uint64_t)r->domain << 32 | r->text, range, &is_new);
	if (is_new)
		*row = samples_count_range(c, r, range);
	if (*row)
		share_at(w, *row - 1)->calls++;
}

static void count_calls(struct scan *s, const struct image *image)
{
	struct counting c = {.scan = s};

	s->image = image;
	nvtx_functions_make(&c.functions, image->trace);
	if (nvtx_functions_any(&c.functions))
		nvtx_ranges(image, NULL, &c, samples_count_call);
	map_done(&c.known);
	nvtx_functions_done(&c.functions);
}

ROW_COMPARATOR(samples_by_self, struct function_share,
	       order_of(b->self_ns, a->self_ns) ?: order_of(b->ns, a->ns) ?: strcmp(row_a->key, row_b->key))

static void samples_fill_table(const struct report_context *c, struct samples_pass *w, struct table *table)
{
	aggregate_sort_by(&w->names, samples_by_self);
	array_each(const struct aggregate_row, row, w->names.rows, w->names.count) {
		const struct function_share *share = row->more;
		size_t field;

		if (!share->counted)
			continue;
		field = by_key_cell(c, table, row);
		table_cells(table, share_percent((double)share->self_ns, (double)w->ns), share->self_ns);
		if (w->unit == PYTHON_FUNCTIONS)
			table_number(table, share->native_ns);
		table_number(table, share->self_count);
		if (w->unit == PYTHON_FUNCTIONS)
			table_cells(table, cell_if(share->calls && share->first_line, share->calls));
		table_cells(table, share_percent((double)share->ns, (double)w->ns), share->ns);
		if (w->unit == LINES)
			table_text(table, aggregate_field(row, field++));
		table_cells(table, aggregate_field(row, field), aggregate_field(row, field + 1));
	}
}

static void samples_report(const struct report_context *c, enum unit unit, struct table *table)
{
	struct samples_pass w = {.unit = unit};
	struct scan s = {.context = c, .aggregate = &w.names, .kinds = 1u << TF_SAMPLE | 1u << TF_SUM, .more = &w};
	SCOPED_MEMORY struct symbol_frame *frames = mem_alloc(STACK_FRAMES * sizeof(*frames));
	bool is_python = unit == PYTHON_FUNCTIONS;

	by_column(c, table);
	table_has(table, COL_TIME_PERCENT, COL_SELF_TIME_NS, is_python ? COL_NATIVE_TIME_NS : COL_NONE, COL_SAMPLES,
		  is_python ? COL_CALLS : COL_NONE, COL_CUMULATIVE_PERCENT, COL_CUMULATIVE_TIME_NS,
		  unit == LINES ? COL_LINE : COL_NONE, unit == LINES ? COL_FUNCTION : COL_NAME,
		  is_python ? COL_FILE : COL_MODULE);
	scan_events(&s, samples_visit_sample);
	for (size_t i = 0; i < w.bucket_count; i++)
		share_bucket(&s, i, frames);
	for (size_t i = 0; is_python && i < c->model->image_count; i++)
		count_calls(&s, &c->model->images[i]);
	samples_fill_table(c, &w, table);
	free(w.buckets);
	map_done(&w.places);
	map_done(&w.rows);
	aggregate_done(&w.names);
}

void report_sample_sum(const struct report_context *c, struct table *table)
{
	samples_report(c, FUNCTIONS, table);
}

void report_sample_line_sum(const struct report_context *c, struct table *table)
{
	samples_report(c, LINES, table);
}

/* Only samples in Python code: a function's own time includes C functions that it called. Calls are known for
 * functions in --python-functions-trace, if all of a row is one such function. */
void report_sample_python_sum(const struct report_context *c, struct table *table)
{
	samples_report(c, PYTHON_FUNCTIONS, table);
}

/* ---- by thread ---- */

static uint64_t os_calls_ns(const struct image *image, const struct trace_thread *thread, const struct clock_map *clock)
{
	struct cursor cursor;
	struct event e;
	uint64_t ns = 0;

	filter_cursor_init(&cursor, image->trace, thread);
	while (cursor_next(&cursor, &e)) {
		const struct function *f = event_function(image->trace, &e);

		if (f && f->group == TF_GROUP_OSRT)
			ns += clock_map_duration(clock, e.duration);
	}
	return ns;
}

/* Time running, from samples, and time waiting, from recorded OS calls, for each thread. */
void report_sample_thread_sum(const struct report_context *c, struct table *table)
{
	const struct model *m = c->model;

	table_has(table, COL_CPU_TIME_NS, COL_SAMPLES, COL_OS_CALLS_TIME_NS, COL_PID, COL_TID, COL_HOST, COL_NAME);
	for (size_t i = 0; i < m->image_count && samples_any(m); i++) {
		const struct image *image = &m->images[i];

		for (size_t k = 0; image->trace && k < image->trace->thread_count; k++) {
			const struct trace_thread *thread = &image->trace->threads[k];

			if (!thread->events)
				continue;
			table_cells(table, thread->sampled_us * NANOSECONDS, thread->samples,
				    os_calls_ns(image, thread, &m->machines[image->machine].clock), image->pid,
				    thread->tid, m->machines[image->machine].host, thread->name);
		}
	}
}
