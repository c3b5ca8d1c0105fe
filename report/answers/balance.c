/* SPDX-License-Identifier: Apache-2.0 */
/* Work that threads share out unequally, as a cause of fix_first. What each of them does is known by the graph, but for
 * a team of OpenMP whose constructs are not recorded: it meets in system calls and loops of the runtime, so that the
 * graph has no waits of theirs. There it is known by samples below the runtime. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/fix_first_build.h"
#include "report/causes/openmp/openmp_places.h"

/* Of the one with most, a smaller part is how a schedule happens to end. */
#define TEAM_EXCESS 0.1

/* ---- a team ---- */

struct team_member {
	const struct thread_time *thread;
	double work_ns; /* without waits for others, and for a CPU */
	double stretch; /* the time in which it had a CPU or waited for one, as a multiple of the former */
	uint32_t actor; /* of the graph, if that is what its work is known by */
};

struct work_team {
	const struct role *threads, *starter; /* starter: the program that has started them */
	struct team_member *members;
	size_t count;
	uint8_t *marks; /* by actor: it is a member */
	double mean_ns;
	const struct team_member *longest;
};

static void work_team_done(struct work_team *t)
{
	free(t->members);
	free(t->marks);
}

static double team_work(const struct work_team *t)
{
	return array_sum(m, t->members, t->count, m->work_ns);
}

static void set_mean(struct work_team *t)
{
	t->mean_ns = team_work(t) / (double)t->count;
	t->longest = t->members;
	array_each(const struct team_member, m, t->members, t->count)
		if (m->work_ns > t->longest->work_ns)
			t->longest = m;
}

static void add_members(const struct choice *k, const struct role *r, struct work_team *t)
{
	size_t number = (size_t)(r - k->roles->items) + 1;

	for (size_t i = 0; i < k->partition->count; i++) {
		const struct thread_time *thread = &k->partition->threads[i];
		bool is_delayed = thread->delay_is_known && thread->cpu_ns;

		if (k->roles->role_of[i] == number)
			t->members[t->count++] = (struct team_member){
				thread, 0, is_delayed ? 1 + (double)thread->delay_ns / (double)thread->cpu_ns : 1,
				NODE_NONE};
	}
}

static void team_init(const struct choice *k, const struct role *r, struct work_team *ret)
{
	*ret = (struct work_team){.threads = r, .starter = roles_starter(k->roles, r),
			     .members = mem_alloc((k->partition->count + 1) * sizeof(*ret->members))};
	add_members(k, r, ret);
}

/* If all had the same work. */
struct balance {
	struct saving saves; /* 0: nothing below the least was computed */
	uint64_t most_ns, mean_ns;
	const struct actor *actor; /* the one with most */
	const struct role *with;   /* the program that started them, if it shares their work; else NULL */
	/* Where it has most more than the mean; NULL where others do not work at that line:
	 * then it is not their work that is shared out unequally there. */
	const struct code_line *line;
};

/* ---- by samples ---- */

static bool is_of_team(const struct choice *k, const struct role_stack *s)
{
	return attribution_is_below_openmp(k->context->symbols, s->image, s->stack);
}

/* What the members of a role do for the team. Returns that, and what the role does in all. */
static double add_work(const struct choice *k, const struct role *r, struct work_team *t, double *ret_all_ns)
{
	double ns = 0;

	array_each(const struct role_stack, s, r->stacks, r->stack_count) {
		const struct thread_time *thread = &k->partition->threads[s->thread];
		struct team_member *m = array_find(one, t->members, t->count, one->thread == thread);

		*ret_all_ns += (double)s->ns;
		if (!m || !is_of_team(k, s))
			continue;
		m->work_ns += (double)s->ns;
		ns += (double)s->ns;
	}
	return ns;
}

/* The threads of a role with the program that has started them, if that takes part. False: it is no such team, or its
 * waits are recorded. */
static bool team_by_samples(const struct choice *k, struct work_team *t)
{
	double all_ns = 0, starters_ns = 0, team_ns;

	if (!t->starter || t->starter->threads != 1 || !t->count || t->count != t->threads->threads ||
	    array_find(m, t->members, t->count, m->thread->process != t->members->thread->process) ||
	    openmp_is_in(t->members->thread->image))
		return false;
	team_ns = add_work(k, t->threads, t, &all_ns);
	if (!team_ns || team_ns * 5 < all_ns * 4) /* threads of the program's own are beside them */
		return false;
	add_members(k, t->starter, t);
	add_work(k, t->starter, t, &starters_ns);
	set_mean(t);
	return true;
}

/* Which part of the excess those with less than the mean have time to take over: one that had no CPU while others
 * computed has done less, and does not wait for them, nor does one that did not exist or was in a recorded call. */
static double free_part(const struct work_team *t)
{
	double free_ns = 0, missing_ns = 0;

	array_each(const struct team_member, m, t->members, t->count) {
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
static double error_of(const struct work_team *t, double sample_ns)
{
	double others = 1 / (double)t->count, squares = 0;

	array_each(const struct team_member, m, t->members, t->count) {
		double part = m == t->longest ? 1 - others : others,
		       rest = m->thread->cpu_ns ? fmax(0, 1 - m->work_ns / (double)m->thread->cpu_ns) : 0;

		squares += part * part * 4 * sample_ns * (m->work_ns * rest + sample_ns);
	}
	return sqrt(squares);
}

/* If each had the mean: at most the difference that is stated. On a machine whose CPUs others hold, what the others
 * take over may make them wait for a CPU as long as it saves: that is the lowest. False: the difference is within the
 * error of the samples, or small as CPU time. */
static bool team_saving(const struct choice *k, const struct work_team *t, uint64_t sample_ns, struct saving *ret)
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
static void team_line(struct choice *k, const struct work_team *t, struct fix_first_cause *cause)
{
	const struct role *roles[2] = {t->threads, t->starter};
	SCOPED_MEMORY struct spine_time *times =
		mem_alloc((t->threads->stack_count + t->starter->stack_count + 1) * sizeof(*times));
	struct spine spine;
	const struct spine_frame *place;
	size_t count = 0;

	for (size_t i = 0; i < 2; i++)
		array_each(const struct role_stack, s, roles[i]->stacks, roles[i]->stack_count)
			if (&k->partition->threads[s->thread] == t->longest->thread && is_of_team(k, s))
				times[count++] = (struct spine_time){own_stack_of(&k->own, s->image, s->stack), s->ns};
	if (!spine_of_calls(&k->own, times, count, &spine))
		return;
	place = &spine.frames[spine.count - 1];
	cause->line = fix_first_place_line(k, place);
	for (size_t i = 0; i < spine.count; i++)
		fix_first_add_frame(k, &spine.frames[i], (uint64_t)((double)spine.frames[i].ns * t->longest->stretch),
				    cause);
}

/* The times have the longest's waits for a CPU, as the saving has. Sets the lines of the cause, too. False: the team is
 * none, or has equal work. */
static bool balance_by_samples(struct choice *k, const struct role *r, struct balance *ret,
			       struct fix_first_cause *cause)
{
	SCOPED(work_team) t = {0};

	team_init(k, r, &t);
	if (!team_by_samples(k, &t) || !team_saving(k, &t, fix_first_sample_ns(r), &ret->saves))
		return false;
	ret->most_ns = (uint64_t)(t.longest->work_ns * t.longest->stretch);
	ret->mean_ns = (uint64_t)(t.mean_ns * t.longest->stretch);
	ret->with = t.starter;
	team_line(k, &t, cause);
	ret->line = cause->line;
	if (ret->saves.low_ns) /* what may save nothing comes before no other cause */
		k->team_worth_ns[r - k->roles->items] = k->team_worth_ns[t.starter - k->roles->items] =
			ret->saves.saved_ns;
	return true;
}

/* ---- by the graph ---- */

/* Time at each line, by its first editable. */
struct work_sum {
	const uint32_t *first; /* of the line of an editable */
	double *ns;
	size_t *actors; /* how many of them have any */
	uint32_t *last; /* the last such actor + 1 */
	uint32_t actor;
};

static void sum_part(void *context, uint32_t what, double ns)
{
	struct work_sum *sum = context;

	what = sum->first[what];
	sum->ns[what] += ns;
	sum->actors[what] += sum->last[what] != sum->actor + 1;
	sum->last[what] = sum->actor + 1;
}

/* Adds the work of those actors that are marked. */
static void sum_work(struct causality *causes, const uint8_t *actors, const uint32_t *first, struct work_sum *sum)
{
	const struct graph *g = &causes->graph;
	size_t count = causes->editables.count + 1;

	*sum = (struct work_sum){first, mem_alloc(count * sizeof(*sum->ns)), mem_alloc(count * sizeof(*sum->actors)),
				 mem_alloc(count * sizeof(*sum->last)), 0};
	for (uint32_t i = 0; i < g->node_count; i++) {
		const struct node_part *parts;
		bool is_work = g->nodes[i].kind == NODE_WORK && actors[g->nodes[i].actor];
		size_t part_count = is_work ? graph_parts(g, i, &parts) : 0;

		sum->actor = g->nodes[i].actor;
		for (size_t p = 0; p < part_count; p++)
			editable_divide(&causes->editables, parts[p].what, (double)parts[p].ns, sum, sum_part);
	}
}

static void work_sum_done(struct work_sum *sum)
{
	free(sum->ns);
	free(sum->actors);
	free(sum->last);
}

/* By editable, the first one of its line: each process has its own. The caller frees it. */
static uint32_t *first_of_lines(struct causality *causes)
{
	struct editables *all = &causes->editables;
	uint32_t *ret = mem_alloc((all->count + 1) * sizeof(*ret));
	SCOPED(map) known = {0};

	for (uint32_t i = 0; i < all->count; i++) {
		const struct code_line *line = editable_line(all, i);
		bool is_new;
		uint64_t *first = map_put(&known, code_line_number(line), 0, &is_new);

		if (is_new)
			*first = i;
		ret[i] = (uint32_t)*first;
	}
	return ret;
}

static const struct code_line *unequal_line(struct causality *causes, const struct work_team *t)
{
	SCOPED_MEMORY uint8_t *only = mem_alloc(causes->actor_count + 1);
	SCOPED_MEMORY uint32_t *first = first_of_lines(causes);
	SCOPED(work_sum) all = {0}, own = {0};
	size_t best = SIZE_MAX;
	double excess = 0;
	bool is_shared;

	only[t->longest->actor] = 1;
	sum_work(causes, t->marks, first, &all);
	sum_work(causes, only, first, &own);
	for (size_t i = 0; i < causes->editables.count; i++)
		if (own.ns[i] - all.ns[i] / (double)t->count > excess) {
			excess = own.ns[i] - all.ns[i] / (double)t->count;
			best = i;
		}
	is_shared = best != SIZE_MAX && all.actors[best] == t->count;
	return is_shared ? editable_line(&causes->editables, (uint32_t)best) : NULL;
}

/* What the threads of a role did at lines, and the part of it at which those of the other one did something, too. */
struct work_at_lines {
	uint64_t all_ns, same_ns;
};

static bool is_work(const struct role_call *call)
{
	return call->kind == BLOCKED_KINDS || !blocked_waits_for_others(call->kind);
}

static void add_lines(const struct role_call *calls, size_t count, const struct role *other, struct work_at_lines *ret)
{
	array_each(const struct role_call, call, calls, count) {
		const struct role_call *all[] = {other->lines.items, other->calls};
		size_t counts[] = {other->lines.count, other->call_count};
		bool is_same = false;

		for (size_t i = 0; i < 2 && call->has_frame && !is_same; i++)
			is_same = array_find(same, all[i], counts[i],
					     is_work(same) && same->has_frame &&
						     same->frame.place == call->frame.place);
		ret->all_ns += is_work(call) ? call->ns : 0;
		ret->same_ns += is_work(call) && is_same ? call->ns : 0;
	}
}

static bool works_at_lines_of(const struct role *r, const struct role *other)
{
	struct work_at_lines work = {0};

	add_lines(r->lines.items, r->lines.count, other, &work);
	add_lines(r->calls, r->call_count, other, &work);
	return work.same_ns * 2 >= work.all_ns + r->import_ns;
}

/* Of what each of the two does, half is at lines at which the other one works, too. */
static bool shares_lines(const struct role *starter, const struct role *role)
{
	return works_at_lines_of(starter, role) && works_at_lines_of(role, starter);
}

/* Of the members from `first` on, those that are in the graph: what each did itself, sleeps and files, too. */
static void keep_actors(const struct choice *k, struct work_team *t, size_t first)
{
	size_t count = t->count;

	t->count = first;
	for (size_t i = first; i < count; i++) {
		struct team_member m = t->members[i];

		m.actor = m.thread->thread ? causes_actor(costs_causes(k->costs), m.thread->image, m.thread->thread)
					   : NODE_NONE;
		if (m.actor == NODE_NONE || t->marks[m.actor])
			continue;
		t->marks[m.actor] = 1;
		m.work_ns = costs_work(k->costs, m.actor);
		if (m.thread->delay_is_known)
			m.work_ns -= fmin((double)m.thread->delay_ns, m.work_ns);
		t->members[t->count++] = m;
	}
}

/* A starter that does a part of the work itself, and another one than the others, is one of the team. */
static bool add_starter(const struct choice *k, struct work_team *t)
{
	size_t count = t->count;

	if (!t->starter || !shares_lines(t->starter, t->threads))
		return false;
	set_mean(t);
	add_members(k, t->starter, t);
	keep_actors(k, t, count);
	if (count && t->count == count + 1 &&
	    fabs(t->members[count].work_ns - t->mean_ns) >= (double)k->least_ns)
		return true;
	while (t->count > count)
		t->marks[t->members[--t->count].actor] = 0;
	return false;
}

/* Threads that follow each other, as those of a server that starts one for each request, share no work. */
static bool lives_at_once(const struct choice *k, const struct work_team *t)
{
	uint64_t last_start_ns = 0, first_end_ns = UINT64_MAX;

	array_each(const struct team_member, m, t->members, t->count) {
		const struct clock_map *clock = &k->context->model->machines[m->thread->image->machine].clock;

		last_start_ns = larger_of(clock_map_ns(clock, m->thread->start_ticks), last_start_ns);
		first_end_ns = smaller_of(clock_map_ns(clock, m->thread->end_ticks), first_end_ns);
	}
	return last_start_ns < first_end_ns;
}

struct work_stretch {
	uint64_t start_ns, end_ns;
};

COMPARATOR(compare_stretches, struct work_stretch, order_of(a->start_ns, b->start_ns))

/* What threads do in turn, because each needs what another one holds, cannot be shared out anew: half of the work of
 * those beside the one with most is done while others work, too. */
static bool works_beside(const struct causality *causes, const struct work_team *t)
{
	const struct graph *g = &causes->graph;
	SCOPED_MEMORY struct work_stretch *all = NULL;
	size_t count = 0, capacity = 0;
	uint64_t sum_ns = 0, any_ns = 0, until_ns = 0;

	for (uint32_t i = 0; i < g->node_count; i++)
		if (g->nodes[i].kind == NODE_WORK && t->marks[g->nodes[i].actor])
			mem_append(all, count, capacity, (struct work_stretch){replay_start(g, i), g->nodes[i].end_ns});
	array_sort(all, count, compare_stretches);
	for (size_t i = 0; i < count; i++) {
		uint64_t from_ns = all[i].start_ns > until_ns ? all[i].start_ns : until_ns;

		sum_ns += all[i].end_ns - all[i].start_ns;
		any_ns += all[i].end_ns > from_ns ? all[i].end_ns - from_ns : 0;
		until_ns = all[i].end_ns > until_ns ? all[i].end_ns : until_ns;
	}
	return (double)(sum_ns - any_ns) * 2 >= team_work(t) - t->longest->work_ns;
}

static void scale_to(const struct choice *k, const struct team_member *m, double work_ns, struct edit *edit)
{
	edit_scale_actor(edit, costs_causes(k->costs), m->actor,
			 1 + (work_ns - m->work_ns) / costs_work(k->costs, m->actor));
}

/* Or if the one with most had no more than the others have on average: then there is less work in all. */
static uint64_t high_of_balance(const struct choice *k, const struct work_team *t)
{
	struct saving saves;
	SCOPED(edit) edit = {0};

	edit_init(&edit, costs_causes(k->costs));
	scale_to(k, t->longest, (team_work(t) - t->longest->work_ns) / (double)(t->count - 1), &edit);
	saving_find(costs_causes(k->costs), &edit, &saves);
	return saves.high_ns;
}

static void balance_by_graph(const struct choice *k, const struct role *r, struct balance *ret)
{
	struct causality *causes = costs_causes(k->costs);
	SCOPED(work_team) t = {0};
	SCOPED(edit) edit = {0};
	double busy_ns;
	bool is_at_once;

	*ret = (struct balance){0};
	if (!causes)
		return;
	team_init(k, r, &t);
	t.marks = mem_alloc(causes->actor_count + 1);
	keep_actors(k, &t, 0);
	is_at_once = lives_at_once(k, &t);
	ret->with = add_starter(k, &t) ? t.starter : NULL;
	if (!is_at_once || t.count < 2)
		return;
	set_mean(&t);
	busy_ns = array_sum(m, t.members, t.count, costs_work(k->costs, m->actor));
	/* who waits for a CPU has no time to take over anything */
	if (t.longest->work_ns - t.mean_ns < (double)k->least_ns ||
	    costs_work(k->costs, t.longest->actor) - busy_ns / (double)t.count < (double)k->least_ns ||
	    !works_beside(causes, &t))
		return;
	/* The time for which the thread waited for a CPU stays. Who takes over from others does so while it would wait
	 * for them, so that nobody waits longer for what it does already. */
	edit_init(&edit, causes);
	array_each(const struct team_member, m, t.members, t.count)
		if (m->work_ns > t.mean_ns)
			scale_to(k, m, t.mean_ns, &edit);
	saving_find(causes, &edit, &ret->saves);
	ret->most_ns = (uint64_t)t.longest->work_ns;
	ret->mean_ns = (uint64_t)t.mean_ns;
	if (openmp_is_in(t.longest->thread->image)) /* what a loop has to do stays the same */
		fix_first_limit(&ret->saves, ret->most_ns - ret->mean_ns);
	else
		ret->saves.high_ns = larger_of(high_of_balance(k, &t), ret->saves.high_ns);
	ret->actor = &causes->actors[t.longest->actor];
	ret->line = unequal_line(causes, &t);
}

/* ---- the cause ---- */

void fix_first_balance(struct choice *k, const struct role *r)
{
	struct fix_first_cause cause = {.rule = "unequal_work", .how = "if all had the same work", .is_balance = true};
	struct balance b = {0};

	if (!balance_by_samples(k, r, &b, &cause))
		balance_by_graph(k, r, &b);
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
