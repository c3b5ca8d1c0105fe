/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "report/events/filter.h"
#include "report/live/top/top.h"
#include "report/tables/report.h"
#include "report/time/steps/steps.h"

static void percent_cell(struct table *t, double value)
{
	table_cells(t, cell_if(value >= 0, round_to_tenth(value)));
}

static void number_cell(struct table *t, uint64_t value)
{
	table_cells(t, cell_if(value != TOP_UNKNOWN, value));
}

static void processes_fill(struct top *l, struct table *t)
{
	table_has(t, COL_PID, COL_RANK, COL_HOST, COL_COMMAND, COL_CPU_PERCENT, COL_WAIT_PERCENT, COL_GPU_PERCENT,
		  COL_RSS_BYTES, COL_DEVICE_MEMORY_BYTES, COL_READ_BYTES_PER_S, COL_WRITTEN_BYTES_PER_S, COL_LINE);
	array_each(const struct top_process, p, l->processes, l->count) {
		SCOPED(buffer) line = {0};

		top_line_text(p, &line);
		table_cells(t, p->pid, p->rank, p->host, p->command);
		percent_cell(t, p->cpu_percent);
		percent_cell(t, p->wait_percent);
		percent_cell(t, p->gpu_percent);
		table_cells(t, cell_if(p->now.at_ns, p->now.resident_bytes));
		number_cell(t, p->device_bytes);
		number_cell(t, p->read_per_s);
		number_cell(t, p->written_per_s);
		table_cells(t, cell_if(line.size, line.data));
	}
}

static const struct top_process *owner_of(const struct top *l, const struct where_item *item)
{
	return array_find(process, l->processes, l->count,
			  process->pid == item->process->head.pid && process->run == item->process->run);
}

/* Calls in progress: recorded ones, and system calls that a thread is blocked in. */
static void calls_fill(struct top *l, struct table *t)
{
	table_has(t, COL_PID, COL_RANK, COL_HOST, COL_TID, COL_THREAD, COL_NAME, COL_AGE_NS, COL_WAITS_FOR);
	list_each(struct where_item, item, &l->place) {
		const struct top_process *p = owner_of(l, item);
		const char *name;

		if (!p)
			continue;
		if (!item->is_recorded && !item->wait.text.size)
			where_wait_find(item->look, item->process, item->thread, &item->stack, item->name, &item->wait);
		name = item->name ? item->name : item->wait.call;
		if (!name || !*name)
			continue;
		table_cells(t, p->pid, p->rank, p->host, item->thread->head.tid, item->thread->name, name,
			    cell_if(item->has_age, item->age_ns), buffer_string(&item->wait.text));
	}
}

/* What the captures have of the last seconds, as if --ring had kept no more: what looks for patterns in a whole run,
 * such as steps, would use memory and time for all of it. */
static struct report_context last_seconds(struct top *l)
{
	struct time_interval last = {l->at_ns - TOP_LAST_NS, UINT64_MAX};

	array_each(const struct image, image, l->model.images, l->model.image_count) {
		const struct clock_map *clock = &l->model.machines[image->machine].clock;
		uint64_t since = clock_map_tick_at(clock, last.from_ns);

		if (image->trace && image->trace->header.ring_ticks < since)
			image->trace->header.ring_ticks = since;
	}
	filter_narrow(&l->model, &last, 1);
	return (struct report_context){.model = &l->model, .symbols = l->symbols};
}

static void report_fill(struct top *l, const char *name, struct table *t)
{
	const struct report *r = report_find(name);
	struct report_context context;

	if (!l->captures.count || !r)
		return;
	context = last_seconds(l);
	r->run(&context, t);
}

COMPARATOR(line_order, struct top_line, order_of(b->samples, a->samples))

static void lines_fill(struct top *l, struct table *t)
{
	if (l->captures.count) {
		report_fill(l, "lines", t);
		return;
	}
	array_sort(l->lines, l->line_count, line_order);
	table_has(t, COL_TIME_PERCENT, COL_SAMPLES, COL_LINE);
	for (size_t i = 0; i < l->line_count; i++) {
		table_cells(t, round_to_tenth(100.0 * (double)l->lines[i].samples / (double)l->sample_count),
			    l->lines[i].samples);
		code_line_cell(l->lines[i].line, NULL, t);
	}
}

static bool is_live(const struct top *t, const struct image *image)
{
	return array_find(process, t->processes, t->count,
			  process->pid == image->pid &&
			  !strcmp(process->host, t->model.machines[image->machine].host)) != NULL;
}

/* From the first step of the last seconds until now: the rate of a loop that has stopped falls. */
static void steps_fill(struct top *l, struct table *t)
{
	struct report_context context;
	SCOPED(step_list) list = {0};

	table_has(t, COL_PID, COL_RANK, COL_HOST, COL_SOURCE, COL_STEPS);
	table_column(t, "Steps/s", COLUMN_REAL);
	table_has(t, COL_AVG_NS);
	if (!l->captures.count)
		return;
	context = last_seconds(l);
	steps_find(&context, &list);
	list_each(const struct step_series, s, &list) {
		uint64_t sum = 0, since = s->items[0].start_ns;
		double seconds = l->at_ns > since ? (double)(l->at_ns - since) / 1e9 : 0;

		if (!is_live(l, s->image))
			continue;
		sum += array_sum(item, s->items, s->count, item->end_ns - item->start_ns);
		table_cells(t, s->image->pid, image_rank(s->image), l->model.machines[s->image->machine].host,
			    step_sources[s->source], s->count,
			    seconds > 0 ? round_to_tenth((double)s->count / seconds) : 0,
			    (double)sum / (double)s->count);
	}
}

const struct top_table top_tables[TOP_TABLES] = {
	{"processes", "Processes", processes_fill},
	{"devices", "GPUs", top_devices_table},
	{"calls", "Calls in Progress", calls_fill},
	{"kernels", "Kernels", .report = "cuda_gpu_kern_sum"},
	{"steps", "Steps", steps_fill},
	{"lines", "Lines", lines_fill},
	{"files", "Files", .report = "files"},
	/* with --jax: compilations and calls of JAX's functions, and what is alive */
	{"jax", "JAX Functions", .report = "jax_sum"},
	{"jax_live", "JAX Live Buffers", .report = "jax_live_trace"},
	{"jax_lines", "JAX Live Buffers by Line and Device", .report = "jax_live_sum"},
};

void top_table_fill(const struct top_table *row, struct top *l, struct table *ret)
{
	if (row->fill)
		row->fill(l, ret);
	else
		report_fill(l, row->report, ret);
}
