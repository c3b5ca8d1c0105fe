/* SPDX-License-Identifier: Apache-2.0 */
/* The summary printed at the end of a run. */
#include "report/analyze/summary.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text.h"
#include "report/derive/nvtx/nvtx.h"
#include "report/derive/stacks/frame.h"
#include "report/derive/device/gap.h"
#include "report/derive/stacks/lines.h"
#include "report/derive/stacks/samples.h"
#include "report/stats/ledger.h"
#include "report/stats/report.h"
#include "report/analyze/fix_first.h"
#include "report/analyze/summary_deadlock.h"
#include "report/analyze/summary_died.h"
#include "report/analyze/summary_findings.h"
#include "report/analyze/summary_jax.h"
#include "report/analyze/summary_next.h"
#include "report/analyze/summary_ranks.h"
#include "report/analyze/summary_time.h"

enum { TOP = 3, FEW = 2, NAME_WIDTH = 70, LINES = 24 }; /* with the launcher's own: 25 lines */

/* Width of a row with its source line. */
enum { LINE_WIDTH = 80, PLACE_WIDTH = 48, ROLE_LINES = 6 };

/* Above this number of events the rules are left to `pillion analyze`, so that the end of a run does not make its
 * user wait. */
#define ANALYZE_BYTES (64ull << 20)
#define LINES_BYTES (128ull << 20)

/* file:line (function), or the function alone; leading directories of the file are dropped until it fits. */
static void summary_add_place(struct buffer *b, const char *file, const char *line, const char *function, size_t width)
{
	struct buffer text = {0};
	const char *tail = file, *next;

	if (!*line) {
		text_fit(b, function, width);
		return;
	}
	do {
		buffer_clear(&text);
		buffer_print(&text, "%s:%s (%s)", tail, line, function);
		next = *tail ? strchr(tail + 1, '/') : NULL;
		tail = next ? next + 1 : tail;
	} while (next && text_width(text.data) > width);
	text_fit(b, text.data, width);
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

/* A row: a sum of time or of bytes, a count, a name. */
static void section_add(struct section *s, const struct table *t, size_t row, enum column_id total,
			enum column_id count, enum column_id name)
{
	struct buffer text = {0}, sum = {0};

	if (column_kinds[total].type == COLUMN_MB)
		buffer_print(&sum, "%.3f MB", table_cell(t, row, total)->real / 1e6);
	else
		rule_time(&sum, table_cell(t, row, total)->count);
	buffer_print(&text, "%12s %9" PRIu64 " x  ", sum.data, table_cell(t, row, count)->count);
	text_fit(&text, table_cell(t, row, name)->text, NAME_WIDTH);
	texts_add(&s->rows, "%s", text.data);
	buffer_done(&sum);
	buffer_done(&text);
}

/* The first rows of an aggregated table. */
static void section_of_report(const struct report_context *c, struct section *ret, const char *title,
			      enum column_id total, enum column_id count, enum column_id name,
			      int (*run)(const struct report_context *, struct table *, struct err *))
{
	struct table t = {0};
	struct err err;

	run(c, &t, &err);
	ret->title = mem_copy_text(title, strlen(title));
	ret->total = table_rows(&t);
	for (size_t i = 0; i < ret->total && i < TOP; i++)
		section_add(ret, &t, i, total, count, name);
	table_done(&t);
}

/* By the time of the devices, if they have executed any; without operators nested in them. */
static void top_operators(const struct report_context *context, struct section *ret)
{
	struct report_context c = *context;
	struct table t = {0};
	struct err err;
	bool by_gpu;

	c.group = GROUP_NAME;
	report_pytorch_sum(&c, &t, &err);
	ret->total = table_rows(&t);
	by_gpu = ret->total && table_cell(&t, 0, COL_GPU_SELF_NS)->count;
	ret->title = mem_copy_text(by_gpu ? "operators, own GPU time" : "operators, own CPU time",
				   strlen("operators, own GPU time"));
	for (size_t i = 0; i < ret->total && i < TOP; i++)
		section_add(ret, &t, i, by_gpu ? COL_GPU_SELF_NS : COL_CPU_SELF_NS, COL_CALLS, COL_OPERATOR);
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
	size_t width = LINE_WIDTH - 4 - strlen("  (9 more)");

	for (size_t k = 0; k < COSTS; k++) {
		struct buffer ns = {0};

		if (!(kinds & 1u << k))
			continue;
		if (line_cost(&l->values[row], k))
			rule_time(&ns, line_cost(&l->values[row], k));
		buffer_print(ret, "%*s", COST_WIDTH, buffer_string(&ns));
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

static void add_wall(uint64_t ns, struct buffer *out)
{
	bool is_long = ns >= 1000000000;

	buffer_print(out, is_long ? "%.2f s" : "%.0f ms", (double)ns / (is_long ? 1e9 : 1e6));
}

/* "4.79 s, 5 processes, exit 0": the end is that of the command, or of the first process. */
static void summary_head(const struct model *m, const struct roles *roles, struct buffer *out)
{
	size_t hosts = 0, processes = m->process_count - roles->shims;
	const struct recorded *r = &roles->recorded;
	struct buffer wall = {0};

	for (size_t i = 0; i < m->machine_count; i++) {
		bool is_new = true;

		for (size_t k = 0; k < i; k++)
			is_new &= strcmp(m->machines[i].host, m->machines[k].host) != 0;
		hosts += is_new;
	}
	/* without a process the time of the run is unknown */
	if (m->process_count) {
		add_wall(roles->run_ns, out);
		add_wall(r->ns, &wall);
		if (r->is_part)
			buffer_print(out, " (recorded: %s in %zu capture range%s, of which all shares are)", wall.data,
				     r->ranges, r->ranges == 1 ? "" : "s");
		buffer_text(out, ", ");
	}
	buffer_done(&wall);
	buffer_print(out, "%zu process%s%s", processes, processes == 1 ? "" : "es",
		     m->process_count ? "" : " recorded");
	if (hosts > 1)
		buffer_print(out, ", %zu hosts", hosts);
	if (m->process_count)
		buffer_print(out, ", %s", m->processes[0].ended);
	buffer_text(out, "\n");
}

/* Counts processes by machine and pid. */
static struct map all_pids(const struct model *m)
{
	struct map pids = {0};

	for (size_t i = 0; i < m->process_count; i++)
		map_put(&pids, m->processes[i].pid, m->processes[i].machine, NULL);
	return pids;
}

/* Processes that did not exit with status 0, but the one that died first; the ranks that ended because of it are only
 * counted. Children of processes that exited with a nonzero status are only
 * counted: of a shell, for example, they are not worth a line each. */
static void summary_ends(const struct model *m, const struct roles *roles, const struct died *died,
			 struct buffer *out)
{
	struct map pids = all_pids(m);
	size_t shown = 0, others = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];

		/* The first process is in the first line. */
		if (!i || p == died->process || roles->is_shim[i] ||
		    (!p->lacks_file && (!p->exit_status || p->has_exec)))
			continue;
		if (shown == FEW || (died->process && died->is_of_ranks) ||
		    (p->exit_status >= 0 && map_find(&pids, p->parent_pid, p->machine))) {
			others++;
			continue;
		}
		shown++;
		buffer_print(out, "%-*s process %" PRIu32 " %s: ", SUMMARY_LABEL, "ended", p->pid, p->ended);
		text_fit(out, p->command ? p->command : "", NAME_WIDTH);
		buffer_text(out, "\n");
	}
	map_done(&pids);
	if (others)
		buffer_print(out, "%-*s %zu %s did not exit 0\n", SUMMARY_LABEL, "ended", others,
			     shown || (died->process && died->is_of_ranks) ? "more"
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
		buffer_text(out, "--capture-range=cudaProfilerApi: cudaProfilerStart was never called, so nothing is "
				 "recorded\n");
		return;
	}
	buffer_text(out, "--nvtx-capture: the range did not occur; ");
	buffer_text(out, m->seen.count ? "ranges that did: " : "no other range did");
	for (size_t i = 0; i < m->seen.count; i++) {
		buffer_text(out, i ? ", " : "");
		text_fit(out, m->seen.items[i], NAME_WIDTH);
	}
	buffer_text(out, "\n");
}

/* The calls in which processes were that did not end by themselves. */
static void summary_in_progress(const struct model *m, const struct partition *p, struct buffer *out)
{
	size_t shown = 0;

	for (size_t i = 0; i < p->count && shown < TOP; i++) {
		const struct thread_time *t = &p->threads[i];
		const struct process *process = &m->processes[t->process];
		const struct clock_map *clock = &m->machines[process->machine].clock;
		const struct function *f;
		uint32_t function;
		uint64_t start, start_ns;

		if (t->image->end != TF_END_NONE || t->ended || !t->thread ||
		    !thread_current(t->thread, &function, &start))
			continue;
		f = trace_function(t->image->trace, function);
		start_ns = clock_map_ns(clock, start);
		if (!f || process->end_ns <= start_ns)
			continue;
		buffer_print(out, "%-*s process %" PRIu32 " thread %" PRIu32 ": %s for ", SUMMARY_LABEL, "in call",
			     process->pid, t->tid, f->name);
		rule_time(out, process->end_ns - start_ns);
		buffer_text(out, "\n");
		shown++;
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
enum { KERNELS, CALLS, COPIES, OS, SOURCE, OPERATORS, RANGES, SECTIONS };

/* Distributes `room` lines: one row to each section, then a second, then a third, as long as lines are left.
 * Sections are in order of importance; the last ones may get no row. */
static void share_room(struct section *all, size_t room)
{
	static const uint8_t telling[SECTIONS] = {SOURCE, KERNELS, OPERATORS, CALLS, OS, COPIES, RANGES};

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
		buffer_print(out, "%s\n", s->title);
	for (size_t i = 0; i < s->shown; i++) {
		buffer_print(out, "  %s", s->rows.items[i]);
		if (i + 1 == s->shown && s->total > s->shown)
			buffer_print(out, "  (%zu more)", s->total - s->shown);
		buffer_text(out, "\n");
	}
	free(s->title);
	texts_done(&s->rows);
}

/* ---- the whole ---- */

/* What all parts of the summary share. */
struct summary {
	const struct report_context *context;
	struct rules rules;
	const struct partition *partition; /* these two: of the rules */
	const struct roles *roles;
	struct finding found[SUMMARY_FINDINGS]; /* the costliest first */
	size_t found_count;
	struct fix_first first;
	struct costs *costs;
	bool is_large; /* rules are left to `pillion analyze` */
};

/* OS calls of the threads that are in a role: those of idle helpers would come first, and say nothing. */
static void section_of_calls(const struct summary *s, struct section *ret)
{
	struct aggregate all = {.totals_only = true};
	struct buffer row = {0}, sum = {0};

	for (size_t i = 0; i < s->partition->count; i++) {
		const struct blocked *b = &s->partition->threads[i].blocked;

		for (size_t k = 0; s->roles->role_of[i] && k < b->count; k++)
			if (b->calls[k].function->group == TF_GROUP_OSRT)
				aggregate_add_total(&all,
						    aggregate_row(&all, b->calls[k].function->name,
								  strlen(b->calls[k].function->name) + 1),
						    b->calls[k].count, b->calls[k].total_ns);
	}
	aggregate_sort(&all);
	ret->title = mem_copy_text("OS calls", strlen("OS calls"));
	ret->total = all.count;
	for (size_t i = 0; i < all.count && i < TOP; i++) {
		buffer_clear(&sum);
		buffer_clear(&row);
		rule_time(&sum, all.rows[i].total);
		buffer_print(&row, "%12s %9" PRIu64 " x  ", sum.data, all.rows[i].count);
		text_fit(&row, aggregate_field(&all.rows[i], 0), NAME_WIDTH);
		texts_add(&ret->rows, "%s", row.data);
	}
	aggregate_done(&all);
	buffer_done(&row);
	buffer_done(&sum);
}

static void summary_gather(const struct report_context *c, struct summary *s)
{
	s->context = c;
	s->rules.context = c;
	s->is_large = c->model->written_bytes > ANALYZE_BYTES;
	s->rules.has_no_calls = c->model->written_bytes > LINES_BYTES;
	s->partition = &rules_time(&s->rules)->partition;
	s->roles = &rules_time(&s->rules)->roles;
	if (!s->is_large)
		s->found_count = rules_worst(&s->rules, s->found, SUMMARY_FINDINGS);
	s->costs = costs_new(c);
	for (size_t i = 0; i < s->found_count; i++)
		fix_first_saving(s->costs, &s->found[i], fix_first_least(s->roles->wall_ns), &s->found[i].saves);
	fix_first_find(c, s->costs, rules_time(&s->rules), s->found, s->found_count, &s->first);
	if (!s->is_large)
		summary_find_callers(c, s->found, s->found_count, &s->first);
}

static void summary_free(struct summary *s)
{
	for (size_t i = 0; i < s->found_count; i++)
		finding_done(&s->found[i]);
	fix_first_done(&s->first);
	costs_free(s->costs);
	rules_done(&s->rules);
}

static void summary_ledger(const struct model *m, struct buffer *out)
{
	struct buffer line = {0};

	ledger_line(m, &line);
	buffer_print(out, "%-*s %s\n", SUMMARY_LABEL, "ledger", line.data + strlen("ledger: "));
	buffer_done(&line);
}

static void summary_sections(const struct summary *s, size_t room, struct buffer *out)
{
	struct section sections[SECTIONS] = {0};
	const struct report_context *c = s->context;

	section_of_report(c, &sections[KERNELS], "GPU work", COL_TOTAL_TIME_NS, COL_INSTANCES, COL_NAME,
			  gpu_work_sum);
	section_of_report(c, &sections[CALLS], "CUDA API", COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_NAME,
			  report_cuda_api_sum);
	section_of_report(c, &sections[COPIES], "copies", COL_TOTAL_MB, COL_COUNT, COL_OPERATION,
			  report_cuda_gpu_mem_size_sum);
	section_of_calls(s, &sections[OS]);
	section_of_report(c, &sections[RANGES], "NVTX ranges", COL_TOTAL_TIME_NS, COL_INSTANCES, COL_RANGE,
			  report_nvtx_sum);
	if (c->model->written_bytes <= LINES_BYTES)
		top_lines(c, &sections[SOURCE]);
	if (c->model->written_bytes <= LINES_BYTES && nvtx_has_operators(c->model))
		top_operators(c, &sections[OPERATORS]);
	share_room(sections, room);
	for (size_t i = 0; i < SECTIONS; i++)
		section_show(&sections[i], out);
}

void summary_text(const struct report_context *context, const char *capture, struct buffer *ret)
{
	struct report_context totals = *context;
	const struct report_context *c = &totals;
	struct summary s = {0};
	struct buffer tail = {0};
	struct where_place place;
	struct died died;

	totals.totals_only = true;
	totals.by = BY_NOTHING;
	summary_gather(c, &s);
	summary_head(c->model, s.roles, ret);
	summary_died_find(c->model, &died);
	where_place_read_briefly(&place, c->model, c->symbols);
	if (summary_deadlock(c->model, &place, ret) + summary_stall(&place, STALLED_NS, ret))
		died.is_of_ranks &= died.signal != SIGKILL && died.signal != SIGTERM && died.signal != SIGINT;
	where_place_done(&place);
	summary_died(&s.rules, &died, ret);
	summary_first(&s.first, ret);
	summary_roles(c, s.roles, ROLE_LINES, ret);
	if (!s.is_large)
		summary_jax(c, ret);
	range_never_seen(c->model, ret);
	summary_ranks(c->model, ret);
	summary_messages(&s.rules, BLOCKED_MPI, "MPI", ret);
	summary_messages(&s.rules, BLOCKED_NCCL, "NCCL", ret);
	summary_efficiency(c, ret);
	summary_ends(c->model, s.roles, &died, ret);
	summary_in_progress(c->model, s.partition, ret);
	if (!s.is_large) {
		summary_devices(c, rules_gaps(&s.rules), s.roles->recorded.is_part, ret);
		summary_untimed(c, ret);
		if (device_has_whole_graphs(c->model))
			buffer_print(ret, "%-*s recorded as a whole: --cuda-graph-trace=node shows their kernels and "
				     "lines\n", SUMMARY_LABEL, "graphs");
		summary_memory(c->model, ret);
		summary_findings(s.found, s.found_count, s.roles->wall_ns, &s.first, &tail);
	}
	summary_ledger(c->model, &tail);
	if (!summary_next(&s.rules, s.first.is_cpu, s.is_large, &tail) && capture && (s.is_large || s.found_count)) {
		buffer_print(&tail, "%-*s pillion analyze ", SUMMARY_LABEL, "next");
		text_fit(&tail, capture, NAME_WIDTH);
		buffer_text(&tail, "\n");
	}
	summary_sections(&s, LINES - count_lines(ret) - count_lines(&tail), ret);
	buffer_add(ret, tail.data, tail.size);
	buffer_done(&tail);
	summary_free(&s);
}
