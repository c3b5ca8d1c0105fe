/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a page: calls and NVTX events are added to their tracks as they are read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/derive/events/filter.h"
#include "report/derive/device/kernel.h"
#include "report/derive/stacks/samples.h"
#include "report/export/export_html.h"
#include "report/read/operation.h"

uint64_t html_event_limit = 4000000;

/* ---- the limit on the number of events ---- */

enum { BUCKETS = 512 };

struct lengths {
	uint64_t counts[BUCKETS], total;
};

/* Eight buckets per power of two; the first one is for 0, and each begins where the previous one ends. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int power = ns < 8 ? 0 : 60 - (unsigned int)__builtin_clzll(ns);

	return ns < 8 ? (unsigned int)ns : power * 8 + (unsigned int)(ns >> power);
}

static uint64_t bucket_start(unsigned int bucket)
{
	return bucket < 16 ? bucket : (uint64_t)(8 + bucket % 8) << (bucket / 8 - 1);
}

static void html_count_call(struct scan *s, const struct event *e)
{
	struct lengths *l = s->more;

	l->total++;
	if (e->kind == TF_CALL)
		l->counts[bucket_of(clock_map_duration(s->clock, e->duration))]++;
}

static void count_record(struct scan *s, const struct device_record *r)
{
	struct lengths *l = s->more;

	l->total++;
	l->counts[bucket_of(r->duration_ns)]++;
}

static uint64_t least_ns(struct html *h)
{
	struct lengths l = {0};
	struct scan s = {.context = h->x->context, .more = &l};
	unsigned int bucket = 0;
	uint64_t excess;

	device_scan(&s, count_record, NULL);
	for (size_t i = 0; i < h->model->image_count; i++)
		for (size_t k = 0; h->model->images[i].trace && k < h->model->images[i].trace->thread_count; k++)
			l.total += h->model->images[i].trace->threads[k].events;
	if (l.total <= html_event_limit)
		return 0;
	l = (struct lengths){0};
	device_scan(&s, count_record, NULL);
	scan_events(&s, html_count_call);
	if (l.total <= html_event_limit)
		return 0;
	for (excess = l.total - html_event_limit; bucket < BUCKETS - 1 && excess; bucket++)
		excess -= excess < l.counts[bucket] ? excess : l.counts[bucket];
	return bucket_start(bucket);
}

/* ---- details: JSON members after a "{" ---- */

enum { FRAMES = 512 };

static void json_add_member(struct buffer *json, const char *name)
{
	buffer_print(json, "%s\"%s\":", json->data[json->size - 1] == '{' ? "" : ",", name);
}

void html_member_text(struct buffer *json, const char *name, const char *text)
{
	json_add_member(json, name);
	json_add(json, text);
}

void html_member_number(struct buffer *json, const char *name, uint64_t number)
{
	json_add_member(json, name);
	buffer_print(json, "\"%" PRIu64 "\"", number);
}

void html_member_shape(struct buffer *json, const uint32_t *grid, const uint32_t *block)
{
	json_add_member(json, "grid");
	buffer_print(json, "\"%u × %u × %u\"", grid[0], grid[1], grid[2]);
	json_add_member(json, "block");
	buffer_print(json, "\"%u × %u × %u\"", block[0], block[1], block[2]);
}

static void add_stack(struct html *h, uint32_t stack, struct buffer *json)
{
	struct symbol_frame *frames = mem_alloc(FRAMES * sizeof(*frames));
	size_t count = symbols_frames(h->x->context->symbols, h->image, stack, frames, FRAMES);

	json_add_member(json, "stack");
	for (size_t i = 0; i < count; i++)
		buffer_print(json, "%s%" PRIu32, i ? "," : "[", html_string(h, frames[i].text));
	buffer_text(json, count ? "]" : "[]");
	free(frames);
}

static void add_launch(struct html *h, uint32_t id, struct buffer *json)
{
	const struct trace *t = h->image->trace;
	const struct blob *b = trace_definition(t, TF_BLOB_LAUNCH, id);
	struct buffer name = {0};
	struct tf_launch l;

	if (!b || trace_blob(t, b, &l, sizeof(l)) < sizeof(l)) {
		html_member_text(json, "kernel", "(launch lost)");
		return;
	}
	if (kernel_of_launch(h->x->context, h->image, id, &l, &name))
		html_member_text(json, "kernel", name.data);
	html_member_shape(json, l.grid, l.block);
	if (l.shared_bytes)
		html_member_number(json, "dynamic shared memory", l.shared_bytes);
	buffer_done(&name);
}

/* The operation of a library call; its enum values depend on the group of the function. */
static void add_operation(struct html *h, const struct event *e, struct buffer *json)
{
	const struct function *f = trace_function(h->image->trace, e->id);
	struct buffer text = {0};
	struct tf_operation op;

	if (!f || !operation_of(h->image->trace, e, &op))
		return;
	operation_text(&op, f->group, &text);
	html_member_text(json, "shape", buffer_string(&text));
	buffer_done(&text);
}

static void arg_members(struct html *h, const struct event *e, uint64_t slot, struct buffer *json)
{
	static const char *const copies[] = {"host to host", "host to device", "device to host", "device to device",
					     "default"};
	static const char *const memories[] = {"?", "device", "managed", "pinned host", "pool"};
	unsigned int small = tf_arg_small(slot);
	uint64_t value = tf_arg_value(slot);

	switch (tf_arg_kind(slot)) {
	case TF_ARG_STACK:
		add_stack(h, (uint32_t)value, json);
		break;
	case TF_ARG_LAUNCH:
		add_launch(h, (uint32_t)value, json);
		break;
	case TF_ARG_OPERATION:
		add_operation(h, e, json);
		break;
	case TF_ARG_STREAM:
		json_add_member(json, "stream");
		buffer_print(json, "\"0x%" PRIx64 "\"", value);
		break;
	case TF_ARG_RESULT:
		html_member_number(json, "error", value);
		break;
	case TF_ARG_FD:
		if ((value & 0xffff) != 0xffff)
			html_member_number(json, "descriptor", value & 0xffff);
		html_member_text(json, "value", "result");
		break;
	case TF_ARG_COPY:
		html_member_text(json, "copy", small == 63 ? "memset" : copies[small < 5 ? small : 4]);
		html_member_text(json, "value", "bytes");
		break;
	case TF_ARG_MEMORY:
		html_member_text(json, small & TF_MEMORY_FREE ? "frees" : "allocates",
				 memories[(small & 31) < 5 ? small & 31 : 0]);
		break;
	case TF_ARG_BYTES:
		html_member_text(json, "value", "bytes");
		break;
	case TF_ARG_VALUE:
		html_member_text(json, "value", "argument");
		break;
	default:
		break;
	}
}

static void make_call_detail(struct html *h, const void *from, struct buffer *json)
{
	const struct event *e = from;

	for (uint32_t i = 0; i < e->args_count; i++)
		arg_members(h, e, e->args[i], json);
}

/* The part of an ARG slot that is equal for many calls: the rest is a column of its own. */
static uint64_t shared_part(uint64_t slot, int64_t *ret_value)
{
	switch (tf_arg_kind(slot)) {
	case TF_ARG_STACK:
	case TF_ARG_LAUNCH:
	case TF_ARG_OPERATION:
	case TF_ARG_STREAM:
	case TF_ARG_RESULT:
		return slot;
	case TF_ARG_FD:
		*ret_value = (int32_t)(tf_arg_value(slot) >> 16);
		return slot & 0xffffffff;
	case TF_ARG_COPY:
	case TF_ARG_BYTES:
	case TF_ARG_VALUE:
		*ret_value = (int64_t)tf_arg_value(slot);
		return slot & 0xffff;
	case TF_ARG_MEMORY:
		return slot & 0xffff;
	default:
		return 0;
	}
}

static uint32_t call_detail(struct html *h, const struct event *e, int64_t *ret_value)
{
	uint64_t shared[16] = {e->id}; /* the group determines how an operation is read */
	size_t count = 1;

	for (uint32_t i = 0; i < e->args_count && count < sizeof(shared) / sizeof(*shared); i++) {
		shared[count] = shared_part(e->args[i], ret_value);
		count += shared[count] != 0;
	}
	return count > 1 ? html_detail(h, hash_bytes(shared, count * sizeof(*shared)), make_call_detail, e) : 0;
}

/* ---- calls ---- */

struct html_track *html_thread_track(struct html *h, enum html_track_kind kind, const struct trace_thread *thread)
{
	bool is_main = thread->tid == h->image->pid;
	uint64_t image = (uint64_t)(h->image - h->model->images);
	struct html_track *t = html_track(h, kind, is_main ? h->image->process << 1 : image << 1 | 1,
					  is_main ? 0 : thread->number, NULL);
	struct buffer name = {0};

	if (t->labelled == h->image)
		return t;
	t->labelled = h->image;
	thread_label(thread, &name);
	t->label = html_string(h, name.data);
	t->tid = thread->tid;
	buffer_done(&name);
	return t;
}

int64_t html_since_origin(const struct html *h, uint64_t ticks, uint64_t before_ns)
{
	return (int64_t)(clock_map_ns(h->clock, ticks) - before_ns - h->model->origin_ns);
}

static uint32_t call_name(struct html *h, uint32_t id)
{
	const struct function *f = trace_function(h->image->trace, id);
	bool is_new;
	uint64_t *place = map_put(&h->known_calls, id, 0, &is_new);

	if (is_new)
		*place = html_name(h, f && f->group < TF_GROUP_COUNT ? f->group : TF_GROUP_OSRT, f ? f->name : "?");
	return (uint32_t)*place;
}

static void html_add_call(struct html *h, struct html_track *t, const struct event *e)
{
	uint64_t duration = clock_map_duration(h->clock, e->duration);
	struct html_event out = {.start = html_since_origin(h, e->ticks, duration), .duration = duration};

	if (duration < h->least_ns) {
		h->left_out++;
		return;
	}
	out.name = call_name(h, e->id);
	out.detail = e->args_count ? call_detail(h, e, &out.value) : 0;
	html_add(h, t, &out);
}

static void make_unfinished(struct html *h, const void *from, struct buffer *json)
{
	(void)h;
	(void)from;
	html_member_text(json, "state", "still in this call when it was last recorded");
}

/* The call that a thread was in when it ended; a call that ended in exec did not hang. */
static void add_call_in_progress(struct html *h, const struct trace_thread *thread)
{
	const struct process *p = &h->model->processes[h->image->process];
	bool is_last = h->image == &h->model->images[p->first_image + p->image_count - 1];
	struct html_event out = {0};
	uint32_t function;
	uint64_t start;
	int64_t end = (int64_t)(p->end_ns - h->model->origin_ns);

	if (!is_last || h->image->end == TF_END_EXEC || !thread_current(thread, &function, &start))
		return;
	out.start = html_since_origin(h, start, 0);
	if (end <= out.start)
		return;
	out.duration = (uint64_t)end - (uint64_t)out.start;
	out.name = call_name(h, function);
	out.detail = html_detail(h, 1, make_unfinished, NULL);
	html_add(h, html_thread_track(h, HTML_CALLS, thread), &out);
}

/* ---- NVTX ---- */

struct range_facts {
	uint32_t domain;
	bool is_unfinished;
	const uint64_t *args, *payload;
	uint32_t args_count;
};

static void make_range_detail(struct html *h, const void *from, struct buffer *json)
{
	const struct range_facts *f = from;
	const struct blob *b = f->domain ? trace_definition(h->image->trace, TF_BLOB_DOMAIN, f->domain) : NULL;
	struct buffer name = {0};

	if (b)
		trace_text(h->image->trace, b, &name);
	if (f->domain)
		html_member_text(json, "domain", name.data ? name.data : "?");
	buffer_clear(&name);
	if (nvtx_category(&h->nvtx, f->domain, f->args, f->args_count, &name))
		html_member_text(json, "category", name.data);
	buffer_clear(&name);
	if (nvtx_color(f->args, f->args_count, &name))
		html_member_text(json, "color", name.data);
	buffer_clear(&name);
	if (nvtx_payload_any(&h->nvtx, f->args, f->args_count, f->payload, &name))
		html_member_text(json, "payload", name.data);
	if (f->is_unfinished)
		html_member_text(json, "state", "not ended: drawn to the end of its process");
	buffer_done(&name);
}

/* The id of a start/end range is not part of a detail, because it is different for each range. */
static bool is_more(uint64_t arg)
{
	return tf_arg_kind(arg) != TF_ARG_VALUE;
}

static bool has_more(const struct range_facts *f)
{
	for (uint32_t i = 0; i < f->args_count; i++)
		if (is_more(f->args[i]))
			return true;
	return false;
}

/* 0 and 1 are used by others */
static uint64_t detail_key(const struct range_facts *f)
{
	uint64_t more[8];
	size_t count = 0;

	for (uint32_t i = 0; i < f->args_count && count < sizeof(more) / sizeof(*more); i++)
		if (is_more(f->args[i]))
			more[count++] = f->args[i];
	return (count ? hash_bytes(more, count * sizeof(*more)) & ~0xffffull : 2) +
	       ((uint64_t)f->domain << 1 | f->is_unfinished);
}

static void add_annotation(struct html *h, struct html_track *t, uint32_t text, struct range_facts facts,
			   struct html_event *e)
{
	const struct blob *b = trace_definition(h->image->trace, TF_BLOB_STRING, text);
	struct buffer name = {0};
	bool is_new;
	uint64_t *place = map_put(&h->known_texts, text, 0, &is_new);

	if (is_new) {
		if (b)
			trace_text(h->image->trace, b, &name);
		*place = html_name(h, TF_GROUP_NVTX, b ? buffer_string(&name) : "(text lost)");
		buffer_done(&name);
	}
	e->name = (uint32_t)*place;
	if (facts.domain || facts.is_unfinished || has_more(&facts))
		e->detail = html_detail(h, detail_key(&facts), make_range_detail, &facts);
	html_add(h, t, e);
}

static void html_add_mark(struct html *h, const struct trace_thread *thread, const struct event *e)
{
	struct html_event out = {.start = html_since_origin(h, e->ticks, 0)};

	add_annotation(h, html_thread_track(h, HTML_NVTX, thread), e->text,
		       (struct range_facts){
			       .domain = e->id, .args = e->args, .args_count = e->args_count, .payload = e->payload},
		       &out);
}

struct html_track *html_process_track(struct html *h, enum html_track_kind kind, uint64_t which, const char *label)
{
	bool is_new;
	struct html_track *t = html_track(h, kind, h->image->process << 1, which, &is_new);

	if (is_new)
		t->label = html_string(h, label);
	return t;
}

static void html_visit_range(void *context, const struct nvtx_range *r)
{
	struct html *h = context;
	struct html_event out = {.start = html_since_origin(h, r->start, 0)};

	out.duration = clock_map_duration(h->clock, r->end - r->start);
	add_annotation(h,
		       r->is_pushpop ? html_thread_track(h, HTML_NVTX, r->thread)
				     : html_process_track(h, HTML_RANGES, 0, "NVTX start/end ranges"),
		       r->text, (struct range_facts){r->domain, r->is_unfinished, r->args, r->payload, r->args_count},
		       &out);
}

/* ---- CPU samples ---- */

static void make_sample_detail(struct html *h, const void *from, struct buffer *json)
{
	add_stack(h, *(const uint32_t *)from, json);
}

/* Attributed to the innermost frame in the program's own language. */
static uint32_t sample_name(struct html *h, uint32_t stack)
{
	bool is_new;
	uint64_t *place = map_put(&h->known_samples, stack, 0, &is_new);
	struct symbol_frame *frames;
	size_t count, i = 0;

	if (!is_new)
		return (uint32_t)*place;
	frames = mem_alloc(FRAMES * sizeof(*frames));
	count = stack ? symbols_frames(h->x->context->symbols, h->image, stack, frames, FRAMES) : 0;
	while (i + 1 < count && frames[i].is_interpreter)
		i++;
	*place = html_name(h, HTML_SAMPLE, count ? frames[i].text : "(stack lost)");
	free(frames);
	return (uint32_t)*place;
}

static void html_add_sample(struct html *h, const struct trace_thread *thread, const struct event *e)
{
	uint64_t arg = e->args_count ? event_arg(e, TF_ARG_STACK) : 0;
	uint32_t stack = (uint32_t)tf_arg_value(arg);
	struct html_event out = {.start = html_since_origin(h, e->ticks, 0),
				 .name = sample_name(h, stack),
				 .value = (int64_t)samples_ns(e)};

	if (stack)
		out.detail = html_detail(h, (uint64_t)1 << 62 | stack, make_sample_detail, &stack);
	html_add(h, html_thread_track(h, HTML_SAMPLES, thread), &out);
}

/* ---- all of it ---- */

static void html_add_thread(struct html *h, const struct trace_thread *thread)
{
	struct html_track *t = NULL;
	struct cursor cursor;
	struct event e;

	filter_cursor_init(&cursor, h->image->trace, thread);
	while (cursor_next(&cursor, &e))
		if (e.kind == TF_CALL) {
			t = t ? t : html_thread_track(h, HTML_CALLS, thread);
			html_add_call(h, t, &e);
		} else if (e.kind == TF_MARK) {
			html_add_mark(h, thread, &e);
			t = NULL; /* the tracks may have moved */
		} else if (e.kind == TF_SAMPLE) {
			html_add_sample(h, thread, &e);
			t = NULL;
		}
	add_call_in_progress(h, thread);
}

static void html_add_image(struct html *h, const struct image *image)
{
	const struct trace *t = image->trace;

	h->image = image;
	h->clock = &h->model->machines[image->machine].clock;
	html_memory(h);
	html_power(h);
	nvtx_definitions_make(&h->nvtx, t);
	for (size_t i = 0; t && i < t->thread_count; i++)
		html_add_thread(h, &t->threads[i]);
	nvtx_ranges(image, NULL, h, html_visit_range);
	stream_names_make(&h->streams, h->x->context, image, &h->nvtx);
	html_device(h);
	stream_names_done(&h->streams);
	nvtx_definitions_done(&h->nvtx);
	map_done(&h->known_calls);
	map_done(&h->known_texts);
	map_done(&h->known_samples);
	map_done(&h->known_operations);
	html_flush(h);
}

void html_events(struct html *h)
{
	h->least_ns = least_ns(h);
	for (size_t i = 0; i < h->model->image_count; i++)
		html_add_image(h, &h->model->images[i]);
	html_states(h);
}
