/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/timeline/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/kernel.h"
#include "report/events/cuda/memory.h"
#include "report/events/filter.h"
#include "report/events/os_names.h"
#include "report/events/stacks/heap.h"
#include "report/events/stacks/samples.h"
#include "report/read/operation.h"
#include "report/time/profile.h"
#include "report/time/resident.h"

const struct timeline_argument_kind timeline_arguments[ARGUMENT_IDS] = {
#define ARGUMENT_ROW(ID, ...) [ARGUMENT_##ID] = {__VA_ARGS__},
	TIMELINE_ARGUMENTS(ARGUMENT_ROW)
#undef ARGUMENT_ROW
};

/* ---- texts ---- */

uint64_t *timeline_slot(struct timeline *t, enum timeline_text kind, uint64_t number)
{
	if (kind == TEXT_FUNCTION && number < EVENT_IDS)
		return &t->functions[number];
	return map_put(&t->slots, kind, number, NULL);
}

bool timeline_launch(const struct timeline *t, uint32_t number, struct tf_launch *ret)
{
	const struct blob *b = trace_definition(t->image->trace, TF_BLOB_LAUNCH, number);

	return b && trace_blob(t->image->trace, b, ret, sizeof(*ret)) == sizeof(*ret);
}

static bool blob_text(const struct timeline *t, enum tf_blob_kind kind, uint64_t number, struct buffer *ret)
{
	bool is_known = trace_definition_text(t->image->trace, kind, (uint32_t)number, ret);

	if (!is_known && kind == TF_BLOB_STRING)
		buffer_print(ret, "(text %" PRIu64 " lost)", number);
	return is_known;
}

/* "count=10 element=8 object=/data file=out.h5" */
static void object_text(const struct trace *t, const struct tf_operation *operation, struct buffer *ret)
{
	SCOPED(buffer) file = {0}, path = {0};

	if (operation_object(t, operation, &file, &path))
		buffer_print(ret, "%sobject=%s file=%s", ret->size ? " " : "", buffer_string(&path),
			     buffer_string(&file));
}

/* The number of an operation of a library call has the group of its function, which its enum values depend on. */
static bool shape_text(const struct timeline *t, uint64_t number, struct buffer *ret)
{
	const uint64_t arg = tf_arg(TF_ARG_OPERATION, 0, number >> 8);
	const struct event e = {.args = &arg, .args_count = 1};
	struct tf_operation operation;

	if (!operation_of(t->image->trace, &e, &operation))
		return false;
	operation_text(&operation, number & 0xff, ret);
	if ((number & 0xff) == TF_GROUP_HDF5)
		object_text(t->image->trace, &operation, ret);
	return true;
}

bool timeline_text(const struct timeline *t, enum timeline_text kind, uint64_t number, struct buffer *ret)
{
	const struct function *f;
	struct tf_device_operation operation;
	struct tf_launch launch;

	switch (kind) {
	case TEXT_FUNCTION:
		f = trace_function(t->image->trace, (uint32_t)number);
		buffer_text(ret, f ? f->name : "?");
		return f;
	case TEXT_STRING:
		return blob_text(t, TF_BLOB_STRING, number, ret);
	case TEXT_DOMAIN:
		return number && blob_text(t, TF_BLOB_DOMAIN, number, ret);
	case TEXT_STACK:
		symbols_stack(t->context->symbols, t->image, (uint32_t)number, ret);
		return true;
	case TEXT_KERNEL:
		return timeline_launch(t, (uint32_t)number, &launch) &&
		       kernel_of_launch(t->context, t->image, (uint32_t)number, &launch, ret);
	case TEXT_SHAPE:
		return shape_text(t, number, ret);
	case TEXT_ERRNO:
		os_error_name((uint32_t)number, ret);
		return true;
	case TEXT_FLAGS:
		os_flags_text((unsigned int)(number >> 32), (uint32_t)number, ret);
		return true;
	default:
		if (!device_operation(t->image->trace, (uint32_t)number, &operation))
			return false;
		device_operation_name(t->context, t->image->trace, &operation, ret);
		return true;
	}
}

const char *timeline_category(const struct function *f)
{
	return f && f->group < TF_GROUP_COUNT ? group_styles[f->group].category : "other";
}

const struct tf_device_operation *timeline_operation(struct timeline *t, uint32_t number)
{
	bool is_new;
	uint64_t *at = map_put(&t->operations, number, 0, &is_new);

	if (is_new) {
		*at = t->operation_count;
		t->operation_list = mem_grow(t->operation_list, t->operation_count, &t->operation_capacity,
					     sizeof(*t->operation_list));
		if (!device_operation(t->image->trace, number, &t->operation_list[t->operation_count]))
			t->operation_list[t->operation_count] = (struct tf_device_operation){0};
		t->operation_count++;
	}
	return &t->operation_list[*at];
}

/* ---- tracks ---- */

uint32_t timeline_pid(struct map *owners, uint32_t wanted, uint64_t owner, bool *ret_new)
{
	for (;; wanted += 10000000) {
		uint64_t *has = map_put(owners, wanted, 0, ret_new);

		if (*ret_new)
			*has = owner;
		if (*has == owner)
			return wanted;
	}
}

void timeline_stream_label(const struct timeline *t, const struct tf_device_operation *operation, struct buffer *ret)
{
	stream_label(&t->streams, operation, ret);
	buffer_text(ret, " of ");
	process_label(t->model, &t->model->processes[t->image->process], ret);
}

void timeline_device_label(const struct timeline *t, uint32_t device, struct buffer *ret)
{
	device_name(t->image->trace, device, ret);
	if (has_several_hosts(t->model))
		buffer_print(ret, " on %s", t->model->machines[t->image->machine].host);
}

/* ---- arguments of calls and samples ---- */

static void add(struct timeline_event *e, enum timeline_argument_id id, uint64_t value)
{
	if (e->argument_count < TIMELINE_ARGUMENTS_MOST)
		e->arguments[e->argument_count++] = (struct timeline_argument){(uint8_t)id, value};
}

/* The error of an OS call, whichever argument has it. */
static void add_errno(struct timeline_event *e, uint64_t slot)
{
	uint32_t error = os_error_of(slot);

	if (error)
		add(e, ARGUMENT_ERRNO, error);
}

static void add_argument(const struct timeline *t, struct timeline_event *e, uint64_t slot)
{
	uint64_t value = tf_arg_value(slot);
	unsigned int small = tf_arg_small(slot);
	bool is_freed = small & TF_MEMORY_FREE;

	switch (tf_arg_kind(slot)) {
	case TF_ARG_STACK:
		add(e, ARGUMENT_STACK, (uint32_t)value);
		break;
	case TF_ARG_FD:
		if ((value & 0xffff) != 0xffff)
			add(e, ARGUMENT_FD, value & 0xffff);
		add(e, ARGUMENT_RESULT, (uint64_t)(int64_t)(int32_t)(value >> 16));
		break;
	case TF_ARG_TIMEOUT:
		if (value >> 16 != UINT32_MAX)
			add(e, ARGUMENT_TIMEOUT_US, value >> 16);
		add(e, ARGUMENT_READY, (uint64_t)(int64_t)(int16_t)value);
		break;
	case TF_ARG_TEAM:
		add(e, ARGUMENT_THREADS, value);
		break;
	case TF_ARG_VALUE:
		if (e->event->kind == TF_CONSTRUCT)
			add(e, ARGUMENT_WAITED_NS, clock_map_duration(t->clock, value));
		else
			add(e, ARGUMENT_VALUE, value);
		break;
	case TF_ARG_LAUNCH:
		add(e, ARGUMENT_LAUNCH, (uint32_t)value);
		break;
	case TF_ARG_COPY:
		add(e, ARGUMENT_COPY, small);
		add(e, ARGUMENT_BYTES, value);
		break;
	case TF_ARG_MEMORY:
		add(e, is_freed ? ARGUMENT_FREES : ARGUMENT_ALLOCATES, small & 31);
		add(e, is_freed ? ARGUMENT_FREED : ARGUMENT_ADDRESS, value);
		break;
	case TF_ARG_BYTES:
		add(e, ARGUMENT_BYTES, value);
		break;
	case TF_ARG_STREAM:
		add(e, ARGUMENT_STREAM, value);
		break;
	case TF_ARG_RESULT:
		if (!e->function || e->function->group != TF_GROUP_OSRT)
			add(e, ARGUMENT_ERROR, value);
		break;
	case TF_ARG_FLAGS:
		add(e, ARGUMENT_FLAGS, (uint64_t)small << 32 | (uint32_t)value);
		break;
	case TF_ARG_LOCK:
		add(e, ARGUMENT_LOCK, value);
		break;
	case TF_ARG_HOLDER:
		add(e, ARGUMENT_HOLDER, value);
		break;
	case TF_ARG_WAKER:
		add(e, ARGUMENT_WAKER, value >> TF_WAKER_TICKS_BITS);
		add(e, ARGUMENT_WOKEN_NS, clock_map_duration(t->clock, value & TF_WAKER_TICKS_MOST));
		break;
	case TF_ARG_OPERATION:
		add(e, ARGUMENT_SHAPE, (uint64_t)(uint32_t)value << 8 | (e->function ? e->function->group : 0));
		break;
	default:
		break;
	}
}

/* ---- events of threads ---- */

static void visit_call(struct timeline *t, struct timeline_event *out, const struct event *e)
{
	const struct function *f = trace_function(t->image->trace, e->id);

	out->kind = TIMELINE_CALL;
	out->name = e->id;
	out->function = f;
	out->duration_ns = clock_map_duration(t->clock, e->duration);
	out->end_ns = clock_map_ns(t->clock, e->ticks);
	out->start_ns = out->end_ns - out->duration_ns;
	out->is_cuda = f && f->kind.cuda;
	out->correlation = out->is_cuda && t->ids.count ? correlation_of(&t->ids, e) : 0;
	out->argument_count = 0;
	for (uint32_t i = 0; i < e->args_count; i++)
		add_argument(t, out, e->args[i]);
	for (uint32_t i = 0; f && f->group == TF_GROUP_OSRT && i < e->args_count; i++)
		add_errno(out, e->args[i]);
	t->printer->event(t->context_of_printer, out);
}

static void visit_mark(struct timeline *t, struct timeline_event *out, const struct event *e)
{
	struct nvtx_range mark = {.start = e->ticks,
				  .end = e->ticks,
				  .domain = e->id,
				  .text = e->text,
				  .thread = out->thread,
				  .args = e->args,
				  .args_count = e->args_count,
				  .payload = e->payload};

	out->kind = e->args_count && event_arg(e, TF_ARG_COUNTER) ? TIMELINE_COUNTER : TIMELINE_MARK;
	out->name = e->text;
	out->start_ns = out->end_ns = clock_map_ns(t->clock, e->ticks);
	out->duration_ns = 0;
	out->argument_count = 0;
	out->range = &mark;
	t->printer->event(t->context_of_printer, out);
	out->range = NULL;
}

static void visit_sample(struct timeline *t, struct timeline_event *out, const struct event *e)
{
	uint64_t stack = e->args_count ? event_arg(e, TF_ARG_STACK) : 0;

	out->kind = TIMELINE_SAMPLE;
	out->start_ns = out->end_ns = clock_map_ns(t->clock, e->ticks);
	out->duration_ns = 0;
	out->argument_count = 0;
	if (stack)
		add(out, ARGUMENT_STACK, (uint32_t)tf_arg_value(stack));
	add(out, ARGUMENT_CPU_NS, samples_ns(e));
	t->printer->event(t->context_of_printer, out);
}

static bool has_failed(const struct timeline *t)
{
	return t->printer->failed && *t->printer->failed;
}

static void visit_thread(struct timeline *t, const struct trace_thread *thread)
{
	struct timeline_event out = {.thread = thread};
	struct cursor cursor;
	struct event e;

	if (t->printer->thread)
		t->printer->thread(t->context_of_printer, thread);
	filter_cursor_init(&cursor, t->image->trace, thread);
	out.event = &e;
	while (!has_failed(t) && cursor_next(&cursor, &e))
		if (e.kind == TF_CALL || e.kind == TF_CONSTRUCT)
			visit_call(t, &out, &e);
		else if (e.kind == TF_MARK)
			visit_mark(t, &out, &e);
		else if (e.kind == TF_SAMPLE)
			visit_sample(t, &out, &e);
	if (t->printer->thread_end)
		t->printer->thread_end(t->context_of_printer, thread);
}

static void visit_range(void *context, const struct nvtx_range *r)
{
	struct timeline *t = context;
	struct timeline_event out = {.kind = TIMELINE_RANGE,
				     .name = r->text,
				     .thread = r->thread,
				     .start_ns = clock_map_ns(t->clock, r->start),
				     .duration_ns = clock_map_duration(t->clock, r->end - r->start),
				     .end_ns = clock_map_ns(t->clock, r->end),
				     .range = r};

	t->printer->event(t->context_of_printer, &out);
}

/* ---- events of devices ---- */

static void visit_record(struct timeline *t, enum timeline_kind kind, const struct device_record *r)
{
	struct timeline_event out = {.kind = kind,
				     .name = r->operation,
				     .start_ns = clock_map_monotonic(t->clock, r->start_ns),
				     .duration_ns = r->duration_ns,
				     .correlation = correlation_number(t->model, t->image, r),
				     .record = r,
				     .operation = timeline_operation(t, r->operation)};

	out.end_ns = out.start_ns + out.duration_ns;
	t->printer->event(t->context_of_printer, &out);
}

static void visit_operation(struct scan *s, const struct device_record *r)
{
	visit_record(s->more, TIMELINE_OPERATION, r);
}

static void visit_activity(struct scan *s, const struct device_record *r)
{
	visit_record(s->more, TIMELINE_ACTIVITY, r);
}

static void visit_correlated(void *context, const struct correlated *c)
{
	struct timeline *t = context;
	struct timeline_flow flow = {
		.thread = c->thread, .records = c->records, .record_count = c->record_count};

	if (!c->thread || !c->record_count)
		return;
	flow.duration_ns = clock_map_duration(t->clock, c->event.duration);
	flow.start_ns = clock_map_ns(t->clock, c->event.ticks) - flow.duration_ns;
	t->printer->flow(t->context_of_printer, &flow);
}

/* ---- counters ---- */

static void visit_counter(struct timeline *t, enum timeline_counter_kind kind, uint64_t bytes, uint64_t ns)
{
	t->printer->counter(t->context_of_printer,
			    &(struct timeline_counter){.kind = kind, .bytes = bytes, .ns = ns});
}

static void visit_resident(void *context, uint64_t bytes, uint64_t ns)
{
	visit_counter(context, COUNTER_RESIDENT, bytes, ns);
}

static void visit_heap(void *context, uint64_t bytes, uint64_t ns)
{
	visit_counter(context, COUNTER_HEAP, bytes, ns);
}

static void visit_cuda_memory(void *context, const struct memory *m, const struct memory_use *use, uint64_t ns)
{
	struct timeline *t = context;

	t->printer->counter(t->context_of_printer, &(struct timeline_counter){.kind = COUNTER_CUDA,
									       .device = use->device,
									       .memory = (uint8_t)use->kind,
									       .bytes = use->in_use,
									       .ns = ns});
}

static void visit_counters(struct timeline *t)
{
	SCOPED(memory) m = {0};

	if (t->is_first)
		resident_of(t->model, t->image, t, visit_resident);
	heap_over_time(t->model, t->image, visit_heap, t);
	memory_replay(t->model, t->image, &m, visit_cuda_memory, t);
}

/* ---- programs ---- */

static void visit_part(struct timeline *t, enum timeline_part part)
{
	struct scan scan = {.context = t->context, .image = t->image, .more = t};
	const struct trace *trace = t->image->trace;

	switch (part) {
	case PART_THREADS:
		for (size_t i = 0; trace && i < trace->thread_count; i++)
			visit_thread(t, &trace->threads[i]);
		break;
	case PART_RANGES:
		nvtx_ranges(t->image, NULL, t, visit_range);
		break;
	case PART_OPERATIONS:
		if (t->has_device_records)
			device_scan_image(&scan, visit_operation, NULL);
		break;
	case PART_ACTIVITIES:
		if (t->has_device_records)
			device_scan_more(&scan, visit_activity, NULL);
		break;
	case PART_FLOWS:
		if (t->has_device_records)
			correlate_image(t->context, t->image, t, visit_correlated, NULL);
		break;
	default:
		visit_counters(t);
	}
	if (t->printer->part_end)
		t->printer->part_end(t->context_of_printer, part);
}

static void visit_image(struct timeline *t, const struct image *image)
{
	const struct timeline_printer *p = t->printer;

	t->image = image;
	t->clock = &t->model->machines[image->machine].clock;
	t->is_first = image == &t->model->images[t->model->processes[image->process].first_image];
	t->has_device_records = device_source(image->trace).is_known;
	if (p->wants_correlations)
		correlation_ids(t->context, image, &t->ids);
	nvtx_definitions_make(&t->nvtx, image->trace);
	stream_names_make(&t->streams, t->context, image, &t->nvtx);
	if (p->begin)
		p->begin(t->context_of_printer);
	for (size_t i = 0; i < TIMELINE_PARTS && p->parts[i] && !has_failed(t); i++)
		visit_part(t, p->parts[i]);
	if (p->end)
		p->end(t->context_of_printer);
	stream_names_done(&t->streams);
	nvtx_definitions_done(&t->nvtx);
	correlation_ids_done(&t->ids);
	memset(t->functions, 0, sizeof(t->functions));
	map_done(&t->slots);
	map_done(&t->operations);
	t->operation_count = 0;
}

void timeline_visit(struct timeline *t, const struct report_context *c, const struct timeline_printer *p,
		    void *printer)
{
	*t = (struct timeline){.context = c, .model = c->model, .printer = p, .context_of_printer = printer};
	for (size_t i = 0; i < t->model->image_count && !has_failed(t); i++)
		visit_image(t, &t->model->images[i]);
	free(t->operation_list);
}
