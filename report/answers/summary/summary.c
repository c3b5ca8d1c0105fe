/* SPDX-License-Identifier: Apache-2.0 */
/* The summary printed at the end of a run. */
#include "report/answers/summary/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/fix_first.h"
#include "report/answers/summary/summary_ended.h"
#include "report/answers/summary/summary_parts.h"
#include "report/answers/summary/summary_time.h"
#include "report/base/table/name.h"
#include "report/base/text.h"
#include "report/events/nvtx/nvtx.h"
#include "report/events/stacks/lines.h"
#include "report/names/python.h"
#include "report/read/job/run_command.h"
#include "report/tables/report.h"
#include "report/tables/run/ledger.h"

enum { TOP = 3, NAME_WIDTH = 70, LINES = 24 }; /* with the launcher's own: 25 lines */

/* SHORT_NS: of a run that is shorter there is nothing to repair. */
enum { ROLE_LINES = 6, SHORT_NS = 100000000, WIDE = 100, FILES_PERCENT = 5, COST_PERCENT = 5 };
enum { COMPARED_NS = 100000000 }; /* so much CPU time of a job can be compared with what recording cost */

/* ---- tables, which share the available rows ---- */

/* The first rows of a table, as lines of text. */
struct section {
	char *title;
	struct texts rows, names; /* what a row ends with, which may be cut */
	size_t total; /* rows of the table */
	size_t shown;
	bool is_beside; /* the title stands in the line of its only row */
};

/* A row: a sum, a count, a name. */
static void section_add(struct section *s, const char *sum, uint64_t count, const char *name)
{
	texts_add(&s->rows, "%10s %8" PRIu64 " x  ", sum, count);
	texts_add(&s->names, "%s", name);
}

static void section_of_table(struct section *s, const struct table *t, enum column_id total, enum column_id count,
			     enum column_id name)
{
	for (size_t i = 0; i < table_rows(t); i++) {
		SCOPED(buffer) sum = {0};

		if (python_is_own_call(table_cell(t, i, name)->text) || s->total++ >= TOP)
			continue;
		if (column_kinds[total].type == COLUMN_MB)
			buffer_print(&sum, "%.3g MB", table_cell(t, i, total)->real / 1e6);
		else
			rule_time(&sum, table_cell(t, i, total)->count);
		section_add(s, sum.data, table_cell(t, i, count)->count, table_cell(t, i, name)->text);
	}
}

/* A report whose first rows are shown. */
struct section_report {
	size_t section;
	bool is_of_events, is_of_profile;
	const char *title;
	enum column_id total, count, name;
	void (*run)(const struct report_context *, struct table *);
};

static void section_of_report(const struct report_context *c, const struct section_report *row, struct section *ret)
{
	SCOPED(table) t = {0};

	row->run(c, &t);
	ret->title = mem_copy_text(row->title, strlen(row->title));
	section_of_table(ret, &t, row->total, row->count, row->name);
}

/* By the time of the devices, if they have executed any; without operators nested in them. */
static void top_operators(const struct report_context *context, struct section *ret)
{
	struct report_context c = *context;
	SCOPED(table) t = {0};
	bool by_gpu;

	c.group = GROUP_NAME;
	report_pytorch_sum(&c, &t);
	by_gpu = table_rows(&t) && table_cell(&t, 0, COL_GPU_SELF_NS)->count;
	ret->title = mem_copy_text(by_gpu ? "operators, own GPU time" : "operators, own CPU time",
				   strlen("operators, own GPU time"));
	section_of_table(ret, &t, by_gpu ? COL_GPU_SELF_NS : COL_CPU_SELF_NS, COL_CALLS, COL_OPERATOR);
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
			     struct section *ret)
{
	const char *line = lines_field(c, l, row, 1), *function = lines_field(c, l, row, 2);
	SCOPED(buffer) costs_text = {0}, name = {0};

	name_brief(&name, strcmp(function, CODE_LINE_UNKNOWN) ? function : CODE_LINE_NO_NAMES);
	for (size_t k = 0; k < COSTS; k++) {
		SCOPED(buffer) ns = {0};

		if (!(kinds & 1u << k))
			continue;
		if (line_cost(&l->values[row], k))
			rule_time(&ns, line_cost(&l->values[row], k));
		buffer_print(&costs_text, "%*s", COST_WIDTH, buffer_string(&ns));
	}
	texts_add(&ret->rows, "%s  ", buffer_string(&costs_text));
	if (*line)
		texts_add(&ret->names, "%s:%s (%s)", code_line_file(lines_field(c, l, row, 0)), line,
			  buffer_string(&name));
	else
		texts_add(&ret->names, "%s", buffer_string(&name));
}

static void top_lines(const struct answer *a, struct section *ret)
{
	const struct report_context *c = &a->context;
	struct buffer text = {0};
	SCOPED(lines) l = {0};
	SCOPED_MEMORY size_t *order = NULL;
	unsigned kinds = 0;

	if (a->has_events)
		answer_lines(a, TOP, &l);
	else
		lines_top(c, TOP, NULL, &l);
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
	for (size_t i = 0; i < ret->total; i++)
		summary_line_row(&l, c, order[i], kinds, ret);
}

/* "4.79 s, 5 processes (+2 of start-up), exit 0" */
static void summary_head(const struct model *m, const struct roles *roles, struct buffer *out)
{
	size_t hosts = summary_hosts(m), processes = m->process_count - roles->shims;
	const struct recorded *r = &roles->recorded;
	SCOPED(buffer) wall = {0};
	SCOPED_MEMORY char *ended = NULL;
	uint64_t run_ns = roles->run_ns;
	bool is_known = model_unrecorded_command(m, &run_ns, &ended) || m->process_count;

	if (is_known) {
		rule_time(out, run_ns);
		rule_time(&wall, r->ns);
		if (r->is_ring)
			buffer_print(out, " (kept by --ring: %s, of which all shares are)", wall.data);
		else if (r->is_part)
			buffer_print(out, " (recorded: %s in %zu capture range%s, of which all shares are)", wall.data,
				     r->ranges, r->ranges == 1 ? "" : "s");
		buffer_text(out, ", ");
	}
	buffer_print(out, "%zu process%s%s", processes, processes == 1 ? "" : "es",
		     m->process_count ? "" : " recorded");
	if (roles->shims)
		buffer_print(out, " (+%zu of start-up)", roles->shims);
	if (hosts > 1)
		buffer_print(out, ", %zu hosts", hosts);
	if (is_known)
		buffer_print(out, ", %s", ended ? ended : run_command_end(m));
	buffer_text(out, "\n");
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
	if (m->ranges[0].mode == TF_RANGE_ON_REQUEST) {
		buffer_text(out, "pillion launch: pillion start was never called, so nothing is recorded\n");
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

/* Lines that were asked for and are not there. */
static void summary_lines_of(const struct model *m, struct buffer *out)
{
	SCOPED(buffer) why = {0};

	if (line_profile_lacks(m, &why))
		buffer_print(out, "%-*s %s\n", SUMMARY_LABEL, "no lines", why.data);
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
		buffer_print(out, "%-*s ", SUMMARY_LABEL, "in call");
		summary_process(m, process, out);
		if (t->origin != THREAD_MAIN) {
			buffer_text(out, ", thread ");
			text_fit(out, t->thread->name, NAME_WIDTH);
		}
		buffer_print(out, ": %s for ", f->name);
		rule_time(out, process->end_ns - start_ns);
		buffer_text(out, "\n");
		shown++;
	}
}

static size_t count_lines(const struct buffer *b)
{
	return array_sum(c, b->data, b->size, *c == '\n');
}

/* In output order. */
enum { KERNELS, CALLS, COPIES, FILES, OS, SOURCE, OPERATORS, RANGES, SECTIONS };

/* Distributes `room` lines: one row to each section, then a second, then a third, as long as lines are left. Where
 * there are too few for titles in lines of their own, those with a short title have it beside their row. Sections are
 * in order of importance; the last ones may get no row. */
static void share_room(struct section *all, size_t room)
{
	static const uint8_t telling[SECTIONS] = {SOURCE, KERNELS, OPERATORS, CALLS, FILES, OS, COPIES, RANGES};
	size_t wanted = array_sum(item, all, SECTIONS, item->rows.count ? 2 : 0);

	for (size_t i = 0; i < SECTIONS; i++)
		all[i].is_beside = wanted > room && all[i].title && strlen(all[i].title) <= SUMMARY_LABEL;
	for (size_t rows = 1; rows <= TOP; rows++)
		for (size_t i = 0; i < SECTIONS; i++) {
			struct section *s = &all[telling[i]];
			size_t needed = rows == 1 && !s->is_beside ? 2 : 1; /* for its title */

			if (s->rows.count < rows || s->shown != rows - 1 || needed > room || (rows > 1 && s->is_beside))
				continue;
			s->shown++;
			room -= needed;
		}
}

/* Each row is one line. */
static void section_show(struct section *s, size_t width, struct buffer *out)
{
	int before = s->is_beside ? SUMMARY_LABEL + 1 : 2;

	if (s->shown && !s->is_beside)
		buffer_print(out, "%s\n", s->title);
	for (size_t i = 0; i < s->shown; i++) {
		SCOPED(buffer) more = {0};

		if (i + 1 == s->shown && s->total > s->shown)
			buffer_print(&more, "  (%zu more)", s->total - s->shown);
		buffer_print(out, "%-*s%s", before, s->is_beside ? s->title : "", s->rows.items[i]);
		text_fit(out, s->names.items[i],
			 (width ? width : WIDE) - (size_t)before - text_width(s->rows.items[i]) - more.size);
		buffer_print(out, "%s\n", buffer_string(&more));
	}
	free(s->title);
	texts_done(&s->rows);
	texts_done(&s->names);
}

/* ---- the whole ---- */

static void section_of_calls(const struct answer *s, struct section *ret)
{
	SCOPED(aggregate) all = {0};

	answer_calls(s, &all);
	ret->title = mem_copy_text("OS calls", strlen("OS calls"));
	ret->total = all.count;
	for (size_t i = 0; i < all.count && i < TOP; i++) {
		SCOPED(buffer) sum = {0};

		rule_time(&sum, all.rows[i].total);
		section_add(ret, sum.data, all.rows[i].count, aggregate_field(&all.rows[i], 0));
	}
}

/* CPU time of all threads. */
static uint64_t cpu_of_job(const struct partition *p)
{
	return array_sum(thread, p->threads, p->count, thread->cpu_ns);
}

/* The launcher of a job that waits goes on looking at it, and then uses more than the job: that is no share of it. */
static void cost_share(const struct ledger_totals *t, uint64_t job_ns, struct buffer *out)
{
	uint64_t cost_ns = t->own_ns + t->launcher_ns;

	if (job_ns >= COMPARED_NS && job_ns > t->launcher_ns && cost_ns * 100 / job_ns > COST_PERCENT)
		buffer_print(out, ", %" PRIu64 " %% of the job's", cost_ns * 100 / job_ns);
}

/* job_ns: the CPU time of the job, or 0: what recording cost is not set beside it. */
static void summary_ledger(const struct model *m, uint64_t job_ns, struct buffer *out)
{
	struct ledger_totals t;

	ledger_totals(m, &t);
	if (t.missing.size)
		buffer_print(out, "%-*s %s\n", SUMMARY_LABEL, "missing", t.missing.data + strlen(", "));
	buffer_print(out, "%-*s %" PRIu64 " recorded, %" PRIu64 " lost", SUMMARY_LABEL, "recording", t.recorded,
		     t.lost);
	if (t.own_ns + t.launcher_ns) {
		buffer_text(out, "; recording cost ");
		rule_time(out, t.own_ns + t.launcher_ns);
		buffer_text(out, " of CPU time");
		cost_share(&t, job_ns, out);
	}
	buffer_text(out, "\n");
	buffer_done(&t.missing);
}

/* Whether calls that read, write, flush or open files take so much of the run that their names are worth reading the
 * events once more. */
static bool has_slow_files(const struct answer *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->partition->count; i++) {
		const struct blocked *b = &s->partition->threads[i].blocked;

		for (size_t k = 0; s->roles->role_of[i] && k < b->count; k++)
			if (b->calls[k].kind >= BLOCKED_FLUSH && b->calls[k].kind <= BLOCKED_FILE)
				ns += b->calls[k].total_ns;
	}
	return !s->is_large && ns && ns * 100 >= s->roles->wall_ns * FILES_PERCENT;
}

/* Those of a profile are the sums of all threads: without events it is not known which of them the run waited for. */
static const struct section_report section_reports[] = {
	{KERNELS, true, false, "GPU work", COL_TOTAL_TIME_NS, COL_INSTANCES, COL_NAME, gpu_work_sum},
	{CALLS, true, true, "CUDA API", COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_NAME, report_cuda_api_sum},
	{COPIES, true, false, "copies", COL_TOTAL_MB, COL_COUNT, COL_OPERATION, report_cuda_gpu_mem_size_sum},
	{FILES, true, true, "files", COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_PATH, file_paths_sum},
	{OS, false, true, "OS calls, of all threads", COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_NAME, report_osrt_sum},
	{OPERATORS, false, true, "MPI calls", COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_NAME, report_mpi_sum},
	{RANGES, true, true, "NVTX ranges", COL_TOTAL_TIME_NS, COL_INSTANCES, COL_RANGE, report_nvtx_sum},
};

static bool is_shown(const struct answer *s, const struct section_report *row)
{
	if (!s->has_events)
		return row->is_of_profile;
	return row->is_of_events && (row->section != FILES || has_slow_files(s));
}

static void summary_sections(const struct answer *s, size_t width, size_t room, struct buffer *out)
{
	struct section sections[SECTIONS] = {0};

	array_each(const struct section_report, row, section_reports,
		   sizeof(section_reports) / sizeof(*section_reports))
		if (is_shown(s, row))
			section_of_report(&s->context, row, &sections[row->section]);
	if (s->has_events)
		section_of_calls(s, &sections[OS]);
	if (s->rules.detail == DETAIL_ALL || !s->has_events)
		top_lines(s, &sections[SOURCE]);
	if (s->rules.detail == DETAIL_ALL && nvtx_has_operators(s->context.model))
		top_operators(&s->context, &sections[OPERATORS]);
	share_room(sections, room);
	for (size_t i = 0; i < SECTIONS; i++)
		section_show(&sections[i], width, out);
}

/* The one verb that shows more of it. */
static void summary_verb(const struct answer *s, const char *capture, size_t hangs, struct buffer *out)
{
	SCOPED(buffer) word = {0};
	const char *verb = NULL;
	const struct model *m = s->context.model;

	if (hangs || array_find(process, m->processes, m->process_count, process->is_running))
		verb = "where";
	else if (s->has_events &&
		 (s->is_large || array_find(f, s->found, s->found_count, f->verdict == VERDICT_FOUND)))
		verb = "analyze";
	else if (s->first.count)
		verb = "critical"; /* no rule has more to say */
	if (!capture || !verb)
		return;
	text_add_word(&word, capture);
	buffer_print(out, "%-*s pillion %s ", SUMMARY_LABEL, "next", verb);
	text_escape(out, buffer_string(&word), "");
	buffer_text(out, "\n");
}

/* False: no option would tell more. */
static bool is_told_next(struct answer *s, struct buffer *out)
{
	return s->has_events && summary_next(&s->rules, s->first.count && s->first.items->is_cpu, s->is_large, out);
}

/* What is about the time of the run. */
static void summary_time(struct answer *s, struct buffer *ret)
{
	const struct report_context *c = &s->context;

	summary_first(&s->first, ret);
	if (s->rules.detail != DETAIL_ALL)
		buffer_print(ret, "%-*s what the rules find and a repair would save: more than 512 MB of events, "
				  "so pillion analyze computes it\n", SUMMARY_LABEL, "not known");
	summary_roles(c, s->roles, ROLE_LINES, ret);
	summary_outside(s, ret);
	if (!s->is_large)
		summary_jax(c, ret);
	summary_ranks(c->model, ret);
	summary_messages(&s->rules, BLOCKED_MPI, "MPI", ret);
	summary_messages(&s->rules, BLOCKED_NCCL, "NCCL", ret);
	summary_efficiency(c, ret);
	if (s->is_large)
		return;
	summary_devices(c, rules_gaps(&s->rules), s->roles->recorded.is_part, ret);
}

static void summary_peaks(struct answer *s, struct buffer *ret)
{
	size_t before = ret->size;

	if (s->has_events && !s->is_large)
		summary_memory(&s->rules, ret);
	summary_resident(&s->rules, before, ret);
}

/* Appends the first lines of the text, wrapped. */
static void summary_wrap(const struct buffer *text, size_t width, size_t lines, struct buffer *ret)
{
	SCOPED(buffer) wrapped = {0};
	const char *end;

	text_wrap(&wrapped, buffer_string(text), width, SUMMARY_LABEL + 1);
	for (end = buffer_string(&wrapped); *end && lines; end++)
		lines -= *end == '\n';
	buffer_add(ret, buffer_string(&wrapped), (size_t)(end - buffer_string(&wrapped)));
}

/* The one that was said may have been made earlier, when ranks had waited for less long, or before the launcher stated
 * when a process ended: what precedes the first such time is compared. */
static bool is_same_verdict(const char *said, const char *now)
{
	const char *age = strstr(now, " for "), *end = strstr(now, ", after ");
	const char *time = !age || (end && end < age) ? end : age;

	return time ? !strncmp(said, now, (size_t)(time - now)) : !strcmp(said, now);
}

/* mpirun, torchrun or Slurm wait for the end of each of several ranks; who starts one process reads all of it. */
static bool is_dead_job(const struct model *m)
{
	return run_has_several_ranks(m) && run_command_failed(m);
}

/* Unless it was said. Of a death this one may lack what it recorded last. */
static void summary_verdict(const struct report_context *c, const struct ended *ended, const char *said,
			    struct buffer *out)
{
	SCOPED(rules) rules = {.context = c};
	SCOPED(buffer) verdict = {0};

	if (ended_text(ended, &verdict) && !(said && is_same_verdict(said, verdict.data)))
		ended_text(said ? rules_ended(&rules) : ended, out);
}

/* Of a job whose log says why it died: its end waits for this. */
static void summary_not_shown(const char *capture, struct buffer *out)
{
	buffer_print(out, "%-*s where the time went: pillion stats --summary ", SUMMARY_LABEL, "not shown");
	text_escape(out, capture, "");
	buffer_text(out, "\n");
}

void summary_text(const struct report_context *context, const char *capture, const char *said, size_t width,
		  struct buffer *ret)
{
	SCOPED(buffer) head = {0}, tail = {0}, last = {0};
	SCOPED(answer) s = {0};
	const struct report_context *c = &s.context;
	bool is_dead = said && *said && is_dead_job(context->model), is_short;
	const struct ended *ended;

	if (is_dead)
		answer_end(context, &s);
	else
		answer_briefly(context, &s);
	is_short = s.roles->run_ns < SHORT_NS;
	summary_head(c->model, s.roles, &head);
	ended = rules_ended(&s.rules);
	summary_verdict(c, ended, said, &head);
	if (is_dead)
		summary_ranks(c->model, &head);
	else if (!s.has_events)
		summary_profile(c, &head);
	else if (!is_short)
		summary_time(&s, &head);
	if (!is_short)
		summary_peaks(&s, &head);
	if (!is_dead)
		summary_switches(c, s.roles, &head);
	summary_names(c, s.roles, &s.first, &head);
	summary_lines_of(c->model, &head);
	range_never_seen(c->model, &head);
	summary_ends(c, s.roles, &ended->died, &head);
	if (!ended->hangs) /* which has its calls */
		summary_in_progress(c->model, s.partition, &head);
	if (s.rules.detail == DETAIL_ALL)
		summary_untimed(c, &head);
	if (s.rules.detail == DETAIL_ALL && !is_short)
		summary_findings(&s, &tail);
	summary_ledger(c->model, is_short || !s.has_events ? 0 : cpu_of_job(s.partition), &tail);
	if (is_dead && !is_short && capture)
		summary_not_shown(capture, &tail);
	if (is_dead ? ended->hangs : !is_short && !is_told_next(&s, &tail))
		summary_verb(&s, capture, ended->hangs, &tail);
	summary_wrap(&tail, width, LINES, &last);
	summary_wrap(&head, width, LINES - count_lines(&last), ret);
	if (!is_short && !is_dead)
		summary_sections(&s, width, LINES - count_lines(ret) - count_lines(&last), ret);
	buffer_add(ret, last.data, last.size);
}
