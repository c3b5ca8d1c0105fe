/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a page, second part: device operations with their calls, memory in use, and power. */
#include <inttypes.h>
#include <string.h>

#include "report/events/cuda/memory.h"
#include "report/events/energy/counter.h"
#include "report/events/filter.h"
#include "report/page/export_html.h"

/* ---- devices ---- */

static void make_work_detail(struct html *h, const void *from, struct buffer *json)
{
	const struct tf_device_operation *w = from;

	(void)h;
	if (w->kind == TF_DEVICE_KERNEL) {
		html_member_shape(json, w->grid, w->block);
		html_member_number(json, "registers per thread", w->registers);
		html_member_number(json, "static shared memory", w->static_shared_bytes);
		html_member_number(json, "dynamic shared memory", w->dynamic_shared_bytes);
	}
	if (w->kind == TF_DEVICE_SET)
		html_member_number(json, "memset to", w->value);
	if (w->graph)
		html_member_number(json, "graph", w->graph);
	html_member_number(json, "context", w->context);
	html_member_number(json, "stream", w->stream);
	if (w->kind == TF_DEVICE_COPY || w->kind == TF_DEVICE_SET)
		html_member_text(json, "value", "bytes");
}

static struct html_track *stream_track(struct html *h, const struct tf_device_operation *w)
{
	const uint64_t who[] = {h->image->process, w->context, w->stream};
	uint64_t device = (uint64_t)host_number(h->model, h->image->machine) << 32 | w->device;
	bool is_new;
	struct html_track *t = html_track(h, HTML_STREAM, device, hash_bytes(who, sizeof(who)), &is_new);
	SCOPED(buffer) text = {0};

	if (!is_new)
		return t;
	stream_label(&h->timeline.streams, w, &text);
	t->label = html_string(h, text.data);
	buffer_clear(&text);
	timeline_device_label(&h->timeline, w->device, &text);
	t->group = html_string(h, text.data);
	t->tid = w->stream;
	return t;
}

struct html_operation {
	uint32_t name, detail, track;
};

static struct html_operation make_operation(struct html *h, uint32_t id, const struct tf_device_operation *operation)
{
	static const unsigned int categories[] = {HTML_KERNEL, HTML_KERNEL, HTML_COPY, HTML_SET, HTML_GRAPH};
	static const struct tf_device_operation lost = {.kind = TF_DEVICE_KERNEL};
	const struct tf_device_operation *w = operation->kind ? operation : &lost;
	SCOPED(buffer) name = {0};
	struct html_operation o;

	device_operation_name(h->x->context, h->image->trace, w, &name);
	o.name = html_name(h, categories[w->kind <= TF_DEVICE_GRAPH ? w->kind : 0], name.data ? name.data : "?");
	o.detail = html_detail(h, (uint64_t)1 << 63 | id, make_work_detail, w);
	o.track = (uint32_t)(stream_track(h, w) - h->tracks);
	return o;
}

static uint64_t link_of(const struct device_record *r)
{
	return r->correlation ? (uint64_t)r->epoch << 32 | r->correlation : 0;
}

void html_operation(struct html *h, const struct timeline_event *e)
{
	uint64_t *slot = timeline_slot(&h->timeline, TEXT_OPERATION, e->name);
	struct html_event out = {.start = html_since_origin(h, e->start_ns),
				 .duration = e->duration_ns,
				 .value = (int64_t)e->record->bytes,
				 .link = link_of(e->record)};
	struct html_operation o;

	if (e->duration_ns < h->least_ns) {
		h->left_out++;
		return;
	}
	if (!*slot) {
		o = make_operation(h, e->name, e->operation);
		buffer_add(&h->operations, &o, sizeof(o));
		*slot = h->operations.size / sizeof(o);
	}
	memcpy(&o, h->operations.data + (*slot - 1) * sizeof(o), sizeof(o));
	out.name = o.name;
	out.detail = o.detail;
	html_add(h, &h->tracks[o.track], &out);
}

/* Waits for devices, and the cost of recording and compiling. */
void html_activity(struct html *h, const struct timeline_event *e)
{
	static const char *const waits[] = {"wait", "wait for an event", "stream waits for an event",
					    "wait for a stream", "wait for a context"};
	const struct tf_device_operation *w = e->operation;
	struct html_event out = {.start = html_since_origin(h, e->start_ns), .duration = e->duration_ns};
	bool is_wait = w->kind == TF_DEVICE_WAIT;

	if ((!is_wait && w->kind != TF_DEVICE_OVERHEAD) || e->duration_ns < h->least_ns)
		return;
	out.name = is_wait ? html_name(h, HTML_WAIT, waits[w->value < 5 ? w->value : 0])
			   : html_name(h, HTML_OVERHEAD,
				       w->value >> 16 < DEVICE_OVERHEADS ? device_overheads[w->value >> 16] : "?");
	html_add(h, is_wait ? html_process_track(h, HTML_RANGES, 1, "Waits for devices")
			    : html_process_track(h, HTML_RANGES, 2, "Overhead of recording"), &out);
}

/* Links connect both ends, because calls are not kept until their device records are known. */
void html_flow(void *html, const struct timeline_flow *f)
{
	struct html *h = html;
	struct html_event out = {.start = html_since_origin(h, f->start_ns), .link = link_of(f->records)};
	struct html_track *t;
	uint32_t calls;

	if (f->duration_ns < h->least_ns)
		return;
	calls = (uint32_t)(html_thread_track(h, HTML_CALLS, f->thread) - h->tracks);
	t = html_track(h, HTML_LINKS, calls, 0, NULL);
	t->of = calls;
	html_add(h, t, &out);
}

/* ---- memory in use ---- */

/* Numbers of counters of a process; those of devices are smaller. */
enum { COUNTER_OF_RESIDENT = UINT32_MAX - 1, COUNTER_OF_HEAP = UINT32_MAX - 2 };

static void add_bytes(struct html *h, uint32_t number, const char *label, uint64_t bytes, uint64_t ns)
{
	struct html_event out = {.start = html_since_origin(h, ns), .value = (int64_t)bytes};

	out.name = html_name(h, HTML_MEMORY, label);
	html_add(h, html_process_track(h, HTML_COUNTER, number, label), &out);
}

static void add_device_bytes(struct html *h, uint32_t device, uint64_t bytes, uint64_t ns)
{
	SCOPED(buffer) label = {0};

	buffer_print(&label, "Memory in use, device %" PRIu32, device);
	add_bytes(h, device, label.data, bytes, ns);
}

/* With a filter the memory in use is not known, because earlier allocations are excluded. */
static bool is_known(const struct html *h)
{
	return !h->image->trace || !filter_of(h->image->trace);
}

/* Of a device, only the sum of all kinds is shown. */
void html_counter(void *html, const struct timeline_counter *c)
{
	struct html *h = html;

	if (!is_known(h))
		return;
	if (c->kind == COUNTER_RESIDENT) {
		add_bytes(h, COUNTER_OF_RESIDENT, "Resident", c->bytes, c->ns);
		h->resident = (struct html_point){c->bytes, c->ns};
	} else if (c->kind == COUNTER_HEAP) {
		add_bytes(h, COUNTER_OF_HEAP, "Allocated", c->bytes, c->ns);
		h->heap = (struct html_point){c->bytes, c->ns};
	} else if (!c->memory && c->device != MEMORY_HOST) {
		*map_put(&h->last_bytes, c->device, 0, NULL) = c->bytes;
		add_device_bytes(h, c->device, c->bytes, c->ns);
	}
}

/* A process has nothing any more when it has ended. */
static void counter_end(struct html *h, const struct html_point *last, uint32_t number, const char *label)
{
	const struct process *p = &h->model->processes[h->image->process];

	if (last->bytes && !p->is_running)
		add_bytes(h, number, label, 0, p->end_ns > last->ns ? p->end_ns : last->ns);
}

void html_counters_end(struct html *h)
{
	const struct process *p = &h->model->processes[h->image->process];

	if (is_known(h)) {
		counter_end(h, &h->resident, COUNTER_OF_RESIDENT, "Resident");
		if (h->image == &h->model->images[p->first_image + p->image_count - 1])
			counter_end(h, &h->heap, COUNTER_OF_HEAP, "Allocated");
		/* Memory does not survive exec. */
		for (size_t i = 0; h->image->end == TF_END_EXEC && i < h->last_bytes.size; i++)
			if (h->last_bytes.slots[i].used)
				add_device_bytes(h, (uint32_t)h->last_bytes.slots[i].a, 0,
						 clock_map_ns(h->clock, image_last_ticks(h->image)));
	}
	h->resident = h->heap = (struct html_point){0};
	map_done(&h->last_bytes);
}

/* ---- power ---- */

/* DEVICES: of a process. POWER: the counters of power behind those of memory. MACHINES: in place of a process's number,
 * those of machines. */
enum { DEVICES = 64, POWER = 1 << 20, MACHINES = 1 << 24 };

/* Of a device that the process used, while it lived; in mW. */
static void html_add_power(struct html *h, const struct energy_source *s, uint32_t device)
{
	uint64_t from = clock_map_ns(h->clock, h->image->start_ticks);
	uint64_t to = clock_map_ns(h->clock, image_last_ticks(h->image));
	SCOPED(buffer) label = {0};
	struct html_event out = {0};
	struct html_track *track;

	buffer_text(&label, "Power of ");
	energy_source_name(h->model, s, &label);
	out.name = html_name(h, HTML_MEMORY, label.data);
	for (size_t i = 0; i + 1 < s->count && !s->is_unknown; i++) {
		if (s->points[i + 1].ns <= from || s->points[i].ns >= to)
			continue;
		out.start = (int64_t)(s->points[i].ns > from ? s->points[i].ns : from) - (int64_t)h->model->origin_ns;
		out.value = (int64_t)(energy_watts(s, i + 1) * 1e3);
		track = html_process_track(h, HTML_COUNTER, POWER + device, label.data);
		track->unit = "W";
		html_add(h, track, &out);
	}
}

void html_power(struct html *h)
{
	const struct trace *t = h->image->trace;

	for (uint32_t device = 0; t && device < DEVICES; device++) {
		const struct energy_source *s = trace_definition(t, TF_BLOB_DEVICE_NAME, device)
							? energy_of_device(h->model, h->image, device)
							: NULL;

		if (s)
			html_add_power(h, s, device);
	}
}

/* ---- counters of machines ---- */

/* One that is 0 throughout has no lane. */
static bool has_value(const struct counter_series *s)
{
	double value;

	for (size_t i = 0; i < s->count; i++)
		if (counter_value(s, i, &value) && value != 0)
			return true;
	return false;
}

static void html_add_series(struct html *h, const struct counter_series *s, size_t number)
{
	struct html_event out = {.name = html_name(h, HTML_MEMORY, s->name)};
	struct html_track *track = html_track(h, HTML_COUNTER, number, MACHINES, NULL);
	double value;

	track->label = html_string(h, s->name);
	track->group = html_string(h, h->model->machines[s->machine].host);
	track->unit = s->unit;
	track->is_of_machine = true;
	for (size_t i = 0; i < s->count; i++) {
		if (!counter_value(s, i, &value))
			continue;
		out.start = html_since_origin(h, counter_ns(s, i));
		out.value = (int64_t)(value * 1e3);
		html_add(h, track, &out);
	}
}

/* Those of GPUs are with their processes. */
void html_series(struct html *h)
{
	size_t count;
	const struct counter_series *series = counters_of(h->model, &count);

	for (size_t i = 0; i < count && h->image; i++)
		if (!series[i].source && has_value(&series[i]))
			html_add_series(h, &series[i], i);
	html_flush(h);
}
