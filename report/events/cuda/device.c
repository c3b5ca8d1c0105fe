/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks device records and converts their times to the host's clock. */
#include "report/events/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/kernel.h"
#include "report/events/filter.h"

const char *const device_overheads[DEVICE_OVERHEADS] = {
	"compilation by the driver", "buffer delivery", "kernel instrumentation", "CUPTI resources", "module loading",
	"function loading", "command buffer full", "buffer requests", "managed memory tracing setup"};

/* ---- sources ---- */

struct device_source device_source(const struct trace *t)
{
	struct device_source s = {0};

	blobs_each(b, t, TF_BLOB_DEVICE_CLOCK) {
		struct tf_device_clock pair;

		if (trace_blob(t, b, &pair, sizeof(pair)) == sizeof(pair) && pair.error_ns > s.error_ns)
			s.error_ns = pair.error_ns;
	}
	blobs_each(b, t, TF_BLOB_DEVICE_SOURCE) {
		struct tf_device_source head;
		char bytes[sizeof(head) + sizeof(s.soname) - 1];
		size_t size;

		size = trace_blob(t, b, bytes, sizeof(bytes));
		if (size < sizeof(head))
			continue;
		memcpy(&head, bytes, sizeof(head));
		s.is_known = true;
		s.kind = head.source;
		s.version = head.version;
		s.is_translated = head.time == TF_DEVICE_TIME_OWN || head.source == TF_SOURCE_EVENTS;
		memcpy(s.soname, bytes + sizeof(head), size - sizeof(head));
		s.soname[size - sizeof(head)] = 0;
	}
	return s;
}

bool device_any(const struct model *m)
{
	return array_find(image, m->images, m->image_count, device_source(image->trace).is_known) != NULL;
}

static bool decode_gap(const struct trace *t, const struct blob *b, struct tf_device_gap *ret, char *path, size_t size)
{
	char bytes[sizeof(*ret) + sizeof(((struct device_gap *)0)->path)] = {0};

	if (trace_blob(t, b, bytes, sizeof(bytes) - 1) < sizeof(*ret))
		return false;
	memcpy(ret, bytes, sizeof(*ret));
	snprintf(path, size, "%s", bytes + sizeof(*ret));
	return true;
}

/* The end of a gap may be in another thread's chunk than its beginning, and before it in the file. */
size_t device_gaps(const struct image *image, struct device_gap **ret)
{
	const struct trace *t = image->trace;
	struct device_gap *gaps = NULL;
	SCOPED_MEMORY uint64_t *ends = NULL;
	size_t count = 0, capacity = 0, end_count = 0, end_capacity = 0;

	blobs_each(b, t, TF_BLOB_DEVICE_GAP) {
		struct device_gap g = {0};
		struct tf_device_gap head;

		if (!decode_gap(t, b, &head, g.path, sizeof(g.path)))
			continue;
		if (head.is_end) {
			mem_append(ends, end_count, end_capacity, head.ticks);
			continue;
		}
		g.from = head.ticks;
		mem_append(gaps, count, capacity, g);
	}
	if (end_count)
		sort_numbers(ends, end_count);
	for (size_t i = 0; i < count; i++) {
		size_t at = first_place(k, 0, end_count, ends[k] < gaps[i].from);
		uint64_t last = image_last_ticks(image);

		gaps[i].is_open = at == end_count;
		gaps[i].to = at < end_count ? ends[at] : last > gaps[i].from ? last : gaps[i].from;
	}
	*ret = gaps;
	return count;
}

struct tf_device_lost device_lost(const struct trace *t)
{
	struct tf_device_lost all = {0}, lost;

	blobs_each(b, t, TF_BLOB_DEVICE_LOST) {
		if (trace_blob(t, b, &lost, sizeof(lost)) < sizeof(lost))
			continue;
		all.dropped += lost.dropped;
		all.timeless += lost.timeless;
		all.unreadable += lost.unreadable;
	}
	return all;
}

uint64_t device_last_flush(const struct image *image)
{
	const struct trace *t = image->trace;
	uint64_t last = 0;

	blobs_each(b, t, TF_BLOB_DEVICE_FLUSH) {
		struct tf_device_flush flush;

		if (trace_blob(t, b, &flush, sizeof(flush)) == sizeof(flush) && flush.ticks > last)
			last = flush.ticks;
	}
	return last;
}

static size_t count_graphs(const struct trace *t)
{
	struct tf_device_operation operation;
	size_t n = 0;

	blobs_each(b, t, TF_BLOB_DEVICE_OPERATION)
		n += device_operation(t, b->id, &operation) && operation.kind == TF_DEVICE_GRAPH;
	return n;
}

static void remark_on(struct buffer *ret, const char *source, size_t images, uint64_t error, const char *clock)
{
	if (!images)
		return;
	buffer_print(ret, "%s%s, %zu process image%s", ret->size && ret->data[ret->size - 1] != ' ' ? "; " : "", source,
		     images, images == 1 ? "" : "s");
	if (error)
		buffer_print(ret, ", on %s clock, placed to %llu ns", clock, (unsigned long long)error);
}

void device_remark(const struct model *m, struct buffer *ret)
{
	size_t known[2] = {0}, graphs[2] = {0};
	uint64_t error[2] = {0};

	for (size_t i = 0; i < m->image_count; i++) {
		const struct trace *t = m->images[i].trace;
		struct device_source s = device_source(t);
		int k = s.kind == TF_SOURCE_EVENTS;

		if (!s.is_known)
			continue;
		known[k]++;
		if (s.is_translated && s.error_ns > error[k])
			error[k] = s.error_ns;
		graphs[k] += count_graphs(t);
	}
	if (!known[0] && !known[1]) {
		buffer_text(ret, "device times: none");
		return;
	}
	buffer_text(ret, "device times: ");
	remark_on(ret, "CUPTI", known[0], error[0], "CUPTI's");
	remark_on(ret, "CUDA events before and after each operation", known[1], error[1], "the device's");
	if (graphs[0])
		buffer_text(ret, "; CUDA graphs as a whole (--cuda-graph-trace=node records their kernels and copies)");
	else if (graphs[1])
		buffer_text(ret, "; CUDA graphs as a whole");
}

/* ---- names ---- */

bool device_operation(const struct trace *t, uint32_t id, struct tf_device_operation *ret)
{
	const struct blob *b = trace_definition(t, TF_BLOB_DEVICE_OPERATION, id);
	uint32_t kernel = 0;

	if (!b && kernel_made_from(t, id, &id, &kernel))
		b = trace_definition(t, TF_BLOB_DEVICE_OPERATION, id);
	*ret = (struct tf_device_operation){0};
	if (!b || trace_blob(t, b, ret, sizeof(*ret)) < offsetof(struct tf_device_operation, node))
		return false;
	ret->kernel = kernel ? kernel : ret->kernel;
	return true;
}

void device_name(const struct trace *t, uint32_t device, struct buffer *ret)
{
	const struct blob *b = trace_definition(t, TF_BLOB_DEVICE_NAME, device);

	if (b)
		trace_text(t, b, ret);
	else
		buffer_text(ret, "GPU");
	buffer_print(ret, " (%u)", device);
}

const char *device_memory_name(uint8_t kind)
{
	static const char *const names[] = {"Unknown", "Pageable", "Pinned",        "Device",
					    "Array",   "Managed",  "Device Static", "Managed Static"};

	return names[kind < sizeof(names) / sizeof(*names) ? kind : 0];
}

void device_operation_name(const struct report_context *c, const struct trace *t,
			   const struct tf_device_operation *operation, struct buffer *ret)
{
	static const char *const copies[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					     "AtoD", "DtoA", "DtoD", "HtoH", "PtoP", "Decompress"};

	switch (operation->kind) {
	case TF_DEVICE_KERNEL:
		if (!kernel_name(t, operation->kernel, c->kernel_name, ret))
			buffer_text(ret, "(kernel without a name)");
		break;
	case TF_DEVICE_COPY:
		buffer_print(ret, "[CUDA memcpy %s]",
			     operation->copy && operation->copy < sizeof(copies) / sizeof(*copies)
				     ? copies[operation->copy]
				     : "Unknown");
		break;
	case TF_DEVICE_SET:
		buffer_text(ret, "[CUDA memset]");
		break;
	case TF_DEVICE_GRAPH:
		buffer_print(ret, "[CUDA graph %u]", operation->graph);
		break;
	default:
		buffer_print(ret, "(operation of kind %u)", operation->kind);
	}
}

/* ---- clocks ---- */

struct device_clocks {
	struct tf_device_clock *pairs; /* by device_ns */
	size_t count, capacity;
};

COMPARATOR(compare_device_pairs, struct tf_device_clock, a->device_ns < b->device_ns ? -1 : a->device_ns > b->device_ns)

static void read_clocks(const struct trace *t, struct device_clocks *c)
{
	blobs_each(b, t, TF_BLOB_DEVICE_CLOCK) {
		c->pairs = mem_grow(c->pairs, c->count, &c->capacity, sizeof(*c->pairs));
		c->count += trace_blob(t, b, &c->pairs[c->count], sizeof(*c->pairs)) == sizeof(*c->pairs);
	}
	array_sort(c->pairs, c->count, compare_device_pairs);
}

/* Interpolates between two pairs; outside of them the offset of the nearest pair applies. */
static uint64_t place_device_time(const struct device_clocks *c, uint64_t device_ns)
{
	const struct tf_device_clock *before = c->pairs, *after;
	size_t low = 0, high = c->count;
	double share;

	if (!c->count)
		return device_ns;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (c->pairs[middle].device_ns <= device_ns)
			low = middle;
		else
			high = middle;
	}
	before += low;
	after = before + 1;
	if (device_ns <= before->device_ns || low + 1 == c->count || after->device_ns == before->device_ns)
		return before->monotonic_ns + (device_ns - before->device_ns);
	share = (double)(device_ns - before->device_ns) / (double)(after->device_ns - before->device_ns);
	return before->monotonic_ns + (uint64_t)(share * (double)(int64_t)(after->monotonic_ns - before->monotonic_ns));
}

/* ---- records ---- */

struct unpack {
	const uint8_t *at, *end;
	bool failed;
};

static uint64_t unpack_number(struct unpack *u)
{
	uint64_t n = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		if (u->at == u->end)
			break;
		n |= (uint64_t)(*u->at & 0x7f) << shift;
		if (!(*u->at++ & 0x80))
			return n;
	}
	u->failed = true;
	return 0;
}

static uint64_t take_distance(struct unpack *u)
{
	uint64_t n = unpack_number(u);

	return n >> 1 ^ -(n & 1);
}

struct record_walk {
	struct scan *scan;
	const struct tick_spans *shown; /* NULL: everything passes */
	struct device_clocks clocks;
	enum tf_blob_kind blob;
	void (*visit_record)(struct scan *, const struct device_record *);
	void (*visit_call)(struct scan *, const struct device_call *);
	uint64_t broken;
};

/* With --ring: did it end before what is kept? It was written later, and may still be there without its call. */
static bool is_past(const struct record_walk *w, uint64_t end_ns)
{
	uint64_t kept_ticks = w->scan->image->trace->header.ring_ticks;

	return kept_ticks && clock_map_ticks(w->scan->clock, end_ns) < kept_ticks;
}

static bool record_is_shown(const struct record_walk *w, const struct device_record *r)
{
	const struct clock_map *clock = w->scan->clock;

	if (is_past(w, r->start_ns + r->duration_ns))
		return false;
	return !w->shown || tick_spans_overlap(w->shown, clock_map_ticks(clock, r->start_ns),
					       clock_map_ticks(clock, r->start_ns + r->duration_ns));
}

static void read_device_records(struct record_walk *w, const struct tf_device_batch *head, struct unpack *u)
{
	struct device_record r = {.epoch = head->epoch};
	uint64_t start = head->base_ns;

	for (uint32_t i = 0; i < head->count; i++) {
		uint64_t operation = unpack_number(u);

		r.operation = (uint32_t)(operation >> 2);
		start += take_distance(u);
		r.start_ns = head->time == TF_DEVICE_TIME_OWN ? place_device_time(&w->clocks, start) : start;
		r.duration_ns = unpack_number(u);
		r.correlation += (uint32_t)take_distance(u);
		r.bytes = operation & 1 ? unpack_number(u) : 0;
		r.address = operation & 2 ? unpack_number(u) : 0;
		if (u->failed) {
			w->broken += head->count - i;
			return;
		}
		if (!record_is_shown(w, &r))
			continue;
		r.operation = kernel_name_operation(w->scan->image->trace, &r);
		w->visit_record(w->scan, &r);
	}
}

static void read_device_calls(struct record_walk *w, const struct tf_device_batch *head, struct unpack *u)
{
	struct device_call c = {.epoch = head->epoch, .is_placed = head->time == TF_DEVICE_TIME_OWN};
	uint64_t start = head->base_ns;

	for (uint32_t i = 0; i < head->count; i++) {
		uint64_t thread = unpack_number(u);

		c.is_driver = thread & 1;
		c.tid += (uint32_t)(thread >> 2 ^ -(thread >> 1 & 1));
		start += take_distance(u);
		c.start_ns = c.is_placed ? place_device_time(&w->clocks, start) : start;
		c.duration_ns = unpack_number(u);
		c.correlation += (uint32_t)take_distance(u);
		if (u->failed) {
			w->broken += head->count - i;
			return;
		}
		if (!is_past(w, c.start_ns + c.duration_ns))
			w->visit_call(w->scan, &c);
	}
}

static void read_batch(struct record_walk *w, const struct event *e)
{
	uint8_t bytes[TF_BLOB_BYTES];
	struct blob b = {.offset = (uint64_t)((const uint8_t *)e->args - w->scan->image->trace->bytes.data),
			 .length = e->length};
	struct tf_device_batch head;
	size_t size = trace_blob(w->scan->image->trace, &b, bytes, sizeof(bytes));
	struct unpack u = {bytes + sizeof(head), bytes + size, false};

	if (size < sizeof(head)) {
		w->broken++;
		return;
	}
	memcpy(&head, bytes, sizeof(head));
	if (w->visit_record)
		read_device_records(w, &head, &u);
	else
		read_device_calls(w, &head, &u);
}

static void unpack_image(struct record_walk *w, uint64_t *ret_broken)
{
	struct scan *s = w->scan;
	const struct trace *t = s->image->trace;

	s->clock = &s->context->model->machines[s->image->machine].clock;
	if (t && w->blob == TF_BLOB_DEVICE)
		kernel_find(s->context, s->image);
	w->shown = t && !s->is_unfiltered ? filter_of(t) : NULL;
	if (t)
		read_clocks(t, &w->clocks);
	for (size_t k = 0; t && k < t->thread_count; k++) {
		struct cursor cursor;
		struct event event;

		s->thread = &t->threads[k];
		if (!s->thread->has_device_records)
			continue;
		cursor_init(&cursor, t, s->thread);
		cursor.wanted = s->chunks;
		while (cursor_step(&cursor, &event)) {
			s->chunk = cursor.chunk - 1;
			if (event.kind == TF_BLOB && event.blob == w->blob)
				read_batch(w, &event);
		}
	}
	if (ret_broken)
		*ret_broken += w->broken;
	free(w->clocks.pairs);
}

void device_scan_image(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken)
{
	unpack_image(&(struct record_walk){.scan = s, .blob = TF_BLOB_DEVICE, .visit_record = visit}, ret_broken);
}

void device_scan_more(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken)
{
	unpack_image(&(struct record_walk){.scan = s, .blob = TF_BLOB_DEVICE_MORE, .visit_record = visit}, ret_broken);
}

void device_scan_calls(struct scan *s, void (*visit)(struct scan *, const struct device_call *), uint64_t *ret_broken)
{
	unpack_image(&(struct record_walk){.scan = s, .blob = TF_BLOB_DEVICE_CALLS, .visit_call = visit}, ret_broken);
}

void device_scan(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken)
{
	for (size_t i = 0; i < s->context->model->image_count; i++) {
		s->image = &s->context->model->images[i];
		if (scan_is_mine(s->context, s->image))
			device_scan_image(s, visit, ret_broken);
	}
}
