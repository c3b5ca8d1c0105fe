/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in use as counters of the process: one for each device, and one for the host. */
#include "report/export/export_chrome.h"
#include "report/derive/events/filter.h"
#include "report/derive/device/memory.h"

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

void chrome_memory(struct chrome *w)
{
	struct memory m;

	memory_replay(w->model, w->image, &m, chrome_add_memory_change, w);
	memory_done(&m);
}
