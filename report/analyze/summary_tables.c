/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analyze/summary_tables.h"

#include <stdlib.h>
#include <string.h>

#include "report/analyze/summary_ended.h"
#include "report/analyze/summary_gather.h"
#include "report/analyze/summary_time.h"
#include "report/derive/stacks/frame.h"
#include "report/derive/stacks/lines.h"
#include "report/stats/ledger.h"

enum { LINES = 20 };

static void add_share(struct table *t, uint64_t part, uint64_t whole)
{
	if (whole)
		table_real(t, 100 * (double)part / (double)whole);
	else
		table_nothing(t);
}

static void add_text(struct table *t, const char *text)
{
	table_text_part(t, text && *text ? text : NULL, text ? strlen(text) : 0);
}

/* FILE:LINE and function of "function (file:line)". */
static void add_place(struct table *t, const struct buffer *frame)
{
	struct buffer place = {0};
	struct frame parts;

	frame_split(buffer_string(frame), &parts);
	if (parts.file)
		buffer_print(&place, "%s:%u", parts.file, parts.line);
	add_text(t, buffer_string(&place));
	add_text(t, parts.name);
	frame_done(&parts);
	buffer_done(&place);
}

static void run_table(const struct summary *s, struct table *t)
{
	const struct model *m = s->context.model;
	const struct roles *r = s->roles;

	table_has(t, COL_COMMAND, COL_DURATION_NS, COL_RECORDED_NS, COL_PROCESSES, COL_STARTUP_PROCESSES,
		  COL_IDLE_HELPERS, COL_HOSTS, COL_ENDED);
	if (!m->process_count)
		return;
	add_text(t, m->run_count ? m->runs[0].command : m->processes[0].command);
	table_number(t, r->run_ns);
	table_number(t, r->recorded.is_part ? r->recorded.ns : r->run_ns);
	table_number(t, m->process_count - r->shims);
	table_number(t, r->shims);
	table_number(t, r->idle_threads);
	table_number(t, summary_hosts(m));
	table_text(t, m->processes[0].ended);
}

static void add_cause(const struct summary *s, const struct fix_first_cause *cause, struct table *t)
{
	if (!cause)
		return;
	table_text(t, cause->rule);
	table_number(t, cause->saves.saved_ns);
	table_number(t, cause->saves.low_ns);
	table_number(t, cause->saves.high_ns);
	add_share(t, cause->saves.saved_ns, s->roles->wall_ns);
	table_text(t, cause->text.data);
	add_place(t, &cause->line);
	add_text(t, buffer_string(&cause->called_from));
	table_text(t, cause->finding ? cause->finding->rule->advice : cause->how ? cause->how : "remove it");
}

static void fix_first_table(const struct summary *s, struct table *t)
{
	table_has(t, COL_RULE, COL_SAVES_NS, COL_SAVES_LOW_NS, COL_SAVES_HIGH_NS, COL_SHARE_PERCENT, COL_TEXT, COL_LINE,
		  COL_FUNCTION, COL_CALLED_FROM, COL_ADVICE);
	add_cause(s, s->first.items, t);
	add_cause(s, fix_first_inside(&s->first), t);
}

static void add_part(struct table *t, const struct role *r, const char *kind, const char *call, uint64_t count,
		     const struct buffer *frame, uint64_t ns)
{
	if (!ns)
		return;
	table_text(t, r->label);
	table_number(t, r->threads);
	table_number(t, r->processes);
	table_number(t, r->lifetime_ns);
	table_text(t, kind);
	add_text(t, call);
	add_place(t, frame);
	table_number_if(t, count, count);
	table_number(t, ns);
	add_share(t, ns, r->lifetime_ns);
}

static void add_role(const struct summary *s, const struct role *r, struct table *t)
{
	const struct report_context *c = &s->context;
	uint64_t polling_ns = r->cpu_ns < r->polling_ns ? r->cpu_ns : r->polling_ns;
	struct buffer hot = {0}, poll = {0}, none = {0};

	role_hot_frame(c, r, &hot);
	if (r->polls.count)
		role_frame(c, &r->polls.items[0], &poll);
	add_part(t, r, "cpu", NULL, 0, &hot, r->cpu_ns - polling_ns);
	add_part(t, r, "polling", NULL, 0, &poll, polling_ns);
	add_part(t, r, "runnable", NULL, 0, &none, r->delay_ns);
	add_part(t, r, "stopped", NULL, 0, &none, r->stopped_ns);
	add_part(t, r, "blocked outside of calls", NULL, 0, &none, r->unexplained_ns);
	add_part(t, r, "runnable or blocked", NULL, 0, &none, r->unsure_ns);
	add_part(t, r, "not accounted", NULL, 0, &none, r->unknown_ns);
	for (size_t i = 0; i < r->call_count; i++) {
		const struct role_call *call = &r->calls[i];
		struct buffer frame = {0};

		role_frame(c, call, &frame);
		add_part(t, r, role_call_waits(r, call->kind, call->ns, call->count) ? "wait" : "call", call->function,
			 call->count, &frame, call->ns);
		buffer_done(&frame);
	}
	buffer_done(&hot);
	buffer_done(&poll);
}

static void roles_table(const struct summary *s, struct table *t)
{
	table_has(t, COL_ROLE, COL_THREADS, COL_PROCESSES, COL_LIFETIME_NS, COL_KIND, COL_CALL, COL_LINE, COL_FUNCTION,
		  COL_CALLS, COL_TIME_NS, COL_SHARE_PERCENT);
	for (size_t i = 0; i < s->roles->count; i++)
		add_role(s, &s->roles->items[i], t);
}

static void gpu_table(struct summary *s, struct table *t)
{
	struct device_shares shares;

	table_has(t, COL_KIND, COL_TIME_NS, COL_SHARE_PERCENT);
	if (s->is_large)
		return;
	summary_device_shares(&s->context, rules_gaps(&s->rules), s->roles->recorded.is_part, &shares);
	for (size_t i = 0; shares.wall_ns && i < DEVICE_SHARES; i++) {
		table_text(t, device_share_names[i]);
		table_number(t, shares.ns[i]);
		add_share(t, shares.ns[i], shares.wall_ns);
	}
}

/* Of the main threads of its processes. */
static void add_rank(const struct summary *s, const struct process *p, struct table *t)
{
	const struct model *m = s->context.model;
	uint64_t cpu_ns = 0, waits_ns = 0;

	for (size_t i = 0; i < s->partition->count; i++) {
		const struct thread_time *one = &s->partition->threads[i];
		const struct process *its = &m->processes[one->process];

		if (one->origin != THREAD_MAIN || !its->rank || strcmp(its->rank, p->rank) != 0)
			continue;
		cpu_ns += one->cpu_ns;
		for (size_t k = 0; k < one->blocked.count; k++)
			if (one->blocked.calls[k].kind == BLOCKED_MPI || one->blocked.calls[k].kind == BLOCKED_NCCL)
				waits_ns += one->blocked.calls[k].total_ns;
	}
	table_text(t, p->rank);
	table_text(t, m->machines[p->machine].host);
	table_number(t, p->pid);
	table_number(t, recorded_wall(m, p));
	table_number(t, cpu_ns);
	table_number(t, waits_ns);
}

static void ranks_table(const struct summary *s, struct table *t)
{
	const struct model *m = s->context.model;
	struct aggregate known = {0};

	table_has(t, COL_RANK, COL_HOST, COL_PID, COL_DURATION_NS, COL_CPU_NS, COL_WAIT_NS);
	for (size_t i = 0; i < m->process_count; i++) {
		const char *rank = m->processes[i].rank;
		size_t before = known.count;

		/* The first process of a rank represents the rank. */
		if (rank && *rank && aggregate_row(&known, rank, strlen(rank)) == before)
			add_rank(s, &m->processes[i], t);
	}
	aggregate_done(&known);
}

static void lines_table(const struct summary *s, struct table *t)
{
	const struct report_context *c = &s->context;
	struct lines l;
	size_t *order;

	table_has(t, COL_LINE, COL_FUNCTION, COL_CPU_NS, COL_GPU_NS, COL_CUDA_CALLS_NS, COL_OFF_CPU_NS);
	if (!s->has_lines)
		return;
	lines_top(c, LINES, &l);
	order = lines_order(c, &l);
	for (size_t i = 0; i < l.count && i < LINES; i++) {
		const struct line_values *v = &l.values[order[i]];
		struct buffer place = {0};

		if (*lines_field(c, &l, order[i], 1))
			buffer_print(&place, "%s:%s", lines_field(c, &l, order[i], 0), lines_field(c, &l, order[i], 1));
		add_text(t, buffer_string(&place));
		add_text(t, lines_field(c, &l, order[i], 2));
		table_number(t, v->of[LINE_PYTHON] + v->of[LINE_NATIVE]);
		table_number(t, v->of[LINE_GPU]);
		table_number(t, v->of[LINE_CUDA]);
		table_number(t, v->of[LINE_OFF_CPU]);
		buffer_done(&place);
	}
	free(order);
	lines_done(&l);
}

static void calls_table(const struct summary *s, struct table *t)
{
	struct aggregate all;

	table_has(t, COL_NAME, COL_TOTAL_TIME_NS, COL_NUM_CALLS);
	summary_calls(s, &all);
	for (size_t i = 0; i < all.count; i++) {
		table_text(t, aggregate_field(&all.rows[i], 0));
		table_number(t, all.rows[i].total);
		table_number(t, all.rows[i].count);
	}
	aggregate_done(&all);
}

static void ledger_table(const struct model *m, struct table *t)
{
	struct ledger_totals totals;

	table_has(t, COL_RECORDED, COL_BELOW, COL_LOST, COL_OWN_NS, COL_LAUNCHER_NS, COL_MISSING);
	ledger_totals(m, &totals);
	table_number(t, totals.recorded);
	table_number(t, totals.below);
	table_number(t, totals.lost);
	table_number(t, totals.own_ns);
	table_number(t, totals.launcher_ns);
	add_text(t, totals.missing.size ? totals.missing.data + strlen(", ") : "");
	buffer_done(&totals.missing);
}

void summary_tables(const struct report_context *c, void *data, summary_table *each)
{
	static const char *const names[][2] = {
		{"run", "The Run"}, {"fix_first", "Fix First"}, {"roles", "Time of Roles"}, {"gpu", "Time of Devices"},
		{"ranks", "Ranks"}, {"lines", "Lines"}, {"calls", "Calls"}, {"ended", "What Ended the Run"},
		{"ledger", "Ledger"}};
	enum { TABLES = sizeof(names) / sizeof(*names) };
	struct table tables[TABLES] = {0};
	struct summary s;

	summary_gather(c, &s);
	run_table(&s, &tables[0]);
	fix_first_table(&s, &tables[1]);
	roles_table(&s, &tables[2]);
	gpu_table(&s, &tables[3]);
	ranks_table(&s, &tables[4]);
	lines_table(&s, &tables[5]);
	calls_table(&s, &tables[6]);
	summary_ended(&s.context, &tables[7]);
	ledger_table(c->model, &tables[8]);
	for (size_t i = 0; i < TABLES; i++) {
		each(data, names[i][0], names[i][1], &tables[i]);
		table_done(&tables[i]);
	}
	summary_free(&s);
}
