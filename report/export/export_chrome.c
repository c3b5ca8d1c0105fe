/* SPDX-License-Identifier: Apache-2.0 */
/* chrome: Trace Event JSON as PyTorch's Kineto writes it, for Perfetto, HTA, TensorBoard and speedscope. Events are
 * written thread by thread, because readers sort them anyway. Text is made once for each name. */
#include "report/export/export_chrome.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/derive/events/filter.h"
#include "report/derive/device/kernel.h"
#include "report/derive/stacks/samples.h"
#include "report/read/operation.h"
#include "report/base/text.h"

#define CATEGORY(number, NAME, word, set, category, ...) [number] = #category,
static const char *const categories[TF_GROUP_COUNT] = {TF_GROUPS(CATEGORY, )};
#undef CATEGORY

const char *chrome_cached(const struct chrome_cache *c, uint64_t number)
{
	const uint64_t *place = map_find(&c->places, number, 0);

	return place ? c->texts.items[*place - 1] : NULL;
}

const char *chrome_keep(struct chrome_cache *c, uint64_t number, const char *text)
{
	texts_add(&c->texts, "%s", text);
	*map_put(&c->places, number, 0, NULL) = c->texts.count;
	return c->texts.items[c->texts.count - 1];
}

static void cache_done(struct chrome_cache *c)
{
	map_done(&c->places);
	texts_done(&c->texts);
	*c = (struct chrome_cache){0};
}

/* ---- the parts of an event ---- */

void chrome_begin(struct chrome *w)
{
	sink_add(w->out, ",\n", w->has_events ? 2 : 0);
	w->has_events = true;
}

static void add_time(struct chrome *w, uint64_t ticks)
{
	sink_text(w->out, ",\"ts\":");
	sink_us(w->out, (int64_t)(clock_map_ns(w->clock, ticks) - w->model->origin_ns));
}

static const char *call_head(struct chrome *w, uint32_t id)
{
	const struct function *f = trace_function(w->image->trace, id);
	const char *text = chrome_cached(&w->calls, id);

	if (text)
		return text;
	buffer_clear(&w->scratch);
	buffer_print(&w->scratch, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":",
		     f && f->group < TF_GROUP_COUNT ? categories[f->group] : "other");
	json_add(&w->scratch, f ? f->name : "?");
	buffer_text(&w->scratch, ",");
	return chrome_keep(&w->calls, id, w->scratch.data);
}

static const char *string_json(struct chrome *w, uint32_t id)
{
	const struct blob *b = trace_definition(w->image->trace, TF_BLOB_STRING, id);
	const char *text = chrome_cached(&w->strings, id);
	struct buffer raw = {0};

	if (text)
		return text;
	if (b)
		trace_text(w->image->trace, b, &raw);
	else
		buffer_print(&raw, "(text %" PRIu32 " lost)", id);
	buffer_clear(&w->scratch);
	json_add(&w->scratch, buffer_string(&raw));
	buffer_done(&raw);
	return chrome_keep(&w->strings, id, w->scratch.data);
}

static const char *launch_args(struct chrome *w, uint32_t id)
{
	const struct trace *t = w->image->trace;
	const struct blob *b = trace_definition(t, TF_BLOB_LAUNCH, id);
	const char *text = chrome_cached(&w->launches, id);
	struct tf_launch l;
	struct buffer name = {0};

	if (text)
		return text;
	if (!b || trace_blob(t, b, &l, sizeof(l)) < sizeof(l))
		return chrome_keep(&w->launches, id, "");
	buffer_clear(&w->scratch);
	if (kernel_of_launch(w->x->context, w->image, id, &l, &name)) {
		buffer_text(&w->scratch, ",\"kernel\":");
		json_add(&w->scratch, name.data);
	}
	buffer_print(&w->scratch,
		     ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared memory\":%u,\"stream handle\":%" PRIu64,
		     l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.shared_bytes, l.stream);
	buffer_done(&name);
	return chrome_keep(&w->launches, id, w->scratch.data);
}

static const char *stack(struct chrome *w, uint32_t id)
{
	const char *text = chrome_cached(&w->stacks, id);
	struct buffer raw = {0};

	if (text)
		return text;
	symbols_stack(w->x->context->symbols, w->image, id, &raw);
	buffer_clear(&w->scratch);
	json_add(&w->scratch, raw.data);
	buffer_done(&raw);
	return chrome_keep(&w->stacks, id, w->scratch.data);
}

/* The operation of a library call; its enum values depend on the group of the function. */
static const char *operation_args(struct chrome *w, const struct event *e)
{
	const struct function *f = trace_function(w->image->trace, e->id);
	uint64_t id = tf_arg_value(event_arg(e, TF_ARG_OPERATION)) << 8 | (f ? f->group : 0);
	const char *text = chrome_cached(&w->library_calls, id);
	struct buffer raw = {0};
	struct tf_operation op;

	if (text)
		return text;
	buffer_clear(&w->scratch);
	if (f && operation_of(w->image->trace, e, &op)) {
		operation_text(&op, f->group, &raw);
		buffer_text(&w->scratch, ",\"shape\":");
		json_add(&w->scratch, buffer_string(&raw));
	}
	buffer_done(&raw);
	return chrome_keep(&w->library_calls, id, buffer_string(&w->scratch));
}

void chrome_number(struct chrome *w, const char *name, uint64_t value)
{
	sink_text(w->out, name);
	sink_number(w->out, value);
}

static void chrome_signed_number(struct chrome *w, const char *name, int64_t value)
{
	sink_text(w->out, name);
	if (value < 0)
		sink_text(w->out, "-");
	sink_number(w->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* A call must not have "stream": HTA takes an event with it for a device operation. */
static void add_arg(struct chrome *w, const struct event *e, uint64_t slot)
{
	static const char *const kinds[] = {"HtoH", "HtoD", "DtoH", "DtoD", "default"};
	unsigned int small = tf_arg_small(slot);
	uint64_t value = tf_arg_value(slot);

	switch (tf_arg_kind(slot)) {
	case TF_ARG_STACK:
		sink_text(w->out, ",\"stack\":");
		sink_text(w->out, stack(w, (uint32_t)value));
		break;
	case TF_ARG_FD:
		if ((value & 0xffff) != 0xffff)
			chrome_number(w, ",\"fd\":", value & 0xffff);
		chrome_signed_number(w, ",\"result\":", (int32_t)(value >> 16));
		break;
	case TF_ARG_TIMEOUT:
		if (value >> 16 != UINT32_MAX)
			chrome_number(w, ",\"timeout_us\":", value >> 16);
		chrome_signed_number(w, ",\"result\":", (int16_t)value);
		break;
	case TF_ARG_VALUE:
		chrome_number(w, ",\"value\":", value);
		break;
	case TF_ARG_LAUNCH:
		sink_text(w->out, launch_args(w, (uint32_t)value));
		break;
	case TF_ARG_COPY:
		sink_text(w->out, ",\"kind\":\"");
		sink_text(w->out, small == 63 ? "memset" : small < 5 ? kinds[small] : "unknown");
		chrome_number(w, "\",\"bytes\":", value);
		break;
	case TF_ARG_MEMORY:
		chrome_number(w, small & TF_MEMORY_FREE ? ",\"freed\":" : ",\"address\":", value);
		break;
	case TF_ARG_BYTES:
		chrome_number(w, ",\"bytes\":", value);
		break;
	case TF_ARG_STREAM:
		chrome_number(w, ",\"stream handle\":", value);
		break;
	case TF_ARG_RESULT:
		chrome_number(w, ",\"error\":", value);
		break;
	case TF_ARG_OPERATION:
		sink_text(w->out, operation_args(w, e));
		break;
	default:
		break;
	}
}

/* Args after the first one, which is always present, so that each can begin with a comma. */
static void add_args(struct chrome *w, const struct event *e, bool is_cuda)
{
	uint64_t matched;

	if (!is_cuda && (!e->args_count || (e->args_count == 1 && tf_arg_kind(e->args[0]) == TF_ARG_LONG)))
		return;
	sink_text(w->out, ",\"args\":{");
	/* Device records use CUPTI's correlation ids; a call without a device record has none. */
	matched = is_cuda ? correlation_of(&w->ids, e) : 0;
	if (matched)
		chrome_number(w, "\"correlation\":", matched);
	else if (is_cuda && !w->has_device_records)
		chrome_number(w, "\"correlation\":", ++w->correlation);
	else
		chrome_number(w, "\"id\":", e->id);
	for (uint32_t i = 0; i < e->args_count; i++)
		add_arg(w, e, e->args[i]);
	sink_text(w->out, "}");
}

/* ---- events ---- */

static void chrome_add_call(struct chrome *w, const struct event *e)
{
	const struct function *f = trace_function(w->image->trace, e->id);
	uint64_t duration = clock_map_duration(w->clock, e->duration);

	chrome_begin(w);
	sink_text(w->out, call_head(w, e->id));
	sink_add(w->out, w->lane.data, w->lane.size);
	sink_text(w->out, ",\"ts\":");
	sink_us(w->out, (int64_t)(clock_map_ns(w->clock, e->ticks) - duration - w->model->origin_ns));
	sink_text(w->out, ",\"dur\":");
	sink_us(w->out, (int64_t)duration);
	add_args(w, e, f && (f->group == TF_GROUP_CUDA || f->group == TF_GROUP_CUDA_DRIVER));
	sink_text(w->out, "}");
}

static void add_domain(struct chrome *w, uint32_t domain)
{
	const struct trace *t = w->image->trace;
	const struct blob *b = domain ? trace_definition(t, TF_BLOB_DOMAIN, domain) : NULL;
	struct buffer name = {0};

	if (!b)
		return;
	trace_text(t, b, &name);
	sink_text(w->out, ",\"domain\":");
	sink_json(w->out, buffer_string(&name));
	buffer_done(&name);
}

static void set_lane(struct chrome *w, const struct trace_thread *thread)
{
	if (w->thread == thread)
		return;
	w->thread = thread;
	buffer_clear(&w->lane);
	buffer_print(&w->lane, "\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, w->pid, thread->tid);
}

static void add_members(struct chrome *w, uint32_t domain, const uint64_t *args, uint32_t count,
			const uint64_t *payload)
{
	buffer_clear(&w->scratch);
	if (nvtx_category(&w->nvtx, domain, args, count, &w->scratch)) {
		sink_text(w->out, ",\"category\":");
		sink_json(w->out, w->scratch.data);
	}
	buffer_clear(&w->scratch);
	if (nvtx_color(args, count, &w->scratch)) {
		sink_text(w->out, ",\"color\":");
		sink_json(w->out, w->scratch.data);
	}
	buffer_clear(&w->scratch);
	if (nvtx_payload_any(&w->nvtx, args, count, payload, &w->scratch)) {
		sink_text(w->out, ",\"payload\":");
		sink_text(w->out, w->scratch.data);
	}
}

/* A sample of a counter is a point of its curve; without a value there is no point. */
static void add_counter(struct chrome *w, const struct event *e)
{
	bool is_plain = event_arg(e, TF_ARG_PAYLOAD) != 0;

	if (!is_plain && !e->payload && tf_arg_small(event_arg(e, TF_ARG_COUNTER)))
		return;
	chrome_begin(w);
	sink_text(w->out, "{\"ph\":\"C\",\"cat\":\"user_counter\",\"name\":");
	sink_text(w->out, string_json(w, e->text));
	sink_text(w->out, ",");
	sink_add(w->out, w->lane.data, w->lane.size);
	add_time(w, e->ticks);
	buffer_clear(&w->scratch);
	if (e->payload)
		nvtx_payload_json(&w->nvtx, e->payload, &w->scratch);
	else if (is_plain)
		nvtx_payload_plain(e->args, e->args_count, &w->scratch);
	else
		buffer_text(&w->scratch, "0");
	sink_text(w->out, *w->scratch.data == '{' ? ",\"args\":" : ",\"args\":{\"value\":");
	sink_text(w->out, w->scratch.data);
	sink_text(w->out, *w->scratch.data == '{' ? "}" : "}}");
}

static void chrome_add_mark(struct chrome *w, const struct event *e)
{
	if (e->args_count && event_arg(e, TF_ARG_COUNTER)) {
		add_counter(w, e);
		return;
	}
	chrome_begin(w);
	sink_text(w->out, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"user_annotation\",\"name\":");
	sink_text(w->out, string_json(w, e->text));
	sink_text(w->out, ",");
	sink_add(w->out, w->lane.data, w->lane.size);
	add_time(w, e->ticks);
	if (e->id || e->args_count) {
		chrome_number(w, ",\"args\":{\"domain id\":", e->id);
		add_domain(w, e->id);
		add_members(w, e->id, e->args, e->args_count, e->payload);
		sink_text(w->out, "}");
	}
	sink_text(w->out, "}");
}

static void chrome_add_sample(struct chrome *w, const struct event *e)
{
	uint64_t arg = e->args_count ? event_arg(e, TF_ARG_STACK) : 0;

	chrome_begin(w);
	sink_text(w->out, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_sample\",\"name\":\"CPU sample\",");
	sink_add(w->out, w->lane.data, w->lane.size);
	add_time(w, e->ticks);
	chrome_number(w, ",\"args\":{\"CPU time (ns)\":", samples_ns(e));
	if (arg) {
		sink_text(w->out, ",\"stack\":");
		sink_text(w->out, stack(w, (uint32_t)tf_arg_value(arg)));
	}
	sink_text(w->out, "}}");
}

static void add_range_args(struct chrome *w, const struct nvtx_range *r)
{
	if (!r->domain && !r->is_unfinished && !r->args_count && !r->end_payload)
		return;
	chrome_number(w, ",\"args\":{\"domain id\":", r->domain);
	add_domain(w, r->domain);
	add_members(w, r->domain, r->args, r->args_count, r->payload);
	if (r->end_payload) {
		buffer_clear(&w->scratch);
		nvtx_payload_json(&w->nvtx, r->end_payload, &w->scratch);
		sink_text(w->out, ",\"end payload\":");
		sink_text(w->out, w->scratch.data);
	}
	if (r->is_unfinished)
		sink_text(w->out, ",\"unfinished\":true");
	sink_text(w->out, "}");
}

static void add_span(struct chrome *w, const struct nvtx_range *r)
{
	sink_text(w->out, ",");
	sink_add(w->out, w->lane.data, w->lane.size);
	add_time(w, r->start);
	sink_text(w->out, ",\"dur\":");
	sink_us(w->out, (int64_t)clock_map_duration(w->clock, r->end - r->start));
}

static void add_pushpop(struct chrome *w, const struct nvtx_range *r)
{
	bool is_pytorch;

	if (chrome_pytorch_step(w, r)) {
		add_span(w, r);
		sink_text(w->out, "}");
	}
	is_pytorch = chrome_pytorch_name(w, r);

	if (!is_pytorch) {
		chrome_begin(w);
		sink_text(w->out, "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":");
		sink_text(w->out, string_json(w, r->text));
	}
	add_span(w, r);
	if (is_pytorch)
		chrome_pytorch_args(w, r);
	else
		add_range_args(w, r);
	sink_text(w->out, "}");
}

/* Ranges that may overlap are asynchronous events, which viewers draw in a row of their own. */
static void add_range_end(struct chrome *w, const struct nvtx_range *r, bool is_end)
{
	chrome_begin(w);
	sink_text(w->out, is_end ? "{\"ph\":\"e\"" : "{\"ph\":\"b\"");
	sink_text(w->out, ",\"cat\":\"user_annotation\",\"name\":");
	sink_text(w->out, string_json(w, r->text));
	chrome_number(w, ",\"id\":", w->next_range);
	sink_text(w->out, ",");
	sink_add(w->out, w->lane.data, w->lane.size);
	add_time(w, is_end ? r->end : r->start);
	if (!is_end)
		add_range_args(w, r);
	sink_text(w->out, "}");
}

static void chrome_visit_range(void *context, const struct nvtx_range *r)
{
	struct chrome *w = context;

	set_lane(w, r->thread);
	if (r->is_pushpop) {
		add_pushpop(w, r);
		chrome_autograd_range(&w->autograd, string_json(w, r->text), r->thread->tid,
				      clock_map_ns(w->clock, r->start));
		return;
	}
	w->next_range++;
	add_range_end(w, r, false);
	if (r->end_thread)
		set_lane(w, r->end_thread);
	add_range_end(w, r, true);
}

/* ---- process ids ---- */

/* Processes of several machines, or of a long job, may have the same pid: the later one gets an unused number. */
uint32_t chrome_pid(struct chrome *w, uint32_t wanted, uint64_t owner, bool *ret_new)
{
	for (;; wanted += 10000000) {
		uint64_t *place = map_put(&w->process_numbers, wanted, 0, ret_new);

		if (*ret_new)
			*place = owner;
		if (*place == owner)
			return wanted;
	}
}

void chrome_meta(struct chrome *w, uint32_t pid, uint32_t tid, const char *what, const char *key, const char *value)
{
	chrome_begin(w);
	sink_text(w->out, "{\"ph\":\"M\",\"name\":\"");
	sink_text(w->out, what);
	chrome_number(w, "\",\"pid\":", pid);
	chrome_number(w, ",\"tid\":", tid);
	sink_text(w->out, ",\"ts\":0,\"args\":{\"");
	sink_text(w->out, key);
	sink_text(w->out, "\":");
	sink_text(w->out, value);
	sink_text(w->out, "}}");
}

static void add_process_meta(struct chrome *w, size_t process)
{
	struct buffer raw = {0}, text = {0};

	process_label(w->model, &w->model->processes[process], &raw);
	json_add(&text, raw.data);
	chrome_meta(w, w->pid, 0, "process_name", "name", text.data);
	chrome_meta(w, w->pid, 0, "process_labels", "labels", "\"CPU\"");
	buffer_clear(&text);
	buffer_print(&text, "%zu", process);
	chrome_meta(w, w->pid, 0, "process_sort_index", "sort_index", text.data);
	buffer_done(&raw);
	buffer_done(&text);
}

static void add_thread_meta(struct chrome *w, const struct trace_thread *thread)
{
	struct buffer raw = {0}, text = {0};

	thread_label(thread, &raw);
	json_add(&text, raw.data);
	chrome_meta(w, w->pid, thread->tid, "thread_name", "name", text.data);
	buffer_clear(&text);
	buffer_print(&text, "%" PRIu32, thread->number);
	chrome_meta(w, w->pid, thread->tid, "thread_sort_index", "sort_index", text.data);
	buffer_done(&raw);
	buffer_done(&text);
}

static void chrome_add_thread(struct chrome *w, const struct trace_thread *thread)
{
	struct cursor cursor;
	struct event e;

	add_thread_meta(w, thread);
	set_lane(w, thread);
	filter_cursor_init(&cursor, w->image->trace, thread);
	while (cursor_next(&cursor, &e))
		if (e.kind == TF_CALL)
			chrome_add_call(w, &e);
		else if (e.kind == TF_MARK)
			chrome_add_mark(w, &e);
		else if (e.kind == TF_SAMPLE)
			chrome_add_sample(w, &e);
}

static void chrome_add_image(struct chrome *w, const struct image *image)
{
	const struct trace *t = image->trace;
	bool is_new;

	w->image = image;
	w->clock = &w->model->machines[image->machine].clock;
	w->pid = chrome_pid(w, w->model->processes[image->process].pid, image->process, &is_new);
	w->thread = NULL;
	w->has_device_records = device_source(t).is_known;
	if (image == &w->model->images[w->model->processes[image->process].first_image]) {
		add_process_meta(w, image->process);
		w->correlation = 0;
	}
	correlation_ids(w->x->context, image, &w->ids);
	nvtx_definitions_make(&w->nvtx, t);
	for (size_t i = 0; t && i < t->thread_count; i++)
		chrome_add_thread(w, &t->threads[i]);
	nvtx_ranges(image, NULL, w, chrome_visit_range);
	chrome_autograd_flows(w);
	if (w->has_device_records) {
		stream_names_make(&w->streams, w->x->context, image, &w->nvtx);
		chrome_device_events(w);
		stream_names_done(&w->streams);
	}
	correlation_ids_done(&w->ids);
	nvtx_definitions_done(&w->nvtx);
	chrome_memory(w);
	cache_done(&w->calls);
	cache_done(&w->strings);
	cache_done(&w->launches);
	cache_done(&w->stacks);
	cache_done(&w->library_calls);
	cache_done(&w->operations);
}

int export_chrome(struct export *x, struct err *err)
{
	struct chrome w = {.x = x, .out = x->out, .model = x->context->model};

	(void)err;
	sink_text(x->out, "{\"schemaVersion\":1,\"deviceProperties\":");
	chrome_device_properties(&w);
	sink_text(x->out, ",\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":");
	sink_number(x->out, w.model->origin_ns);
	sink_text(x->out, ",\"traceEvents\":[\n");
	for (size_t i = 0; i < w.model->image_count; i++)
		chrome_add_image(&w, &w.model->images[i]);
	chrome_energy(&w);
	sink_text(x->out, "\n]}\n");
	map_done(&w.process_numbers);
	map_done(&w.lanes);
	buffer_done(&w.lane);
	buffer_done(&w.scratch);
	buffer_done(&w.operator);
	return 0;
}
