/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in use as counters of the process: one for each device, one for the host, one for what is resident, and one
 * for what --memory recorded. */
#include "report/export/export_chrome.h"
#include "report/derive/events/filter.h"
#include "report/derive/device/memory.h"
#include "report/derive/stacks/heap.h"
#include "report/derive/time/resident.h"

/* Omits the sum of all kinds, because viewers stack the kinds, and what the filter excludes. */
static void chrome_add_memory_change(void *context, const struct memory *m, const struct memory_use *use, uint64_t ns)
{
	struct chrome *w = context;

	const struct trace *t = w->image->trace;
	uint64_t ticks = filter_of(t) ? clock_map_tick_at(w->clock, ns) : 0;

	(void)m;
	if (!use->kind || !filter_shows(t, ticks, ticks))
		return;
	chrome_begin(w);
	sink_text(w->out, "{\"ph\":\"C\",\"name\":\"CUDA memory in use");
	if (use->device == MEMORY_HOST)
		sink_text(w->out, ", host");
	else
		chrome_number(w, ", device ", use->device);
	chrome_number(w, "\",\"pid\":", w->pid);
	sink_text(w->out, ",\"ts\":");
	sink_us(w->out, (int64_t)(ns - w->model->origin_ns));
	sink_text(w->out, ",\"args\":{\"");
	sink_text(w->out, memory_kind(use->kind));
	chrome_number(w, " (bytes)\":", use->in_use);
	sink_text(w->out, "}}");
}

static void chrome_counter(struct chrome *w, const char *name, uint64_t bytes, uint64_t ns)
{
	const struct trace *t = w->image->trace;
	uint64_t ticks = t && filter_of(t) ? clock_map_tick_at(w->clock, ns) : 0;

	if (t && !filter_shows(t, ticks, ticks))
		return;
	chrome_begin(w);
	sink_text(w->out, "{\"ph\":\"C\",\"name\":\"");
	sink_text(w->out, name);
	chrome_number(w, "\",\"pid\":", w->pid);
	sink_text(w->out, ",\"ts\":");
	sink_us(w->out, (int64_t)(ns - w->model->origin_ns));
	chrome_number(w, ",\"args\":{\"bytes\":", bytes);
	sink_text(w->out, "}}");
}

static void chrome_add_resident(void *context, uint64_t bytes, uint64_t ns)
{
	chrome_counter(context, "resident memory", bytes, ns);
}

static void chrome_add_heap(void *context, uint64_t bytes, uint64_t ns)
{
	chrome_counter(context, "recorded allocations in use", bytes, ns);
}

void chrome_memory(struct chrome *w)
{
	struct memory m;

	if (w->image == &w->model->images[w->model->processes[w->image->process].first_image])
		resident_of(w->model, w->image, w, chrome_add_resident);
	heap_over_time(w->model, w->image, chrome_add_heap, w);

	memory_replay(w->model, w->image, &m, chrome_add_memory_change, w);
	memory_done(&m);
}
