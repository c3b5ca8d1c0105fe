/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a page, second part: what the devices did, for which calls, and the memory in use. */
#include <inttypes.h>
#include <string.h>

#include "correlate.h"
#include "export_html.h"

/* ---- devices ---- */

static void make_work_detail(struct html *h, const void *from, struct buffer *json)
{
	const struct tf_work *w = from;

	(void)h;
	if (w->kind == TF_WORK_KERNEL) {
		html_member_shape(json, w->grid, w->block);
		html_member_number(json, "registers per thread", w->registers);
		html_member_number(json, "static shared memory", w->static_shared_bytes);
		html_member_number(json, "dynamic shared memory", w->dynamic_shared_bytes);
	}
	if (w->kind == TF_WORK_SET)
		html_member_number(json, "memset to", w->value);
	if (w->graph)
		html_member_number(json, "graph", w->graph);
	html_member_number(json, "context", w->context);
	html_member_number(json, "stream", w->stream);
	if (w->kind == TF_WORK_COPY || w->kind == TF_WORK_SET)
		html_member_text(json, "value", "bytes");
}

static struct html_track *stream_track(struct html *h, const struct tf_work *w)
{
	const uint64_t who[] = {h->image->process, w->context, w->stream};
	uint64_t device = (uint64_t)host_number(h->model, h->image->machine) << 32 | w->device;
	bool is_new;
	struct html_track *t = html_track(h, HTML_STREAM, device, hash_bytes(who, sizeof(who)), &is_new);
	struct buffer text = {0};

	if (!is_new)
		return t;
	buffer_print(&text, "stream %" PRIu32, w->stream);
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

struct known_work {
	uint32_t name, detail, track;
};

static uint64_t new_work(struct html *h, uint32_t id, struct buffer *works)
{
	static const unsigned int categories[] = {HTML_KERNEL, HTML_KERNEL, HTML_COPY, HTML_SET, HTML_GRAPH};
	struct buffer name = {0};
	struct known_work k;
	struct tf_work w;

	if (!device_work(h->image->trace, id, &w))
		w = (struct tf_work){.kind = TF_WORK_KERNEL};
	device_operation(h->x->context, h->image->trace, &w, &name);
	k.name = html_name(h, categories[w.kind <= TF_WORK_GRAPH ? w.kind : 0], name.data ? name.data : "?");
	k.detail = html_detail(h, (uint64_t)1 << 63 | id, make_work_detail, &w);
	k.track = (uint32_t)(stream_track(h, &w) - h->tracks);
	buffer_add(works, &k, sizeof(k));
	buffer_done(&name);
	return works->size / sizeof(k) - 1;
}

struct device_pass {
	struct html *html;
	struct buffer works; /* struct known_work */
};

static uint64_t link_of(const struct device_record *r)
{
	return r->correlation ? (uint64_t)r->epoch << 32 | r->correlation : 0;
}

static void add_record(struct scan *s, const struct device_record *r)
{
	struct device_pass *pass = s->more;
	struct html *h = pass->html;
	struct html_event out = {.duration = r->duration_ns, .value = (int64_t)r->bytes, .link = link_of(r)};
	struct known_work k;
	bool is_new;
	uint64_t *place;

	if (r->duration_ns < h->least_ns) {
		h->left_out++;
		return;
	}
	place = map_put(&h->known_works, r->work, 0, &is_new);
	if (is_new)
		*place = new_work(h, r->work, &pass->works);
	memcpy(&k, pass->works.data + *place * sizeof(k), sizeof(k));
	out.start = (int64_t)(axis_monotonic(h->axis, r->start_ns) - h->model->origin_ns);
	out.name = k.name;
	out.detail = k.detail;
	html_add(h, &h->tracks[k.track], &out);
}

static void add_records(struct html *h)
{
	struct device_pass pass = {.html = h};
	struct scan s = {.context = h->x->context, .image = h->image, .more = &pass};

	device_scan_image(&s, add_record, NULL);
	buffer_done(&pass.works);
}

/* Both ends are found by this: calls are not kept until their work is known. */
static void add_link(void *context, const struct correlated *c)
{
	struct html *h = context;
	uint64_t duration = axis_duration(h->axis, c->event.duration);
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

/* A filter hides what was allocated before, so that what is in use is not known. */
static bool has_memory(const struct html *h, const struct process *p)
{
	for (size_t i = 0; i < p->image_count; i++) {
		const struct trace *t = h->model->images[p->first_image + i].trace;

		if (t && t->is_filtered)
			return false;
		for (size_t k = 0; t && k < t->thread_count; k++)
			if (t->threads[k].args & 1u << TF_ARG_MEMORY)
				return true;
	}
	return false;
}

/* How many bytes more are in use after the call. */
static int64_t memory_change(struct map *live, const struct event *e)
{
	uint64_t arg = e->kind == TF_CALL && e->args_count ? event_arg(e, TF_ARG_MEMORY) : 0;
	unsigned int memory = tf_arg_small(arg);
	uint64_t *bytes;
	int64_t freed;

	if (!arg || event_arg(e, TF_ARG_RESULT) || (memory & 31) == TF_MEMORY_HOST)
		return 0;
	if (!(memory & TF_MEMORY_FREE)) {
		bytes = map_put(live, tf_arg_value(arg), 0, NULL);
		freed = (int64_t)*bytes;
		*bytes = tf_arg_value(event_arg(e, TF_ARG_BYTES));
		return (int64_t)(*bytes - (uint64_t)freed);
	}
	bytes = map_find(live, tf_arg_value(arg), 0);
	freed = bytes ? (int64_t)*bytes : 0;
	if (bytes)
		map_remove(live, tf_arg_value(arg), 0);
	return -freed;
}

void html_memory(struct html *h, size_t process)
{
	const struct merge_event *e;
	struct map live = {0};
	struct html_event out = {0};
	struct html_track *t;
	struct merge *g;

	if (!has_memory(h, &h->model->processes[process]))
		return;
	g = merge_new(h->model, process);
	t = html_track(h, HTML_COUNTER, process << 1, 0, NULL);
	out.name = html_name(h, HTML_MEMORY, "Device memory in use");
	t->label = html_string(h, "Device memory in use");
	while ((e = merge_next(g))) {
		int64_t change = memory_change(&live, &e->event);

		out.start = (int64_t)(e->ns - h->model->origin_ns);
		out.value = (int64_t)((uint64_t)out.value + (uint64_t)change);
		if (change)
			html_add(h, t, &out);
	}
	map_done(&live);
	merge_free(g);
}
