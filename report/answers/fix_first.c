/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what to fix, and sorts it by what it would save. */
#include "report/answers/fix_first_build.h"
#include "report/answers/summary/summary_deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "report/answers/input_wait.h"
#include "report/answers/spine.h"
#include "report/base/text.h"
#include "report/events/stacks/samples.h"
#include "report/read/job/process_tree.h"

/* A cause of which an unknown part could be saved counts only if it takes this part of the run. */
#define PART_SHARE 0.5

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

uint64_t fix_first_least(uint64_t wall_ns)
{
	uint64_t part = wall_ns / 100 * FIX_PERCENT;

	return part > FIX_NS ? part : FIX_NS;
}

/* ---- what the partition tells ---- */

/* The line of the code that takes the time; else, as where that is a text for `python -c`, the one that waits for the
 * program. */
static void find_line(const struct choice *k, const struct role *r, struct fix_first_cause *cause)
{
	bool has_line = cause->line && cause->line->line;
	bool is_text = has_line && !r->is_main && cause->line->file && attribution_is_generated(cause->line->file);
	const struct role_call *wait = has_line && !is_text ? NULL : role_parent_wait(k->roles, r, NULL);

	if (!wait && is_text)
		fix_first_waiting(k, r, &wait);
	if (!wait || !wait->is_users)
		return;
	cause->line = role_call_line(k->context, wait);
	cause->is_borrowed = true;
}

static void propose_cpu(struct choice *k, const struct role *r)
{
	uint64_t cpu_ns = role_cpu(r).work_ns;
	struct fix_first_cause cause = {.rule = "bound_by", .is_bound = true,
					.is_cpu = !samples_any(k->context->model)};
	SCOPED(buffer) line = {0}, time = {0};

	cause.line = role_hot_code_line(k->context, r);
	price_add_line("line", cause.line, "=0.5x", &cause.edit);
	if (!costs_of_edit(k->costs, buffer_string(&cause.edit), &cause.saves))
		function_interval(role_wall_ns(r, cpu_ns), &cause.saves);
	cause.actor = costs_actor(k->costs, cause.line, "");
	cause.worth_ns = cause.saves.saved_ns / (cause.edit.size ? 1 : 4);
	role_words(r, &cause.text);
	buffer_print(&cause.text, " %s %.0f %% of the time, ", r->threads > 1 ? "compute" : "computes",
		     share_of(cpu_ns, r->lifetime_ns));
	cause.whole_ns = role_wall_ns(r, cpu_ns);
	rule_time(&cause.text, cause.whole_ns);
	if (r->threads > 1) {
		buffer_text(&cause.text, " side by side (");
		rule_time(&cause.text, cpu_ns);
		buffer_text(&cause.text, " in all)");
	}
	role_hot_line(k->context, r, &line);
	if (line.size) {
		rule_time(&time, role_wall_ns(r, r->lines.items[0].ns));
		buffer_print(&cause.text, ", of which %s at %s", time.data, line.data);
	} else {
		role_work_line(k->context, k->roles, r, &cause.text);
	}
	find_line(k, r, &cause);
	fix_first_propose(k, &cause);
}

/* Children that run other programs; workers that were forked are roles whose own time is proposed. */
static const struct role *programs_of(const struct choice *k, const struct role *parent)
{
	const struct model *m = k->context->model;

	return list_find(r, k->roles,
			 !r->is_workers && r->is_program && r != parent &&
			 process_parent(m, r->process) == parent->process);
}

/* What a role that sleeps again and again may wait for: the others work for half of that time. */
static bool others_work(const struct choice *k, const struct role *r, uint64_t ns)
{
	uint64_t own_ns = 0;

	list_each(const struct role, other, k->roles) {
		uint64_t other_ns = other == r ? 0 : role_own_ns(other);

		own_ns += other_ns > other->delay_ns ? role_wall_ns(other, other_ns - other->delay_ns) : 0;
	}
	return own_ns >= ns / 2;
}

static bool ends_with(const struct choice *k, const struct role_call *wait, const struct role *r,
		      const struct role_call *call)
{
	const struct role_end *end = &wait->end;
	struct role_call last = {.frame = end->frame, .has_frame = end->has_frame};

	return end->ns && end->function && !strcmp(end->function, call->function) &&
	       k->roles->role_of[end->thread] == (size_t)(r - k->roles->items) + 1 &&
	       role_call_line(k->context, &last) == role_call_line(k->context, call);
}

/* Also if it is known what they have done before. */
static bool awaits_clients(const struct choice *k, const struct role *r, const struct role_call *wait)
{
	struct role_call unknown = *wait;

	unknown.end = (struct role_end){0};
	return input_of_wait(k->context, r, &unknown) == INPUT_CLIENTS;
}

/* Rather another role than `self`, else the one that waits longest. */
static bool is_asking(const struct role_call *wait, const struct role *waiting, const struct role_call *found,
		      const struct role *asking, const struct role *self)
{
	return !found || ((waiting == self) == (asking == self) ? wait->ns > found->ns : asking == self);
}

/* The calls of a line that wait for each of these calls, two thirds of their time in all or more: they hardly overlap,
 * because the line of another role asks for one at a time, or else because most of the role's own threads wait for the
 * one that makes the call, which has their lock, and may take it again at once: then there are fewer waits. NULL: none.
 */
static const struct role_call *asking_call(const struct choice *k, const struct role *r, const struct role_call *call,
					   const struct role **ret_asking)
{
	const struct role_call *found = NULL;

	list_each(const struct role, other, k->roles)
		array_each(const struct role_call, wait, other->calls, other->call_count)
			if (wait != call && wait->is_users && (other == r || wait->count >= call->count) &&
			    wait->ns * 3 >= call->ns * 2 && is_asking(wait, other, found, *ret_asking, r) &&
			    ends_with(k, wait, r, call) && !awaits_clients(k, other, wait)) {
				found = wait;
				*ret_asking = other;
			}
	return found;
}

/* What only waits for something outside of what was recorded may be a server that waits for work; short sleeps where
 * others work may be those of a loop that waits for them, unless others wait for each of them. */
static bool may_be_needed(const struct choice *k, const struct role *r, const struct role_call *call,
			  uint64_t saved_ns)
{
	const struct role *asking;

	if (call->is_timed)
		return others_work(k, r, saved_ns);
	switch (call->kind) {
	case BLOCKED_CHILD:
	case BLOCKED_GPU: /* its price is that of a wait at the end */
		return false;
	case BLOCKED_MPI:
	case BLOCKED_NCCL:
		return true;
	case BLOCKED_SLEEP:
		return call->count >= CAUSES_POLLS && call->ns / call->count < CAUSES_POLL_NS &&
		       others_work(k, r, saved_ns) && !asking_call(k, r, call, &asking);
	default:
		return role_call_waits(r, call->kind, call->ns, call->count) && !call->end.ns;
	}
}

/* A wait for others that no line of the user's makes: of a launcher, a compiler's driver, a pool of threads. What it
 * waits for is proposed. */
static bool is_of_library(const struct role_call *call)
{
	return call->has_frame && !call->is_users && !call->is_timed &&
	       (call->kind == BLOCKED_CHILD || blocked_waits_for_others(call->kind));
}

static void call_words(const struct choice *k, const struct role *r, const struct role_call *call,
		       const struct role *programs, const struct code_line *line, struct buffer *text)
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
	if (!place.size)
		code_line_short(line, &place);
	if (place.size)
		buffer_print(text, ": %s", place.data);
	buffer_done(&place);
	if (programs)
		role_end_words(k->context, k->roles, r, call, &place);
	else
		role_awaited_words(k->context, k->roles, r, call, &place);
	if (place.size)
		buffer_print(text, ", for %s", place.data);
	buffer_done(&place);
}

/* Of calls that a line of a library's code makes for the user's, as all of a server does: the line mostly computes,
 * which is told by itself, or mostly waits for input. */
static bool is_aside(const struct choice *k, const struct role *r, const struct role_call *call)
{
	if (!call->has_frame)
		return false;
	if (costs_line_does(k->costs, role_call_line(k->context, call)) == DOES_COMPUTE)
		return true;
	return array_find(other, r->calls, r->call_count,
			  other->ns > call->ns && other->has_frame && input_of_wait(k->context, r, other) &&
			  role_call_line(k->context, other) == role_call_line(k->context, call)) != NULL;
}

/* The line has most of its time where other threads wait for it: the role's own part of the run says nothing then. */
static bool is_on_path(const struct choice *k, const struct code_line *line)
{
	const struct prices *all = costs_prices(k->costs);
	SCOPED(buffer) edit = {0};

	if (line && line->line)
		price_add_line("line", line, "=0", &edit);
	array_each(const struct price, price, all->items, all->count)
		if (edit.size && !strcmp(price->edit, edit.data))
			return price->saves.saved_ns >= k->least_ns;
	return false;
}

/* Whether the role waits for data, or for another thread, before each of these calls: then it is asked for them. */
static bool is_asked(const struct role *r, const struct role_call *call)
{
	return array_find(wait, r->calls, r->call_count,
			  wait->count >= call->count &&
			  (wait->kind == BLOCKED_SOCKET || wait->kind == BLOCKED_PIPE ||
			   blocked_waits_for_others(wait->kind))) != NULL;
}

/* A single thread does one after the other in any case, but the one that asks it may ask for several at once. How long
 * that waits, with what the messages take. */
static uint64_t asking_words(const struct choice *k, const struct role *r, const struct role_call *call,
			     struct buffer *text)
{
	const struct role *asking;
	const struct role_call *found = asking_call(k, r, call, &asking);

	if (!found || (r->threads < 2 && !is_asked(r, call)))
		return 0;
	buffer_text(text, "; ");
	if (asking == r) {
		buffer_text(text, "they wait for each other at ");
	} else {
		role_words(asking, text);
		buffer_print(text, " %s for one at a time at ", asking->threads > 1 ? "wait" : "waits");
	}
	role_place(k->context, found, text);
	return role_wall_ns(asking, found->ns);
}

/* Shorter processes that a line starts again and again need rather not be started. */
enum { STARTED_NS = 250000000 };

/* A wait for a thread that is in no role, because it does nothing but wait, ends with the calls of that thread. */
static void propose_end(struct choice *k, const struct role *r, const struct role_call *call)
{
	const struct role_end *end = &call->end;
	const struct thread_time *t = &k->partition->threads[end->thread];
	struct role helper = {.process = &k->context->model->processes[t->process]};
	struct role_call last = {.kind = end->kind, .function = end->function, .frame = end->frame,
				 .has_frame = end->has_frame};
	struct fix_first_cause cause = {.rule = "blocked", .line = role_call_line(k->context, &last),
					.whole_ns = role_wall_ns(r, call->ns)};

	if (!end->ns || !end->function || k->roles->role_of[end->thread] || !cause.line ||
	    input_of_wait(k->context, &helper, &last) || (!end->is_users && !call->is_users))
		return;
	price_add_line("line", cause.line, "=0", &cause.edit);
	costs_of_edit(k->costs, buffer_string(&cause.edit), &cause.saves);
	if (cause.saves.saved_ns < cause.whole_ns / 2) { /* then other calls of the line save it */
		fix_first_cause_done(&cause);
		return;
	}
	cause.actor = costs_actor(k->costs, cause.line, end->function);
	if (!end->is_users) {
		cause.line = role_call_line(k->context, call);
		cause.is_borrowed = true;
	}
	call_words(k, r, call, NULL, cause.line, &cause.text);
	fix_first_propose(k, &cause);
}

static void propose_call(struct choice *k, const struct role *r, const struct role_call *call)
{
	const struct role *programs = call->kind == BLOCKED_CHILD ? programs_of(k, r) : NULL;
	bool is_of_children = programs && programs->processes > 1, is_sync = call->kind == BLOCKED_GPU;
	const struct code_line *line = call->has_frame ? role_call_line(k->context, call)
							: costs_line_of_calls(k->costs, call->function);
	size_t started = costs_started(k->costs, line);
	bool is_again = started >= PRICE_STARTED && call->ns / started < STARTED_NS;
	struct fix_first_cause cause = {.rule = is_again	 ? "short_processes"
						: is_of_children ? "one_after_another"
						: is_sync	 ? "early_sync"
								 : "blocked",
					.how = is_again		? "if it started none"
					       : is_of_children ? "if they ran side by side"
					       : is_sync	? "if it waited only at the end"
								: NULL,
					.line = line};
	bool is_no_wait = !is_again && (is_of_children || is_sync), is_of_all;
	uint64_t asking_ns;

	propose_end(k, r, call);
	/* What a line waits for that has started it once is to be changed where it works. */
	if (started && !is_again && !is_of_children)
		return;
	if (is_of_library(call) || (role_wall_ns(r, call->ns) < k->least_ns && !is_on_path(k, line)) ||
	    (!started && (input_of_wait(k->context, r, call) || is_aside(k, r, call))) ||
	    (k->told.count && (!cause.line || blocked_waits_for_others(call->kind)))) /* no line: in progress */
		return;
	price_add_line(is_no_wait ? "no-sync" : "line", cause.line, is_no_wait ? "" : "=0", &cause.edit);
	is_of_all = !cause.edit.size;
	if (is_of_all) {
		buffer_text(&cause.edit, "call~");
		price_add_name(call->function, &cause.edit);
		buffer_text(&cause.edit, "=0");
	}
	costs_of_edit(k->costs, buffer_string(&cause.edit), &cause.saves);
	if (!is_again && may_be_needed(k, r, call, cause.saves.saved_ns)) {
		cause.rule = "bound_by";
		cause.is_bound = cause.is_last = true;
	}
	cause.whole_ns = role_wall_ns(r, call->ns);
	/* the calls that others make, too; what is less is how runs differ */
	if (is_of_all && cause.saves.saved_ns > cause.whole_ns + cause.whole_ns * SAVING_PERCENT / 100) {
		fix_first_limit(&cause.saves, cause.whole_ns);
		cause.saves.cost_ns = 0;
		buffer_clear(&cause.edit);
	}
	/* The line of an import does more than to read, and has a rule. */
	if (call->import_ns > call->ns / 2 && cause.saves.saved_ns > cause.whole_ns) {
		fix_first_cause_done(&cause);
		return;
	}
	/* nobody knows what ended the waits of the role that waits for this one: these calls may have held it up, for
	 * which there is no edit; a wait for a lock is what its holder does */
	if (cause.saves.saved_ns < k->least_ns && call->kind != BLOCKED_LOCK &&
	    !role_call_waits(r, call->kind, call->ns, call->count) && fix_first_waiting(k, r, NULL)) {
		function_interval(cause.whole_ns, &cause.saves);
		buffer_clear(&cause.edit);
	}
	cause.actor = costs_actor(k->costs, cause.line, call->function);
	call_words(k, r, call, programs, cause.line, &cause.text);
	find_line(k, r, &cause);
	if (cause.is_borrowed) {
		buffer_text(&cause.text, ", awaited at ");
		code_line_short(cause.line, &cause.text);
	}
	asking_ns = asking_words(k, r, call, &cause.text);
	cause.whole_ns = asking_ns > cause.whole_ns ? asking_ns : cause.whole_ns;
	fix_first_propose(k, &cause);
}

static void propose_stop(struct choice *k, const struct role *r)
{
	struct fix_first_cause cause = {.rule = "stopped", .saves.saved_ns = role_wall_ns(r, r->stopped_ns)};

	cause.saves.low_ns = cause.saves.high_ns = cause.saves.saved_ns;
	role_words(r, &cause.text);
	buffer_print(&cause.text, " %s stopped (SIGSTOP, or a job stopped by its shell) %.0f %% of the time",
		     r->threads > 1 ? "were" : "was", share_of(r->stopped_ns, r->lifetime_ns));
	fix_first_propose(k, &cause);
}

static void propose_kernel(struct choice *k, const struct price *price)
{
	struct fix_first_cause cause = {.rule = "bound_by", .is_bound = true, .saves = price->saves};
	struct editables *all = &costs_causes(k->costs)->editables;

	cause.how = text_ends_with(price->edit, "=0") ? "if it took half of its time, or another kernel did its work"
						      : "if it took half of its time";
	/* What can simply be removed comes before it, see propose_spine, the more so before what a library computes:
	 * that is as fast as it can make it. */
	cause.worth_ns = price->saves.saved_ns / 4;
	cause.whole_ns = (uint64_t)price->path_ns;
	buffer_text(&cause.edit, price->edit);
	buffer_text(&cause.text, "the GPU executes ");
	text_fit(&cause.text, all->items[price->what].name, 60);
	buffer_print(&cause.text, " %.0f %% of the time",
		     share_of(cause.whole_ns, k->roles->wall_ns));
	cause.line = editable_line(all, price->what);
	if (cause.line) {
		buffer_text(&cause.text, ", launched at ");
		code_line_short(cause.line, &cause.text);
	}
	fix_first_propose(k, &cause);
}

static void propose_kernels(struct choice *k)
{
	const struct prices *all = costs_prices(k->costs);

	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].is_kernel)
			propose_kernel(k, &all->items[i]);
}

/* ---- what the rules found ---- */

void fix_first_words(const struct finding *f, struct buffer *ret)
{
	text_escape(ret, f->text.size ? f->text.data : f->rule->title, "");
	if (!f->line)
		return;
	buffer_text(ret, ": ");
	code_line_short(f->line, ret);
}

/* The price of the rule's own edit, or of the repair of its line: what computes takes half of its time unless the
 * repair removes it. What is removed with what the rule looks for costs the run, too. */
static void price_line(struct costs *costs, struct finding *f)
{
	bool is_own = f->edit.size;
	enum line_does work = is_own ? DOES_CALL : costs_line_does(costs, f->line);
	bool is_sync = work == DOES_AWAIT_DEVICE, is_slow = work == DOES_COMPUTE && !(f->rule->flags & RULE_REMOVED);

	f->has_price_of_work = is_slow;
	if (!is_own)
		price_add_line(is_sync ? "no-sync" : "line", f->line, is_sync ? "" : is_slow ? "=0.5x" : "=0",
			       &f->edit);
	if (!f->edit.size) /* a line without a name: its calls cost what the rule says */
		return;
	if (!costs_of_edit(costs, f->edit.data, &f->saves)) {
		buffer_clear(&f->edit);
	} else if (f->saves.saved_ns > f->cost_ns && f->rule->flags & RULE_REMOVED) {
		f->cost_ns = is_own ? f->saves.high_ns : f->saves.saved_ns;
		f->cost_ns = f->saves.cost_ns > f->cost_ns ? f->saves.cost_ns : f->cost_ns;
		buffer_print(&f->text, "%s%s ", f->text.size ? "; " : "",
			     is_own ? "in all processes it takes at most" : "all that its line does takes");
		rule_time(&f->text, f->cost_ns);
	} else if (f->saves.saved_ns > f->cost_ns && !is_sync) { /* without a wait for a device, more overlaps */
		fix_first_limit(&f->saves, f->cost_ns);
		buffer_clear(&f->edit); /* which stands for more */
	}
}

void fix_first_saving(struct costs *costs, struct finding *f, uint64_t least_ns)
{
	bool is_known = !(f->rule->flags & RULE_PART) || f->is_certain;
	bool is_of_time = !(f->rule->flags & (RULE_OUTSIDE | RULE_NOT_TIME | RULE_ENDED));
	bool is_more = f->edit.size && f->rule->flags & RULE_REMOVED; /* than what the rule looks for */
	double run_ns;

	if (f->is_priced)
		return;
	run_ns = costs_causes(costs) ? (double)costs_causes(costs)->run_ns : 0;
	f->saves = (struct saving){.saved_ns = f->cost_ns, .high_ns = f->cost_ns};
	if (f->is_of_lines || (!is_known && (double)f->cost_ns < PART_SHARE * run_ns))
		f->saves = (struct saving){0};
	if (!is_of_time || !is_known || !run_ns || f->verdict != VERDICT_FOUND || (f->cost_ns < least_ns && !is_more))
		return;
	if (is_more || (!f->edit.size && f->line))
		price_line(costs, f);
	else if (f->edit.size && !costs_of_edit(costs, f->edit.data, &f->saves))
		buffer_clear(&f->edit);
}

static void propose_finding(struct choice *k, const struct finding *f)
{
	struct fix_first_cause cause = {.rule = f->rule->name, .finding = f, .saves = f->saves,
					.whole_ns = f->cost_ns};

	if (f->verdict != VERDICT_FOUND || f->rule->flags & (RULE_NSYS | RULE_ENDED | RULE_OUTSIDE))
		return;
	if (f->rule->flags & RULE_NOT_TIME)
		cause.saves = (struct saving){0};
	/* What has no price in the graph may save all of its time or nothing; of a RULE_PART most. */
	if (f->rule->flags & RULE_WORK || (!(f->rule->flags & RULE_PART) && !cause.saves.low_ns && !f->edit.size))
		cause.worth_ns = cause.saves.saved_ns / 2;
	/* of two threads or more: to remove all that they do so saves up to twice as much */
	if (f->rule->flags & RULE_SERIAL)
		cause.worth_ns = 2 * cause.saves.saved_ns;
	fix_first_words(f, &cause.text);
	cause.line = f->line;
	buffer_add(&cause.edit, f->edit.data, f->edit.size);
	if (f->line)
		cause.actor = costs_actor(k->costs, f->line, NULL);
	fix_first_propose(k, &cause);
}

/* ---- the whole ---- */

/* By what is saved. */
COMPARATOR(compare_causes, struct fix_first_cause,
	   order_of(a->is_last, b->is_last) ?: order_of(b->worth_ns, a->worth_ns) ?: strcmp(a->text.data, b->text.data))

/* What costs no time, and was looked for, comes before what the run is bound by. */
static void lift_not_time(struct fix_first *f)
{
	size_t bound = 0;

	while (bound < f->count && !f->items[bound].is_bound)
		bound++;
	for (size_t i = bound; i < f->count; i++) {
		struct fix_first_cause cause = f->items[i];

		if (cause.saves.saved_ns || (cause.finding && cause.finding->rule->flags & RULE_WORK))
			continue;
		memmove(f->items + bound + 1, f->items + bound, (i - bound) * sizeof(*f->items));
		f->items[bound++] = cause;
	}
}

/* Waits of which nobody knows whether they are needed are told only if there is nothing else. */
static void drop_last(struct fix_first *f)
{
	size_t known = 0;

	while (known < f->count && !f->items[known].is_last)
		known++;
	while (known && f->count > known)
		fix_first_cause_done(&f->items[--f->count]);
}

void fix_first_find(const struct report_context *c, struct costs *costs, const struct job_time *time,
		    const struct finding *found, size_t count, struct fix_first *ret)
{
	struct choice k = {.context = c, .costs = costs, .partition = &time->partition, .roles = &time->roles,
			   .least_ns = fix_first_least(time->roles.wall_ns), .causes = ret,
			   .team_worth_ns = mem_alloc((time->roles.count + 1) * sizeof(*k.team_worth_ns))};
	SCOPED(where_place) place = {0};

	*ret = (struct fix_first){0};
	own_stacks_init(&k.own, c->symbols);
	where_place_read_briefly(&place, c->model, c->symbols);
	deadlock_places(&place, &k.told);
	for (size_t i = 0; i < count; i++)
		propose_finding(&k, &found[i]);
	list_each(const struct role, r, k.roles)
		fix_first_balance(&k, r);
	list_each(const struct role, r, k.roles) {
		if (!fix_first_spines(&k, r))
			propose_cpu(&k, r);
		propose_stop(&k, r);
		for (size_t n = 0; n < r->call_count && r->calls[n].ns >= k.least_ns; n++)
			propose_call(&k, r, &r->calls[n]);
	}
	propose_kernels(&k);
	array_sort(ret->items, ret->count, compare_causes);
	for (size_t i = 0; i < ret->count && i < SPINES; i++)
		fix_first_callers(&k, &ret->items[i]);
	if (ret->count)
		fix_first_repeats(&k, ret->items);
	texts_done(&k.told);
	own_stacks_done(&k.own);
	free(k.team_worth_ns);
	drop_last(ret);
	lift_not_time(ret);
}

void fix_first_done(struct fix_first *f)
{
	array_free(item, f->items, f->count, fix_first_cause_done(item));
	*f = (struct fix_first){0};
}
