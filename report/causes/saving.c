/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/saving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/path.h"
#include "report/events/usage.h"

void edit_init(struct edit *e, const struct causality *s)
{
	size_t count = editables_count(&s->editables);

	*e = (struct edit){.factors = mem_alloc((count + 1) * sizeof(*e->factors))};
	for (size_t i = 0; i < count; i++)
		e->factors[i] = 1;
}

void edit_done(struct edit *e)
{
	free(e->factors);
	free(e->actor_factors);
	free(e->no_waits);
	free(e->overlaps);
	free(e->starts_after);
	free(e->inputs);
	free(e->input_actors);
	free(e->work_delays);
	free(e->wait_delays);
	free(e->delayed_actors);
	*e = (struct edit){0};
}

void edit_scale(struct edit *e, uint32_t what, double factor)
{
	e->factors[what] = (float)factor;
}

void edit_no_wait(struct edit *e, const struct causality *s, uint32_t what, enum replay_no_wait how)
{
	if (!e->no_waits)
		e->no_waits = mem_alloc(editables_count(&s->editables) + 1);
	e->no_waits[what] = (uint8_t)how;
	e->factors[what] = 0;
}

void edit_scale_actor(struct edit *e, const struct causality *s, uint32_t actor, double factor)
{
	if (!e->actor_factors) {
		e->actor_factors = mem_alloc((s->actor_count + 1) * sizeof(*e->actor_factors));
		for (size_t i = 0; i < s->actor_count; i++)
			e->actor_factors[i] = 1;
	}
	e->actor_factors[actor] = factor;
}

/* Calls that did not wait are work, of which the graph has the time and not the number. */
void edit_delay(struct edit *e, const struct causality *s, const uint8_t *calls, uint8_t *actors, double ns)
{
	size_t count = editables_count(&s->editables);
	SCOPED_MEMORY double *work_ns = mem_alloc((count + 1) * sizeof(*work_ns));
	SCOPED_MEMORY double *rest = mem_alloc((count + 1) * sizeof(*rest));

	e->work_delays = mem_alloc((count + 1) * sizeof(*e->work_delays));
	e->wait_delays = mem_alloc((count + 1) * sizeof(*e->wait_delays));
	e->delayed_actors = actors;
	for (size_t i = 0; i < s->editables.count; i++)
		rest[i] = calls[i] ? (double)s->editables.items[i].calls : 0;
	for (uint32_t i = 0; i < s->graph.node_count; i++) {
		const struct run_node *n = &s->graph.nodes[i];
		const struct node_part *parts;
		size_t part_count = graph_parts(&s->graph, i, &parts);

		if (n->kind == NODE_WAIT || n->kind == NODE_UNSEEN)
			rest[n->what]--;
		for (size_t k = 0; n->kind == NODE_WORK && k < part_count; k++)
			work_ns[parts[k].what] += (double)parts[k].ns;
	}
	for (size_t i = 0; i < s->editables.count; i++) {
		e->wait_delays[i] = calls[i] ? ns : 0;
		e->work_delays[i] = rest[i] > 0 && work_ns[i] > 0 ? ns * rest[i] / work_ns[i] : 0;
	}
	for (size_t i = 0; i < s->editables.pool_count; i++) {
		const struct pool *pool = &s->editables.pools[i];
		double pool_ns = work_ns[s->editables.pool_first + i];

		for (size_t k = 0; k < pool->count && pool->calls && pool_ns > 0; k++) {
			const struct share_of_pool *share = &s->editables.shares[pool->first + k];

			if (calls[share->what])
				e->work_delays[s->editables.pool_first + i] +=
					ns * (double)pool->calls * (double)share->share / pool_ns;
		}
	}
}

double saving_only(const struct causality *s, struct edit *e)
{
	editable_factors(&s->editables, CONSEQUENCES_FOLLOW, e->factors);
	return (double)s->run_ns - replay_run(&s->graph, e, NULL);
}

double saving_sampling_error(const struct causality *s, const float *shares)
{
	double samples = 0, all = 0;

	for (size_t i = 0; i < s->editables.count; i++) {
		all += (double)s->editables.items[i].samples;
		samples += (double)s->editables.items[i].samples * (double)shares[i];
	}
	return samples > 0 ? 2 * sqrt((1 - samples / all) / samples) : 0;
}

static double sampling_error(const struct causality *s, const struct edit *e)
{
	SCOPED_MEMORY float *shares = mem_alloc((s->editables.count + 1) * sizeof(*shares));

	for (size_t i = 0; i < s->editables.count; i++)
		shares[i] = e->factors[i] != 1;
	return saving_sampling_error(s, shares);
}

/* ---- waits that are removed, or lie beside each other instead ---- */

/* So many are in progress at a time then, at most; with fewer they hardly become shorter. */
#define OVERLAP_MOST 4.0
#define OVERLAP_LEAST 1.5

static bool is_removed_wait(const struct causality *s, const struct edit *e, uint32_t what)
{
	const struct editable *item = &s->editables.items[what];

	return what < s->editables.count && e->factors[what] == 0 && item->kind == EDITABLE_CALL &&
	       (item->waits == BLOCKED_SLEEP || item->waits == BLOCKED_SOCKET || item->waits == BLOCKED_PIPE ||
		item->waits == BLOCKED_POLL);
}

/* What a removed line starts and waits for is a wait of it. */
static bool is_of_removed_line(const struct causality *s, const struct edit *e, const struct actor *a)
{
	uint32_t by = a->is_main ? s->awaited_by[a->image->process] : NODE_NONE;

	return e->actor_factors && by != NODE_NONE && e->factors[by] == 0;
}

/* By actor: the waits that an edit removes, in ns. */
static double *removed_waits(const struct causality *s, const struct edit *e)
{
	double *ret = mem_alloc((s->actor_count + 1) * sizeof(*ret));

	for (uint32_t i = 0; i < s->graph.node_count; i++) {
		const struct run_node *n = &s->graph.nodes[i];
		const struct node_part *parts;
		size_t count = n->kind == NODE_WORK ? graph_parts(&s->graph, i, &parts) : 0;

		if (n->kind == NODE_UNSEEN && is_removed_wait(s, e, n->what))
			ret[n->actor] += (double)(n->end_ns - replay_start(&s->graph, i));
		for (size_t k = 0; k < count; k++)
			ret[n->actor] += is_removed_wait(s, e, parts[k].what) ? (double)parts[k].ns : 0;
	}
	for (size_t i = 0; i < s->actor_count; i++)
		if (is_of_removed_line(s, e, &s->actors[i]))
			ret[i] = (double)(s->actors[i].end_ns - s->actors[i].start_ns);
	return ret;
}

/* Repairs rarely remove waits that lie one after the other, in one thread or in several, of which each holds a lock
 * meanwhile: they let them be in progress at the same time. The part of them that is left then; 0: there is one. More
 * than a thread's waits is saved only if those of several are in turn. */
static double left_of_waits(const struct causality *s, const struct edit *e, double saved_ns)
{
	SCOPED_MEMORY double *by_actor = removed_waits(s, e);
	double longest = 0, calls = 0, width;
	size_t actors = 0;

	for (size_t i = 0; i < s->actor_count; i++) {
		longest = fmax(longest, by_actor[i]);
		actors += by_actor[i] > 0;
	}
	if (!actors)
		return 0;
	for (uint32_t i = 0; i < s->editables.count; i++)
		calls += is_removed_wait(s, e, i) ? (double)s->editables.items[i].calls : 0;
	width = saved_ns < longest * OVERLAP_LEAST ? calls / (double)actors : saved_ns / longest;
	return width < OVERLAP_LEAST ? 0 : 1 / fmin(width, OVERLAP_MOST);
}

/* What is removed, by more or less than the samples say; of waits that are, `left` is left. */
static void vary(const struct causality *s, const struct edit *e, double by, double left,
		 enum editable_consequences consequences, struct edit *ret)
{
	*ret = *e;
	ret->factors = mem_alloc((editables_count(&s->editables) + 1) * sizeof(*ret->factors));
	ret->actor_factors = e->actor_factors ? mem_alloc((s->actor_count + 1) * sizeof(*ret->actor_factors)) : NULL;
	for (size_t i = 0; e->actor_factors && i < s->actor_count; i++)
		ret->actor_factors[i] = e->actor_factors[i] == 0 ? left : e->actor_factors[i];
	for (uint32_t i = 0; i < s->editables.count; i++) {
		double factor = 1 - (1 - (double)e->factors[i]) * (s->editables.items[i].samples ? 1 + by : 1);

		ret->factors[i] = (float)(is_removed_wait(s, e, i) ? left : factor > 0 ? factor : 0);
	}
	editable_factors(&s->editables, consequences, ret->factors);
}

static uint64_t positive(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

/* Of the path's time in which a thread did something, as large a part as of the thread's whole time. */
static double delay_on_path(struct causality *s)
{
	struct usages *usages;
	SCOPED(path) path = {0};

	if (s->delay_ns >= 0)
		return s->delay_ns;
	s->delay_ns = 0;
	usages = usages_new(s->context->model);
	path_find(s, UINT64_MAX, &path);
	for (size_t i = 0; i < path.count; i++) {
		const struct actor *a = &s->actors[path.rows[i].actor];
		struct usage_of usage;

		if (path.rows[i].kind > CRITICAL_CALL || a->is_stream)
			continue;
		usage = usages_recorded(usages, a->image, a->thread ? a->thread->tid : a->image->pid, 0, UINT64_MAX);
		if (usage.ticks && usage.delay_ns != TF_USAGE_UNKNOWN && a->end_ns > a->start_ns)
			s->delay_ns += path.rows[i].ns *
				       fmin(1, (double)usage.delay_ns / (double)(a->end_ns - a->start_ns));
	}
	usages_free(usages);
	return s->delay_ns;
}

/* By how much two runs differ. */
static double noise_of(struct causality *s, const struct saving *saving)
{
	if (!saving->cost_ns)
		return 0;
	return (saving->saved_ns ? delay_on_path(s) : 0) + (double)saving->saved_ns * SAVING_PERCENT / 100 + SAVING_NS;
}

/* Of what is assumed and what is not, the longer or the shorter run. */
static double run_of(const struct causality *s, struct edit *e, bool is_longer)
{
	double assumed = replay_run(&s->graph, e, NULL), other = assumed;

	if (s->graph.has_assumed) {
		e->assumes_nothing = true;
		other = replay_run(&s->graph, e, NULL);
	}
	return is_longer ? fmax(assumed, other) : fmin(assumed, other);
}

void saving_find(struct causality *s, struct edit *e, struct saving *ret)
{
	double error = sampling_error(s, e), before = (double)s->run_ns, noise, after;
	struct edit low, high;

	editable_factors(&s->editables, CONSEQUENCES_FOLLOW, e->factors);
	after = replay_run(&s->graph, e, NULL);
	*ret = (struct saving){.before_ns = s->run_ns, .after_ns = positive(after),
			       .cost_ns = positive(replay_removed(&s->graph, e)),
			       .saved_ns = positive(before - after)};
	noise = noise_of(s, ret);
	vary(s, e, error < 1 ? -error : -1, left_of_waits(s, e, before - after), CONSEQUENCES_STAY, &low);
	ret->low_ns = positive(before - run_of(s, &low, true) - noise);
	vary(s, e, error, 0, CONSEQUENCES_FOLLOW, &high);
	high.unseen = UNSEEN_SHRINK;
	ret->high_ns = positive(before - run_of(s, &high, false) + noise);
	ret->high_ns = smaller_of(ret->high_ns, s->run_ns);
	free(low.factors);
	free(low.actor_factors);
	free(high.factors);
	free(high.actor_factors);
}
