/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "report/base/text.h"
#include "report/top/top.h"
#include "report/derive/events/filter.h"
#include "report/stats/report.h"

/* Reports cover at most this much of the last time. */
enum { WINDOW_NS = 1000000000 };
enum { WINDOWS = 5 };

static void percent_cell(struct table *t, double value)
{
	if (value < 0)
		table_nothing(t);
	else
		table_real(t, round_to_tenth(value));
}

static void number_cell(struct table *t, uint64_t value)
{
	table_number_if(t, value != TOP_UNKNOWN, value);
}

static void processes_fill(struct top *l, struct table *t)
{
	table_has(t, COL_PID, COL_RANK, COL_HOST, COL_COMMAND, COL_CPU_PERCENT, COL_WAIT_PERCENT, COL_GPU_PERCENT,
		  COL_RSS_BYTES, COL_DEVICE_MEMORY_BYTES, COL_READ_BYTES_PER_S, COL_WRITTEN_BYTES_PER_S, COL_LINE);
	for (size_t i = 0; i < l->count; i++) {
		const struct top_process *p = &l->processes[i];
		struct buffer line = {0};

		top_line_text(p, &line);
		table_number(t, p->pid);
		table_text(t, p->rank);
		table_text(t, p->host);
		table_text(t, p->command);
		percent_cell(t, p->cpu_percent);
		percent_cell(t, p->wait_percent);
		percent_cell(t, p->gpu_percent);
		table_number_if(t, p->now.at_ns, p->now.resident_bytes);
		number_cell(t, p->device_bytes);
		number_cell(t, p->read_per_s);
		number_cell(t, p->written_per_s);
		if (line.size)
			table_text(t, line.data);
		else
			table_nothing(t);
		buffer_done(&line);
	}
}

static const struct top_process *owner_of(const struct top *l, const struct where_item *item)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->processes[i].pid == item->process->head.pid && l->processes[i].run == item->process->run)
			return &l->processes[i];
	return NULL;
}

/* Calls in progress: recorded ones, and system calls that a thread is blocked in. */
static void calls_fill(struct top *l, struct table *t)
{
	table_has(t, COL_PID, COL_RANK, COL_HOST, COL_TID, COL_THREAD, COL_NAME, COL_AGE_NS, COL_WAITS_FOR);
	for (size_t i = 0; i < l->place.count; i++) {
		struct where_item *item = &l->place.items[i];
		const struct top_process *p = owner_of(l, item);
		const char *name;

		if (!p)
			continue;
		if (!item->is_recorded && !item->wait.text.size)
			where_wait_find(item->look, item->process, item->thread, &item->stack, item->name, &item->wait);
		name = item->name ? item->name : item->wait.call;
		if (!name || !*name)
			continue;
		table_number(t, p->pid);
		table_text(t, p->rank);
		table_text(t, p->host);
		table_number(t, item->thread->head.tid);
		table_text(t, item->thread->name);
		table_text(t, name);
		table_number_if(t, item->has_age, item->age_ns);
		table_text(t, buffer_string(&item->wait.text));
	}
}

/* A report on what the captures have of the last seconds. */
static void report_fill(struct top *l, const char *name, struct table *t)
{
	struct report_context context = {.model = &l->model, .symbols = l->symbols};
	struct time_interval last = {l->at_ns - (uint64_t)WINDOWS * WINDOW_NS, UINT64_MAX};
	const struct report *r = report_find(name);
	struct err err;

	if (!l->captures.count || !r)
		return;
	filter_narrow(&l->model, &last, 1);
	r->run(&context, t, &err);
}

static int line_order(const void *a, const void *b)
{
	return order_of(((const struct top_line *)b)->samples, ((const struct top_line *)a)->samples);
}

static void lines_fill(struct top *l, struct table *t)
{
	if (l->captures.count) {
		report_fill(l, "lines", t);
		return;
	}
	if (l->line_count)
		qsort(l->lines, l->line_count, sizeof(*l->lines), line_order);
	table_has(t, COL_TIME_PERCENT, COL_SAMPLES, COL_LINE);
	for (size_t i = 0; i < l->line_count; i++) {
		table_real(t, round_to_tenth(100.0 * (double)l->lines[i].samples / (double)l->sample_count));
		table_number(t, l->lines[i].samples);
		table_text(t, l->lines[i].text);
	}
}

static void files_fill(struct top *l, struct table *t)
{
	report_fill(l, "files", t);
}

const struct top_table top_tables[TOP_TABLES] = {
	{"processes", "Processes", processes_fill},
	{"devices", "GPUs", top_devices_table},
	{"calls", "Calls in Progress", calls_fill},
	{"lines", "Lines", lines_fill},
	{"files", "Files", files_fill},
};
