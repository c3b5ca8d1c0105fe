/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/answer_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/summary/summary_ended.h"
#include "report/answers/summary/summary_time.h"
#include "report/base/table/json_writer.h"
#include "report/events/stacks/lines.h"
#include "report/read/job/run_command.h"
#include "report/tables/run/ledger.h"

enum { LINES = 20 };

static void add_share(struct table *t, uint64_t part, uint64_t whole)
{
	table_cells(t, cell_if(whole, 100 * (double)part / (double)whole));
}

void answer_text(struct table *t, const char *text)
{
	table_text_part(t, text && *text ? text : NULL, text ? strlen(text) : 0);
}

void answer_line(struct table *t, const struct code_line *line, bool with_function)
{
	SCOPED(buffer) place = {0};

	code_line_place(line, &place);
	answer_text(t, place.data);
	if (with_function)
		answer_text(t, line ? line->function : NULL);
}

void answer_saving(struct table *t, const struct saving *s, uint64_t wall_ns)
{
	table_cells(t, s->saved_ns, s->low_ns, s->high_ns);
	add_share(t, s->saved_ns, wall_ns);
}

void answer_frames(struct table *t, const struct fix_first_cause *cause)
{
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < cause->frame_count; i++) {
		const struct fix_first_frame *f = &cause->frames[i];

		buffer_text(&text, i ? ", {\"Line\": " : "[{\"Line\": ");
		json_add(&text, f->line);
		buffer_text(&text, ", \"Function\": ");
		json_add(&text, f->function);
		buffer_print(&text, ", \"Time (ns)\": %" PRIu64 ", \"Own (ns)\": %" PRIu64 "}", f->ns, f->own_ns);
	}
	if (cause->frame_count)
		buffer_text(&text, "]");
	answer_text(t, buffer_string(&text));
}

const char *answer_advice(const struct fix_first_cause *cause)
{
	if (cause->frames_at)
		return "do less there, do it less often, or keep its results";
	return cause->finding ? cause->finding->rule->advice : cause->how ? cause->how : "remove it";
}

static void run_table(struct answer *a, struct table *t)
{
	const struct model *m = a->context.model;
	const struct roles *r = a->roles;
	uint64_t run_ns = r->run_ns;
	SCOPED_MEMORY char *ended = NULL;

	table_has(t, COL_COMMAND, COL_DURATION_NS, COL_RECORDED_NS, COL_PROCESSES, COL_STARTUP_PROCESSES,
		  COL_IDLE_HELPERS, COL_HOSTS, COL_ENDED);
	if (!model_unrecorded_command(m, &run_ns, &ended) && !m->process_count)
		return;
	answer_text(t, m->run_count ? m->runs[0].command : m->processes[0].command);
	table_cells(t, run_ns, r->recorded.is_part ? r->recorded.ns : r->run_ns, m->process_count - r->shims, r->shims,
		    r->idle_threads, summary_hosts(m), ended ? ended : run_command_end(m));
}

static void add_cause(const struct answer *a, const struct fix_first_cause *cause, struct table *t)
{
	SCOPED(buffer) text = {0};

	if (!cause)
		return;
	table_text(t, cause->rule);
	answer_saving(t, &cause->saves, a->roles->wall_ns);
	buffer_text(&text, cause->text.data);
	fix_first_told(cause, &text);
	table_text(t, text.data);
	answer_line(t, cause->line, true);
	answer_text(t, buffer_string(&cause->called_from));
	answer_frames(t, cause);
	answer_text(t, buffer_string(&cause->edit));
	table_text(t, answer_advice(cause));
}

static void fix_first_table(struct answer *a, struct table *t)
{
	table_has(t, COL_RULE, COL_SAVES_NS, COL_SAVES_LOW_NS, COL_SAVES_HIGH_NS, COL_SHARE_PERCENT, COL_TEXT, COL_LINE,
		  COL_FUNCTION, COL_CALLED_FROM, COL_FRAMES, COL_EDIT, COL_ADVICE);
	add_cause(a, a->first.items, t);
}

/* A part of a role's time. */
struct role_part {
	const char *kind;
	uint64_t ns;
	const struct role_call *call; /* NULL: it is in no call */
	const struct code_line *line; /* NULL: that of the call */
};

static void add_part(const struct answer *a, const struct role *r, const struct role_part *part, struct table *t)
{
	const struct role_call *call = part->call;
	SCOPED(buffer) end = {0};

	if (!part->ns)
		return;
	if (call)
		role_end_words(&a->context, a->roles, r, call, &end);
	table_cells(t, r->label, r->threads, r->processes,
		    cell_if(r->process != NULL, r->process ? r->process->pid : 0), r->lifetime_ns, part->kind);
	answer_text(t, call ? call->function : NULL);
	answer_text(t, buffer_string(&end));
	answer_line(t, part->line ? part->line : call ? role_call_line(&a->context, call) : NULL, true);
	table_cells(t, cell_if(call && call->count, call ? call->count : 0), part->ns);
	add_share(t, part->ns, r->lifetime_ns);
}

static void add_role(const struct answer *a, const struct role *r, struct table *t)
{
	struct role_cpu cpu = role_cpu(r);
	const struct code_line *poll = r->polls.count ? role_call_line(&a->context, &r->polls.items[0]) : NULL;
	const struct role_part parts[] = {
		{"cpu", cpu.work_ns, .line = role_hot_code_line(&a->context, r)},
		{"import", cpu.import_ns},
		{"polling", cpu.polling_ns, .line = poll},
		{"runnable", r->delay_ns},
		{"stopped", r->stopped_ns},
		{"blocked outside of calls", r->unexplained_ns},
		{"runnable or blocked", r->unsure_ns},
		{"not accounted", r->unknown_ns},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		add_part(a, r, &parts[i], t);
	array_each(const struct role_call, call, r->calls, r->call_count) {
		bool waits = role_call_waits(r, call->kind, call->ns, call->count);

		add_part(a, r, &(struct role_part){waits ? "wait" : "call", call->ns, call, NULL}, t);
	}
}

static void roles_table(struct answer *a, struct table *t)
{
	table_has(t, COL_ROLE, COL_THREADS, COL_PROCESSES, COL_PID, COL_LIFETIME_NS, COL_KIND, COL_CALL, COL_WAITS_FOR,
		  COL_LINE, COL_FUNCTION, COL_CALLS, COL_TIME_NS, COL_SHARE_PERCENT);
	for (size_t i = 0; i < a->roles->count && a->has_events; i++)
		add_role(a, &a->roles->items[i], t);
}

static void gpu_table(struct answer *a, struct table *t)
{
	struct device_shares shares;

	table_has(t, COL_KIND, COL_TIME_NS, COL_SHARE_PERCENT);
	if (a->rules.detail != DETAIL_ALL)
		return;
	summary_device_shares(&a->context, rules_gaps(&a->rules), a->roles->recorded.is_part, &shares);
	for (size_t i = 0; shares.wall_ns && i < DEVICE_SHARES; i++) {
		table_cells(t, device_share_names[i], shares.ns[i]);
		add_share(t, shares.ns[i], shares.wall_ns);
	}
}

/* Of the main threads of its processes. */
static void add_rank(const struct answer *a, const struct process *p, struct table *t)
{
	const struct model *m = a->context.model;
	uint64_t cpu_ns = 0, waits_ns = 0;

	array_each(const struct thread_time, one, a->partition->threads, a->partition->count) {
		const struct process *its = &m->processes[one->process];

		if (one->origin != THREAD_MAIN || strcmp(its->rank, p->rank) != 0)
			continue;
		cpu_ns += one->cpu_ns;
		for (size_t k = 0; k < one->blocked.count; k++)
			if (one->blocked.calls[k].kind == BLOCKED_MPI || one->blocked.calls[k].kind == BLOCKED_NCCL)
				waits_ns += one->blocked.calls[k].total_ns;
	}
	table_cells(t, p->rank, m->machines[p->machine].host, p->pid, recorded_wall(m, p), cpu_ns, waits_ns);
}

static void ranks_table(struct answer *a, struct table *t)
{
	const struct model *m = a->context.model;
	SCOPED(aggregate) known = {0};

	table_has(t, COL_RANK, COL_HOST, COL_PID, COL_DURATION_NS, COL_CPU_NS, COL_WAIT_NS);
	for (size_t i = 0; i < m->process_count && a->has_events; i++) {
		const char *rank = m->processes[i].rank;
		size_t before = known.count;

		/* The first process of a rank represents the rank. */
		if (*rank && aggregate_row(&known, rank, strlen(rank)) == before)
			add_rank(a, &m->processes[i], t);
	}
}

static void lines_table(struct answer *a, struct table *t)
{
	const struct report_context *c = &a->context;
	SCOPED(lines) l = {0};
	SCOPED_MEMORY size_t *order = NULL;

	table_has(t, COL_LINE, COL_FUNCTION, COL_CPU_NS, COL_GPU_NS, COL_CUDA_CALLS_NS, COL_OFF_CPU_NS);
	if (a->rules.detail != DETAIL_ALL)
		return;
	answer_lines(a, LINES, &l);
	order = lines_order(c, &l);
	for (size_t i = 0; i < l.count && i < LINES; i++) {
		const struct line_values *v = &l.values[order[i]];
		SCOPED(buffer) place = {0};

		if (*lines_field(c, &l, order[i], 1))
			buffer_print(&place, "%s:%s", lines_field(c, &l, order[i], 0), lines_field(c, &l, order[i], 1));
		answer_text(t, buffer_string(&place));
		answer_text(t, lines_field(c, &l, order[i], 2));
		table_cells(t, v->of[LINE_PYTHON] + v->of[LINE_NATIVE], v->of[LINE_GPU], v->of[LINE_CUDA],
			    v->of[LINE_OFF_CPU]);
	}
}

static void calls_table(struct answer *a, struct table *t)
{
	SCOPED(aggregate) all = {0};
	uint64_t sum_ns;

	table_has(t, COL_NAME, COL_TIME_PERCENT, COL_TOTAL_TIME_NS, COL_NUM_CALLS);
	answer_calls(a, &all);
	sum_ns = array_sum(row, all.rows, all.count, row->total);
	for (size_t i = 0; i < all.count; i++) {
		table_text(t, aggregate_field(&all.rows[i], 0));
		add_share(t, all.rows[i].total, sum_ns);
		table_cells(t, all.rows[i].total, all.rows[i].count);
	}
}

static void ledger_table(struct answer *a, struct table *t)
{
	struct ledger_totals totals;

	table_has(t, COL_RECORDED, COL_BELOW, COL_LOST, COL_OWN_NS, COL_LAUNCHER_NS, COL_MISSING);
	ledger_totals(a->context.model, &totals);
	table_cells(t, totals.recorded, totals.below, totals.lost, totals.own_ns, totals.launcher_ns);
	answer_text(t, totals.missing.size ? totals.missing.data + strlen(", ") : "");
	buffer_done(&totals.missing);
}

static void ended_table(struct answer *a, struct table *t)
{
	const struct code_line *lines[ENDED_KINDS] = {NULL};

	summary_ended(&a->rules, t, lines);
}

const struct answer_table_names answer_table_names[ANSWER_TABLES] = {
	[ANSWER_RUN] = {"run", "The Run"},	  [ANSWER_FIX_FIRST] = {"fix_first", "Fix First"},
	[ANSWER_ROLES] = {"roles", "Time of Roles"}, [ANSWER_GPU] = {"gpu", "Time of Devices"},
	[ANSWER_RANKS] = {"ranks", "Ranks"},	  [ANSWER_LINES] = {"lines", "Lines"},
	[ANSWER_CALLS] = {"calls", "Calls"},	  [ANSWER_ENDED] = {"ended", "What Ended the Run"},
	[ANSWER_LEDGER] = {"ledger", "Ledger"},
};

void answer_table(struct answer *a, enum answer_table which, struct table *ret)
{
	static void (*const fill[ANSWER_TABLES])(struct answer *, struct table *) = {
		[ANSWER_RUN] = run_table,     [ANSWER_FIX_FIRST] = fix_first_table, [ANSWER_ROLES] = roles_table,
		[ANSWER_GPU] = gpu_table,     [ANSWER_RANKS] = ranks_table,	    [ANSWER_LINES] = lines_table,
		[ANSWER_CALLS] = calls_table, [ANSWER_ENDED] = ended_table,	    [ANSWER_LEDGER] = ledger_table};

	fill[which](a, ret);
}
