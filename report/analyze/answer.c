/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analyze/answer.h"

#include <stdlib.h>
#include <string.h>

#include "report/derive/stacks/frame.h"

/* Fills in called_from of the findings and of what to fix first, with one reading of the events. */
static void find_callers(const struct report_context *c, struct answer *a)
{
	struct caller_query *queries = mem_alloc((rule_count + a->first.count + 1) * sizeof(*queries));
	size_t n = 0;

	for (size_t i = 0; i < rule_count; i++)
		queries[n++] = rule_caller(&a->found[i].line, &a->found[i].called_from);
	for (size_t i = 0; i < a->first.count; i++)
		queries[n++] = rule_caller(&a->first.items[i].line, &a->first.items[i].called_from);
	callers_find(c, queries, n);
	free(queries);
}

void answer_find(const struct report_context *c, struct answer *ret)
{
	const struct job_time *time;
	uint64_t least_ns;

	*ret = (struct answer){.context = c, .rules.context = c};
	time = rules_time(&ret->rules);
	least_ns = fix_first_least(time->roles.wall_ns);
	ret->found = mem_alloc(rule_count * sizeof(*ret->found));
	ret->costs = costs_new(c);
	for (size_t i = 0; i < rule_count; i++) {
		rule_run(&ret->rules, &rule_list[i], &ret->found[i]);
		fix_first_saving(ret->costs, &ret->found[i], least_ns, &ret->found[i].saves);
	}
	fix_first_find(c, ret->costs, time, ret->found, rule_count, &ret->first);
	find_callers(c, ret);
}

void answer_done(struct answer *a)
{
	for (size_t i = 0; i < rule_count; i++)
		finding_done(&a->found[i]);
	free(a->found);
	fix_first_done(&a->first);
	costs_free(a->costs);
	rules_done(&a->rules);
}

/* ---- cells ---- */

static void cell_text(struct table *t, const struct buffer *text)
{
	if (text->size)
		table_text(t, text->data);
	else
		table_nothing(t);
}

/* FILE:LINE and the function of the text of a frame. */
static void cells_line(struct table *t, const struct buffer *line)
{
	struct buffer place = {0};
	struct frame frame;

	if (!line->size) {
		table_nothings(t, 2);
		return;
	}
	frame_split(line->data, &frame);
	if (frame.file)
		buffer_print(&place, "%s:%u", frame.file, frame.line);
	cell_text(t, &place);
	table_text(t, frame.name);
	frame_done(&frame);
	buffer_done(&place);
}

/* ---- tables ---- */

static void fill_run(struct answer *a, struct table *t)
{
	const struct roles *r = &rules_time(&a->rules)->roles;
	const struct model *m = a->context->model;

	table_has(t, COL_DURATION_NS, COL_PROCESSES, COL_ENDED);
	table_column(t, "Idle Helpers", COLUMN_COUNT);
	table_column(t, "Start-up Processes", COLUMN_COUNT);
	if (!m->process_count)
		return;
	table_number(t, r->run_ns);
	table_number(t, m->process_count - r->shims);
	table_text(t, m->processes[0].ended);
	table_number(t, r->idle_threads);
	table_number(t, r->shims);
}

static void add_cause(struct table *t, const struct fix_first_cause *cause, uint64_t wall_ns)
{
	if (!cause)
		return;
	cell_text(t, &cause->text);
	table_number(t, cause->saves.saved_ns);
	table_number(t, cause->saves.low_ns);
	table_number(t, cause->saves.high_ns);
	if (wall_ns)
		table_real(t, 100 * (double)cause->saves.saved_ns / (double)wall_ns);
	else
		table_nothing(t);
	table_text(t, cause->how ? cause->how : "");
	cells_line(t, &cause->line);
	cell_text(t, &cause->called_from);
	if (cause->finding)
		table_text(t, cause->finding->rule->advice);
	else
		table_nothing(t);
	if (cause->finding)
		table_text(t, cause->finding->rule->name);
	else
		table_nothing(t);
}

/* The second row is what to fix first within the job, if the first one is outside of it. */
static void fill_first(struct answer *a, struct table *t)
{
	uint64_t wall_ns = rules_time(&a->rules)->roles.wall_ns;

	table_has(t, COL_TEXT, COL_SAVES_NS, COL_SAVES_LOW_NS, COL_SAVES_HIGH_NS, COL_SHARE_PERCENT);
	table_column(t, "If", COLUMN_TEXT);
	table_has(t, COL_LINE, COL_FUNCTION, COL_CALLED_FROM, COL_ADVICE, COL_RULE);
	add_cause(t, a->first.items, wall_ns);
	add_cause(t, fix_first_inside(&a->first), wall_ns);
}

/* One part of a role's time. */
static void add_part(struct answer *a, struct table *t, const struct role *r, const char *kind, uint64_t ns,
		     const struct role_call *call, const struct buffer *line)
{
	const struct roles *all = &rules_time(&a->rules)->roles;
	struct buffer end = {0}, place = {0};

	if (!ns)
		return;
	table_text(t, r->label);
	table_number(t, r->threads);
	table_number(t, r->processes);
	table_number(t, r->lifetime_ns);
	table_number_if(t, r->process != NULL, r->process ? r->process->pid : 0);
	table_text(t, kind);
	table_number(t, ns);
	if (call) {
		table_text(t, call->function);
		role_end_words(a->context, all, call, &end);
		role_frame(a->context, call, &place);
	} else {
		table_nothing(t);
	}
	cell_text(t, &end);
	cells_line(t, line ? line : &place);
	buffer_done(&end);
	buffer_done(&place);
}

enum { PART_SHARE = 2 }; /* per cent of a role's time: a call with less has no row of its own */

static void add_role(struct answer *a, struct table *t, const struct role *r)
{
	uint64_t computing = r->cpu_ns > r->polling_ns ? r->cpu_ns - r->polling_ns : 0, others = 0;
	struct buffer line = {0};

	role_hot_frame(a->context, r, &line);
	add_part(a, t, r, "computing", computing, NULL, &line);
	add_part(a, t, r, "waiting for a CPU", r->delay_ns, NULL, NULL);
	add_part(a, t, r, "polling for others", r->cpu_ns - computing, NULL, NULL);
	for (size_t i = 0; i < r->call_count; i++) {
		const struct role_call *call = &r->calls[i];
		bool waits = role_call_waits(r, call->kind, call->ns, call->count);

		if (call->ns * 100 < r->lifetime_ns * PART_SHARE)
			others += call->ns;
		else
			add_part(a, t, r, waits ? "waiting" : "in a call", call->ns, call, NULL);
	}
	add_part(a, t, r, "in other calls", others, NULL, NULL);
	add_part(a, t, r, "stopped", r->stopped_ns, NULL, NULL);
	add_part(a, t, r, "blocked outside of recorded calls", r->unexplained_ns, NULL, NULL);
	add_part(a, t, r, "waiting for a CPU, or blocked outside of recorded calls", r->unsure_ns, NULL, NULL);
	add_part(a, t, r, "not accounted", r->unknown_ns, NULL, NULL);
	buffer_done(&line);
}

static void fill_roles(struct answer *a, struct table *t)
{
	const struct roles *all = &rules_time(&a->rules)->roles;

	table_has(t, COL_NAME, COL_THREADS, COL_PROCESSES, COL_LIFETIME_NS, COL_PID, COL_KIND, COL_TIME_NS, COL_CALL,
		  COL_WAITS_FOR, COL_LINE, COL_FUNCTION);
	for (size_t i = 0; i < all->count; i++)
		add_role(a, t, &all->items[i]);
}

static void fill_critical(struct answer *a, struct table *t)
{
	struct causality *s = costs_causes(a->costs);
	struct path path;

	if (!s)
		return;
	path_find(s, 0, UINT64_MAX, &path);
	path_table(&path, t);
	path_done(&path);
}

/* OS calls of the threads that are in a role: those of idle helpers would come first, and say nothing. */
static void fill_calls(struct answer *a, struct table *t)
{
	const struct partition *p = &rules_time(&a->rules)->partition;
	const struct roles *roles = &rules_time(&a->rules)->roles;
	struct aggregate all = {.totals_only = true};
	uint64_t sum = 0;

	for (size_t i = 0; i < p->count; i++)
		for (size_t k = 0; roles->role_of[i] && k < p->threads[i].blocked.count; k++) {
			const struct blocked_call *call = &p->threads[i].blocked.calls[k];
			const char *name = call->function->name;

			if (call->function->group == TF_GROUP_OSRT)
				aggregate_add_total(&all, aggregate_row(&all, name, strlen(name) + 1), call->count,
						    call->total_ns);
		}
	aggregate_sort(&all);
	table_has(t, COL_TIME_PERCENT, COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_NAME);
	for (size_t i = 0; i < all.count; i++)
		sum += all.rows[i].total;
	for (size_t i = 0; i < all.count && sum; i++) {
		table_real(t, 100 * (double)all.rows[i].total / (double)sum);
		table_number(t, all.rows[i].total);
		table_number(t, all.rows[i].count);
		table_text(t, aggregate_field(&all.rows[i], 0));
	}
	aggregate_done(&all);
}

const struct answer_table answer_tables[] = {
	{"run", "Run", fill_run},
	{"fix_first", "Fix First", fill_first},
	{"roles", "Time by Role", fill_roles},
	{"critical", "Critical Path", fill_critical},
	{"calls", "OS Calls Without Those of Idle Helpers", fill_calls},
};
const size_t answer_table_count = sizeof(answer_tables) / sizeof(*answer_tables);
