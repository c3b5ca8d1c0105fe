/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What has in all threads together a smaller part of the run's time is not named: 1/2000. */
enum { NAMED_PART = 2000 };

struct costs {
	struct causality *causes; /* NULL: see costs_causes */
	struct path path;
	double *work;  /* by actor: what it did itself */
	double *total; /* by editable: its time in all actors, that of waits whose cause is not known included */
	double *waits; /* by editable: its waits whose cause is known */
	struct prices prices; /* once is_ranked is set */
	bool is_ranked;
};

static void find_work(struct costs *k)
{
	const struct graph *g = &k->causes->graph;

	k->work = mem_alloc((k->causes->actor_count + 1) * sizeof(*k->work));
	for (uint32_t i = 0; i < g->node_count; i++) {
		const struct node_part *parts;
		size_t count = g->nodes[i].kind == NODE_WORK ? graph_parts(g, i, &parts) : 0;

		for (size_t p = 0; p < count; p++)
			k->work[g->nodes[i].actor] += (double)parts[p].ns;
	}
	k->total = function_totals(k->causes);
	k->waits = mem_alloc((editables_count(&k->causes->editables) + 1) * sizeof(*k->waits));
	for (uint32_t i = 0; i < g->node_count; i++)
		if (g->nodes[i].kind == NODE_WAIT)
			k->waits[g->nodes[i].what] += (double)(g->nodes[i].end_ns - replay_start(g, i));
}

struct costs *costs_new(struct causality *causes)
{
	struct costs *k = mem_alloc(sizeof(*k));

	k->causes = causes;
	if (k->causes) {
		path_find(k->causes, UINT64_MAX, &k->path);
		find_work(k);
	}
	return k;
}

void costs_free(struct costs *k)
{
	if (!k)
		return;
	if (k->causes)
		path_done(&k->path);
	prices_done(&k->prices);
	free(k->work);
	free(k->total);
	free(k->waits);
	free(k);
}

struct causality *costs_causes(struct costs *k)
{
	return k->causes;
}

/* ---- lines ---- */

static bool is_of_line(struct costs *k, uint32_t what, const struct code_line *line, const char *function)
{
	const struct editable *e = &k->causes->editables.items[what];

	if (!line)
		return !e->has_frame && (!function || !strcmp(e->name, function));
	return editable_line(&k->causes->editables, what) == line;
}

enum line_does costs_line_does(struct costs *k, const struct code_line *line)
{
	const struct editables *all = k->causes ? &k->causes->editables : NULL;
	double least = k->causes ? (double)k->causes->run_ns / NAMED_PART : 0, ns[DOES_KINDS] = {0};
	enum line_does most = DOES_CALL;

	for (uint32_t i = 0; all && i < all->count; i++) {
		const struct editable *e = &all->items[i];

		if (k->total[i] + k->waits[i] >= least && is_of_line(k, i, line, NULL))
			ns[e->kind == EDITABLE_CPU	? DOES_COMPUTE
			   : e->waits == BLOCKED_GPU ? DOES_AWAIT_DEVICE
						     : DOES_CALL] += k->total[i] + k->waits[i];
	}
	for (enum line_does i = DOES_CALL; i < DOES_KINDS; i++)
		most = ns[i] > ns[most] ? i : most;
	return most;
}

bool costs_of_edit(struct costs *k, const char *edit, struct saving *ret)
{
	struct err err;

	*ret = (struct saving){0};
	return k->causes && *edit && !price_find(k->causes, edit, ret, &err);
}

const struct prices *costs_prices(struct costs *k)
{
	if (k->causes && !k->is_ranked)
		prices_rank(k->causes, &k->path, &k->prices);
	k->is_ranked = true;
	return &k->prices;
}

static uint64_t costs_of_shares(struct costs *k, float *shares, const struct function_part *part,
				struct saving *ret_saves)
{
	uint64_t ns = function_saving(k->causes, shares, part, k->path.by_what, k->total, ret_saves);

	free(shares);
	return ns;
}

uint64_t costs_below(struct costs *k, struct own_stacks *own, const uint32_t *functions, size_t count,
		     struct saving *ret_saves)
{
	struct function_part part;

	*ret_saves = (struct saving){0};
	if (!k->causes)
		return 0;
	return costs_of_shares(k, function_shares(k->causes, own, functions, count, &part), &part, ret_saves);
}

uint64_t costs_of_import(struct costs *k, struct own_stacks *own, struct own_frame at, struct saving *ret_saves)
{
	struct function_part part;

	*ret_saves = (struct saving){0};
	if (!k->causes)
		return 0;
	return costs_of_shares(k, function_import_shares(k->causes, own, at, &part), &part, ret_saves);
}

const struct code_line *costs_line_of_calls(struct costs *k, const char *function)
{
	struct editables *all = k->causes ? &k->causes->editables : NULL;
	uint32_t best = NODE_NONE;

	for (uint32_t i = 0; all && i < all->count; i++)
		if (all->items[i].kind == EDITABLE_CALL && !strcmp(all->items[i].name, function) &&
		    (best == NODE_NONE || k->path.by_what[i] > k->path.by_what[best]))
			best = i;
	return best == NODE_NONE ? NULL : editable_line(all, best);
}

const struct actor *costs_actor(struct costs *k, const struct code_line *line, const char *function)
{
	for (size_t i = 0; k->causes && i < k->path.count; i++) {
		const struct path_row *row = &k->path.rows[i];

		if (row->kind <= CRITICAL_UNSEEN && row->actor < k->causes->actor_count &&
		    row->what < k->causes->editables.count && is_of_line(k, row->what, line, function))
			return &k->causes->actors[row->actor];
	}
	return NULL;
}

size_t costs_started(struct costs *k, const struct code_line *line)
{
	return k->causes ? causes_started_at(k->causes, line) : 0;
}

uint64_t costs_on_path(const struct costs *k, uint32_t what)
{
	return what == NODE_NONE ? 0 : (uint64_t)k->path.by_what[what];
}

/* ---- balance ---- */

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
static void sum_work(const struct costs *k, const uint8_t *actors, const uint32_t *first, struct work_sum *sum)
{
	const struct graph *g = &k->causes->graph;
	size_t count = k->causes->editables.count + 1;

	*sum = (struct work_sum){first, mem_alloc(count * sizeof(*sum->ns)), mem_alloc(count * sizeof(*sum->actors)),
				 mem_alloc(count * sizeof(*sum->last)), 0};
	for (uint32_t i = 0; i < g->node_count; i++) {
		const struct node_part *parts;
		bool is_work = g->nodes[i].kind == NODE_WORK && actors[g->nodes[i].actor];
		size_t part_count = is_work ? graph_parts(g, i, &parts) : 0;

		sum->actor = g->nodes[i].actor;
		for (size_t p = 0; p < part_count; p++)
			editable_divide(&k->causes->editables, parts[p].what, (double)parts[p].ns, sum, sum_part);
	}
}

static void work_sum_done(struct work_sum *sum)
{
	free(sum->ns);
	free(sum->actors);
	free(sum->last);
}

/* By editable, the first one of its line: each process has its own. The caller frees it. */
static uint32_t *first_of_lines(const struct costs *k)
{
	struct editables *all = &k->causes->editables;
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

static const struct code_line *unequal_line(const struct costs *k, const uint8_t *actors, size_t count,
					    uint32_t longest)
{
	SCOPED_MEMORY uint8_t *only = mem_alloc(k->causes->actor_count + 1);
	SCOPED_MEMORY uint32_t *first = first_of_lines(k);
	SCOPED(work_sum) all = {0}, own = {0};
	size_t best = SIZE_MAX;
	double excess = 0;
	bool is_shared;

	only[longest] = 1;
	sum_work(k, actors, first, &all);
	sum_work(k, only, first, &own);
	for (size_t i = 0; i < k->causes->editables.count; i++)
		if (own.ns[i] - all.ns[i] / (double)count > excess) {
			excess = own.ns[i] - all.ns[i] / (double)count;
			best = i;
		}
	is_shared = best != SIZE_MAX && all.actors[best] == count;
	return is_shared ? editable_line(&k->causes->editables, (uint32_t)best) : NULL;
}

/* The threads of a role, by actor. */
struct role_team {
	uint8_t *marks;
	double *work; /* what it did itself, sleeps and files, too: without waits for others, and for a CPU */
	size_t count;
	uint64_t last_start_ns, first_end_ns;
};

static void team_add(struct role_team *t, const struct costs *k, const struct thread_time *thread)
{
	uint32_t actor = thread->thread ? causes_actor(k->causes, thread->image, thread->thread) : NODE_NONE;
	const struct clock_map *clock = &k->causes->context->model->machines[thread->image->machine].clock;
	uint64_t start_ns = clock_map_ns(clock, thread->start_ticks), end_ns = clock_map_ns(clock, thread->end_ticks);

	if (actor == NODE_NONE || t->marks[actor])
		return;
	t->marks[actor] = 1;
	t->work[actor] = k->work[actor];
	if (thread->delay_is_known)
		t->work[actor] -= fmin((double)thread->delay_ns, t->work[actor]);
	t->last_start_ns = start_ns > t->last_start_ns ? start_ns : t->last_start_ns;
	t->first_end_ns = end_ns < t->first_end_ns ? end_ns : t->first_end_ns;
	t->count++;
}

static void team_find(const struct costs *k, const struct partition *p, const struct roles *roles,
		      const struct role *role, struct role_team *ret)
{
	size_t number = (size_t)(role - roles->items) + 1;

	*ret = (struct role_team){.marks = mem_alloc(k->causes->actor_count + 1),
			     .work = mem_alloc((k->causes->actor_count + 1) * sizeof(*ret->work)),
			     .first_end_ns = UINT64_MAX};
	for (size_t i = 0; i < p->count; i++)
		if (roles->role_of[i] == number)
			team_add(ret, k, &p->threads[i]);
}

static void role_team_done(struct role_team *t)
{
	free(t->marks);
	free(t->work);
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

static double team_work(const struct costs *k, const struct role_team *t)
{
	return array_sum(one, t->work, k->causes->actor_count, *one);
}

/* With the time for which it waited for a CPU. */
static double team_busy(const struct costs *k, const struct role_team *t)
{
	double sum = 0;

	for (uint32_t i = 0; i < k->causes->actor_count; i++)
		sum += t->marks[i] ? k->work[i] : 0;
	return sum;
}

/* A starter that does a part of the work itself, and another one than the others, is one of the team. */
static bool team_add_starter(const struct costs *k, const struct role_team *starter, uint64_t least_ns,
			     struct role_team *team)
{
	if (starter->count != 1 || !team->count ||
	    fabs(team_work(k, starter) - team_work(k, team) / (double)team->count) < (double)least_ns)
		return false;
	for (uint32_t i = 0; i < k->causes->actor_count; i++) {
		team->marks[i] |= starter->marks[i];
		team->work[i] += starter->work[i];
	}
	team->count++;
	return true;
}

/* Threads that follow each other, as those of a server that starts one for each request, share no work. */
static bool lives_at_once(const struct role_team *t)
{
	return t->count > 1 && t->last_start_ns < t->first_end_ns;
}

struct work_stretch {
	uint64_t start_ns, end_ns;
};

COMPARATOR(compare_stretches, struct work_stretch, order_of(a->start_ns, b->start_ns))

/* What threads do in turn, because each needs what another one holds, cannot be shared out anew: half of the work of
 * those beside the one with most is done while others work, too. */
static bool works_beside(const struct costs *k, const struct role_team *t, double longest_ns)
{
	const struct graph *g = &k->causes->graph;
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
	return (double)(sum_ns - any_ns) * 2 >= team_work(k, t) - longest_ns;
}

/* Or if the one with most had no more than the others have on average: then there is less work in all. */
static uint64_t high_of_balance(struct costs *k, const struct role_team *team, uint32_t longest, double others_mean)
{
	struct saving saves;
	SCOPED(edit) edit = {0};

	edit_init(&edit, k->causes);
	edit_scale_actor(&edit, k->causes, longest, 1 + (others_mean - team->work[longest]) / k->work[longest]);
	saving_find(k->causes, &edit, &saves);
	return saves.high_ns;
}

static void balance_find(struct costs *k, const struct role_team *team, uint64_t least_ns, struct balance *ret)
{
	double sum = team_work(k, team), mean;
	uint32_t longest = 0;
	struct edit edit;
	uint64_t high_ns;

	for (uint32_t i = 0; i < k->causes->actor_count; i++)
		if (team->work[i] > team->work[longest])
			longest = i;
	mean = sum / (double)team->count;
	/* who waits for a CPU has no time to take over anything */
	if (team->work[longest] - mean < (double)least_ns ||
	    k->work[longest] - team_busy(k, team) / (double)team->count < (double)least_ns ||
	    !works_beside(k, team, team->work[longest]))
		return;
	edit_init(&edit, k->causes);
	/* The time for which the thread waited for a CPU stays. Who takes over from others does so while it would wait
	 * for them, so that nobody waits longer for what it does already. */
	for (uint32_t i = 0; i < k->causes->actor_count; i++)
		if (team->work[i] > mean)
			edit_scale_actor(&edit, k->causes, i, 1 + (mean - team->work[i]) / k->work[i]);
	saving_find(k->causes, &edit, &ret->saves);
	edit_done(&edit);
	high_ns = high_of_balance(k, team, longest, (sum - team->work[longest]) / (double)(team->count - 1));
	ret->saves.high_ns = high_ns > ret->saves.high_ns ? high_ns : ret->saves.high_ns;
	ret->most_ns = (uint64_t)team->work[longest];
	ret->mean_ns = (uint64_t)mean;
	ret->actor = &k->causes->actors[longest];
	ret->line = unequal_line(k, team->marks, team->count, longest);
}

void costs_of_balance(struct costs *k, const struct partition *p, const struct roles *roles, const struct role *role,
		      uint64_t least_ns, struct balance *ret)
{
	SCOPED(role_team) team = {0}, starting = {0};
	const struct role *starter = roles_starter(roles, role);

	*ret = (struct balance){0};
	if (!k->causes)
		return;
	team_find(k, p, roles, role, &team);
	if (starter && shares_lines(starter, role)) {
		team_find(k, p, roles, starter, &starting);
		ret->with = team_add_starter(k, &starting, least_ns, &team) ? starter : NULL;
	}
	if (lives_at_once(&team))
		balance_find(k, &team, least_ns, ret);
}
