/* SPDX-License-Identifier: Apache-2.0 */
/* chrome: Trace Event JSON as PyTorch's Kineto writes it, for Perfetto, HTA, TensorBoard and speedscope. Events are
 * written thread by thread, because readers sort them anyway. Text is made once for each name. */
#include "report/export/export_chrome.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/table/json_writer.h"

/* ---- texts ---- */

static inline void add_text(struct chrome *w, const struct buffer *json)
{
	if (json->size)
		sink_add(w->out, json->data, json->size);
}

/* A text as a member; nothing if it is not known. */
static void make_member(struct chrome *w, enum timeline_text kind, uint64_t number, struct buffer *json)
{
	static const char *const names[TEXT_KINDS] = {
		[TEXT_STACK] = "stack", [TEXT_SHAPE] = "shape", [TEXT_ERRNO] = "errno", [TEXT_FLAGS] = "flags",
		[TEXT_DOMAIN] = "domain", [TEXT_KERNEL] = "kernel"};
	SCOPED(buffer) text = {0};
	struct tf_launch l = {0};

	if (kind == TEXT_KERNEL && !timeline_launch(&w->timeline, (uint32_t)number, &l))
		return;
	if (timeline_text(&w->timeline, kind, number, &text)) {
		buffer_print(json, ",\"%s\":", names[kind]);
		json_add(json, buffer_string(&text));
	}
	if (kind == TEXT_KERNEL)
		buffer_print(json, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared memory\":%u,"
			     "\"stream handle\":%" PRIu64, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1],
			     l.block[2], l.shared_bytes, l.stream);
}

/* ---- the parts of an event ---- */

static void add_span(struct chrome *w, const struct timeline_event *e)
{
	chrome_time(w, e->start_ns);
	sink_text(w->out, ",\"dur\":");
	sink_us(w->out, (int64_t)e->duration_ns);
}

/* Each begins with a comma: the one before it is always present. A call must not have "stream": HTA takes an event with
 * it for a device operation. */
static void add_argument(struct chrome *w, const struct timeline_argument *a)
{
	static const char *const copies[] = {"HtoH", "HtoD", "DtoH", "DtoD", "default"};
	const struct timeline_argument_kind *kind = &timeline_arguments[a->id];

	if (kind->type == TYPE_TEXT) {
		add_text(w, chrome_text(w, kind->text, a->value, make_member));
		return;
	}
	if (!w->members[a->id].size)
		return;
	add_text(w, &w->members[a->id]);
	if (kind->type == TYPE_COPY) {
		sink_text(w->out, "\"");
		sink_text(w->out, a->value == 63 ? "memset" : a->value < 5 ? copies[a->value] : "unknown");
		sink_text(w->out, "\"");
		return;
	}
	if (kind->type == TYPE_SIGNED && (int64_t)a->value < 0)
		sink_text(w->out, "-");
	sink_number(w->out, kind->type == TYPE_SIGNED && (int64_t)a->value < 0 ? 0 - a->value : a->value);
}

static void add_arguments(struct chrome *w, const struct timeline_event *e)
{
	for (size_t i = 0; i < e->argument_count; i++)
		add_argument(w, &e->arguments[i]);
	sink_text(w->out, "}");
}

/* ---- events of threads ---- */

static void set_lane(struct chrome *w, const struct trace_thread *thread)
{
	if (w->thread == thread)
		return;
	w->thread = thread;
	buffer_set(&w->lane, "\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, w->pid, thread->tid);
}

/* What is equal for all calls of a function by a thread. Metadata of the thread comes before it, hence the comma. */
static void make_call(struct chrome *w, const struct timeline_event *e)
{
	struct buffer name = {0}, *json = &w->calls[e->name % EVENT_IDS].begin;

	timeline_text(&w->timeline, TEXT_FUNCTION, e->name, &name);
	buffer_print(json, ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", timeline_category(e->function));
	json_add(json, buffer_string(&name));
	buffer_print(json, ",%s,\"ts\":", w->lane.data);
	buffer_print(&w->calls[e->name % EVENT_IDS].arguments, ",\"args\":{\"id\":%" PRIu32, e->name);
	buffer_done(&name);
}

static void add_call(struct chrome *w, const struct timeline_event *e)
{
	const struct event *call = e->event;

	if (!w->calls[e->name % EVENT_IDS].begin.size)
		make_call(w, e);
	add_text(w, &w->calls[e->name % EVENT_IDS].begin);
	sink_us(w->out, (int64_t)(e->start_ns - w->timeline.model->origin_ns));
	sink_text(w->out, ",\"dur\":");
	sink_us(w->out, (int64_t)e->duration_ns);
	if (e->is_cuda ||
	    (call->args_count && (call->args_count > 1 || tf_arg_kind(call->args[0]) != TF_ARG_LONG))) {
		/* Device records use CUPTI's correlation ids; a call without a device record has none. */
		if (e->correlation)
			chrome_number(w, ",\"args\":{\"correlation\":", e->correlation);
		else if (e->is_cuda && !w->timeline.has_device_records)
			chrome_number(w, ",\"args\":{\"correlation\":", ++w->correlation);
		else
			add_text(w, &w->calls[e->name % EVENT_IDS].arguments);
		add_arguments(w, e);
	}
	sink_text(w->out, "}");
}

static void add_sample(struct chrome *w, const struct timeline_event *e)
{
	sink_text(w->out, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_sample\",\"name\":\"CPU sample\",");
	add_text(w, &w->lane);
	chrome_time(w, e->start_ns);
	chrome_number(w, ",\"args\":{\"CPU time (ns)\":", e->arguments[e->argument_count - 1].value);
	for (size_t i = 0; i + 1 < e->argument_count; i++)
		add_argument(w, &e->arguments[i]);
	sink_text(w->out, "}}");
}

/* ---- NVTX ---- */

static void add_members(struct chrome *w, const struct nvtx_range *r)
{
	const struct nvtx_definitions *nvtx = &w->timeline.nvtx;

	chrome_number(w, ",\"args\":{\"domain id\":", r->domain);
	if (r->domain)
		add_text(w, chrome_text(w, TEXT_DOMAIN, r->domain, make_member));
	buffer_clear(&w->scratch);
	if (nvtx_category(nvtx, r->domain, r->args, r->args_count, &w->scratch)) {
		sink_text(w->out, ",\"category\":");
		sink_json(w->out, w->scratch.data);
	}
	buffer_clear(&w->scratch);
	if (nvtx_color(r->args, r->args_count, &w->scratch)) {
		sink_text(w->out, ",\"color\":");
		sink_json(w->out, w->scratch.data);
	}
	buffer_clear(&w->scratch);
	if (nvtx_payload_any(nvtx, r->args, r->args_count, r->payload, &w->scratch)) {
		sink_text(w->out, ",\"payload\":");
		sink_text(w->out, w->scratch.data);
	}
}

/* A sample of a counter is a point of its curve; without a value there is no point. */
static void add_counter(struct chrome *w, const struct timeline_event *e)
{
	const struct event *mark = e->event;
	bool is_plain = event_arg(mark, TF_ARG_PAYLOAD) != 0;

	if (!is_plain && !mark->payload && tf_arg_small(event_arg(mark, TF_ARG_COUNTER)))
		return;
	chrome_begin(w);
	sink_text(w->out, "{\"ph\":\"C\",\"cat\":\"user_counter\",\"name\":");
	add_text(w, chrome_string(w, e->name));
	sink_text(w->out, ",");
	add_text(w, &w->lane);
	chrome_time(w, e->start_ns);
	buffer_clear(&w->scratch);
	if (mark->payload)
		nvtx_payload_json(&w->timeline.nvtx, mark->payload, &w->scratch);
	else if (is_plain)
		nvtx_payload_plain(mark->args, mark->args_count, &w->scratch);
	else
		buffer_text(&w->scratch, "0");
	sink_text(w->out, *w->scratch.data == '{' ? ",\"args\":" : ",\"args\":{\"value\":");
	sink_text(w->out, w->scratch.data);
	sink_text(w->out, *w->scratch.data == '{' ? "}" : "}}");
}

static void add_mark(struct chrome *w, const struct timeline_event *e)
{
	sink_text(w->out, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"user_annotation\",\"name\":");
	add_text(w, chrome_string(w, e->name));
	sink_text(w->out, ",");
	add_text(w, &w->lane);
	chrome_time(w, e->start_ns);
	if (e->range->domain || e->range->args_count) {
		add_members(w, e->range);
		sink_text(w->out, "}");
	}
	sink_text(w->out, "}");
}

static void add_range_args(struct chrome *w, const struct nvtx_range *r)
{
	if (!r->domain && !r->is_unfinished && !r->args_count && !r->end_payload)
		return;
	add_members(w, r);
	if (r->end_payload) {
		buffer_clear(&w->scratch);
		nvtx_payload_json(&w->timeline.nvtx, r->end_payload, &w->scratch);
		sink_text(w->out, ",\"end payload\":");
		sink_text(w->out, w->scratch.data);
	}
	if (r->is_unfinished)
		sink_text(w->out, ",\"unfinished\":true");
	sink_text(w->out, "}");
}

static void add_lane_and_span(struct chrome *w, const struct timeline_event *e)
{
	sink_text(w->out, ",");
	add_text(w, &w->lane);
	add_span(w, e);
}

static void add_pushpop(struct chrome *w, const struct timeline_event *e)
{
	const struct nvtx_range *r = e->range;
	bool is_pytorch;

	if (chrome_pytorch_step(w, r)) {
		add_lane_and_span(w, e);
		sink_text(w->out, "}");
	}
	is_pytorch = chrome_pytorch_name(w, r, "{\"ph\":\"X\",");
	if (!is_pytorch) {
		chrome_begin(w);
		sink_text(w->out, "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":");
		add_text(w, chrome_string(w, e->name));
	}
	add_lane_and_span(w, e);
	if (is_pytorch)
		chrome_pytorch_args(w, r);
	else
		add_range_args(w, r);
	sink_text(w->out, "}");
}

/* Ranges that may overlap are asynchronous events, which viewers draw in a row of their own. */
static void add_range_end(struct chrome *w, const struct timeline_event *e, bool is_end)
{
	const char *phase = is_end ? "{\"ph\":\"e\"," : "{\"ph\":\"b\",";
	bool is_pytorch = chrome_pytorch_name(w, e->range, phase);

	if (!is_pytorch) {
		chrome_begin(w);
		sink_text(w->out, phase);
		sink_text(w->out, "\"cat\":\"user_annotation\",\"name\":");
		add_text(w, chrome_string(w, e->name));
	}
	chrome_number(w, ",\"id\":", w->next_range);
	sink_text(w->out, ",");
	add_text(w, &w->lane);
	chrome_time(w, is_end ? e->end_ns : e->start_ns);
	if (!is_end && is_pytorch)
		chrome_pytorch_args(w, e->range);
	else if (!is_end)
		add_range_args(w, e->range);
	sink_text(w->out, "}");
}

static void add_range(struct chrome *w, const struct timeline_event *e)
{
	set_lane(w, e->thread);
	if (e->range->is_pushpop) {
		add_pushpop(w, e);
		chrome_autograd_range(&w->autograd, chrome_string(w, e->name)->data, e->thread->tid, e->start_ns);
		return;
	}
	w->next_range++;
	add_range_end(w, e, false);
	if (e->range->end_thread)
		set_lane(w, e->range->end_thread);
	add_range_end(w, e, true);
}

static void print_event(void *chrome, const struct timeline_event *e)
{
	static void (*const print[])(struct chrome *, const struct timeline_event *) = {
		[TIMELINE_CALL] = add_call,	  [TIMELINE_SAMPLE] = add_sample, [TIMELINE_MARK] = add_mark,
		[TIMELINE_COUNTER] = add_counter, [TIMELINE_RANGE] = add_range,
		[TIMELINE_OPERATION] = chrome_operation};
	struct chrome *w = chrome;

	if (e->kind == TIMELINE_SAMPLE || e->kind == TIMELINE_MARK)
		chrome_begin(w);
	print[e->kind](w, e);
}

/* ---- metadata ---- */

static void meta_number(struct chrome *w, uint32_t tid, const char *what, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	chrome_meta(w, w->pid, tid, what, "sort_index", text);
}

static void meta_name(struct chrome *w, uint32_t tid, const char *what, const char *name)
{
	SCOPED(buffer) json = {0};

	json_add(&json, name);
	chrome_meta(w, w->pid, tid, what, "name", json.data);
}

static void begin_program(void *chrome)
{
	struct chrome *w = chrome;
	size_t process = w->timeline.image->process;
	const struct model *m = w->timeline.model;
	SCOPED(buffer) label = {0};
	bool is_new;

	w->pid = timeline_pid(&w->process_numbers, m->processes[process].pid, process, &is_new);
	w->thread = NULL;
	if (!w->timeline.is_first)
		return;
	process_label(m, &m->processes[process], &label);
	meta_name(w, 0, "process_name", label.data);
	chrome_meta(w, w->pid, 0, "process_labels", "labels", "\"CPU\"");
	meta_number(w, 0, "process_sort_index", process);
	w->correlation = 0;
}

static void begin_thread(void *chrome, const struct trace_thread *thread)
{
	struct chrome *w = chrome;
	SCOPED(buffer) label = {0};

	thread_label(thread, &label);
	meta_name(w, thread->tid, "thread_name", label.data);
	meta_number(w, thread->tid, "thread_sort_index", thread->number);
	set_lane(w, thread);
	for (size_t i = 0; i < EVENT_IDS; i++) {
		buffer_clear(&w->calls[i].begin);
		buffer_clear(&w->calls[i].arguments);
	}
}

static void end_part(void *chrome, enum timeline_part part)
{
	if (part == PART_RANGES)
		chrome_autograd_flows(chrome);
}

static void end_program(void *chrome)
{
	struct chrome *w = chrome;

	for (size_t i = 0; i < w->text_count; i++)
		buffer_done(&w->texts[i]);
	w->text_count = 0;
}

int export_chrome(struct export *x, struct err *err)
{
	static const struct timeline_printer printer = {
		.parts = {PART_THREADS, PART_RANGES, PART_OPERATIONS, PART_FLOWS, PART_COUNTERS},
		.wants_correlations = true,
		.begin = begin_program,
		.thread = begin_thread,
		.event = print_event,
		.flow = chrome_flows,
		.counter = chrome_counter,
		.part_end = end_part,
		.end = end_program,
	};
	struct chrome w = {.x = x, .out = x->out, .timeline.model = x->context->model};

	(void)err;
	for (size_t i = 0; i < ARGUMENT_IDS; i++)
		if (timeline_arguments[i].chrome)
			buffer_print(&w.members[i], ",\"%s\":", timeline_arguments[i].chrome);
	sink_text(x->out, "{\"schemaVersion\":1,\"deviceProperties\":");
	chrome_device_properties(&w);
	sink_text(x->out, ",\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":");
	sink_number(x->out, x->context->model->origin_ns);
	sink_text(x->out, ",\"traceEvents\":[\n");
	timeline_visit(&w.timeline, x->context, &printer, &w);
	chrome_series(&w);
	if (x->has_critical_path)
		chrome_critical(&w);
	sink_text(x->out, "\n]}\n");
	map_done(&w.process_numbers);
	map_done(&w.lanes);
	for (size_t i = 0; i < EVENT_IDS; i++) {
		buffer_done(&w.calls[i].begin);
		buffer_done(&w.calls[i].arguments);
	}
	for (size_t i = 0; i < ARGUMENT_IDS; i++)
		buffer_done(&w.members[i]);
	buffer_done(&w.lane);
	buffer_done(&w.scratch);
	buffer_done(&w.operator);
	free(w.texts);
	return 0;
}
