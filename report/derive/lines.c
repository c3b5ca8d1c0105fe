/* SPDX-License-Identifier: Apache-2.0 */
/* Events by the source line that they are charged to. */
#include "lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "correlate.h"
#include "frame.h"
#include "samples.h"

enum { STACK_FRAMES = TF_BLOB_BYTES / sizeof(uint64_t), WITHIN = 64 };

static const char no_stack[] = "(no stack)";

/* What has ended on a thread and may lie within a call that is still to come: calls are written at their end. */
struct within {
	uint64_t start; /* ticks */
	uint64_t total, os, cuda; /* ns */
};

struct work {
	struct scan scan;
	struct lines *lines;
	struct map places; /* image, range and stack -> row << 1 | whether its innermost frame is the interpreter's */
	struct symbol_frame *frames;
	const struct trace_thread *thread; /* whose `within` it is */
	struct within within[WITHIN];
	size_t within_count;
};

/* ---- who is charged ---- */

bool lines_is_library(const char *file)
{
	static const char *const marks[] = {"/lib/python", "/lib64/python"};

	if (!strncmp(file, "<frozen", strlen("<frozen")) || strstr(file, "/site-packages/") || strstr(file, "/dist-packages/"))
		return true;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *found = strstr(file, marks[i]);

		if (found && isdigit((unsigned char)found[strlen(marks[i])]))
			return true;
	}
	return false;
}

static bool is_system_module(const char *module)
{
	static const char *const places[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
	const char *base = strrchr(module, '/');

	base = base ? base + 1 : module;
	if (!strncmp(base, "python3", strlen("python3")) || !strncmp(base, "libpython3", strlen("libpython3")))
		return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strncmp(module, places[i], strlen(places[i])))
			return true;
	return false;
}

static bool is_of_user(const struct symbol_frame *f, const struct frame *parts)
{
	if (!parts->file)
		return false;
	return f->is_python ? !lines_is_library(parts->file) : !f->is_interpreter && !is_system_module(f->module);
}

static const struct symbol_frame *charged_frame(const struct symbol_frame *frames, size_t count, bool is_innermost,
						bool *ret_is_users)
{
	const struct symbol_frame *first = NULL;
	bool has_python = false;

	*ret_is_users = false;
	for (size_t i = 0; i < count; i++)
		has_python |= frames[i].is_python;
	for (size_t i = 0; i < count; i++) {
		struct frame parts;
		if (is_innermost ? frames[i].is_interpreter : frames[i].is_python != has_python)
			continue;
		first = first ? first : &frames[i];
		frame_split(frames[i].text, &parts);
		*ret_is_users = is_of_user(&frames[i], &parts);
		frame_done(&parts);
		if (is_innermost || *ret_is_users)
			return &frames[i];
	}
	return first;
}

/* ---- rows ---- */

/* Fields: file, line, function. */
static void add_frame(const struct symbol_frame *f, struct buffer *key)
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

static uint64_t new_place(struct work *w, uint32_t range, uint32_t stack)
{
	struct lines *l = w->lines;
	const struct symbol_frame *f = NULL;
	struct buffer key = {0};
	uint32_t row;
	size_t count = stack ? symbols_frames(w->scan.context->symbols, w->scan.image, stack, w->frames, STACK_FRAMES) : 0;
	bool is_users, is_interpreter = count && (w->frames[0].is_python || w->frames[0].is_interpreter);

	f = charged_frame(w->frames, count, w->scan.context->lines_all, &is_users);
	scan_group(&w->scan, range, &key);
	if (f) {
		add_frame(f, &key);
		l->has_stacks = true;
	} else {
		buffer_add(&key, "\0", 2);
		buffer_text(&key, no_stack);
	}
	row = scan_row(&w->scan, &key);
	buffer_done(&key);
	while (l->count <= row) {
		l->values = mem_grow(l->values, l->count, &l->capacity, sizeof(*l->values));
		l->values[l->count++] = (struct line_values){.is_users = is_users};
	}
	return (uint64_t)row << 1 | is_interpreter;
}

/* An event's line. Good until the next one is asked for. */
static uint64_t *line_of(struct work *w, const struct event *e, bool *ret_is_interpreter)
{
	struct scan *s = &w->scan;
	uint32_t stack = e->args_count ? (uint32_t)tf_arg_value(event_arg(e, TF_ARG_STACK)) : 0;
	uint32_t range = s->thread ? scan_range(s, event_start(e)) : 0;
	bool is_new;
	uint64_t *place = map_put(&w->places, (uint64_t)(s->image - s->context->model->images) << 32 | range, stack, &is_new);

	if (is_new)
		*place = new_place(w, range, stack);
	if (ret_is_interpreter)
		*ret_is_interpreter = *place & 1;
	return w->lines->values[*place >> 1].of;
}

/* ---- events ---- */

static void push_within(struct work *w, struct within item)
{
	if (w->within_count == WITHIN) {
		/* The two oldest as one: they part only for a call that began between them. */
		w->within[1].start = w->within[0].start;
		w->within[1].total += w->within[0].total;
		w->within[1].os += w->within[0].os;
		w->within[1].cuda += w->within[0].cuda;
		memmove(w->within, w->within + 1, (WITHIN - 1) * sizeof(*w->within));
		w->within_count--;
	}
	w->within[w->within_count++] = item;
}

static struct within take_within(struct work *w, uint64_t start)
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

static uint64_t rest(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static void add_sample(struct work *w, const struct event *e)
{
	bool is_interpreter;
	uint64_t *line = line_of(w, e, &is_interpreter), ns = samples_ns(e);

	line[is_interpreter ? LINE_PYTHON : LINE_NATIVE] += ns;
	line[LINE_TOTAL] += ns;
	line[LINE_SAMPLES]++;
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

static void add_call(struct work *w, const struct event *e)
{
	const struct function *f = trace_function(w->scan.image->trace, e->id);
	bool is_os = f && f->group == TF_GROUP_OSRT,
	     is_cuda = f && (f->group == TF_GROUP_CUDA || f->group == TF_GROUP_CUDA_DRIVER);
	uint64_t ns = axis_duration(w->scan.axis, e->duration), start = event_start(e), *line;
	struct within in;

	if (!is_os && !is_cuda)
		return;
	line = line_of(w, e, NULL);
	in = take_within(w, start);
	line[LINE_CALLS]++;
	line[LINE_TOTAL] += rest(ns, in.total);
	if (is_os) {
		line[LINE_OS] += rest(ns, in.os);
		line[LINE_OFF_CPU] += rest(ns, in.total);
		in.os = ns;
	} else {
		line[LINE_CUDA] += rest(ns, in.cuda);
		in.cuda = ns;
	}
	if (e->args_count)
		add_memory(line, e);
	push_within(w, (struct within){start, ns > in.total ? ns : in.total, in.os, in.cuda});
}

static void visit(struct scan *s, const struct event *e)
{
	struct work *w = s->more;

	if (w->thread != s->thread)
		w->within_count = 0;
	w->thread = s->thread;
	if (e->kind == TF_SAMPLE)
		add_sample(w, e);
	else if (e->kind == TF_CALL)
		add_call(w, e);
}

static void visit_work(void *context, const struct correlated *k)
{
	struct work *w = context;
	uint64_t ns = 0;

	if (!k->record_count)
		return;
	for (size_t i = 0; i < k->record_count; i++)
		ns += k->records[i].duration_ns;
	w->scan.thread = k->thread;
	line_of(w, k->thread ? &k->event : &(struct event){0}, NULL)[LINE_GPU] += ns;
}

void lines_gather(const struct report_context *context, struct lines *ret)
{
	struct work w = {.scan = {.context = context}, .lines = ret};

	*ret = (struct lines){0};
	w.scan.sums = &ret->keys;
	w.scan.more = &w;
	w.frames = mem_alloc(STACK_FRAMES * sizeof(*w.frames));
	scan_events(&w.scan, visit);
	for (size_t i = 0; i < context->model->image_count; i++) {
		w.scan.image = &context->model->images[i];
		correlate_image(context, w.scan.image, &w, visit_work, NULL);
	}
	map_done(&w.places);
	free(w.frames);
}

void lines_done(struct lines *l)
{
	sums_done(&l->keys);
	free(l->values);
	*l = (struct lines){0};
}

const char *lines_field(const struct report_context *context, const struct lines *l, size_t row, size_t i)
{
	return sums_field(&l->keys.rows[row], i + (context->by != BY_NOTHING));
}

bool lines_is_stackless(const struct report_context *context, const struct lines *l, size_t row)
{
	return !*lines_field(context, l, row, 0) && !strcmp(lines_field(context, l, row, 2), no_stack);
}
