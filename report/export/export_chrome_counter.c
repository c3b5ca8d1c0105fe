/* SPDX-License-Identifier: Apache-2.0 */
/* Counters. Of each process: device memory by device, host memory of CUDA, resident memory, and the memory that
 * --memory recorded. In a group of their own: counters of machines, GPUs and CPUs. */
#include <inttypes.h>

#include "report/base/table/json_writer.h"
#include "report/events/cuda/memory.h"
#include "report/events/filter.h"
#include "report/export/export_chrome.h"

/* PID: of that group in the file. */
enum { PID = 4000000 };

/* Omits the sum of all kinds, because viewers stack the kinds, and what the filter excludes. */
void chrome_counter(void *chrome, const struct timeline_counter *c)
{
	static const char *const names[] = {"resident memory", "recorded allocations in use", "CUDA memory in use"};
	struct chrome *w = chrome;
	const struct trace *t = w->timeline.image->trace;
	uint64_t ticks = t && filter_of(t) ? clock_map_tick_at(w->timeline.clock, c->ns) : 0;

	if ((c->kind == COUNTER_CUDA && !c->memory) || (t && !filter_shows(t, ticks, ticks)))
		return;
	chrome_begin(w);
	sink_text(w->out, "{\"ph\":\"C\",\"name\":\"");
	sink_text(w->out, names[c->kind]);
	if (c->kind == COUNTER_CUDA && c->device == MEMORY_HOST)
		sink_text(w->out, ", host");
	else if (c->kind == COUNTER_CUDA)
		chrome_number(w, ", device ", c->device);
	chrome_number(w, "\",\"pid\":", w->pid);
	chrome_time(w, c->ns);
	sink_text(w->out, ",\"args\":{\"");
	if (c->kind == COUNTER_CUDA)
		sink_text(w->out, memory_kind(c->memory));
	chrome_number(w, c->kind == COUNTER_CUDA ? " (bytes)\":" : "bytes\":", c->bytes);
	sink_text(w->out, "}}");
}

static void series_print(struct chrome *w, uint32_t pid, const struct counter_series *s)
{
	SCOPED(buffer) head = {0}, name = {0};
	double value;

	buffer_print(&name, "%s%s%s", s->name, *s->of ? ", " : "", s->of);
	buffer_text(&head, "{\"ph\":\"C\",\"name\":");
	json_add(&head, buffer_string(&name));
	buffer_print(&head, ",\"pid\":%" PRIu32, pid);
	buffer_clear(&name);
	json_add(&name, *s->unit ? s->unit : "value");
	for (size_t i = 0; i < s->count; i++) {
		if (!counter_value(s, i, &value))
			continue;
		chrome_begin(w);
		sink_text(w->out, buffer_string(&head));
		chrome_time(w, counter_ns(s, i));
		buffer_set(&w->scratch, ",\"args\":{%s:%.6g}}", buffer_string(&name), value);
		sink_text(w->out, buffer_string(&w->scratch));
	}
}

void chrome_series(struct chrome *w)
{
	size_t count;
	const struct counter_series *series = counters_of(w->timeline.model, &count);
	uint32_t pid;
	bool is_new;

	if (!count)
		return;
	pid = timeline_pid(&w->process_numbers, PID, UINT64_MAX, &is_new);
	chrome_meta(w, pid, 0, "process_name", "name", "\"Counters\"");
	for (size_t i = 0; i < count; i++)
		series_print(w, pid, &series[i]);
}
