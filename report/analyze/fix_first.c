/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the one thing to fix first. */
#include "report/analyze/fix_first.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/base/text.h"
#include "report/derive/stacks/frame.h"
#include "report/derive/stacks/samples.h"

/* What a rule found is a defect, and its cost could be saved. The partition tells only where time went (SPENT): a wait
 * may be needed. That a thread computes is no defect, either, and what could be saved is not known (PART). What is
 * outside of the program cannot be fixed within it. Each counts for a part of what a finding of a rule would. */
#define SPENT_WEIGHT 0.4
#define PART_WEIGHT 0.2
#define OUTSIDE_WEIGHT 0.1
/* What costs no known time ranks as this share of the run: memory that grows ends it some day. */
#define NOT_TIME_SHARE 0.6

struct candidate {
	struct fix_first_cause cause;
	double rank;
	bool is_cpu;
};

struct choice {
	const struct report_context *context;
	const struct roles *roles;
	const struct role *main;    /* NULL: the first program is a shim */
	double others_own; /* what the roles of the main thread did themselves (is_mains), as parts of the run's time */
	bool is_outside; /* what is proposed now is outside of the job */
	struct candidate best[2]; /* by is_outside */
};

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void cause_done(struct fix_first_cause *cause)
{
	buffer_done(&cause->text);
	buffer_done(&cause->line);
	buffer_done(&cause->called_from);
}

/* The best of the causes within the job or outside of it. Both functions take ownership of the cause. */
static bool choose_rank(struct choice *k, struct fix_first_cause *cause, double rank)
{
	struct candidate *best = &k->best[k->is_outside];

	if (rank <= best->rank) {
		cause_done(cause);
		return false;
	}
	cause_done(&best->cause);
	if (cause->cost_ns > k->roles->wall_ns)
		cause->cost_ns = k->roles->wall_ns;
	*best = (struct candidate){.cause = *cause, .rank = rank};
	return true;
}

static bool choose(struct choice *k, struct fix_first_cause *cause, double weight)
{
	if (k->roles->wall_ns && cause->cost_ns * 100 >= k->roles->wall_ns * FIX_PERCENT)
		return choose_rank(k, cause, weight * (double)cause->cost_ns);
	cause_done(cause);
	return false;
}

/* ---- what the partition tells ---- */

/* The time by which `ns` of a role's time lengthen the run. If the main thread's program started the role, the cost is
 * at most the time that the main thread waits for it: the wait at the known line, else a share of all waits of the main
 * thread, in proportion to the activity of the roles that it may wait for. */
static uint64_t run_cost(const struct choice *k, const struct role *r, uint64_t ns)
{
	double cost = (double)role_wall_ns(r, ns), share;
	const struct role_call *wait = r->is_mains ? role_parent_wait(k->roles, r, NULL) : NULL;

	if (!k->main || !r->is_mains || k->others_own <= 0)
		return (uint64_t)cost;
	share = wait ? (double)wait->ns : (double)k->main->waits_ns * cost / k->others_own;
	return (uint64_t)(share < cost ? share : cost);
}

static void propose_cpu(struct choice *k, const struct role *r)
{
	uint64_t idle_ns = r->import_ns + r->polling_ns, cpu_ns = r->cpu_ns > idle_ns ? r->cpu_ns - idle_ns : 0;
	struct fix_first_cause cause = {.cost_ns = run_cost(k, r, cpu_ns)};
	struct buffer line = {0};
	bool is_sampled = samples_any(k->context->model);

	role_words(r, &cause.text);
	buffer_print(&cause.text, " %s %.0f %% of the time, ", r->threads > 1 ? "compute" : "computes",
		     share_of(cpu_ns, r->lifetime_ns));
	rule_time(&cause.text, cause.cost_ns);
	role_hot_line(k->context, r, &line);
	if (line.size) {
		buffer_text(&cause.text, ", of which ");
		rule_time(&cause.text, run_cost(k, r, r->lines.items[0].ns));
		buffer_print(&cause.text, " at %s", line.data);
		role_frame(k->context, &r->lines.items[0], &cause.line);
	} else {
		role_work_line(k->context, k->roles, r, &cause.text);
	}
	buffer_done(&line);
	if (choose(k, &cause, PART_WEIGHT))
		k->best[false].is_cpu = !is_sampled;
}

/* Children that run other programs; workers that were forked are roles whose own time is proposed. */
static const struct role *programs_of(const struct choice *k, const struct role *parent)
{
	for (size_t i = 0; i < k->roles->count; i++) {
		const struct role *r = &k->roles->items[i];

		if (!r->is_workers && r->is_program && r != parent && r->process->parent_pid == parent->process->pid)
			return r;
	}
	return NULL;
}

/* Another role took at least half of the time that this one waited: by what it did itself or, where the main thread
 * waits, by its existence, because the reason is then in its own partition. */
static bool is_explained_by_others(const struct choice *k, const struct role *waiting, uint64_t ns)
{
	for (size_t i = 0; i < k->roles->count; i++) {
		const struct role *r = &k->roles->items[i];
		uint64_t its = waiting->is_main ? r->lifetime_ns : role_own_ns(r);

		if (r != waiting && role_wall_ns(r, its) * 2 > role_wall_ns(waiting, ns))
			return true;
	}
	return false;
}

/* A wait that nothing in the job explains is for something outside of it: a service, a user. */
static double call_weight(const struct role_call *call, bool is_wait)
{
	return is_wait && call->kind != BLOCKED_CHILD ? OUTSIDE_WEIGHT : SPENT_WEIGHT;
}

static void propose_call(struct choice *k, const struct role *r, const struct role_call *call)
{
	bool is_wait = role_call_waits(r, call->kind, call->ns, call->count);
	const struct role *programs = call->kind == BLOCKED_CHILD ? programs_of(k, r) : NULL;
	struct fix_first_cause cause = {.cost_ns = run_cost(k, r, call->ns)};
	struct buffer *text = &cause.text, place = {0};

	if (is_wait && is_explained_by_others(k, r, call->ns))
		return;
	role_words(r, text);
	if (programs && programs->processes > 1)
		buffer_print(text, " waits for %zu processes of %s %.0f %% of the time", programs->processes,
			     programs->label, share_of(call->ns, r->lifetime_ns));
	else if (programs)
		buffer_print(text, " waits for %s %.0f %% of the time", programs->label,
			     share_of(call->ns, r->lifetime_ns));
	else
		buffer_print(text, " %s %.0f %% of the time in %s (%llu call%s)",
			     r->threads > 1 ? "are blocked" : "is blocked", share_of(call->ns, r->lifetime_ns),
			     call->function, (unsigned long long)call->count, call->count == 1 ? "" : "s");
	role_place(k->context, call, &place);
	if (place.size)
		buffer_print(text, ": %s", place.data);
	buffer_done(&place);
	role_frame(k->context, call, &cause.line);
	choose(k, &cause, call_weight(call, is_wait));
}

static void propose_stop(struct choice *k, const struct role *r)
{
	struct fix_first_cause cause = {.cost_ns = run_cost(k, r, r->stopped_ns)};

	role_words(r, &cause.text);
	buffer_print(&cause.text, " %s stopped (SIGSTOP, or a job stopped by its shell) %.0f %% of the time",
		     r->threads > 1 ? "were" : "was", share_of(r->stopped_ns, r->lifetime_ns));
	choose(k, &cause, SPENT_WEIGHT);
}

/* ---- what the rules found ---- */

void fix_first_words(const struct finding *f, struct buffer *ret)
{
	text_escape(ret, f->text.size ? f->text.data : f->rule->title, "");
	if (!f->line.size)
		return;
	buffer_text(ret, ": ");
	frame_short(f->line.data, ret);
}

/* What is outside of the program comes first only if it exceeds by far what is in the program. */
static double weight_of(const struct finding *f)
{
	const struct rule *rule = f->rule;

	if (f->is_certain)
		return 1;
	return rule->flags & RULE_OUTSIDE ? OUTSIDE_WEIGHT : rule->flags & RULE_PART ? PART_WEIGHT : 1;
}

static void propose_finding(struct choice *k, const struct finding *f)
{
	struct fix_first_cause cause = {.cost_ns = f->cost_ns};

	fix_first_words(f, &cause.text);
	buffer_add(&cause.line, f->line.data, f->line.size);
	k->is_outside = f->rule->flags & RULE_OUTSIDE;
	if (f->rule->flags & RULE_NOT_TIME)
		choose_rank(k, &cause, NOT_TIME_SHARE * (double)k->roles->wall_ns);
	else
		choose(k, &cause, weight_of(f));
	k->is_outside = false;
}

/* What is outside of the job comes first if it outweighs what is within; that follows then. */
static void conclude(struct choice *k, struct fix_first *ret)
{
	struct candidate *inside = &k->best[false], *outside = &k->best[true];
	bool is_outside = outside->rank > inside->rank;

	ret->is_cpu = inside->is_cpu;
	ret->first = is_outside ? outside->cause : inside->cause;
	if (is_outside)
		ret->inside = inside->cause;
	else
		cause_done(&outside->cause);
}

void fix_first_find(const struct report_context *c, const struct roles *roles, const struct finding *found,
		    size_t count, struct fix_first *ret)
{
	struct choice k = {.context = c, .roles = roles};

	*ret = (struct fix_first){0};
	for (size_t i = 0; i < roles->count; i++) {
		if (roles->items[i].is_main)
			k.main = &roles->items[i];
		else if (roles->items[i].is_mains)
			k.others_own += (double)role_wall_ns(&roles->items[i], role_own_ns(&roles->items[i]));
	}
	for (size_t i = 0; i < count; i++)
		propose_finding(&k, &found[i]);
	for (size_t i = 0; i < roles->count; i++) {
		const struct role *r = &roles->items[i];

		propose_cpu(&k, r);
		propose_stop(&k, r);
		for (size_t n = 0; n < r->call_count && n < 4; n++)
			propose_call(&k, r, &r->calls[n]);
	}
	conclude(&k, ret);
}

void fix_first_done(struct fix_first *f)
{
	cause_done(&f->first);
	cause_done(&f->inside);
}
