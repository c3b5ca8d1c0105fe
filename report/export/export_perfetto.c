/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto: the timeline in Perfetto's own format, gzipped, which Perfetto reads as it is. Calls are on the tracks of
 * their threads, NVTX ranges and device operations on tracks of their own. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/bits.h"
#include "report/base/table/protobuf.h"
#include "report/causes/path.h"
#include "report/events/cuda/memory.h"
#include "report/export/export.h"
#include "report/export/perfetto_trace.h"
#include "report/time/profile.h"
#include "report/time/timeline/timeline.h"

enum { CALLED_BITS = 1 << 28 };

/* Slices that are sorted before they are written: NVTX ranges, device operations. */
struct slice {
	uint64_t row; /* slices of one are on one track, and on its tracks for overlapping ones */
	uint64_t start, end;
	uint64_t name, correlation, bytes; /* correlation, bytes 0: none */
};

struct perfetto {
	struct perfetto_trace trace;
	struct timeline timeline;
	struct map pids;      /* pid in this file -> process */
	struct map gpu_tracks; /* (host, device) -> uuid */
	uint64_t process_track;
	uint32_t pid;
	/* of the program that is visited */
	uint64_t thread_track;
	struct map counters; /* (kind, number) -> uuid */
	struct bits called;  /* correlation ids of calls, below CALLED_BITS; the others are in `called_others` */
	struct map called_others;
	struct slice *slices;
	size_t slice_count, slice_capacity;
};

static uint64_t category_of(struct perfetto *p, const char *name)
{
	return perfetto_intern(&p->trace, PERFETTO_CATEGORY, name);
}

/* ---- texts: their slots have their numbers in the file ---- */

/* Number 0: the text is not known. */
static uint64_t make_text(struct perfetto *p, enum timeline_text kind, uint64_t number)
{
	SCOPED(buffer) text = {0};
	bool is_known = timeline_text(&p->timeline, kind, number, &text);
	uint64_t ret;

	if (kind == TEXT_STACK)
		ret = perfetto_stack(&p->trace, buffer_string(&text));
	else if (kind == TEXT_KERNEL || kind == TEXT_SHAPE || kind == TEXT_ERRNO || kind == TEXT_FLAGS)
		ret = is_known ? perfetto_intern(&p->trace, PERFETTO_TEXT, buffer_string(&text)) : 0;
	else
		ret = perfetto_intern(&p->trace, PERFETTO_EVENT, buffer_string(&text));
	return ret;
}

/* A slot has the number + 1. */
static uint64_t text_number(struct perfetto *p, enum timeline_text kind, uint64_t number)
{
	uint64_t *slot = timeline_slot(&p->timeline, kind, number), made;

	if (*slot)
		return *slot - 1;
	made = make_text(p, kind, number);
	*timeline_slot(&p->timeline, kind, number) = made + 1;
	return made;
}

/* ---- calls, marks, counters, samples ---- */

static void add_argument(struct perfetto *p, const struct timeline_argument *a)
{
	const struct timeline_argument_kind *kind = &timeline_arguments[a->id];
	uint64_t value = a->value;

	if (a->id == ARGUMENT_STACK) {
		proto_number(&p->trace.event, PERFETTO_STACK, text_number(p, TEXT_STACK, value));
		return;
	}
	if (!kind->perfetto)
		return;
	if (kind->type == TYPE_TEXT)
		value = text_number(p, kind->text, value);
	if (value || kind->type != TYPE_TEXT)
		perfetto_annotate(&p->trace, kind->perfetto,
				  kind->type == TYPE_TEXT     ? PERFETTO_INTERNED
				  : kind->type == TYPE_SIGNED ? PERFETTO_INT
							      : PERFETTO_UINT,
				  value);
}

static void add_arguments(struct perfetto *p, const struct timeline_event *e)
{
	for (size_t i = 0; i < e->argument_count; i++)
		add_argument(p, &e->arguments[i]);
}

/* The number of the flow from a call to what it made the device do. */
static uint64_t flow_number(const struct perfetto *p, uint64_t correlation)
{
	return (uint64_t)(p->timeline.image->process + 1) << 40 ^ correlation;
}

static void add_call(struct perfetto *p, const struct timeline_event *e)
{
	uint64_t track = perfetto_lane(&p->trace, e->start_ns, e->end_ns);

	perfetto_event_begin(&p->trace, PERFETTO_BEGIN, track, text_number(p, TEXT_FUNCTION, e->name),
			     category_of(p, timeline_category(e->function)));
	if (e->correlation) {
		if (e->correlation < CALLED_BITS)
			bits_set(&p->called, e->correlation);
		else
			map_put(&p->called_others, e->correlation, 0, NULL);
		proto_fixed64(&p->trace.event, PERFETTO_FLOW, flow_number(p, e->correlation));
	}
	add_arguments(p, e);
	perfetto_event_write(&p->trace, e->start_ns);
	perfetto_slice_end(&p->trace, track, e->end_ns);
}

static uint64_t counter_track(struct perfetto *p, uint64_t kind, uint64_t number, const char *name, uint64_t unit)
{
	bool is_new;
	uint64_t *uuid = map_put(&p->counters, kind, number, &is_new);

	if (is_new)
		*uuid = perfetto_counter(&p->trace, p->process_track, name, unit);
	return *uuid;
}

/* A payload that is one number is a point of the counter's curve. */
static void add_counter(struct perfetto *p, const struct timeline_event *e)
{
	SCOPED(buffer) value = {0}, name = {0};
	double number;
	char *end;

	if (e->event->payload)
		nvtx_payload_json(&p->timeline.nvtx, e->event->payload, &value);
	else
		nvtx_payload_plain(e->event->args, e->event->args_count, &value);
	number = strtod(buffer_string(&value), &end);
	if (value.size && !*end) {
		if (trace_definition(p->timeline.image->trace, TF_BLOB_STRING, e->name))
			timeline_text(&p->timeline, TEXT_STRING, e->name, &name);
		perfetto_event_begin(&p->trace, PERFETTO_VALUE,
				     counter_track(p, 0, e->name, buffer_string(&name), PERFETTO_UNIT_NONE), 0, 0);
		proto_double(&p->trace.event, PERFETTO_COUNTER_DOUBLE, number);
		perfetto_event_write(&p->trace, e->start_ns);
	}
}

static void add_mark(struct perfetto *p, const struct timeline_event *e)
{
	perfetto_event_begin(&p->trace, PERFETTO_INSTANT, p->thread_track, text_number(p, TEXT_STRING, e->name),
			     category_of(p, "user_annotation"));
	perfetto_event_write(&p->trace, e->start_ns);
}

static void add_sample(struct perfetto *p, const struct timeline_event *e)
{
	perfetto_event_begin(&p->trace, PERFETTO_INSTANT, p->thread_track,
			     perfetto_intern(&p->trace, PERFETTO_EVENT, "CPU sample"), category_of(p, "cpu_sample"));
	add_arguments(p, e);
	perfetto_event_write(&p->trace, e->start_ns);
}

/* ---- NVTX ranges, device operations ---- */

static struct slice *slice_add(struct perfetto *p, const struct timeline_event *e)
{
	mem_append(p->slices, p->slice_count, p->slice_capacity,
		   (struct slice){.start = e->start_ns, .end = e->end_ns});
	return &p->slices[p->slice_count - 1];
}

static void add_range(struct perfetto *p, const struct timeline_event *e)
{
	struct slice *slice = slice_add(p, e);

	slice->row = e->range->is_pushpop ? e->thread->tid : 0;
	slice->name = text_number(p, TEXT_STRING, e->name);
}

static void add_operation(struct perfetto *p, const struct timeline_event *e)
{
	struct slice *slice = slice_add(p, e);
	const struct tf_device_operation *o = e->operation;

	slice->row = (uint64_t)o->device << 48 | (uint64_t)(o->context & 0xffff) << 32 | o->stream;
	slice->name = text_number(p, TEXT_OPERATION, e->name);
	slice->correlation = e->correlation;
	slice->bytes = e->record->bytes;
}

/* In the order of ends; of two that end together, the inner one first. */
COMPARATOR(by_row_and_end, struct slice,
	   order_of(a->row, b->row) ?: order_of(a->end, b->end) ?: order_of(b->start, a->start))

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

/* `track` makes the track of a row. */
static void slices_write(struct perfetto *p, const char *category, uint64_t (*track)(struct perfetto *p, uint64_t row))
{
	sort_unless_sorted(p->slices, p->slice_count, sizeof(*p->slices), by_row_and_end);
	for (size_t i = 0; i < p->slice_count; i++) {
		if (!i || p->slices[i].row != p->slices[i - 1].row)
			perfetto_lanes_begin(&p->trace, track(p, p->slices[i].row));
		slice_write(p, &p->slices[i], category_of(p, category));
	}
	p->slice_count = 0;
}

static uint64_t nvtx_track(struct perfetto *p, uint64_t row)
{
	SCOPED(buffer) name = {0};

	if (row)
		buffer_print(&name, "NVTX of thread %" PRIu64, row);
	else
		buffer_text(&name, "NVTX start/end ranges");
	return perfetto_track(&p->trace, p->process_track, name.data);
}

static uint64_t gpu_track(struct perfetto *p, uint32_t device)
{
	const struct timeline *t = &p->timeline;
	bool is_new;
	uint64_t *uuid = map_put(&p->gpu_tracks, host_number(t->model, t->image->machine), device, &is_new);
	SCOPED(buffer) name = {0};

	if (!is_new)
		return *uuid;
	device_name(t->image->trace, device, &name);
	buffer_print(&name, " (GPU %" PRIu32 ")", device);
	if (has_several_hosts(t->model))
		buffer_print(&name, " on %s", t->model->machines[t->image->machine].host);
	*uuid = perfetto_track(&p->trace, 0, name.data);
	return *uuid;
}

static uint64_t stream_track(struct perfetto *p, uint64_t row)
{
	struct tf_device_operation operation = {0};
	SCOPED(buffer) name = {0};

	operation.device = row >> 48;
	operation.context = row >> 32 & 0xffff;
	operation.stream = (uint32_t)row;
	timeline_stream_label(&p->timeline, &operation, &name);
	return perfetto_track(&p->trace, gpu_track(p, operation.device), name.data);
}

/* ---- the printer ---- */

static void print_event(void *perfetto, const struct timeline_event *e)
{
	static void (*const print[])(struct perfetto *, const struct timeline_event *) = {
		[TIMELINE_CALL] = add_call,	  [TIMELINE_SAMPLE] = add_sample, [TIMELINE_MARK] = add_mark,
		[TIMELINE_COUNTER] = add_counter, [TIMELINE_RANGE] = add_range,
		[TIMELINE_OPERATION] = add_operation};

	print[e->kind](perfetto, e);
}

/* Memory in use; the sum of all kinds of CUDA's memory is omitted, because viewers stack the kinds. */
static void print_counter(void *perfetto, const struct timeline_counter *c)
{
	enum { RESIDENT = 64, HEAP = 65 }; /* the kinds of CUDA's memory are below */
	struct perfetto *p = perfetto;
	SCOPED(buffer) name = {0};
	uint64_t kind = c->kind == COUNTER_CUDA ? 1u + c->memory : c->kind == COUNTER_HEAP ? HEAP : RESIDENT;

	if (c->kind == COUNTER_CUDA && !c->memory)
		return;
	if (c->kind == COUNTER_CUDA)
		buffer_print(&name, "CUDA memory in use, %s", memory_kind(c->memory));
	else
		buffer_text(&name, c->kind == COUNTER_HEAP ? "Recorded allocations in use" : "Resident memory");
	if (c->kind == COUNTER_CUDA && c->device != MEMORY_HOST)
		buffer_print(&name, ", device %" PRIu32, c->device);
	perfetto_event_begin(&p->trace, PERFETTO_VALUE,
			     counter_track(p, kind, c->device, name.data, PERFETTO_UNIT_BYTES), 0, 0);
	proto_number(&p->trace.event, PERFETTO_COUNTER, c->bytes);
	perfetto_event_write(&p->trace, c->ns);
}

static void begin_program(void *perfetto)
{
	struct perfetto *p = perfetto;
	const struct model *m = p->timeline.model;
	const struct process *process = &m->processes[p->timeline.image->process];
	SCOPED(buffer) name = {0};
	bool is_new;

	p->pid = timeline_pid(&p->pids, process->pid, p->timeline.image->process, &is_new);
	process_label(m, process, &name);
	p->process_track = perfetto_process(&p->trace, p->pid, buffer_string(&name));
}

static void begin_thread(void *perfetto, const struct trace_thread *thread)
{
	struct perfetto *p = perfetto;
	SCOPED(buffer) name = {0};

	thread_label(thread, &name);
	p->thread_track = perfetto_thread(&p->trace, p->process_track, p->pid, thread->tid, buffer_string(&name));
	perfetto_lanes_begin(&p->trace, p->thread_track);
}

static void end_part(void *perfetto, enum timeline_part part)
{
	if (part == PART_RANGES)
		slices_write(perfetto, "user_annotation", nvtx_track);
	else if (part == PART_OPERATIONS)
		slices_write(perfetto, "gpu", stream_track);
}

static void end_program(void *perfetto)
{
	struct perfetto *p = perfetto;

	map_done(&p->counters);
	bits_done(&p->called);
	map_done(&p->called_others);
}

/* Counters of machines and devices, beside the processes. */
static void add_series(struct perfetto *p)
{
	size_t count;
	const struct counter_series *series = counters_of(p->timeline.model, &count);
	double value;

	array_each(const struct counter_series, s, series, count) {
		SCOPED(buffer) name = {0};
		uint64_t track = 0;

		buffer_print(&name, "%s%s%s%s%s", s->of, *s->of ? ", " : "", s->name, *s->unit ? " in " : "", s->unit);
		for (size_t k = 0; k < s->count; k++) {
			if (!counter_value(s, k, &value))
				continue;
			if (!track)
				track = perfetto_counter(&p->trace, 0, buffer_string(&name), PERFETTO_UNIT_NONE);
			perfetto_event_begin(&p->trace, PERFETTO_VALUE, track, 0, 0);
			proto_double(&p->trace.event, PERFETTO_COUNTER_DOUBLE, value);
			perfetto_event_write(&p->trace, counter_ns(s, k));
		}
	}
}

/* ---- the critical path ---- */

/* A track for each thread and stream that is on it. */
static uint64_t path_track(struct perfetto *p, const struct causality *s, uint32_t actor, struct map *tracks,
			   uint64_t parent)
{
	struct buffer name = {0};
	bool is_new;
	uint64_t *uuid = map_put(tracks, actor, 0, &is_new);

	if (is_new) {
		actor_words(&s->actors[actor], &name);
		*uuid = perfetto_track(&p->trace, parent, buffer_string(&name));
		buffer_done(&name);
	}
	return *uuid;
}

/* Number of the arrow to the i-th stretch; those of calls have no such bit. */
static uint64_t arrow_to(size_t i)
{
	return (uint64_t)1 << 63 | i;
}

/* An arrow leads to a stretch of another thread or stream that waited for the one before it. */
static void add_critical(struct perfetto *p, const struct export *x)
{
	struct causality *s = causes_find(x->context);
	SCOPED_MEMORY struct path_slice *slices = NULL;
	size_t count = s ? path_slices(s, &slices) : 0;
	uint64_t parent = count ? perfetto_track(&p->trace, 0, "critical path") : 0;
	SCOPED(map) tracks = {0};

	for (size_t i = 0; i < count; i++) {
		const struct path_slice *now = &slices[i];
		uint64_t track = path_track(p, s, now->actor, &tracks, parent);
		SCOPED(buffer) words = {0};

		path_slice_words(s, now, &words);
		perfetto_event_begin(&p->trace, PERFETTO_BEGIN, track,
				     perfetto_intern(&p->trace, PERFETTO_EVENT, buffer_string(&words)),
				     category_of(p, "critical_path"));
		if (i + 1 < count && now[1].actor != now->actor)
			proto_fixed64(&p->trace.event, PERFETTO_FLOW, arrow_to(i + 1));
		if (i && now[-1].actor != now->actor)
			proto_fixed64(&p->trace.event, PERFETTO_FLOW_END, arrow_to(i));
		perfetto_event_write(&p->trace, p->trace.origin_ns + now->start_ns);
		perfetto_slice_end(&p->trace, track, p->trace.origin_ns + now->end_ns);
	}
	causes_free(s);
}

int export_perfetto(struct export *x, struct err *err)
{
	static const struct timeline_printer printer = {
		.parts = {PART_THREADS, PART_RANGES, PART_OPERATIONS, PART_COUNTERS},
		.wants_correlations = true,
		.begin = begin_program,
		.thread = begin_thread,
		.event = print_event,
		.counter = print_counter,
		.part_end = end_part,
		.end = end_program,
	};
	struct perfetto p = {0};

	(void)err;
	perfetto_begin(&p.trace, x->out, x->context->model->origin_ns);
	timeline_visit(&p.timeline, x->context, &printer, &p);
	add_series(&p);
	if (x->has_critical_path)
		add_critical(&p, x);
	perfetto_end(&p.trace);
	map_done(&p.pids);
	map_done(&p.gpu_tracks);
	free(p.slices);
	return 0;
}
