/* SPDX-License-Identifier: Apache-2.0 */
/* Work that threads share out unequally, as a cause of fix_first. The threads of a team of OpenMP meet in system calls
 * and loops of its runtime, which are not recorded, so that the graph has no waits of theirs: what each of them does is
 * known by its samples below the runtime. */
#include <math.h>
#include <stdlib.h>

#include "report/answers/fix_first_build.h"
#include "report/causes/openmp/openmp_places.h"

/* Of the one with most, a smaller part is how a schedule happens to end. */
#define TEAM_EXCESS 0.1

/* ---- a team of OpenMP ---- */

struct openmp_member {
	const struct thread_time *thread;
	double work_ns; /* of samples below the runtime */
	double stretch; /* the time in which it had a CPU or waited for one, as a multiple of the former */
};

struct openmp_team {
	const struct role *threads, *starter;
	struct openmp_member *members;
	size_t count;
	double mean_ns;
	const struct openmp_member *longest;
};

static bool is_of_team(const struct choice *k, const struct role_stack *s)
{
	return attribution_is_below_openmp(k->context->symbols, s->image, s->stack);
}

/* What the members of a role do for the team. Returns that, and what the role does in all. */
static double add_work(const struct choice *k, const struct role *r, struct openmp_team *t, double *ret_all_ns)
{
	double ns = 0;

	array_each(const struct role_stack, s, r->stacks, r->stack_count) {
		const struct thread_time *thread = &k->partition->threads[s->thread];
		struct openmp_member *m = array_find(one, t->members, t->count, one->thread == thread);

		*ret_all_ns += (double)s->ns;
		if (!m || !is_of_team(k, s))
			continue;
		m->work_ns += (double)s->ns;
		ns += (double)s->ns;
	}
	return ns;
}

static void add_members(const struct choice *k, const struct role *r, struct openmp_team *t)
{
	size_t number = (size_t)(r - k->roles->items) + 1;

	for (size_t i = 0; i < k->partition->count; i++) {
		const struct thread_time *thread = &k->partition->threads[i];
		bool is_delayed = thread->delay_is_known && thread->cpu_ns;

		if (k->roles->role_of[i] != number || &k->context->model->processes[thread->process] != r->process)
			continue;
		t->members[t->count++] = (struct openmp_member){
			thread, 0, is_delayed ? 1 + (double)thread->delay_ns / (double)thread->cpu_ns : 1};
	}
}

/* The threads of a role with the program that has started them, if that takes part. False: it is no such team, or its
 * waits are recorded. */
static bool team_find(const struct choice *k, const struct role *r, struct openmp_team *ret)
{
	double all_ns = 0, starters_ns = 0, team_ns;

	ret->threads = r;
	ret->starter = roles_starter(k->roles, r);
	ret->members = mem_alloc((k->partition->count + 1) * sizeof(*ret->members));
	if (!ret->starter || ret->starter->threads != 1)
		return false;
	add_members(k, r, ret);
	if (ret->count != r->threads || !ret->count || openmp_is_in(ret->members->thread->image))
		return false;
	team_ns = add_work(k, r, ret, &all_ns);
	if (!team_ns || team_ns * 5 < all_ns * 4) /* threads of the program's own are beside them */
		return false;
	add_members(k, ret->starter, ret);
	team_ns += add_work(k, ret->starter, ret, &starters_ns);
	ret->mean_ns = team_ns / (double)ret->count;
	ret->longest = ret->members;
	array_each(const struct openmp_member, m, ret->members, ret->count)
		if (m->work_ns > ret->longest->work_ns)
			ret->longest = m;
	return true;
}

/* Which part of the excess those with less than the mean have time to take over: one that had no CPU while others
 * computed has done less, and does not wait for them, nor does one that did not exist or was in a recorded call. */
static double free_part(const struct openmp_team *t)
{
	double free_ns = 0, missing_ns = 0;

	array_each(const struct openmp_member, m, t->members, t->count) {
		uint64_t recorded_ns = m->thread->blocked_ns - m->thread->unexplained_ns,
			 own_ns = m->thread->lifetime_ns - recorded_ns;

		if (m->work_ns >= t->mean_ns)
			continue;
		free_ns += fmax(0, (double)own_ns - m->work_ns * m->stretch);
		missing_ns += (t->mean_ns - m->work_ns) * m->stretch;
	}
	return missing_ns > 0 ? fmin(1, free_ns / missing_ns) : 0;
}

/* By how much the samples may be wrong about the excess: two standard deviations of their share of each member's CPU
 * time, and a sample at each end. */
static double error_of(const struct openmp_team *t, double sample_ns)
{
	double others = 1 / (double)t->count, squares = 0;

	array_each(const struct openmp_member, m, t->members, t->count) {
		double part = m == t->longest ? 1 - others : others,
		       rest = m->thread->cpu_ns ? fmax(0, 1 - m->work_ns / (double)m->thread->cpu_ns) : 0;

		squares += part * part * 4 * sample_ns * (m->work_ns * rest + sample_ns);
	}
	return sqrt(squares);
}

/* If each had the mean: at most the difference that is stated. On a machine whose CPUs others hold, what the others
 * take over may make them wait for a CPU as long as it saves: that is the lowest. False: the difference is within the
 * error of the samples, or small as CPU time. */
static bool team_saving(const struct choice *k, const struct openmp_team *t, uint64_t sample_ns, struct saving *ret)
{
	double most_ns = t->longest->work_ns - t->mean_ns, excess_ns = most_ns * free_part(t),
	       stretch = t->longest->stretch, error_ns = error_of(t, (double)sample_ns);

	*ret = (struct saving){0};
	if (excess_ns < TEAM_EXCESS * t->longest->work_ns || excess_ns <= error_ns)
		return false;
	ret->saved_ns = (uint64_t)(excess_ns * stretch);
	ret->high_ns = (uint64_t)(fmin(excess_ns + error_ns, most_ns) * stretch);
	ret->low_ns = (uint64_t)((excess_ns - error_ns) * fmax(0, 2 - stretch));
	return excess_ns >= (double)k->least_ns;
}

/* The line at which most of what the longest has is done, and where the team begins. */
static void team_line(struct choice *k, const struct openmp_team *t, struct fix_first_cause *cause)
{
	const struct role *roles[2] = {t->threads, t->starter};
	struct spine_time *times = mem_alloc((t->threads->stack_count + t->starter->stack_count + 1) * sizeof(*times));
	struct spine spine;
	const struct spine_frame *place;
	size_t count = 0;
	bool is_found;

	for (size_t i = 0; i < 2; i++)
		array_each(const struct role_stack, s, roles[i]->stacks, roles[i]->stack_count)
			if (&k->partition->threads[s->thread] == t->longest->thread && is_of_team(k, s))
				times[count++] = (struct spine_time){own_stack_of(&k->own, s->image, s->stack), s->ns};
	is_found = spine_of_calls(&k->own, times, count, &spine);
	free(times);
	if (!is_found)
		return;
	place = &spine.frames[spine.count - 1];
	cause->line = fix_first_place_line(k, place);
	for (size_t i = 0; i < spine.count; i++)
		fix_first_add_frame(k, &spine.frames[i], (uint64_t)((double)spine.frames[i].ns * t->longest->stretch),
				    cause);
}

/* The times have the longest's waits for a CPU, as the saving has. Sets the lines of the cause, too. False: the team is
 * none, or has equal work. */
static bool team_balance(struct choice *k, const struct role *r, struct balance *ret, struct fix_first_cause *cause)
{
	struct openmp_team t = {0};
	bool is_unequal = team_find(k, r, &t) && team_saving(k, &t, fix_first_sample_ns(r), &ret->saves);

	if (is_unequal) {
		ret->most_ns = (uint64_t)(t.longest->work_ns * t.longest->stretch);
		ret->mean_ns = (uint64_t)(t.mean_ns * t.longest->stretch);
		ret->with = t.starter;
		team_line(k, &t, cause);
		ret->line = cause->line;
		if (ret->saves.low_ns) /* what may save nothing comes before no other cause */
			k->team_worth_ns[r - k->roles->items] = k->team_worth_ns[t.starter - k->roles->items] =
				ret->saves.saved_ns;
	}
	free(t.members);
	return is_unequal;
}

/* ---- the cause ---- */

void fix_first_balance(struct choice *k, const struct role *r)
{
	struct fix_first_cause cause = {.rule = "unequal_work", .how = "if all had the same work", .is_balance = true};
	struct balance b = {0};

	if (!team_balance(k, r, &b, &cause))
		costs_of_balance(k->costs, k->partition, k->roles, r, k->least_ns, &b);
	/* nobody knows what ended the waits for each other of those for which another role waits */
	if (b.line && b.saves.saved_ns < k->least_ns &&
	    (double)(b.most_ns - b.mean_ns) >= FUNCTION_LEAST * (double)b.most_ns && fix_first_waiting(k, r, NULL))
		function_interval(b.most_ns - b.mean_ns, &b.saves);
	cause.saves = b.saves;
	cause.whole_ns = b.most_ns;
	cause.actor = b.actor;
	if (b.with) {
		role_words(b.with, &cause.text);
		buffer_text(&cause.text, " and ");
	}
	role_words(r, &cause.text);
	buffer_text(&cause.text, " have unequal work: one has ");
	rule_time(&cause.text, b.most_ns);
	buffer_text(&cause.text, ", on average they have ");
	rule_time(&cause.text, b.mean_ns);
	cause.line = b.line;
	if (b.line) {
		buffer_text(&cause.text, ": ");
		code_line_short(b.line, &cause.text);
	} else {
		role_work_line(k->context, k->roles, r, &cause.text);
	}
	fix_first_propose(k, &cause);
}
