/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto: the timeline in Perfetto's own format, gzipped, which Perfetto reads as it is. Calls are on the tracks of
 * their threads, NVTX ranges and device operations on tracks of their own. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/bits.h"
#include "report/base/protobuf.h"
#include "report/derive/device/correlate.h"
#include "report/derive/device/kernel.h"
#include "report/derive/device/memory.h"
#include "report/derive/stacks/heap.h"
#include "report/derive/time/resident.h"
#include "report/derive/device/stream_name.h"
#include "report/derive/energy/energy_counter.h"
#include "report/derive/events/filter.h"
#include "report/derive/stacks/samples.h"
#include "report/export/export.h"
#include "report/export/perfetto_trace.h"
#include "report/read/operation.h"

enum { CALLED_BITS = 1 << 28 };

struct perfetto {
	struct export *x;
	struct perfetto_trace trace;
	const struct model *model;
	const struct image *image;
	const struct clock_map *clock;
	struct map pids;      /* pid in this file -> process */
	struct map gpu_tracks; /* (host, device) -> uuid */
	uint64_t process_track;
	uint32_t pid;
	/* of the image */
	struct map known;    /* (enum known, number) -> number of the text */
	struct map counters; /* (kind, number) -> uuid */
	struct bits called;  /* correlation ids of calls, below CALLED_BITS; the others are in `called_others` */
	struct map called_others;
	struct nvtx_definitions nvtx;
	struct correlation_ids ids;
	struct stream_names streams;
};

static const char *const categories[TF_GROUP_COUNT] = {
#define CATEGORY(number, NAME, word, set, category, ...) [number] = #category,
	TF_GROUPS(CATEGORY, )
#undef CATEGORY
};

static uint64_t category_of(struct perfetto *p, const char *name)
{
	return perfetto_intern(&p->trace, PERFETTO_CATEGORY, name);
}

/* ---- texts of an image by their numbers there ---- */

enum known { KNOWN_FUNCTION, KNOWN_STRING, KNOWN_STACK, KNOWN_OPERATION, KNOWN_KERNEL, KNOWN_CATEGORY };

/* The number of a text in the file, made by `make` when it is first needed. */
static uint64_t known_number(struct perfetto *p, enum known kind, uint32_t id,
			     uint64_t (*make)(struct perfetto *p, uint32_t id))
{
	const uint64_t *place = map_find(&p->known, kind, id);
	uint64_t number;

	if (place)
		return *place;
	number = make(p, id);
	*map_put(&p->known, kind, id, NULL) = number;
	return number;
}

static uint64_t function_make(struct perfetto *p, uint32_t id)
{
	const struct function *f = trace_function(p->image->trace, id);

	return perfetto_intern(&p->trace, PERFETTO_EVENT, f ? f->name : "?");
}

static uint64_t category_make(struct perfetto *p, uint32_t id)
{
	const struct function *f = trace_function(p->image->trace, id);

	return category_of(p, f && f->group < TF_GROUP_COUNT ? categories[f->group] : "other");
}

static uint64_t string_make(struct perfetto *p, uint32_t id)
{
	const struct blob *b = trace_definition(p->image->trace, TF_BLOB_STRING, id);
	struct buffer text = {0};
	uint64_t number;

	if (b)
		trace_text(p->image->trace, b, &text);
	number = perfetto_intern(&p->trace, PERFETTO_EVENT, b ? buffer_string(&text) : "(text lost)");
	buffer_done(&text);
	return number;
}

static uint64_t stack_make(struct perfetto *p, uint32_t id)
{
	struct buffer text = {0};
	uint64_t number;

	symbols_stack(p->x->context->symbols, p->image, id, &text);
	number = perfetto_stack(&p->trace, buffer_string(&text));
	buffer_done(&text);
	return number;
}

static uint64_t kernel_make(struct perfetto *p, uint32_t id)
{
	const struct trace *t = p->image->trace;
	const struct blob *b = trace_definition(t, TF_BLOB_LAUNCH, id);
	struct buffer name = {0};
	struct tf_launch l;
	uint64_t number = 0;

	if (b && trace_blob(t, b, &l, sizeof(l)) == sizeof(l) &&
	    kernel_of_launch(p->x->context, p->image, id, &l, &name))
		number = perfetto_intern(&p->trace, PERFETTO_TEXT, buffer_string(&name));
	buffer_done(&name);
	return number;
}

static uint64_t operation_make(struct perfetto *p, uint32_t id)
{
	struct tf_device_operation operation;
	struct buffer name = {0};
	uint64_t number;

	if (device_operation(p->image->trace, id, &operation))
		device_operation_name(p->x->context, p->image->trace, &operation, &name);
	number = perfetto_intern(&p->trace, PERFETTO_EVENT, buffer_string(&name));
	buffer_done(&name);
	return number;
}

static void add_stack(struct perfetto *p, uint64_t slot)
{
	proto_number(&p->trace.event, PERFETTO_STACK,
		     known_number(p, KNOWN_STACK, (uint32_t)tf_arg_value(slot), stack_make));
}

/* ---- calls ---- */

static void add_shape(struct perfetto *p, const struct event *e)
{
	const struct function *f = trace_function(p->image->trace, e->id);
	struct tf_operation operation;
	struct buffer text = {0};

	if (!f || !operation_of(p->image->trace, e, &operation))
		return;
	operation_text(&operation, f->group, &text);
	perfetto_annotate(&p->trace, "shape", PERFETTO_INTERNED,
			  perfetto_intern(&p->trace, PERFETTO_TEXT, buffer_string(&text)));
	buffer_done(&text);
}

static void add_argument(struct perfetto *p, const struct event *e, uint64_t slot)
{
	uint64_t value = tf_arg_value(slot);

	switch (tf_arg_kind(slot)) {
	case TF_ARG_STACK:
		add_stack(p, slot);
		break;
	case TF_ARG_FD:
		if ((value & 0xffff) != 0xffff)
			perfetto_annotate(&p->trace, "fd", PERFETTO_UINT, value & 0xffff);
		perfetto_annotate(&p->trace, "result", PERFETTO_INT, (uint64_t)(int64_t)(int32_t)(value >> 16));
		break;
	case TF_ARG_LAUNCH:
		value = known_number(p, KNOWN_KERNEL, (uint32_t)value, kernel_make);
		if (value)
			perfetto_annotate(&p->trace, "kernel", PERFETTO_INTERNED, value);
		break;
	case TF_ARG_COPY:
	case TF_ARG_BYTES:
		perfetto_annotate(&p->trace, "bytes", PERFETTO_UINT, value);
		break;
	case TF_ARG_STREAM:
		perfetto_annotate(&p->trace, "stream handle", PERFETTO_UINT, value);
		break;
	case TF_ARG_RESULT:
		perfetto_annotate(&p->trace, "error", PERFETTO_UINT, value);
		break;
	case TF_ARG_OPERATION:
		add_shape(p, e);
		break;
	default:
		break;
	}
}

/* The number of the flow from a call to what it made the device do. */
static uint64_t flow_number(const struct perfetto *p, uint64_t correlation)
{
	return (uint64_t)(p->image->process + 1) << 40 ^ correlation;
}

static void add_call(struct perfetto *p, const struct event *e)
{
	const struct function *f = trace_function(p->image->trace, e->id);
	uint64_t end = clock_map_ns(p->clock, e->ticks), start = end - clock_map_duration(p->clock, e->duration);
	uint64_t track = perfetto_lane(&p->trace, start, end);
	bool is_cuda = f && (f->group == TF_GROUP_CUDA || f->group == TF_GROUP_CUDA_DRIVER);
	uint64_t correlation = is_cuda ? correlation_of(&p->ids, e) : 0;

	perfetto_event_begin(&p->trace, PERFETTO_BEGIN, track, known_number(p, KNOWN_FUNCTION, e->id, function_make),
			     known_number(p, KNOWN_CATEGORY, e->id, category_make));
	if (correlation) {
		if (correlation < CALLED_BITS)
			bits_set(&p->called, correlation);
		else
			map_put(&p->called_others, correlation, 0, NULL);
		proto_fixed64(&p->trace.event, PERFETTO_FLOW, flow_number(p, correlation));
	}
	for (uint32_t i = 0; i < e->args_count; i++)
		add_argument(p, e, e->args[i]);
	perfetto_event_write(&p->trace, start);
	perfetto_slice_end(&p->trace, track, end);
}

/* ---- marks, counters, samples ---- */

static uint64_t counter_track(struct perfetto *p, uint64_t kind, uint64_t number, const char *name, uint64_t unit)
{
	bool is_new;
	uint64_t *uuid = map_put(&p->counters, kind, number, &is_new);

	if (is_new)
		*uuid = perfetto_counter(&p->trace, p->process_track, name, unit);
	return *uuid;
}

/* A payload that is one number is a point of the counter's curve. */
static void add_counter(struct perfetto *p, const struct event *e)
{
	const struct blob *b = trace_definition(p->image->trace, TF_BLOB_STRING, e->text);
	struct buffer value = {0}, name = {0};
	double number;
	char *end;

	if (e->payload)
		nvtx_payload_json(&p->nvtx, e->payload, &value);
	else
		nvtx_payload_plain(e->args, e->args_count, &value);
	number = strtod(buffer_string(&value), &end);
	if (value.size && !*end) {
		if (b)
			trace_text(p->image->trace, b, &name);
		perfetto_event_begin(&p->trace, PERFETTO_VALUE,
				     counter_track(p, 0, e->text, buffer_string(&name), PERFETTO_UNIT_NONE), 0, 0);
		proto_double(&p->trace.event, PERFETTO_COUNTER_DOUBLE, number);
		perfetto_event_write(&p->trace, clock_map_ns(p->clock, e->ticks));
	}
	buffer_done(&value);
	buffer_done(&name);
}

static void add_mark(struct perfetto *p, const struct event *e, uint64_t track)
{
	perfetto_event_begin(&p->trace, PERFETTO_INSTANT, track,
			     known_number(p, KNOWN_STRING, e->text, string_make), category_of(p, "user_annotation"));
	perfetto_event_write(&p->trace, clock_map_ns(p->clock, e->ticks));
}

static void add_sample(struct perfetto *p, const struct event *e, uint64_t track)
{
	uint64_t stack = e->args_count ? event_arg(e, TF_ARG_STACK) : 0;

	perfetto_event_begin(&p->trace, PERFETTO_INSTANT, track,
			     perfetto_intern(&p->trace, PERFETTO_EVENT, "CPU sample"), category_of(p, "cpu_sample"));
	if (stack)
		add_stack(p, stack);
	perfetto_annotate(&p->trace, "CPU time (ns)", PERFETTO_UINT, samples_ns(e));
	perfetto_event_write(&p->trace, clock_map_ns(p->clock, e->ticks));
}

static void add_thread(struct perfetto *p, const struct trace_thread *thread)
{
	struct buffer name = {0};
	struct cursor cursor;
	struct event e;
	uint64_t track;

	thread_label(thread, &name);
	track = perfetto_thread(&p->trace, p->process_track, p->pid, thread->tid, buffer_string(&name));
	perfetto_lanes_begin(&p->trace, track);
	filter_cursor_init(&cursor, p->image->trace, thread);
	while (cursor_next(&cursor, &e))
		if (e.kind == TF_CALL)
			add_call(p, &e);
		else if (e.kind == TF_MARK && e.args_count && event_arg(&e, TF_ARG_COUNTER))
			add_counter(p, &e);
		else if (e.kind == TF_MARK)
			add_mark(p, &e, track);
		else if (e.kind == TF_SAMPLE)
			add_sample(p, &e, track);
	buffer_done(&name);
}

/* ---- slices that are sorted before they are written: NVTX ranges, device operations ---- */

struct slice {
	uint64_t row; /* slices of one are on one track, and on its tracks for overlapping ones */
	uint64_t start, end;
	uint64_t name, correlation, bytes; /* correlation, bytes 0: none */
};

struct slices {
	struct perfetto *p;
	struct slice *items;
	size_t count, capacity;
};

static struct slice *slice_add(struct slices *s)
{
	s->items = mem_grow(s->items, s->count, &s->capacity, sizeof(*s->items));
	s->items[s->count] = (struct slice){0};
	return &s->items[s->count++];
}

/* In the order of ends; of two that end together, the inner one first. */
static int by_row_and_end(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	return order_of(x->row, y->row) ?: order_of(x->end, y->end) ?: order_of(y->start, x->start);
}

/* Whether a flow begins at a call with that id. */
static bool is_called(const struct perfetto *p, uint64_t correlation)
{
	return correlation < CALLED_BITS ? bits_get(&p->called, correlation)
					 : map_find(&p->called_others, correlation, 0) != NULL;
}

static void slice_write(struct perfetto *p, const struct slice *slice, uint64_t category)
{
	uint64_t track = perfetto_lane(&p->trace, slice->start, slice->end);

	perfetto_event_begin(&p->trace, PERFETTO_BEGIN, track, slice->name, category);
	if (is_called(p, slice->correlation))
		proto_fixed64(&p->trace.event, PERFETTO_FLOW_END, flow_number(p, slice->correlation));
	if (slice->bytes)
		perfetto_annotate(&p->trace, "bytes", PERFETTO_UINT, slice->bytes);
	perfetto_event_write(&p->trace, slice->start);
	perfetto_slice_end(&p->trace, track, slice->end);
}

/* Writes and frees them. `track` makes the track of a row. */
static void slices_write(struct slices *s, const char *category, uint64_t (*track)(struct perfetto *p, uint64_t row))
{
	sort_unless_sorted(s->items, s->count, sizeof(*s->items), by_row_and_end);
	for (size_t i = 0; i < s->count; i++) {
		if (!i || s->items[i].row != s->items[i - 1].row)
			perfetto_lanes_begin(&s->p->trace, track(s->p, s->items[i].row));
		slice_write(s->p, &s->items[i], category_of(s->p, category));
	}
	free(s->items);
}

static void visit_range(void *context, const struct nvtx_range *r)
{
	struct slices *s = context;
	struct slice *slice = slice_add(s);

	slice->row = r->is_pushpop ? r->thread->tid : 0;
	slice->start = clock_map_ns(s->p->clock, r->start);
	slice->end = clock_map_ns(s->p->clock, r->end);
	slice->name = known_number(s->p, KNOWN_STRING, r->text, string_make);
}

static uint64_t nvtx_track(struct perfetto *p, uint64_t row)
{
	struct buffer name = {0};
	uint64_t uuid;

	if (row)
		buffer_print(&name, "NVTX of thread %" PRIu64, row);
	else
		buffer_text(&name, "NVTX start/end ranges");
	uuid = perfetto_track(&p->trace, p->process_track, name.data);
	buffer_done(&name);
	return uuid;
}

static void visit_record(struct scan *scan, const struct device_record *r)
{
	struct slices *s = scan->more;
	struct slice *slice = slice_add(s);
	struct tf_device_operation operation;

	if (!device_operation(s->p->image->trace, r->operation, &operation))
		operation = (struct tf_device_operation){0};
	slice->row = (uint64_t)operation.device << 48 | (uint64_t)(operation.context & 0xffff) << 32 | operation.stream;
	slice->start = clock_map_monotonic(scan->clock, r->start_ns);
	slice->end = slice->start + r->duration_ns;
	slice->name = known_number(s->p, KNOWN_OPERATION, r->operation, operation_make);
	slice->correlation = correlation_number(s->p->model, s->p->image, r);
	slice->bytes = r->bytes;
}

static uint64_t gpu_track(struct perfetto *p, uint32_t device)
{
	bool is_new;
	uint64_t *uuid = map_put(&p->gpu_tracks, host_number(p->model, p->image->machine), device, &is_new);
	struct buffer name = {0};

	if (!is_new)
		return *uuid;
	device_name(p->image->trace, device, &name);
	buffer_print(&name, " (GPU %" PRIu32 ")", device);
	if (has_several_hosts(p->model))
		buffer_print(&name, " on %s", p->model->machines[p->image->machine].host);
	*uuid = perfetto_track(&p->trace, 0, name.data);
	buffer_done(&name);
	return *uuid;
}

static uint64_t stream_track(struct perfetto *p, uint64_t row)
{
	struct tf_device_operation operation = {0};
	struct buffer name = {0};
	uint64_t uuid;

	operation.device = row >> 48;
	operation.context = row >> 32 & 0xffff;
	operation.stream = (uint32_t)row;
	stream_label(&p->streams, &operation, &name);
	buffer_text(&name, " of ");
	process_label(p->model, &p->model->processes[p->image->process], &name);
	uuid = perfetto_track(&p->trace, gpu_track(p, operation.device), name.data);
	buffer_done(&name);
	return uuid;
}

static void add_device(struct perfetto *p)
{
	struct slices s = {.p = p};
	struct scan scan = {.context = p->x->context, .image = p->image, .more = &s};

	stream_names_make(&p->streams, p->x->context, p->image, &p->nvtx);
	device_scan_image(&scan, visit_record, NULL);
	slices_write(&s, "gpu", stream_track);
	stream_names_done(&p->streams);
}

static void add_memory_change(void *context, const struct memory *m, const struct memory_use *use, uint64_t ns)
{
	struct perfetto *p = context;
	struct buffer name = {0};

	(void)m;
	if (!use->kind)
		return;
	buffer_print(&name, "CUDA memory in use, %s", memory_kind(use->kind));
	if (use->device != MEMORY_HOST)
		buffer_print(&name, ", device %" PRIu32, use->device);
	perfetto_event_begin(&p->trace, PERFETTO_VALUE,
			     counter_track(p, 1u + use->kind, use->device, name.data, PERFETTO_UNIT_BYTES), 0, 0);
	proto_number(&p->trace.event, PERFETTO_COUNTER, use->in_use);
	perfetto_event_write(&p->trace, ns);
	buffer_done(&name);
}

static void add_bytes(struct perfetto *p, uint64_t kind, const char *name, uint64_t bytes, uint64_t ns)
{
	perfetto_event_begin(&p->trace, PERFETTO_VALUE, counter_track(p, kind, 0, name, PERFETTO_UNIT_BYTES), 0, 0);
	proto_number(&p->trace.event, PERFETTO_COUNTER, bytes);
	perfetto_event_write(&p->trace, ns);
}

/* The kinds of CUDA's memory are below 64. */
static void add_resident(void *context, uint64_t bytes, uint64_t ns)
{
	add_bytes(context, 64, "Resident memory", bytes, ns);
}

static void add_heap(void *context, uint64_t bytes, uint64_t ns)
{
	add_bytes(context, 65, "Recorded allocations in use", bytes, ns);
}

/* ---- images ---- */

/* Processes of several machines may have the same pid: the later one gets an unused number. */
static void add_process(struct perfetto *p)
{
	const struct process *process = &p->model->processes[p->image->process];
	struct buffer name = {0};
	bool is_new;

	for (p->pid = process->pid;; p->pid += 10000000) {
		uint64_t *owner = map_put(&p->pids, p->pid, 0, &is_new);

		if (is_new)
			*owner = p->image->process;
		if (*owner == p->image->process)
			break;
	}
	process_label(p->model, process, &name);
	p->process_track = perfetto_process(&p->trace, p->pid, buffer_string(&name));
	buffer_done(&name);
}

static void add_image(struct perfetto *p, const struct image *image)
{
	const struct trace *t = image->trace;
	struct slices ranges = {.p = p};
	struct memory memory;

	p->image = image;
	p->clock = &p->model->machines[image->machine].clock;
	add_process(p);
	correlation_ids(p->x->context, image, &p->ids);
	nvtx_definitions_make(&p->nvtx, t);
	for (size_t i = 0; t && i < t->thread_count; i++)
		add_thread(p, &t->threads[i]);
	nvtx_ranges(image, NULL, &ranges, visit_range);
	slices_write(&ranges, "user_annotation", nvtx_track);
	if (device_source(t).is_known)
		add_device(p);
	if (image == &p->model->images[p->model->processes[image->process].first_image])
		resident_of(p->model, image, p, add_resident);
	heap_over_time(p->model, image, add_heap, p);
	memory_replay(p->model, image, &memory, add_memory_change, p);
	memory_done(&memory);
	correlation_ids_done(&p->ids);
	nvtx_definitions_done(&p->nvtx);
	map_done(&p->known);
	map_done(&p->counters);
	bits_done(&p->called);
	map_done(&p->called_others);
}

/* Counters of GPUs and CPUs, beside the processes. */
static void add_energy(struct perfetto *p)
{
	const struct energies *e = energies_of(p->model);
	double value;

	for (size_t i = 0; i < e->count * ENERGY_COUNTERS; i++) {
		const struct energy_counter *c = &energy_counters[i % ENERGY_COUNTERS];
		const struct energy_source *s = &e->items[i / ENERGY_COUNTERS];
		struct buffer name = {0};
		uint64_t track = 0;

		energy_source_name(p->model, s, &name);
		buffer_print(&name, ", %s%s%s", c->name, *c->unit ? " in " : "", c->unit);
		for (size_t k = 0; k < s->count; k++) {
			if (!c->value(s, k, &value))
				continue;
			if (!track)
				track = perfetto_counter(&p->trace, 0, buffer_string(&name), PERFETTO_UNIT_NONE);
			perfetto_event_begin(&p->trace, PERFETTO_VALUE, track, 0, 0);
			proto_double(&p->trace.event, PERFETTO_COUNTER_DOUBLE, value);
			perfetto_event_write(&p->trace, s->points[k].ns);
		}
		buffer_done(&name);
	}
}

int export_perfetto(struct export *x, struct err *err)
{
	struct perfetto p = {.x = x, .model = x->context->model};

	(void)err;
	perfetto_begin(&p.trace, x->out, p.model->origin_ns);
	for (size_t i = 0; i < p.model->image_count; i++)
		add_image(&p, &p.model->images[i]);
	add_energy(&p);
	perfetto_end(&p.trace);
	map_done(&p.pids);
	map_done(&p.gpu_tracks);
	return 0;
}
