/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a page, second part: device operations with their calls, memory in use, and power. */
#include <inttypes.h>
#include <string.h>

#include "report/derive/events/filter.h"
#include "report/derive/device/correlate.h"
#include "report/derive/energy/energy.h"
#include "report/export/export_html.h"
#include "report/derive/device/memory.h"
#include "report/derive/stacks/heap.h"
#include "report/derive/time/resident.h"

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
	struct buffer text = {0};

	if (!is_new)
		return t;
	stream_label(&h->streams, w, &text);
	t->label = html_string(h, text.data);
	buffer_clear(&text);
	device_name(h->image->trace, w->device, &text);
	if (has_several_hosts(h->model))
		buffer_print(&text, " on %s", h->model->machines[h->image->machine].host);
	t->group = html_string(h, text.data);
	t->tid = w->stream;
	buffer_done(&text);
	return t;
}

struct known_operation {
	uint32_t name, detail, track;
};

static uint64_t new_operation(struct html *h, uint32_t id, struct buffer *operations)
{
	static const unsigned int categories[] = {HTML_KERNEL, HTML_KERNEL, HTML_COPY, HTML_SET, HTML_GRAPH};
	struct buffer name = {0};
	struct known_operation k;
	struct tf_device_operation w;

	if (!device_operation(h->image->trace, id, &w))
		w = (struct tf_device_operation){.kind = TF_DEVICE_KERNEL};
	device_operation_name(h->x->context, h->image->trace, &w, &name);
	k.name = html_name(h, categories[w.kind <= TF_DEVICE_GRAPH ? w.kind : 0], name.data ? name.data : "?");
	k.detail = html_detail(h, (uint64_t)1 << 63 | id, make_work_detail, &w);
	k.track = (uint32_t)(stream_track(h, &w) - h->tracks);
	buffer_add(operations, &k, sizeof(k));
	buffer_done(&name);
	return operations->size / sizeof(k) - 1;
}

struct device_pass {
	struct html *html;
	struct buffer operations; /* struct known_operation */
};

static uint64_t link_of(const struct device_record *r)
{
	return r->correlation ? (uint64_t)r->epoch << 32 | r->correlation : 0;
}

static void html_add_record(struct scan *s, const struct device_record *r)
{
	struct device_pass *pass = s->more;
	struct html *h = pass->html;
	struct html_event out = {.duration = r->duration_ns, .value = (int64_t)r->bytes, .link = link_of(r)};
	struct known_operation k;
	bool is_new;
	uint64_t *place;

	if (r->duration_ns < h->least_ns) {
		h->left_out++;
		return;
	}
	place = map_put(&h->known_operations, r->operation, 0, &is_new);
	if (is_new)
		*place = new_operation(h, r->operation, &pass->operations);
	memcpy(&k, pass->operations.data + *place * sizeof(k), sizeof(k));
	out.start = (int64_t)(clock_map_monotonic(h->clock, r->start_ns) - h->model->origin_ns);
	out.name = k.name;
	out.detail = k.detail;
	html_add(h, &h->tracks[k.track], &out);
}

/* Other activities: waits for devices, and the cost of recording and compiling. */
static void add_activity(struct scan *s, const struct device_record *r)
{
	static const char *const waits[] = {"wait", "wait for an event", "stream waits for an event",
					    "wait for a stream", "wait for a context"};
	struct html *h = s->more;
	struct html_event out = {.start = (int64_t)(clock_map_monotonic(s->clock, r->start_ns) - h->model->origin_ns),
				 .duration = r->duration_ns};
	bool is_wait;
	struct tf_device_operation w;

	if (!device_operation(h->image->trace, r->operation, &w) ||
	    (w.kind != TF_DEVICE_WAIT && w.kind != TF_DEVICE_OVERHEAD) || r->duration_ns < h->least_ns)
		return;
	is_wait = w.kind == TF_DEVICE_WAIT;
	out.name = is_wait ? html_name(h, HTML_WAIT, waits[w.value < 5 ? w.value : 0])
			   : html_name(h, HTML_OVERHEAD,
				       w.value >> 16 < DEVICE_OVERHEADS ? device_overheads[w.value >> 16] : "?");
	html_add(h, is_wait ? html_process_track(h, HTML_RANGES, 1, "Waits for devices")
			    : html_process_track(h, HTML_RANGES, 2, "Overhead of recording"), &out);
}

static void add_records(struct html *h)
{
	struct device_pass pass = {.html = h};
	struct scan s = {.context = h->x->context, .image = h->image, .more = &pass};

	device_scan_image(&s, html_add_record, NULL);
	s.more = h;
	device_scan_more(&s, add_activity, NULL);
	buffer_done(&pass.operations);
}

/* Links connect both ends, because calls are not kept until their device records are known. */
static void add_link(void *context, const struct correlated *c)
{
	struct html *h = context;
	uint64_t duration = clock_map_duration(h->clock, c->event.duration);
	struct html_event out = {0};
	struct html_track *t;
	uint32_t calls;

	if (!c->thread || !c->record_count || duration < h->least_ns)
		return;
	calls = (uint32_t)(html_thread_track(h, HTML_CALLS, c->thread) - h->tracks);
	t = html_track(h, HTML_LINKS, calls, 0, NULL);
	t->of = calls;
	out.start = html_since_origin(h, c->event.ticks, duration);
	out.link = link_of(&c->records[0]);
	html_add(h, t, &out);
}

void html_device(struct html *h)
{
	struct correlate_counts counts = {0};

	if (!h->image->trace || !device_source(h->image->trace).is_known)
		return;
	add_records(h);
	correlate_image(h->x->context, h->image, h, add_link, &counts);
}

/* ---- memory in use ---- */

struct memory_lane {
	struct html *html;
	struct map last; /* device -> bytes after its last change */
};

/* Only the sum of all kinds of a device is shown. */
static void html_add_memory_change(void *context, const struct memory *m, const struct memory_use *use, uint64_t ns)
{
	struct memory_lane *lane = context;
	struct html *h = lane->html;
	struct html_event out = {.start = (int64_t)(ns - h->model->origin_ns), .value = (int64_t)use->in_use};
	struct buffer label = {0};

	(void)m;
	if (use->kind || use->device == MEMORY_HOST)
		return;
	*map_put(&lane->last, use->device, 0, NULL) = use->in_use;
	buffer_print(&label, "Memory in use, device %" PRIu32, use->device);
	out.name = html_name(h, HTML_MEMORY, label.data);
	html_add(h, html_process_track(h, HTML_COUNTER, use->device, label.data), &out);
	buffer_done(&label);
}

static void html_add_bytes(struct html *h, uint32_t number, const char *label, uint64_t bytes, uint64_t ns)
{
	struct html_event out = {.start = (int64_t)(ns - h->model->origin_ns), .value = (int64_t)bytes};

	out.name = html_name(h, HTML_MEMORY, label);
	html_add(h, html_process_track(h, HTML_COUNTER, number, label), &out);
}

/* A counter of a process, which has nothing any more when the process has ended. */
struct process_counter {
	struct html *html;
	uint32_t number; /* those of devices are smaller */
	const char *label;
	uint64_t last_bytes, last_ns;
};

static void html_add_point(void *context, uint64_t bytes, uint64_t ns)
{
	struct process_counter *c = context;

	html_add_bytes(c->html, c->number, c->label, bytes, ns);
	c->last_bytes = bytes;
	c->last_ns = ns;
}

static void counter_end(const struct process_counter *c)
{
	const struct process *p = &c->html->model->processes[c->html->image->process];

	if (c->last_bytes && !p->is_running)
		html_add_bytes(c->html, c->number, c->label, 0, p->end_ns > c->last_ns ? p->end_ns : c->last_ns);
}

/* With a filter the memory in use is not known, because earlier allocations are excluded. */
void html_memory(struct html *h)
{
	struct memory_lane lane = {.html = h};
	struct process_counter resident = {.html = h, .number = UINT32_MAX - 1, .label = "Resident"};
	struct process_counter heap = {.html = h, .number = UINT32_MAX - 2, .label = "Allocated"};
	const struct process *p = &h->model->processes[h->image->process];
	struct memory m;

	if (h->image->trace && filter_of(h->image->trace))
		return;
	if (h->image == &h->model->images[p->first_image]) {
		resident_of(h->model, h->image, &resident, html_add_point);
		counter_end(&resident);
	}
	heap_over_time(h->model, h->image, html_add_point, &heap);
	if (h->image == &h->model->images[p->first_image + p->image_count - 1])
		counter_end(&heap);
	memory_replay(h->model, h->image, &m, html_add_memory_change, &lane);
	/* Memory does not survive exec. */
	for (size_t i = 0; h->image->end == TF_END_EXEC && i < lane.last.size; i++)
		if (lane.last.slots[i].used)
			html_add_memory_change(&lane, &m,
					       &(struct memory_use){.device = (uint32_t)lane.last.slots[i].a},
					       clock_map_ns(h->clock, image_last_ticks(h->image)));
	map_done(&lane.last);
	memory_done(&m);
}

/* ---- power ---- */

/* DEVICES: of a process. POWER: the counters of power behind those of memory. */
enum { DEVICES = 64, POWER = 1 << 20 };

/* Of a device that the process used, while it lived; in mW. */
static void html_add_power(struct html *h, const struct energy_source *s, uint32_t device)
{
	uint64_t from = clock_map_ns(h->clock, h->image->start_ticks);
	uint64_t to = clock_map_ns(h->clock, image_last_ticks(h->image));
	struct buffer label = {0};
	struct html_event out = {0};

	buffer_text(&label, "Power of ");
	energy_source_name(h->model, s, &label);
	out.name = html_name(h, HTML_MEMORY, label.data);
	for (size_t i = 0; i + 1 < s->count && !s->is_unknown; i++) {
		if (s->points[i + 1].ns <= from || s->points[i].ns >= to)
			continue;
		out.start = (int64_t)(s->points[i].ns > from ? s->points[i].ns : from) - (int64_t)h->model->origin_ns;
		out.value = (int64_t)(energy_watts(s, i + 1) * 1e3);
		html_add(h, html_process_track(h, HTML_COUNTER, POWER + device, label.data), &out);
	}
	buffer_done(&label);
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
