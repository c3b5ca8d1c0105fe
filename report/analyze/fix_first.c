/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the one thing to fix first. */
#include "report/analyze/fix_first.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/text.h"
#include "report/derive/stacks/frame.h"
#include "report/derive/stacks/samples.h"

/* A finding that costs no time but may end the run, such as a leak, ranks as a saving of this part of the run. */
#define NOT_TIME_SHARE 0.6
/* A cause outside of the program, or one of which an unknown part could be saved, comes first only if it takes this
 * part of the run. */
#define OUTSIDE_SHARE 0.5

struct choice {
	const struct report_context *context;
	struct costs *costs;
	const struct partition *partition;
	const struct roles *roles;
	uint64_t least_ns;
	struct fix_first_cause inside, outside, last; /* last: waits of which nobody knows whether they are needed */
	bool is_cpu;
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

uint64_t fix_first_least(uint64_t wall_ns)
{
	uint64_t part = wall_ns / 100 * FIX_PERCENT;

	return part > FIX_NS ? part : FIX_NS;
}

static uint64_t at_most(uint64_t ns, uint64_t most)
{
	return ns < most ? ns : most;
}

static void limit_saving(struct saving *s, uint64_t most)
{
	s->saved_ns = at_most(s->saved_ns, most);
	s->low_ns = at_most(s->low_ns, most);
	s->high_ns = at_most(s->high_ns, most);
}

/* The better one of the two stays. Takes ownership of the cause. */
static bool choose(struct choice *k, struct fix_first_cause *best, struct fix_first_cause *cause)
{
	uint64_t wall = k->roles->wall_ns, saved = cause->saves.saved_ns;

	if (saved < k->least_ns || saved <= best->saves.saved_ns) {
		cause_done(cause);
		return false;
	}
	cause_done(best);
	*best = *cause;
	best->saves.saved_ns = saved < wall ? saved : wall;
	return true;
}

/* A call or a line at which a rule has found something needs to save much more to be named instead. */
static bool is_named_already(const struct choice *k, const struct fix_first_cause *cause)
{
	return cause->line.size && k->inside.line.size && !strcmp(cause->line.data, k->inside.line.data) &&
	       k->inside.saves.saved_ns >= cause->saves.saved_ns / 4 * 3;
}

/* ---- what the partition tells ---- */

static void propose_cpu(struct choice *k, const struct role *r)
{
	uint64_t idle_ns = r->import_ns + r->polling_ns, cpu_ns = r->cpu_ns > idle_ns ? r->cpu_ns - idle_ns : 0;
	struct fix_first_cause cause = {.how = "if it took half of its time"};
	uint64_t line_ns = cpu_ns;
	bool is_sampled = samples_any(k->context->model);
	struct buffer line = {0}, time = {0};

	role_hot_frame(k->context, r, &cause.line);
	if (cause.line.size)
		line_ns = r->lines.items[0].ns;
	costs_of_line(k->costs, buffer_string(&cause.line), "", COST_COMPUTING, k->least_ns, &cause.saves);
	/* Without samples, the time that it waited for a CPU cannot be told from its computing. */
	limit_saving(&cause.saves, role_wall_ns(r, line_ns) / 2);
	role_words(r, &cause.text);
	buffer_print(&cause.text, " %s %.0f %% of the time, ", r->threads > 1 ? "compute" : "computes",
		     share_of(cpu_ns, r->lifetime_ns));
	rule_time(&cause.text, role_wall_ns(r, cpu_ns));
	role_hot_line(k->context, r, &line);
	if (line.size) {
		rule_time(&time, role_wall_ns(r, r->lines.items[0].ns));
		buffer_print(&cause.text, ", of which %s at %s", time.data, line.data);
	} else {
		role_work_line(k->context, k->roles, r, &cause.text);
	}
	buffer_done(&line);
	buffer_done(&time);
	if (is_named_already(k, &cause))
		cause_done(&cause);
	else if (choose(k, &k->inside, &cause))
		k->is_cpu = !is_sampled;
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

/* Of processes that a line waits for one after another: at most until the CPUs are busy. */
static void limit_to_cpus(const struct choice *k, const struct role_call *call, const struct role *programs,
			  struct saving *saves)
{
	uint64_t most = 0;

	for (size_t i = 0; i < k->partition->count; i++) {
		double cpus = cpu_limit_width(&k->partition->threads[i].limit);
		double busy = cpus >= 1 ? (double)programs->cpu_ns / cpus : (double)call->ns;

		if (k->roles->role_of[i] == (size_t)(programs - k->roles->items) + 1) {
			most = (double)call->ns > busy ? call->ns - (uint64_t)busy : 0;
			break;
		}
	}
	limit_saving(saves, most);
}

/* So many so short sleeps are those of a loop that looks whether something has happened. */
enum { POLLS = 10, POLL_NS = 50000000 };

/* What only waits for something outside of what was recorded may be a server that waits for work; short sleeps where
 * others work may be those of a loop that waits for them. */
static bool may_be_needed(const struct choice *k, const struct role *r, const struct role_call *call)
{
	switch (call->kind) {
	case BLOCKED_CHILD:
		return false;
	case BLOCKED_MPI:
	case BLOCKED_NCCL:
		return true;
	case BLOCKED_SLEEP:
		return k->roles->count > 1 && call->count >= POLLS && call->ns / call->count < POLL_NS;
	default:
		return role_call_waits(r, call->kind, call->ns, call->count) && !call->end.ns;
	}
}

static void call_words(const struct choice *k, const struct role *r, const struct role_call *call,
		       const struct role *programs, struct buffer *text)
{
	struct buffer place = {0};

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
	role_end_words(k->context, k->roles, call, &place);
	if (place.size)
		buffer_print(text, ", for %s", place.data);
	buffer_done(&place);
}

static void propose_call(struct choice *k, const struct role *r, const struct role_call *call)
{
	const struct role *programs = call->kind == BLOCKED_CHILD ? programs_of(k, r) : NULL;
	bool is_of_children = programs && programs->processes > 1, is_sync = call->kind == BLOCKED_GPU;
	struct fix_first_cause cause = {.how = is_of_children ? "if they ran side by side"
					     : is_sync	      ? "if it waited only at the end"
							      : NULL};

	if (role_wall_ns(r, call->ns) < k->least_ns)
		return;
	role_frame(k->context, call, &cause.line);
	costs_of_line(k->costs, buffer_string(&cause.line), call->function,
		      is_of_children || is_sync ? COST_WAITS : COST_CALLS, k->least_ns, &cause.saves);
	if (is_of_children)
		limit_to_cpus(k, call, programs, &cause.saves);
	call_words(k, r, call, programs, &cause.text);
	if (is_named_already(k, &cause))
		cause_done(&cause);
	else if (choose(k, may_be_needed(k, r, call) ? &k->last : &k->inside, &cause) && k->inside.text.size)
		k->is_cpu &= k->inside.how != NULL;
}

static void propose_stop(struct choice *k, const struct role *r)
{
	struct fix_first_cause cause = {.saves.saved_ns = role_wall_ns(r, r->stopped_ns)};

	cause.saves.low_ns = cause.saves.high_ns = cause.saves.saved_ns;
	role_words(r, &cause.text);
	buffer_print(&cause.text, " %s stopped (SIGSTOP, or a job stopped by its shell) %.0f %% of the time",
		     r->threads > 1 ? "were" : "was", share_of(r->stopped_ns, r->lifetime_ns));
	choose(k, &k->inside, &cause);
}

static void propose_balance(struct choice *k, const struct role *r)
{
	struct fix_first_cause cause = {.how = "if all had the same work"};
	uint64_t most = 0, mean = 0;

	if (r->threads < 2)
		return;
	costs_of_balance(k->costs, k->partition, k->roles, r, k->least_ns, &cause.saves, &most, &mean);
	role_words(r, &cause.text);
	buffer_text(&cause.text, " have unequal work: one has ");
	rule_time(&cause.text, most);
	buffer_text(&cause.text, ", on average they have ");
	rule_time(&cause.text, mean);
	role_work_line(k->context, k->roles, r, &cause.text);
	role_hot_frame(k->context, r, &cause.line);
	choose(k, &k->inside, &cause);
}

static void propose_kernel(struct choice *k)
{
	struct fix_first_cause cause = {.how = "if it took half of its time"};
	struct causality *s = costs_causes(k->costs);
	struct buffer place = {0};
	uint32_t what;
	double ns;

	if (!costs_of_kernel(k->costs, k->least_ns, &cause.saves, &what, &ns))
		return;
	buffer_text(&cause.text, "the GPU executes ");
	text_fit(&cause.text, s->editables.items[what].name, 60);
	buffer_print(&cause.text, " %.0f %% of the time", share_of((uint64_t)ns, k->roles->wall_ns));
	buffer_text(&cause.line, editable_line(&s->editables, what));
	if (cause.line.size) {
		frame_short(cause.line.data, &place);
		buffer_print(&cause.text, ", launched at %s", place.data);
	}
	buffer_done(&place);
	choose(k, &k->inside, &cause);
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

void fix_first_saving(struct costs *costs, const struct finding *f, uint64_t least_ns, struct saving *ret)
{
	bool is_known = !(f->rule->flags & (RULE_OUTSIDE | RULE_PART)) || f->is_certain;
	double run_ns = costs_causes(costs) ? (double)costs_causes(costs)->run_ns : 0;
	bool is_replayed = f->line.size && !(f->rule->flags & (RULE_OUTSIDE | RULE_NOT_TIME)) && costs_causes(costs);

	*ret = (struct saving){.saved_ns = f->cost_ns, .low_ns = is_replayed ? f->cost_ns : 0, .high_ns = f->cost_ns};
	if (!is_known && (double)f->cost_ns < OUTSIDE_SHARE * run_ns)
		*ret = (struct saving){0};
	if (!is_replayed || f->cost_ns < least_ns || !is_known)
		return;
	costs_of_line(costs, f->line.data, NULL, COST_CALLS | COST_COMPUTING | COST_WAITS, least_ns, ret);
	limit_saving(ret, f->cost_ns);
}

static void propose_finding(struct choice *k, const struct finding *f)
{
	struct fix_first_cause cause = {.finding = f};
	bool is_outside = f->rule->flags & RULE_OUTSIDE;

	if (f->verdict != VERDICT_FOUND || f->rule->flags & RULE_NSYS)
		return;
	fix_first_saving(k->costs, f, k->least_ns, &cause.saves);
	if (f->rule->flags & RULE_NOT_TIME)
		cause.saves.saved_ns = (uint64_t)(NOT_TIME_SHARE * (double)k->roles->wall_ns);
	fix_first_words(f, &cause.text);
	buffer_add(&cause.line, f->line.data, f->line.size);
	if (choose(k, is_outside ? &k->outside : &k->inside, &cause) && !is_outside)
		k->is_cpu = false;
}

/* What is outside of the job comes first if it takes so much of the run; what is within follows then. */
static void conclude(struct choice *k, struct fix_first *ret)
{
	if (k->inside.text.size) {
		cause_done(&k->last);
	} else {
		k->inside = k->last;
		k->is_cpu = false;
	}
	ret->is_cpu = k->is_cpu;
	ret->first = k->outside.text.size ? k->outside : k->inside;
	if (k->outside.text.size)
		ret->inside = k->inside;
}

void fix_first_find(const struct report_context *c, struct costs *costs, const struct job_time *time,
		    const struct finding *found, size_t count, struct fix_first *ret)
{
	struct choice k = {.context = c, .costs = costs, .partition = &time->partition, .roles = &time->roles,
			   .least_ns = fix_first_least(time->roles.wall_ns)};

	*ret = (struct fix_first){0};
	for (size_t i = 0; i < count; i++)
		propose_finding(&k, &found[i]);
	for (size_t i = 0; i < k.roles->count; i++) {
		const struct role *r = &k.roles->items[i];

		propose_cpu(&k, r);
		propose_stop(&k, r);
		propose_balance(&k, r);
		for (size_t n = 0; n < r->call_count && n < 4; n++)
			propose_call(&k, r, &r->calls[n]);
	}
	propose_kernel(&k);
	conclude(&k, ret);
}

void fix_first_done(struct fix_first *f)
{
	cause_done(&f->first);
	cause_done(&f->inside);
}
