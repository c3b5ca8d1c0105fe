/* SPDX-License-Identifier: Apache-2.0 */
/* The summary printed at the end of a run. */
#include "report/analyze/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text.h"
#include "report/derive/stacks/frame.h"
#include "report/derive/device/gap.h"
#include "report/derive/stacks/lines.h"
#include "report/derive/device/memory.h"
#include "report/stats/report.h"
#include "report/analyze/rule.h"

enum { TOP = 3, FEW = 2, NAME_WIDTH = 70, LINES = 24 }; /* with the launcher's own: 25 lines */

/* Width of a row with its source line, and of a finding's text. */
enum { LINE_WIDTH = 80, PLACE_WIDTH = 48, FINDING_WIDTH = 110 };

/* Above this number of events the rules are left to `pillion analyze`, so that the end of a run does not make its
 * user wait. */
#define ANALYZE_BYTES (64ull << 20)
#define LINES_BYTES (128ull << 20)

/* A name that is safe for a terminal, on one line. */
static void summary_add_name(struct buffer *b, const char *text, size_t width)
{
	struct buffer safe = {0};

	text_escape(&safe, text, "");
	text_shorten(b, safe.data ? safe.data : "", width);
	buffer_done(&safe);
}

/* file:line (function); leading directories of the file are dropped until it fits. */
static void summary_add_place(struct buffer *b, const char *file, const char *line, const char *function, size_t width)
{
	struct buffer text = {0};
	const char *tail = file, *next;

	do {
		buffer_clear(&text);
		buffer_print(&text, "%s:%s (%s)", tail, line, function);
		next = *tail ? strchr(tail + 1, '/') : NULL;
		tail = next ? next + 1 : tail;
	} while (next && text_width(text.data) > width);
	summary_add_name(b, text.data, width);
	buffer_done(&text);
}

/* ---- tables, which share the available rows ---- */

/* The first rows of a table, as lines of text. */
struct section {
	char *title;
	struct texts rows;
	size_t total; /* rows of the table */
	size_t shown;
};

/* The first rows of an aggregated table: the total is in column `total`, the count behind it, the name in the last
 * column. */
static void section_of_report(const struct report_context *c, struct section *ret, const char *title, size_t total,
			      bool in_bytes, int (*run)(const struct report_context *, struct table *, struct err *))
{
	struct table t = {0};
	struct buffer row = {0}, sum = {0};
	struct err err;

	run(c, &t, &err);
	ret->title = mem_copy_text(title, strlen(title));
	ret->total = table_rows(&t);
	for (size_t i = 0; i < ret->total && i < TOP; i++) {
		const union cell *cells = t.cells + i * t.column_count;

		buffer_clear(&sum);
		buffer_clear(&row);
		if (in_bytes)
			buffer_print(&sum, "%.3f MB", cells[total].real / 1e6);
		else
			rule_time(&sum, cells[total].count);
		buffer_print(&row, "%12s %9" PRIu64 " x  ", sum.data, cells[total + 1].count);
		summary_add_name(&row, cells[t.column_count - 1].text, NAME_WIDTH);
		texts_add(&ret->rows, "%s", row.data);
	}
	buffer_done(&sum);
	buffer_done(&row);
	table_done(&t);
}

/* The costs of a source line; a kind that is 0 in all shown lines is omitted. */
static const struct {
	const char *title;
	enum line_value values[2];
} costs[] = {
	{"CPU", {LINE_PYTHON, LINE_NATIVE}}, {"GPU", {LINE_GPU}}, {"CUDA", {LINE_CUDA}}, {"OS wait", {LINE_OFF_CPU}}};

enum { COSTS = sizeof(costs) / sizeof(*costs), COST_WIDTH = 12 };

static uint64_t line_cost(const struct line_values *v, size_t kind)
{
	uint64_t ns = v->of[costs[kind].values[0]];

	return costs[kind].values[1] ? ns + v->of[costs[kind].values[1]] : ns;
}

static void summary_line_row(const struct lines *l, const struct report_context *c, size_t row, unsigned kinds,
			     struct buffer *ret)
{
	size_t width = LINE_WIDTH - 4;

	for (size_t k = 0; k < COSTS; k++) {
		struct buffer ns = {0};

		if (!(kinds & 1u << k))
			continue;
		if (line_cost(&l->values[row], k))
			rule_time(&ns, line_cost(&l->values[row], k));
		buffer_print(ret, "%*s", COST_WIDTH, ns.data ? ns.data : "");
		buffer_done(&ns);
		width -= COST_WIDTH;
	}
	buffer_text(ret, "  ");
	summary_add_place(ret, lines_field(c, l, row, 0), lines_field(c, l, row, 1), lines_field(c, l, row, 2), width);
}

static void top_lines(const struct report_context *c, struct section *ret)
{
	struct buffer text = {0};
	struct lines l;
	size_t *order;
	unsigned kinds = 0;

	lines_top(c, TOP, &l);
	order = lines_order(c, &l);
	ret->total = l.count < TOP ? l.count : TOP;
	for (size_t i = 0; i < ret->total; i++)
		for (size_t k = 0; k < COSTS; k++)
			kinds |= (line_cost(&l.values[order[i]], k) != 0) << k;
	buffer_text(&text, "lines");
	/* the title starts one column to the left of the rows */
	for (size_t k = 0, width = COST_WIDTH - 4; k < COSTS; k++)
		if (kinds & 1u << k) {
			buffer_print(&text, "%*s", (int)width, costs[k].title);
			width = COST_WIDTH;
		}
	ret->title = text.data;
	text = (struct buffer){0};
	for (size_t i = 0; i < ret->total; i++) {
		buffer_clear(&text);
		summary_line_row(&l, c, order[i], kinds, &text);
		texts_add(&ret->rows, "%s", text.data);
	}
	buffer_done(&text);
	free(order);
	lines_done(&l);
}

/* Threads of the program. Those of an observed image count if the process has no image of its own, with the same ones.
 */
static size_t program_threads(const struct model *m, const struct image *image)
{
	const struct process *p = &m->processes[image->process];
	bool is_twice = image->via == TF_VIA_OBSERVED &&
			m->images[p->first_image + p->image_count - 1].via != TF_VIA_OBSERVED;
	size_t count = 0;

	for (size_t k = 0; image->trace && !is_twice && k < image->trace->thread_count; k++) {
		const struct tf_thread *page = image->trace->threads[k].page;

		count += !page || !page->chunk.is_tool;
	}
	return count;
}

static void summary_head(const struct model *m, struct buffer *out)
{
	uint64_t end = m->origin_ns;
	size_t hosts = 0, threads = 0;

	for (size_t i = 0; i < m->process_count; i++)
		if (m->processes[i].end_ns > end)
			end = m->processes[i].end_ns;
	for (size_t i = 0; i < m->image_count; i++)
		threads += program_threads(m, &m->images[i]);
	for (size_t i = 0; i < m->machine_count; i++) {
		bool is_new = true;

		for (size_t k = 0; k < i; k++)
			is_new &= strcmp(m->machines[i].host, m->machines[k].host) != 0;
		hosts += is_new;
	}
	buffer_text(out, " wall ");
	rule_time(out, end - m->origin_ns);
	buffer_print(out, ", %zu process%s, %zu thread%s with events, %zu host%s\n", m->process_count,
		     m->process_count == 1 ? "" : "es", threads, threads == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s");
}

/* Counts processes by machine and pid. */
static struct map all_pids(const struct model *m)
{
	struct map pids = {0};

	for (size_t i = 0; i < m->process_count; i++)
		map_put(&pids, m->processes[i].pid, m->processes[i].machine, NULL);
	return pids;
}

/* Processes that did not exit with status 0. Children of processes that exited with a nonzero status are only
 * counted: of a shell, for example, they are not worth a line each. */
static void summary_ends(const struct model *m, struct buffer *out)
{
	struct map pids = all_pids(m);
	size_t shown = 0, others = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];

		if (!strcmp(p->ended, "exit 0") || !strcmp(p->ended, "exec"))
			continue;
		if (shown == FEW ||
		    (!strncmp(p->ended, "exit ", strlen("exit ")) && map_find(&pids, p->parent_pid, p->machine))) {
			others++;
			continue;
		}
		shown++;
		buffer_print(out, " process %" PRIu32 " %s: ", p->pid, p->ended);
		summary_add_name(out, p->command ? p->command : "", NAME_WIDTH);
		buffer_text(out, "\n");
	}
	map_done(&pids);
	if (others)
		buffer_print(out, " %zu %s did not exit 0\n", others,
			     shown         ? "more"
			     : others == 1 ? "child process"
					   : "child processes");
}

/* A capture range that never began: the reason why nothing was recorded. */
static void range_never_seen(const struct model *m, struct buffer *out)
{
	for (size_t i = 0; i < m->ranges_count; i++)
		if (m->ranges[i].mode != m->ranges[0].mode || m->ranges[i].count)
			return;
	if (!m->ranges_count || m->ranges[0].mode == TF_RANGE_WHOLE_RUN)
		return;
	if (m->ranges[0].mode == TF_RANGE_PROFILER_API) {
		buffer_text(out, " --capture-range=cudaProfilerApi: cudaProfilerStart was never called, so nothing is "
				 "recorded\n");
		return;
	}
	buffer_text(out, " --nvtx-capture: the range did not occur; ");
	buffer_text(out, m->seen.count ? "ranges that did: " : "no other range did");
	for (size_t i = 0; i < m->seen.count; i++) {
		buffer_text(out, i ? ", " : "");
		summary_add_name(out, m->seen.items[i], NAME_WIDTH);
	}
	buffer_text(out, "\n");
}

/* Average utilisation over pairs of process and device: the sum over processes may exceed the time of a shared
 * device. */
static void summary_busy_devices(const struct gaps *g, struct buffer *out)
{
	uint64_t least = UINT64_MAX, most = 0;
	double sum = 0;

	for (size_t i = 0; i < g->device_count; i++) {
		const struct gap_device *d = &g->devices[i];

		sum += d->wall_ns ? (double)d->busy_ns / (double)d->wall_ns : 0;
		least = d->busy_ns < least ? d->busy_ns : least;
		most = d->busy_ns > most ? d->busy_ns : most;
	}
	if (!g->device_count)
		return;
	buffer_print(out, " GPU busy %.1f %% of the time", 100 * sum / (double)g->device_count);
	if (g->device_count > 1) {
		buffer_print(out, " on average, over %zu pairs of process and device: ", g->device_count);
		rule_time(out, least);
		buffer_text(out, " to ");
		rule_time(out, most);
	}
	buffer_text(out, "\n");
}

static const char *rank_of(const struct process *p)
{
	return p->rank ? p->rank : "";
}

/* The range of the ranks' durations. */
static void summary_ranks(const struct model *m, struct buffer *out)
{
	const struct process *shortest = NULL, *longest = NULL;
	struct aggregate known = {0};
	size_t count = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];

		/* The first process of a rank represents the rank; the others are its children. */
		if (!*rank_of(p) || aggregate_row(&known, rank_of(p), strlen(rank_of(p))) < count)
			continue;
		count++;
		shortest = !shortest || rule_wall(p) < rule_wall(shortest) ? p : shortest;
		longest = !longest || rule_wall(p) > rule_wall(longest) ? p : longest;
	}
	aggregate_done(&known);
	if (count < 2)
		return;
	buffer_print(out, " %zu ranks: ", count);
	rule_time(out, rule_wall(shortest));
	buffer_text(out, " (rank ");
	summary_add_name(out, rank_of(shortest), NAME_WIDTH);
	buffer_text(out, ") to ");
	rule_time(out, rule_wall(longest));
	buffer_text(out, " (rank ");
	summary_add_name(out, rank_of(longest), NAME_WIDTH);
	buffer_text(out, ")\n");
}

static void memory_peak(const struct model *m, struct buffer *out)
{
	uint64_t most = 0;
	const struct image *of = NULL;

	for (size_t i = 0; i < m->image_count; i++) {
		struct memory memory;

		memory_replay(m, &m->images[i], &memory, NULL, NULL);
		for (size_t k = 0; k < memory.use_count; k++)
			if (!memory.uses[k].kind && memory.uses[k].peak > most) {
				most = memory.uses[k].peak;
				of = &m->images[i];
			}
		memory_done(&memory);
	}
	if (of)
		buffer_print(out, " GPU memory peak %.3f MB in process %" PRIu32 "\n", (double)most / 1e6, of->pid);
}

static void summary_findings(struct rules *rules, struct buffer *out)
{
	struct finding worst[TOP];
	size_t count = rules_worst(rules, worst, TOP);

	for (size_t i = 0; i < count; i++) {
		buffer_print(out, " %s: ", worst[i].rule->name);
		summary_add_name(out, worst[i].text.data ? worst[i].text.data : worst[i].rule->title, FINDING_WIDTH);
		if (worst[i].line.size) {
			struct frame parts;
			char line[16];

			frame_split(worst[i].line.data, &parts);
			snprintf(line, sizeof(line), "%" PRIu32, parts.line);
			buffer_text(out, "; ");
			if (parts.file)
				summary_add_place(out, parts.file, line, parts.name, PLACE_WIDTH);
			else
				summary_add_name(out, parts.name, PLACE_WIDTH);
			frame_done(&parts);
		}
		buffer_text(out, "\n");
		finding_done(&worst[i]);
	}
}

static size_t count_lines(const struct buffer *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->size; i++)
		n += b->data[i] == '\n';
	return n;
}

/* In output order. */
enum { KERNELS, CALLS, COPIES, OS, SOURCE, RANGES, SECTIONS };

/* Distributes `room` lines: one row to each section, then a second, then a third, as long as lines are left.
 * Sections are in order of importance; the last ones may get no row. */
static void share_room(struct section *all, size_t room)
{
	static const uint8_t telling[SECTIONS] = {SOURCE, KERNELS, CALLS, OS, COPIES, RANGES};

	for (size_t rows = 1; rows <= TOP; rows++)
		for (size_t i = 0; i < SECTIONS; i++) {
			struct section *s = &all[telling[i]];
			size_t needed = rows == 1 ? 2 : 1; /* for its title */

			if (s->rows.count < rows || s->shown != rows - 1 || needed > room)
				continue;
			s->shown++;
			room -= needed;
		}
}

static void section_show(struct section *s, struct buffer *out)
{
	if (s->shown)
		buffer_print(out, " %s\n", s->title);
	for (size_t i = 0; i < s->shown; i++) {
		buffer_print(out, "  %s", s->rows.items[i]);
		if (i + 1 == s->shown && s->total > s->shown)
			buffer_print(out, "  (%zu more)", s->total - s->shown);
		buffer_text(out, "\n");
	}
	free(s->title);
	texts_done(&s->rows);
}

void summary_text(const struct report_context *context, struct buffer *ret)
{
	struct report_context totals = *context;
	const struct report_context *c = &totals;
	struct rules rules = {.context = c};
	struct section sections[SECTIONS] = {0};
	struct buffer found = {0};

	totals.totals_only = true;
	totals.by = BY_NOTHING;
	summary_head(c->model, ret);
	range_never_seen(c->model, ret);
	summary_ranks(c->model, ret);
	summary_ends(c->model, ret);
	if (c->model->written_bytes <= ANALYZE_BYTES) {
		summary_busy_devices(rules_gaps(&rules), ret);
		if (device_has_whole_graphs(c->model))
			buffer_text(ret, " CUDA graphs are recorded as a whole: --cuda-graph-trace=node shows their "
					 "kernels and lines\n");
		memory_peak(c->model, ret);
		summary_findings(&rules, &found);
	} else {
		buffer_text(&found, " findings: not checked in a large capture, run pillion analyze\n");
	}
	buffer_text(&found, " ");
	ledger_line(c->model, &found);
	buffer_text(&found, "\n");
	section_of_report(c, &sections[KERNELS], "GPU", 1, false, gpu_work_sum);
	section_of_report(c, &sections[CALLS], "CUDA API", 1, false, report_cuda_api_sum);
	section_of_report(c, &sections[COPIES], "copies", 0, true, report_cuda_gpu_mem_size_sum);
	section_of_report(c, &sections[OS], "OS calls", 1, false, report_osrt_sum);
	section_of_report(c, &sections[RANGES], "NVTX ranges", 1, false, report_nvtx_sum);
	if (c->model->written_bytes <= LINES_BYTES)
		top_lines(c, &sections[SOURCE]);
	share_room(sections, LINES - count_lines(ret) - count_lines(&found));
	for (size_t i = 0; i < SECTIONS; i++)
		section_show(&sections[i], ret);
	buffer_add(ret, found.data, found.size);
	buffer_done(&found);
	rules_done(&rules);
}
