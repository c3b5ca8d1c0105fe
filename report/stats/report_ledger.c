/* SPDX-License-Identifier: Apache-2.0 */
/* ledger: what was recorded, what was not, and the cost of recording, by process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/derive/clocks/align.h"
#include "report/derive/device/correlate.h"
#include "report/derive/device/memory.h"
#include "report/derive/device/untimed.h"
#include "report/derive/events/traffic.h"
#include "report/derive/nvtx/nvtx.h"
#include "report/derive/stacks/samples.h"
#include "report/stats/ledger_facts.h"
#include "report/stats/report.h"

static void ledger_add_row(struct table *table, uint32_t pid, const char *host, const char *fact, uint64_t count,
			   const char *detail)
{
	table_number(table, pid);
	table_text(table, host);
	table_text(table, fact);
	table_number(table, count);
	table_text(table, detail);
}

static void process_rows(const struct report_context *c, const struct process *p, struct table *table)
{
	const struct model *m = c->model;
	struct ledger_facts f = {.own = OWN_COST_NONE};
	struct buffer text = {0};
	const char *host = m->machines[p->machine].host;

	for (size_t i = 0; i < p->image_count; i++) {
		ledger_add_image(m, &m->images[p->first_image + i], &f);
		ledger_add_device(c, &m->images[p->first_image + i], &f);
		ledger_add_memory(m, &m->images[p->first_image + i], &f);
	}
	const struct {
		const char *fact, *detail;
		uint64_t count;
		bool always;
	} rows[] = {
		{"recorded", "events", f.recorded, true},
		{"below threshold", "calls counted and summed, see osrt_short_sum", f.below, true},
		{"below threshold, without a file",
		 "of these, short reads and writes that are missing in files and sockets", f.traffic_uncounted, false},
		{"lost", "events that could not be stored", f.lost, true},
		{"missing files", "trace files that are not in the capture, with all events in them", f.missing_files,
		 false},
		{"threads lost", "threads that could not be recorded", f.threads_lost, false},
		{"torn", "slots that their writer could not finish", f.torn, false},
		{"unreadable", "damaged records", f.unreadable + f.correlated.broken, false},
		{"unmatched push", "NVTX ranges open at the end", f.unmatched_pushes, false},
		{"unmatched pop", "NVTX pops without a push", f.unmatched_pops, false},
		{"unmatched start", "NVTX ranges open at the end", f.unmatched_starts, false},
		{"unmatched end", "NVTX ends without a start", f.unmatched_ends, false},
		{"texts truncated", "different NVTX texts of 8 KiB, which is the limit", f.texts_at_limit, false},
		{"stacks cut", "different stacks with as many frames as --backtrace-depth allows: (cut) is their root",
		 f.stacks_cut, false},
		{"stacks lost", "stacks that could not be taken", f.stacks_lost, false},
		{"CPU samples", "of running threads, see sample_sum", f.samples, false},
		{"CPU samples by perf",
		 "of these, by perf_event_open from outside: stacks by frame pointers, without Python frames",
		 f.samples_by_perf, false},
		{"CPU time sampled", "us represented by the samples", f.sampled_us, false},
		{"samples without stack", "of threads whose stack could not be determined", f.stackless_samples, false},
		{"samples slowed down",
		 "times that the period of a thread was doubled because samples took more than 3 % of its time",
		 f.slowed, false},
		{"device records", "kernels, copies, memsets and graphs, from CUPTI or CUDA events",
		 ledger_device_records(&f), f.sources > 0},
		{"other device facts", "waits, allocations, overhead, managed memory, compiling", f.more, false},
		{"graph nodes", "calls that made a node of a CUDA graph, which its launches execute",
		 f.correlated.captured, false},
		{"unmatched calls",
		 "launches, copies and memsets without a device record: lost, not yet delivered, not recorded, or "
		 "captured into a graph while CUPTI was not in use",
		 f.correlated.idle, false},
		{"unmatched device records",
		 "without a recorded call: below a threshold, outside of the capture range, or not traced",
		 f.correlated.without_call, false},
		{"matched by order", "calls and device records matched in order because CUPTI's times match no call",
		 f.correlated.by_order, false},
		{"device records dropped",
		 "because CUPTI's buffers were full (including call records), or no CUDA event was free", f.dropped,
		 false},
		{"device records without times", "not convertible to the host's clock, or not complete at the end",
		 f.timeless, false},
		{"device buffers unreadable", "of CUPTI, from some record on", f.device_unreadable, false},
		{"unknown frees", "of CUDA memory whose allocation was not recorded", f.unknown_frees, false},
		{"blocks replaced", "CUDA memory allocated again without a recorded free", f.replaced_blocks, false},
		{"memory failures left out", "from cuda_mem_failures, which lists 200 for each process",
		 f.failures_left_out, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].count || rows[i].always)
			ledger_add_row(table, p->pid, host, rows[i].fact, rows[i].count, rows[i].detail);
	if (own_cost_ns(&f.own) > 0) {
		own_cost_detail(&f.own, &text);
		ledger_add_row(table, p->pid, host, "own overhead", (uint64_t)own_cost_ns(&f.own), text.data);
	}
	buffer_done(&text);
	for (size_t i = 0; i < DEVICE_OVERHEADS; i++)
		if (f.overhead_ns[i])
			ledger_add_row(table, p->pid, host, i ? "CUPTI's overhead" : "driver's overhead",
				       f.overhead_ns[i], device_overheads[i]);
}

static void image_notes(const struct model *m, const struct image *image, struct table *table)
{
	const struct trace *t = image->trace;
	struct buffer text = {0};

	for (size_t i = 0; t && i < t->blob_count; i++) {
		if (t->blobs[i].type != TF_BLOB_NOTE)
			continue;
		buffer_clear(&text);
		trace_text(t, &t->blobs[i], &text);
		ledger_add_row(table, image->pid, m->machines[image->machine].host, "note", 1, text.data);
	}
	buffer_done(&text);
}

/* Adds up the intervals in which a thread had no ranges of operators. Returns how many. */
static uint64_t operator_gaps(const struct model *m, const struct image *image, uint64_t *ns)
{
	const struct clock_map *clock = &m->machines[image->machine].clock;
	const struct trace *t = image->trace;
	struct map begins = {0}; /* id -> ticks */
	uint64_t count = 0, last = image_last_ticks(image);

	for (size_t i = 0; t && i < t->blob_count; i++) {
		struct tf_operator_gap gap;
		uint64_t *begin;

		if (t->blobs[i].type != TF_BLOB_OPERATOR_GAP ||
		    trace_blob(t, &t->blobs[i], &gap, sizeof(gap)) < sizeof(gap))
			continue;
		begin = map_put(&begins, t->blobs[i].id, 0, NULL);
		count += !gap.is_end;
		if (!gap.is_end)
			*begin = gap.ticks;
		else if (*begin && gap.ticks > *begin)
			*ns += clock_map_duration(clock, gap.ticks - *begin);
		if (gap.is_end)
			*begin = 0;
	}
	for (size_t i = 0; i < begins.size; i++) /* to the end of the image */
		if (begins.slots[i].used && begins.slots[i].value && last > begins.slots[i].value)
			*ns += clock_map_duration(clock, last - begins.slots[i].value);
	map_done(&begins);
	return count;
}

static void image_operator_gaps(const struct model *m, const struct image *image, struct table *table)
{
	uint64_t ns = 0, count = operator_gaps(m, image, &ns);
	char detail[192];

	if (!count)
		return;
	snprintf(detail, sizeof(detail),
		 "intervals, %.3f ms in all, in which the program's own PyTorch profiler was active on a thread: "
		 "--pytorch has no operators of them",
		 (double)ns / 1e6);
	ledger_add_row(table, image->pid, m->machines[image->machine].host, "operators not recorded", count, detail);
}

/* Intervals in which the program's own profiler used CUPTI. */
static void image_gaps(const struct model *m, const struct image *image, struct table *table)
{
	struct device_gap *gaps;
	size_t count = device_gaps(image, &gaps);

	for (size_t i = 0; i < count; i++) {
		const struct device_gap *g = &gaps[i];
		char detail[640];

		snprintf(detail, sizeof(detail), "ns without device times: another tool used CUPTI, %s%s",
			 g->path[0] ? g->path : "in the program itself", g->is_open ? ", to the end" : "");
		ledger_add_row(table, image->pid, m->machines[image->machine].host, "device time gap",
		    clock_map_duration(&m->machines[image->machine].clock, g->to - g->from), detail);
	}
	free(gaps);
}

static void image_untimed(const struct report_context *c, const struct image *image, struct table *table)
{
	uint64_t calls = untimed_calls(c, image);
	struct buffer text = {0};

	if (!calls)
		return;
	untimed_text(calls, &text);
	ledger_add_row(table, image->pid, c->model->machines[image->machine].host, "no device times", calls, text.data);
	buffer_done(&text);
}

/* A process that was killed could not read its last device records. */
static void image_unflushed(const struct model *m, const struct image *image, struct table *table)
{
	uint64_t flushed = device_last_flush(image), last = image_last_ticks(image);
	const struct machine *machine = &m->machines[image->machine];

	if (!flushed || last <= flushed || (image->end != TF_END_NONE && image->end != TF_END_ABORT))
		return;
	ledger_add_row(table, image->pid, machine->host, "device records not read",
		       clock_map_duration(&machine->clock, last - flushed),
		       "ns from the last flush to the last event: the process did not end by itself, so records of "
		       "device operations of that time may be missing");
}

/* The accuracy of the alignment between machines. */
static void clock_rows(const struct model *m, struct table *table)
{
	struct map used = {0};

	for (size_t i = 0; i < m->process_count; i++)
		map_put(&used, m->processes[i].machine, 0, NULL);
	for (size_t i = 0; i < m->machine_count && used.count > 1; i++) {
		const struct machine *machine = &m->machines[i];
		const char *method = align_method(m, i);
		struct buffer text = {0};

		if (!map_find(&used, i, 0))
			continue;
		buffer_print(&text, "ns at most, by %s",
			     method ? method
				    : "its CLOCK_REALTIME; the difference between the hosts' clocks is not known");
		table_nothing(table);
		table_text(table, machine->host);
		table_text(table, "clock placed to");
		table_number(table, machine->clock.error_ns);
		table_text(table, text.data);
		buffer_done(&text);
	}
	map_done(&used);
}

/* A fact that belongs to no process. */
static void ledger_add_fact(struct table *table, const char *fact, uint64_t count, const char *detail)
{
	table_nothing(table);
	table_nothing(table);
	table_text(table, fact);
	table_number(table, count);
	table_text(table, detail);
}

static void spool_rows(const struct model *m, struct table *table)
{
	struct buffer text = {0};

	for (size_t i = 0; i < m->run_count; i++) {
		enum spool_state state = model_spool(m, &m->runs[i]);

		if (state == SPOOL_MOVED)
			continue;
		buffer_clear(&text);
		model_spool_text(m, &m->runs[i], state, &text);
		ledger_add_row(table, m->runs[i].pid, m->machines[m->runs[i].machine].host,
			       state == SPOOL_MOVING ? "spool" : "spool not moved", 1, text.data);
	}
	buffer_done(&text);
}

static void launcher_rows(const struct model *m, struct table *table)
{
	for (size_t i = 0; i < m->run_count; i++)
		if (m->runs[i].cost.launcher_ns)
			ledger_add_row(table, m->runs[i].pid, m->machines[m->runs[i].machine].host, "own launcher",
				       m->runs[i].cost.launcher_ns,
				       "ns of CPU time of pillion-launch and its helpers, without the summary");
}

static void unsampled_rows(const struct model *m, struct table *table)
{
	struct unsampled unsampled;
	struct buffer text = {0};

	unsampled_find(m, &unsampled);
	for (size_t i = 0; i < unsampled.reasons.count; i++) {
		buffer_clear(&text);
		buffer_print(&text, "processes: %s", unsampled.reasons.items[i]);
		ledger_add_fact(table, "samples not taken", unsampled.processes[i], text.data);
	}
	buffer_done(&text);
	unsampled_done(&unsampled);
}

/* Modules whose functions have no names in this report. */
static void module_rows(const struct report_context *c, struct table *table)
{
	struct texts changed = {0}, missing = {0};

	if (c->symbols)
		symbols_unusable(c->symbols, &changed, &missing);
	for (size_t i = 0; i < changed.count; i++)
		ledger_add_fact(table, "module changed", 1, changed.items[i]);
	for (size_t i = 0; i < missing.count; i++)
		ledger_add_fact(table, "module missing", 1, missing.items[i]);
	texts_done(&changed);
	texts_done(&missing);
}

int report_ledger(const struct report_context *c, struct table *table, struct err *err)
{
	const struct model *m = c->model;
	struct buffer text = {0};

	(void)err;
	table_has(table, COL_PID, COL_HOST, COL_FACT, COL_COUNT, COL_DETAIL);
	for (size_t i = 0; i < m->process_count; i++)
		process_rows(c, &m->processes[i], table);
	for (size_t i = 0; i < m->image_count; i++)
		image_notes(m, &m->images[i], table);
	for (size_t i = 0; i < m->image_count; i++) {
		image_gaps(m, &m->images[i], table);
		image_operator_gaps(m, &m->images[i], table);
		image_unflushed(m, &m->images[i], table);
		image_untimed(c, &m->images[i], table);
	}
	for (size_t i = 0; i < m->note_count; i++)
		ledger_add_row(table, m->notes[i].pid, m->machines[m->notes[i].machine].host, "note", 1,
			       m->notes[i].text);
	if (m->lost_lines)
		ledger_add_fact(table, "index lines lost", m->lost_lines,
				"starts, ends or notes of processes: disk full, file size limited or capture hidden");
	if (m->lost_events)
		ledger_add_fact(table, "lost", m->lost_events,
				"events of threads and processes without space in a trace file");
	launcher_rows(m, table);
	unsampled_rows(m, table);
	spool_rows(m, table);
	clock_rows(m, table);
	module_rows(c, table);
	for (size_t i = 0; i < m->bare_count; i++) {
		buffer_clear(&text);
		buffer_print(&text, "%s: %s", m->bare[i].executable, m->bare[i].reason);
		ledger_add_row(table, m->bare[i].pid, m->machines[m->bare[i].machine].host, "not recorded", 1,
			       text.data);
	}
	buffer_done(&text);
	return 0;
}

/* Returns the number of notes that begin with `start`, and the first of them. */
static size_t notes_with(const struct model *m, const char *start, const char **ret_first)
{
	size_t count = 0;

	for (size_t i = 0; i < m->note_count; i++)
		if (!strncmp(m->notes[i].text, start, strlen(start)) && !count++)
			*ret_first = m->notes[i].text;
	return count;
}

/* Spools that were not moved, and the earliest time from which records are missing. */
static void add_spools(const struct model *m, struct buffer *ret)
{
	uint64_t since = UINT64_MAX;
	size_t count = 0;

	for (size_t i = 0; i < m->run_count; i++) {
		enum spool_state state = model_spool(m, &m->runs[i]);
		uint64_t ns = state == SPOOL_MOVED || state == SPOOL_MOVING ? UINT64_MAX
									     : model_spool_since(m, &m->runs[i]);

		count += ns != UINT64_MAX;
		since = ns < since ? ns : since;
	}
	if (count)
		buffer_print(ret, ", %zu spool%s not moved: records after %.3f s are missing", count,
			     count == 1 ? "" : "s", (double)model_since_origin(m, since) / 1e9);
}

static void add_unsampled(const struct model *m, struct buffer *ret)
{
	struct unsampled unsampled;

	unsampled_find(m, &unsampled);
	for (size_t i = 0; i < unsampled.reasons.count; i++)
		buffer_print(ret, unsampled.processes[i] == 1 ? ", CPU samples: none, %s"
							      : ", CPU samples: none, %s (%zu processes)",
			     unsampled.reasons.items[i], unsampled.processes[i]);
	unsampled_done(&unsampled);
}

/* Notes that the summary prints: why samples are missing, and why events are. */
static void add_reasons(const struct model *m, struct buffer *ret)
{
	static const char *const starts[] = {"disk full", "RLIMIT_FSIZE", "/proc"};

	add_unsampled(m, ret);

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		const char *first = NULL;
		size_t count = notes_with(m, starts[i], &first);

		if (count)
			buffer_print(ret, count == 1 ? ", %s" : ", %s (%zu times)", first, count);
	}
	add_spools(m, ret);
	if (m->lost_lines)
		buffer_print(ret,
			     ", %" PRIu64
			     " lines of the index not stored (disk full, file size limited, capture hidden)",
			     m->lost_lines);
}

/* Programs that are not recorded, and each reason once: "2 programs not recorded (musl, setuid)". */
static void add_bare(const struct model *m, struct buffer *ret)
{
	const char *seen[8];
	size_t count = 0, k;

	if (!m->bare_count)
		return;
	buffer_print(ret, ", %zu program%s not recorded (", m->bare_count, m->bare_count == 1 ? "" : "s");
	for (size_t i = 0; i < m->bare_count && count < sizeof(seen) / sizeof(*seen); i++) {
		for (k = 0; k < count && strcmp(seen[k], m->bare[i].reason) != 0; k++)
			;
		if (k < count)
			continue;
		buffer_print(ret, "%s%s", count ? ", " : "", m->bare[i].reason);
		seen[count++] = m->bare[i].reason;
	}
	buffer_text(ret, ")");
}

void ledger_line(const struct model *m, struct buffer *ret)
{
	struct ledger_facts f = {.own = OWN_COST_NONE};
	const struct report_context c = {.model = m};
	uint64_t unmatched, device_lost;
	size_t notes = m->note_count;

	f.lost = m->lost_events;
	for (size_t i = 0; i < m->image_count; i++) {
		ledger_add_image(m, &m->images[i], &f);
		ledger_add_device(&c, &m->images[i], &f);
		for (size_t k = 0; m->images[i].trace && k < m->images[i].trace->blob_count; k++)
			notes += m->images[i].trace->blobs[k].type == TF_BLOB_NOTE;
	}
	unmatched = f.unmatched_pushes + f.unmatched_pops + f.unmatched_starts + f.unmatched_ends;
	buffer_print(ret, "ledger: %" PRIu64 " recorded, %" PRIu64 " below threshold, %" PRIu64 " lost", f.recorded,
		     f.below, f.lost);
	if (f.missing_files)
		buffer_print(ret, ", %" PRIu64 " trace file%s missing", f.missing_files,
			     f.missing_files == 1 ? "" : "s");
	if (f.torn || f.unreadable || f.correlated.broken)
		buffer_print(ret, ", %" PRIu64 " torn", f.torn + f.unreadable + f.correlated.broken);
	if (unmatched)
		buffer_print(ret, ", %" PRIu64 " unmatched", unmatched);
	device_lost = f.dropped + f.timeless + f.device_unreadable;
	if (f.sources)
		buffer_print(ret, ", %" PRIu64 " device records", ledger_device_records(&f));
	if (device_lost)
		buffer_print(ret, " (%" PRIu64 " lost)", device_lost);
	if (f.sources && f.correlated.idle)
		buffer_print(ret, ", %" PRIu64 " launch%s, copies or memsets without one", f.correlated.idle,
			     f.correlated.idle == 1 ? "" : "es");
	if (f.stacks_lost)
		buffer_print(ret, ", %" PRIu64 " stacks lost", f.stacks_lost);
	if (f.threads_lost)
		buffer_print(ret, ", %" PRIu64 " threads lost", f.threads_lost);
	add_bare(m, ret);
	add_reasons(m, ret);
	if (notes)
		buffer_print(ret, ", %zu note%s", notes, notes == 1 ? "" : "s");
	buffer_text(ret, ", ");
	own_cost_line(m, &f.own, ret);
}
