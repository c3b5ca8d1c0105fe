/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a page: calls and NVTX events are added to their tracks as they are read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/mpi/mpi_call.h"
#include "report/events/stacks/samples.h"
#include "report/page/export_html.h"

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
	if (e->kind == TF_CALL || e->kind == TF_CONSTRUCT)
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

static void add_stack(struct html *h, uint32_t stack, struct buffer *json)
{
	SCOPED_MEMORY struct symbol_frame *frames = mem_alloc(FRAMES * sizeof(*frames));
	size_t count = symbols_frames(h->x->context->symbols, h->image, stack, frames, FRAMES);
	SCOPED(buffer) text = {0};

	html_member(json, "stack");
	for (size_t i = 0; i < count; i++) {
		buffer_clear(&text);
		code_line_text(frames[i].exact, &text);
		buffer_print(json, "%s%" PRIu32, i ? "," : "[", html_string(h, text.data));
	}
	buffer_text(json, count ? "]" : "[]");
}

static void add_member(struct html *h, const char *name, enum timeline_text kind, uint64_t number,
		       struct buffer *json)
{
	SCOPED(buffer) text = {0};

	if (timeline_text(&h->timeline, kind, number, &text))
		html_member_text(json, name, buffer_string(&text));
}

static void add_launch(struct html *h, uint32_t id, struct buffer *json)
{
	struct tf_launch l;

	if (!timeline_launch(&h->timeline, id, &l)) {
		html_member_text(json, "kernel", "(launch lost)");
		return;
	}
	add_member(h, "kernel", TEXT_KERNEL, id, json);
	html_member_shape(json, l.grid, l.block);
	if (l.shared_bytes)
		html_member_number(json, "dynamic shared memory", l.shared_bytes);
}

static void argument_member(struct html *h, const struct timeline_argument *a, struct buffer *json)
{
	static const char *const copies[] = {"host to host", "host to device", "device to host", "device to device",
					     "default"};
	static const char *const memories[] = {"?", "device", "managed", "pinned host", "pool"};
	const struct timeline_argument_kind *kind = &timeline_arguments[a->id];

	if (!kind->page)
		return;
	if (kind->is_value) /* what the number in the column of values is */
		html_member_text(json, "value", kind->page);
	else if (a->id == ARGUMENT_STACK)
		add_stack(h, (uint32_t)a->value, json);
	else if (a->id == ARGUMENT_LAUNCH)
		add_launch(h, (uint32_t)a->value, json);
	else if (kind->type == TYPE_TEXT)
		add_member(h, kind->page, kind->text, a->value, json);
	else if (kind->type == TYPE_COPY)
		html_member_text(json, kind->page, a->value == 63 ? "memset" : copies[a->value < 5 ? a->value : 4]);
	else if (kind->type == TYPE_MEMORY)
		html_member_text(json, kind->page, memories[a->value < 5 ? a->value : 0]);
	else if (kind->type == TYPE_HANDLE)
		html_member_handle(json, kind->page, a->value);
	else
		html_member_number(json, kind->page, a->value);
}

/* What the call's descriptor is; NULL: not known. */
static const struct descriptor *call_descriptor(struct html *h, const struct timeline_event *e)
{
	const struct descriptor *d = e->event ? descriptors_find_call(&h->descriptors, e->event) : NULL;

	return d && d->kind != TF_DESCRIPTOR_UNKNOWN ? d : NULL;
}

static void add_descriptor(struct html *h, const struct descriptor *d, struct buffer *json)
{
	SCOPED(buffer) text = {0};

	descriptors_text(h->descriptors.of, d, &text);
	html_member_text(json, d->kind == TF_DESCRIPTOR_SOCKET ? "peer" : "file", buffer_string(&text));
}

static bool has_peer(const struct html *h, const struct timeline_event *e, int64_t *ret_peer)
{
	struct mpi_call call;

	if (!e->function || e->function->group != TF_GROUP_MPI || !e->event)
		return false;
	mpi_call_of(h->image->trace, e->event, e->function, &call);
	*ret_peer = call.peer;
	return call.peer != MPI_CALL_UNKNOWN && call.peer >= 0;
}

static void make_call_detail(struct html *h, const void *from, struct buffer *json)
{
	const struct timeline_event *e = from;
	const struct descriptor *descriptor = call_descriptor(h, e);
	int64_t peer;

	for (size_t i = 0; i < e->argument_count; i++)
		argument_member(h, &e->arguments[i], json);
	if (descriptor)
		add_descriptor(h, descriptor, json);
	if (has_peer(h, e, &peer))
		html_member_number(json, "peer rank", (uint64_t)peer);
}

/* Many calls share a detail. What differs from call to call, such as the bytes, is in the column of values. */
static uint32_t call_detail(struct html *h, const struct timeline_event *e, int64_t *ret_value)
{
	uint64_t shared[3 + 2 * TIMELINE_ARGUMENTS_MOST] = {e->name};
	const struct descriptor *descriptor = call_descriptor(h, e);
	size_t count = 1;
	int64_t peer;

	array_each(const struct timeline_argument, a, e->arguments, e->argument_count) {
		if (!timeline_arguments[a->id].page)
			continue;
		shared[count++] = a->id;
		if (timeline_arguments[a->id].is_value)
			*ret_value = (int64_t)a->value;
		else
			shared[count++] = a->value;
	}
	if (descriptor)
		shared[count++] = (uint64_t)(descriptor - h->descriptors.of->items) + 1;
	if (has_peer(h, e, &peer))
		shared[count++] = (uint64_t)peer << 32;
	return count > 1 ? html_detail(h, hash_bytes(shared, count * sizeof(*shared)), make_call_detail, e) : 0;
}

/* ---- calls ---- */

static uint32_t call_name(struct html *h, uint32_t id)
{
	const struct function *f = trace_function(h->image->trace, id);
	uint64_t *slot = timeline_slot(&h->timeline, TEXT_FUNCTION, id);

	if (!*slot)
		*slot = 1 + html_name(h, f && f->group < TF_GROUP_COUNT ? f->group : TF_GROUP_OSRT, f ? f->name : "?");
	return (uint32_t)*slot - 1;
}

static void add_call(struct html *h, const struct timeline_event *e)
{
	struct html_event out = {.start = html_since_origin(h, e->start_ns), .duration = e->duration_ns};

	if (!h->calls_track)
		h->calls_track = 1 + (uint32_t)(html_thread_track(h, HTML_CALLS, e->thread) - h->tracks);
	if (e->duration_ns < h->least_ns) {
		h->left_out++;
		return;
	}
	out.name = call_name(h, e->name);
	out.detail = e->argument_count || e->function ? call_detail(h, e, &out.value) : 0;
	html_add(h, &h->tracks[h->calls_track - 1], &out);
}

static void make_unfinished(struct html *h, const void *from, struct buffer *json)
{
	(void)h;
	(void)from;
	html_member_text(json, "state", "still in this call when it was last recorded");
}

/* The call that a thread was in when it ended; a call that ended in exec did not hang. */
static void add_call_in_progress(void *html, const struct trace_thread *thread)
{
	struct html *h = html;
	const struct process *p = &h->model->processes[h->image->process];
	bool is_last = h->image == &h->model->images[p->first_image + p->image_count - 1];
	struct html_event out = {0};
	uint32_t function;
	uint64_t start;
	int64_t end = (int64_t)(p->end_ns - h->model->origin_ns);

	if (!is_last || h->image->end == TF_END_EXEC || !thread_current(thread, &function, &start))
		return;
	out.start = html_since_origin(h, clock_map_ns(h->clock, start));
	if (end <= out.start)
		return;
	out.duration = (uint64_t)end - (uint64_t)out.start;
	out.name = call_name(h, function);
	out.detail = html_detail(h, 1, make_unfinished, NULL);
	html_add(h, html_thread_track(h, HTML_CALLS, thread), &out);
}

/* ---- NVTX ---- */

static void make_range_detail(struct html *h, const void *from, struct buffer *json)
{
	const struct nvtx_range *r = from;
	const struct nvtx_definitions *nvtx = &h->timeline.nvtx;
	SCOPED(buffer) text = {0};

	if (r->domain) {
		timeline_text(&h->timeline, TEXT_DOMAIN, r->domain, &text);
		html_member_text(json, "domain", text.data ? text.data : "?");
	}
	buffer_clear(&text);
	if (nvtx_category(nvtx, r->domain, r->args, r->args_count, &text))
		html_member_text(json, "category", text.data);
	buffer_clear(&text);
	if (nvtx_color(r->args, r->args_count, &text))
		html_member_text(json, "color", text.data);
	buffer_clear(&text);
	if (nvtx_payload_any(nvtx, r->args, r->args_count, r->payload, &text))
		html_member_text(json, "payload", text.data);
	if (r->is_unfinished)
		html_member_text(json, "state", "not ended: drawn to the end of its process");
}

/* The id of a start/end range is not part of a detail, because it is different for each range. */
static bool is_more(uint64_t arg)
{
	return tf_arg_kind(arg) != TF_ARG_VALUE;
}

static bool has_more(const struct nvtx_range *r)
{
	return array_find(arg, r->args, r->args_count, is_more(*arg)) != NULL;
}

/* 0 and 1 are used by others */
static uint64_t detail_key(const struct nvtx_range *r)
{
	uint64_t more[8];
	size_t count = 0;

	for (uint32_t i = 0; i < r->args_count && count < sizeof(more) / sizeof(*more); i++)
		if (is_more(r->args[i]))
			more[count++] = r->args[i];
	return (count ? hash_bytes(more, count * sizeof(*more)) & ~0xffffull : 2) +
	       ((uint64_t)r->domain << 1 | r->is_unfinished);
}

static void add_field(struct buffer *json, const char *name, const struct operator_field *f)
{
	SCOPED(buffer) text = {0};

	if (!f->length)
		return;
	buffer_add(&text, f->text, f->length);
	html_member_text(json, name, buffer_string(&text));
}

static void make_operator_detail(struct html *h, const void *from, struct buffer *json)
{
	const struct operator_text *operator = from;
	SCOPED(buffer) arguments = {0};

	(void)h;
	operator_arguments_text(&operator->arguments, &arguments);
	add_field(json, "sequence number", &operator->seq);
	add_field(json, "op_id", &operator->op_id);
	add_field(json, "sizes", &operator->sizes);
	add_field(json, "group", &operator->group);
	add_field(json, "arguments", &(struct operator_field){buffer_string(&arguments), arguments.size});
}

/* Operators of PyTorch have their own name: what is different in each call is a detail. The name and the detail of the
 * text, 0: none. */
static uint64_t annotation_words(struct html *h, uint32_t id)
{
	struct operator_text operator;
	SCOPED(buffer) text = {0};
	uint64_t detail = 0, name;

	timeline_text(&h->timeline, TEXT_STRING, id, &text);
	if (operator_text_parse(buffer_string(&text), &operator)) {
		detail = html_detail(h, (uint64_t)1 << 60 | id, make_operator_detail, &operator);
		text.data[operator.name.length] = '\0';
	}
	name = html_name(h, TF_GROUP_NVTX, buffer_string(&text));
	return detail << 32 | name;
}

static void add_annotation(struct html *h, struct html_track *t, const struct timeline_event *e)
{
	const struct nvtx_range *r = e->range;
	struct html_event out = {.start = html_since_origin(h, e->start_ns), .duration = e->duration_ns};
	uint64_t *slot = timeline_slot(&h->timeline, TEXT_STRING, e->name);

	if (!*slot)
		*slot = 1 + annotation_words(h, e->name);
	out.name = (uint32_t)(*slot - 1);
	out.detail = (uint32_t)((*slot - 1) >> 32);
	if (r->domain || r->is_unfinished || has_more(r))
		out.detail = html_detail(h, detail_key(r), make_range_detail, r);
	html_add(h, t, &out);
}

static void add_mark(struct html *h, const struct timeline_event *e)
{
	add_annotation(h, html_thread_track(h, HTML_NVTX, e->thread), e);
}

static void add_range(struct html *h, const struct timeline_event *e)
{
	add_annotation(h,
		       e->range->is_pushpop ? html_thread_track(h, HTML_NVTX, e->thread)
					    : html_process_track(h, HTML_RANGES, 0, "NVTX start/end ranges"),
		       e);
}

/* ---- CPU samples ---- */

static void make_sample_detail(struct html *h, const void *from, struct buffer *json)
{
	add_stack(h, *(const uint32_t *)from, json);
}

/* Attributed to the innermost frame in the program's own language. */
static uint32_t sample_name(struct html *h, uint32_t stack)
{
	uint64_t *slot = timeline_slot(&h->timeline, TEXT_STACK, stack);
	SCOPED_MEMORY struct symbol_frame *frames = NULL;
	SCOPED(buffer) text = {0};
	size_t count, i = 0;

	if (*slot)
		return (uint32_t)*slot - 1;
	frames = mem_alloc(FRAMES * sizeof(*frames));
	count = stack ? symbols_frames(h->x->context->symbols, h->image, stack, frames, FRAMES) : 0;
	while (i + 1 < count && frames[i].is_interpreter)
		i++;
	if (count)
		code_line_text(frames[i].exact, &text);
	*slot = 1 + html_name(h, HTML_SAMPLE, count ? text.data : "(stack lost)");
	return (uint32_t)*slot - 1;
}

static void add_sample(struct html *h, const struct timeline_event *e)
{
	uint32_t stack = e->argument_count > 1 ? (uint32_t)e->arguments[0].value : 0;
	struct html_event out = {.start = html_since_origin(h, e->start_ns),
				 .name = sample_name(h, stack),
				 .value = (int64_t)samples_ns(e->event)};

	if (stack)
		out.detail = html_detail(h, (uint64_t)1 << 62 | stack, make_sample_detail, &stack);
	html_add(h, html_thread_track(h, HTML_SAMPLES, e->thread), &out);
}

/* ---- all of it ---- */

static void print_event(void *html, const struct timeline_event *e)
{
	static void (*const print[])(struct html *, const struct timeline_event *) = {
		[TIMELINE_CALL] = add_call,
		[TIMELINE_SAMPLE] = add_sample,
		[TIMELINE_MARK] = add_mark,
		[TIMELINE_COUNTER] = add_mark,
		[TIMELINE_RANGE] = add_range,
		[TIMELINE_OPERATION] = html_operation,
		[TIMELINE_ACTIVITY] = html_activity,
	};

	print[e->kind](html, e);
}

static void begin_program(void *html)
{
	struct html *h = html;

	h->image = h->timeline.image;
	h->clock = h->timeline.clock;
	h->descriptors = descriptor_search(h->image->trace);
}

static void begin_thread(void *html, const struct trace_thread *thread)
{
	((struct html *)html)->calls_track = 0;
}

static void end_part(void *html, enum timeline_part part)
{
	if (part != PART_COUNTERS)
		return;
	html_counters_end(html);
	html_power(html);
}

static void end_program(void *html)
{
	struct html *h = html;

	buffer_clear(&h->operations);
	html_flush(h);
}

void html_events(struct html *h)
{
	static const struct timeline_printer printer = {
		.parts = {PART_COUNTERS, PART_THREADS, PART_RANGES, PART_OPERATIONS, PART_ACTIVITIES, PART_FLOWS},
		.begin = begin_program,
		.thread = begin_thread,
		.thread_end = add_call_in_progress,
		.event = print_event,
		.flow = html_flow,
		.counter = html_counter,
		.part_end = end_part,
		.end = end_program,
	};

	h->least_ns = least_ns(h);
	timeline_visit(&h->timeline, h->x->context, &printer, h);
	html_states(h);
	html_steps(h);
	html_series(h);
	html_critical(h);
}
