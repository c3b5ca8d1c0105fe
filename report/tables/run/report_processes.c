/* SPDX-License-Identifier: Apache-2.0 */
/* processes, and the other tables of `info`: calls in progress, settings, programs without data. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/device.h"
#include "report/events/stacks/samples.h"
#include "report/events/usage.h"
#include "report/tables/report.h"
#include "report/time/clocks/align.h"
#include "report/time/startup.h"

static void add_known(struct table *table, uint64_t value, uint64_t unit)
{
	table_cells(table, cell_if(value != TF_USAGE_UNKNOWN, value * unit));
}

/* Its last image has what the kernel had accounted to the process, but each image only its own bytes. Nothing is known
 * if that image was killed, or has executed a program that is not recorded. */
static void process_usage(const struct usages *usages, const struct process *p, struct table *table)
{
	const struct image *images = usages_model(usages)->images + p->first_image;
	struct usage_of of = {0};
	uint64_t moved[2] = {0}, unknown = 0;
	uint32_t end = TF_END_NONE;

	for (size_t i = 0; i < p->image_count; i++) {
		if (images[i].via == TF_VIA_OBSERVED)
			continue;
		end = images[i].end;
		of = usages_recorded(usages, &images[i], 0, 0, UINT64_MAX);
		if (!of.ticks || of.read_bytes == TF_USAGE_UNKNOWN || of.is_of_living)
			unknown = TF_USAGE_UNKNOWN;
		moved[0] += of.read_bytes;
		moved[1] += of.written_bytes;
	}
	if (!of.ticks || (end != TF_END_EXIT && end != TF_END_ABORT)) {
		table_nothings(table, 7);
		return;
	}
	add_known(table, of.minor_faults, 1);
	add_known(table, of.major_faults, 1);
	add_known(table, of.voluntary, 1);
	add_known(table, of.involuntary, 1);
	add_known(table, of.block_ms, 1000000);
	add_known(table, moved[0] | unknown, 1);
	add_known(table, moved[1] | unknown, 1);
}

void report_processes(const struct report_context *c, struct table *table)
{
	const struct model *m = c->model;
	struct usages *usages = usages_new(m);
	SCOPED_MEMORY uint8_t *is_startup = startup_find(m);

	table_has(table, COL_PID, COL_PPID, COL_HOST, COL_RANK, COL_START_NS, COL_DURATION_NS, COL_ENDED, COL_COMMAND,
		  COL_PAGE_FAULTS, COL_MAJOR_FAULTS, COL_VOLUNTARY_SWITCHES, COL_INVOLUNTARY_SWITCHES,
		  COL_BLOCK_IO_DELAY_NS, COL_READ_BYTES, COL_WRITTEN_BYTES);
	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];

		if (is_startup[i])
			table_aside(table, STARTUP_WORDS);
		table_cells(table, p->pid, p->parent_pid, m->machines[p->machine].host, p->rank,
			    model_since_origin(m, p->start_ns), p->end_ns - p->start_ns, p->ended,
			    p->command ? p->command : "");
		process_usage(usages, p, table);
	}
	usages_free(usages);
}

static void thread_in_progress(const struct report_context *c, const struct image *image,
			       const struct trace_thread *thread, struct table *table)
{
	const struct model *m = c->model;
	const struct process *p = &m->processes[image->process];
	uint32_t id;
	uint64_t start, start_ns;
	const struct function *f;

	if (!thread_current(thread, &id, &start))
		return;
	f = trace_function(image->trace, id);
	start_ns = clock_map_ns(&m->machines[image->machine].clock, start);
	table_cells(table, p->pid, m->machines[image->machine].host, thread->tid, thread->name, f ? f->name : "?",
		    p->end_ns > start_ns ? p->end_ns - start_ns : 0,
		    p->is_running	      ? "running"
		    : p->end_is_known ? p->ended
				      : "at least: its end was not recorded");
}

void report_calls_in_progress(const struct report_context *c, struct table *table)
{
	const struct model *m = c->model;

	table_has(table, COL_PID, COL_HOST, COL_TID, COL_THREAD, COL_NAME, COL_AGE_NS, COL_UNTIL);
	for (size_t i = 0; i < m->image_count; i++) {
		const struct image *image = &m->images[i];
		bool is_last = i + 1 == m->image_count || m->images[i + 1].process != image->process;

		/* A successful exec does not return, and ends the calls of all other threads. */
		for (size_t k = 0;
		     is_last && image->trace && image->end != TF_END_EXEC && k < image->trace->thread_count; k++)
			thread_in_progress(c, image, &image->trace->threads[k], table);
	}
}

static void add_setting(struct table *table, const char *name, const char *value)
{
	if (!*value)
		return;
	table_cells(table, name, value);
}

/* The thresholds that the recorders used, each once. */
static void add_thresholds(const struct model *m, struct table *table)
{
	SCOPED(map) seen = {0};
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < m->image_count; i++) {
		bool is_new = false;

		if (m->images[i].trace)
			map_put(&seen, m->images[i].trace->header.osrt_threshold_ns, 0, &is_new);
		if (!is_new)
			continue;
		buffer_set(&text, "%" PRIu64 " ns", m->images[i].trace->header.osrt_threshold_ns);
		add_setting(table, "osrt-threshold", text.data);
	}
}

/* The sources of device times, each once. */
static void add_device_sources(const struct model *m, struct table *table)
{
	SCOPED(map) seen = {0};
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < m->image_count; i++) {
		struct device_source s = device_source(m->images[i].trace);
		bool is_new;

		if (!s.is_known)
			continue;
		map_put(&seen, hash_bytes(s.soname, strlen(s.soname)), (uint64_t)s.kind << 32 | s.version, &is_new);
		if (!is_new)
			continue;
		buffer_clear(&text);
		if (s.kind == TF_SOURCE_EVENTS)
			buffer_print(&text, "CUDA events before and after each operation");
		else
			buffer_print(&text, "CUPTI (interface %" PRIu32 "), %s", s.version, s.soname);
		add_setting(table, "device-times", text.data);
	}
}

/* What took the CPU samples. */
static void add_sample_sources(const struct model *m, struct table *table)
{
	bool has_signals = false, has_perf = false;

	for (size_t i = 0; i < m->image_count; i++) {
		has_perf |= samples_by_perf(&m->images[i]) > 0;
		has_signals |= samples_by_signals(&m->images[i]) > 0;
	}
	if (has_signals)
		add_setting(table, "cpu-samples", "signals of timers");
	if (has_perf)
		add_setting(table, "cpu-samples", "perf_event_open: stacks by frame pointers, no Python frames");
}

static void add_clocks(const struct model *m, struct table *table)
{
	static const char *const names[] = {"?", "CLOCK_MONOTONIC", "TSC", "CNTVCT"};
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < m->machine_count; i++) {
		const struct clock_map *a = &m->machines[i].clock;

		if (!a->count || !array_find(process, m->processes, m->process_count, process->machine == i))
			continue;
		buffer_set(&text, "%s: %s, placed to %" PRIu64 " ns", m->machines[i].host,
			   names[a->source < 4 ? a->source : 0], a->error_ns);
		if (align_method(m, i))
			buffer_print(&text, ", by %s", align_method(m, i));
		add_setting(table, "clock", text.data);
	}
}

void report_settings(const struct report_context *c, struct table *table)
{
	const struct model *m = c->model;
	SCOPED(buffer) text = {0};

	table_has(table, COL_SETTING, COL_VALUE);
	for (size_t i = 0; i < m->run_count; i++) {
		add_setting(table, "command", m->runs[i].command);
		add_setting(table, "options", m->runs[i].options);
		add_setting(table, "version", m->runs[i].version);
	}
	add_thresholds(m, table);
	add_device_sources(m, table);
	add_sample_sources(m, table);
	add_clocks(m, table);
	for (size_t i = 0; i < m->ranges_count; i++) {
		if (m->ranges[i].mode == TF_RANGE_WHOLE_RUN)
			continue;
		buffer_set(&text, "%s, %zu begun",
			   m->ranges[i].mode == TF_RANGE_NVTX		? "nvtx"
			   : m->ranges[i].mode == TF_RANGE_ON_REQUEST ? "on request"
								      : "cudaProfilerApi",
			   m->ranges[i].count);
		add_setting(table, "capture-range", text.data);
	}
}

void report_not_recorded(const struct report_context *c, struct table *table)
{
	const struct model *m = c->model;

	table_has(table, COL_PID, COL_HOST, COL_PROGRAM, COL_REASON);
	for (size_t i = 0; i < m->bare_count; i++)
		table_cells(table, m->bare[i].pid, m->machines[m->bare[i].machine].host, m->bare[i].executable,
			    m->bare[i].reason);
}
