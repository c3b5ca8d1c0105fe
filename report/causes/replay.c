/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/replay.h"

#include <stdlib.h>

/* An operation that was launched less than usual before the previous one of its stream ended was not there in time. */
static bool came_late(const struct graph *g, const struct run_node *n, uint32_t previous)
{
	return n->kind == NODE_OPERATION && g->nodes[n->source].end_ns + g->launch_ns > g->nodes[previous].end_ns;
}

bool replay_is_bound(const struct graph *g, uint32_t node)
{
	const struct run_node *n = &g->nodes[node];
	uint32_t previous = graph_previous(g, node);

	return n->source != NODE_NONE &&
	       (previous == NODE_NONE || g->nodes[n->source].end_ns >= g->nodes[previous].end_ns ||
		came_late(g, n, previous));
}

static bool is_input(const struct edit *edit, const struct run_node *n, uint32_t what)
{
	return edit->inputs && n->kind != NODE_MEETING && edit->input_actors[n->actor] && edit->inputs[what];
}

static double factor_of(const struct edit *edit, const struct run_node *n, uint32_t what)
{
	double factor = is_input(edit, n, what) ? 0 : edit->factors ? edit->factors[what] : 1;

	return edit->actor_factors ? factor * edit->actor_factors[n->actor] : factor;
}

static bool is_delayed(const struct edit *edit, const struct run_node *n)
{
	return edit->work_delays && n->kind != NODE_MEETING &&
	       (!edit->delayed_actors || edit->delayed_actors[n->actor]);
}

/* The time that the node's parts lose. */
static double lost(const struct graph *g, const struct edit *edit, uint32_t node)
{
	const struct node_part *parts;
	size_t count = graph_parts(g, node, &parts);
	double sum = 0;

	if (!edit->factors && !edit->actor_factors && !edit->inputs && !edit->work_delays)
		return 0;
	sum += array_sum(part, parts, count, (1 - factor_of(edit, &g->nodes[node], part->what)) * (double)part->ns);
	for (size_t i = 0; i < count && is_delayed(edit, &g->nodes[node]); i++)
		sum -= edit->work_delays[parts[i].what] * (double)parts[i].ns;
	return sum;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

enum { HELD_NODES = 64 };

/* A wait for what the other actor had not taken yet when this one would have asked for it: it took it after the last of
 * its nodes that had ended when the wait began. */
static bool is_free(const struct graph *g, const double *ends, uint32_t node, uint32_t previous)
{
	const struct run_node *n = &g->nodes[node];
	uint32_t taken = n->is_lock ? n->source : NODE_NONE;

	for (int i = 0; i < HELD_NODES && taken != NODE_NONE; i++) {
		if (g->nodes[taken].end_ns <= g->nodes[previous].end_ns)
			return ends[previous] < ends[taken];
		taken = graph_previous(g, taken);
	}
	return false;
}

/* From the end of its source to its own; what a process takes to start is of that process, and what a wait still lasts
 * when its cause has happened is of the wait: data may be held back on their way. */
static double latency(const struct graph *g, const struct edit *edit, const struct run_node *n)
{
	double ns = (double)(n->end_ns - g->nodes[n->source].end_ns);

	if (n->kind == NODE_WAIT)
		return edit->factors ? ns * edit->factors[n->what] : ns;
	return n->kind == NODE_START && edit->actor_factors ? ns * edit->actor_factors[n->actor] : ns;
}

/* A wait, a start or a meeting: what came after the later of the two that it depends on stays. `idle`: see
 * note_timer. */
static double end_of_wait(const struct graph *g, const struct edit *edit, const double *ends, uint32_t node,
			  uint32_t previous, double idle)
{
	const struct run_node *n = &g->nodes[node];
	double before = previous == NODE_NONE ? 0 : ends[previous];
	uint64_t start = previous == NODE_NONE ? 0 : g->nodes[previous].end_ns;

	if (n->kind == NODE_WAIT && replay_is_bound(g, node) && idle >= 0)
		before = idle;
	if (n->is_assumed && edit->assumes_nothing)
		return before + (double)(n->end_ns - start) * factor_of(edit, n, n->what);
	if (replay_is_bound(g, node) && ((n->is_lock && edit->no_interpreter) || is_free(g, ends, node, previous)))
		return before;
	if (replay_is_bound(g, node))
		return larger(before, ends[n->source] + latency(g, edit, n));
	return larger(before + (double)(n->end_ns - start) * (n->kind == NODE_WAIT ? factor_of(edit, n, n->what) : 1),
		      ends[n->source]);
}

static double end_of_operation(const struct graph *g, const struct edit *edit, const double *ends, uint32_t node,
			       uint32_t previous)
{
	const struct run_node *n = &g->nodes[node];
	double ns = (double)g->parts[n->parts].ns, start = (double)n->end_ns - ns, before = ends[previous];
	uint64_t source = n->source == NODE_NONE ? 0 : g->nodes[n->source].end_ns, free = g->nodes[previous].end_ns;
	double launch = start - (double)source, begin;

	if (n->source == NODE_NONE)
		begin = before + start - (double)free;
	else if (replay_is_bound(g, node))
		begin = larger(before, ends[n->source] + launch);
	else
		begin = larger(before + start - (double)free,
			       ends[n->source] + (launch < (double)g->launch_ns ? launch : (double)g->launch_ns));
	return begin + ns - lost(g, edit, node);
}

static bool wakes_by_itself(const struct edit *edit, const struct run_node *n)
{
	return n->is_timer && !(n->is_assumed && edit->assumes_nothing);
}

/* `ahead`: how much earlier anything so far would have ended. A thread that others are ahead of looks at its timer as
 * often as it has to, until it finds what they have done. */
static double end_of_unseen(const struct graph *g, const struct edit *edit, const double *ends, uint32_t node,
			    uint32_t previous, double idle, double ahead)
{
	const struct run_node *n = &g->nodes[node];
	double length = (double)(n->end_ns - g->nodes[previous].end_ns) * factor_of(edit, n, n->what);
	double end = ends[previous] + length;
	bool is_timer = wakes_by_itself(edit, n);

	if ((edit->unseen == UNSEEN_STAY && !is_timer) || end < (double)n->end_ns - ahead)
		return end;
	return larger(is_timer && idle >= 0 ? idle : ends[previous], (double)n->end_ns - ahead);
}

/* Work between two waits for a timer is that of looking, if it is shorter by this factor. */
enum { LOOK_PART = 10 };

/* When the thread began to look again and again after some time; below 0: it does not. It
 * would have found earlier what others had done earlier, so the times at which it looked matter to nothing. */
static void note_timer(const struct graph *g, const struct edit *edit, const double *ends, uint32_t node, double *idle)
{
	const struct run_node *n = &g->nodes[node];
	uint32_t previous = graph_previous(g, node);
	uint64_t ns = previous == NODE_NONE ? 0 : n->end_ns - replay_start(g, node);

	if (wakes_by_itself(edit, n))
		*idle = *idle >= 0 ? *idle : ends[previous];
	else if (n->kind != NODE_WORK || previous == NODE_NONE || !wakes_by_itself(edit, &g->nodes[previous]) ||
		 ns * LOOK_PART > g->nodes[previous].end_ns - replay_start(g, previous))
		*idle = -1;
}

static double end_of(const struct graph *g, const struct edit *edit, const double *ends, uint32_t node, double idle,
		     double ahead)
{
	const struct run_node *n = &g->nodes[node];
	uint32_t previous = graph_previous(g, node);

	switch (n->kind) {
	case NODE_WORK:
		return ends[previous] + (double)(n->end_ns - g->nodes[previous].end_ns) - lost(g, edit, node);
	case NODE_OPERATION:
		return end_of_operation(g, edit, ends, node, previous);
	case NODE_UNSEEN:
		return end_of_unseen(g, edit, ends, node, previous, idle, ahead);
	default:
		return n->source == NODE_NONE ? (double)n->end_ns : end_of_wait(g, edit, ends, node, previous, idle);
	}
}

/* What the waits that do not wait still have to wait for. */
struct deferred_waits {
	uint32_t last; /* the node of an actor that waits for it: the last of these waits, for a device its end */
	double ns;     /* the latest end of a source so far */
};

static bool waits_for_device(const struct graph *g, const struct run_node *n)
{
	const struct run_node *source = n->source == NODE_NONE ? NULL : &g->nodes[n->source];

	if (source && source->kind == NODE_MEETING && source->source != NODE_NONE) /* of several streams */
		source = &g->nodes[source->source];
	return source && source->kind == NODE_OPERATION;
}

static struct deferred_waits *deferred_of(const struct graph *g, const struct edit *edit)
{
	struct deferred_waits *all = edit->no_waits ? mem_alloc((g->actor_count + 1) * sizeof(*all)) : NULL;

	for (uint32_t i = 0; all && i < g->node_count; i++) {
		const struct run_node *n = &g->nodes[i];
		const struct span_of_nodes *span;

		if (n->kind != NODE_WAIT || !edit->no_waits[n->what])
			continue;
		span = &g->actors[n->actor];
		all[n->actor].last = waits_for_device(g, n) ? span->first + span->count - 1 : i;
	}
	return all;
}

static double end_of_deferred(const struct edit *edit, struct deferred_waits *all, uint32_t node,
			      const struct run_node *n, double begin, double end)
{
	struct deferred_waits *d = &all[n->actor];

	if (n->kind == NODE_WAIT && edit->no_waits[n->what]) {
		d->ns = edit->no_waits[n->what] == AWAITED_LATER ? larger(d->ns, end) : d->ns;
		end = begin;
	}
	return d->ns > 0 && d->last == node ? larger(end, d->ns) : end;
}

/* A wait for input by an actor of whose kind the other one is not. */
static bool is_input_wait(const struct graph *g, const struct edit *edit, const struct run_node *n)
{
	const struct run_node *source = n->source == NODE_NONE ? NULL : &g->nodes[n->source];

	return (n->kind == NODE_WAIT || n->kind == NODE_UNSEEN) && is_input(edit, n, n->what) &&
	       (!source || source->kind == NODE_MEETING || !edit->input_actors[source->actor]);
}

/* What waits for an operation waits for those beside its stream, too. `beside`: by actor, when these have ended. */
static double end_with_overlap(const struct graph *g, const struct edit *edit, double *beside, const double *ends,
			       uint32_t node)
{
	const struct run_node *n = &g->nodes[node], *source = n->source == NODE_NONE ? NULL : &g->nodes[n->source];
	double end = ends[node], ns;

	if (n->kind == NODE_OPERATION && edit->overlaps[n->what]) {
		ns = (double)g->parts[n->parts].ns - lost(g, edit, node);
		beside[n->actor] = larger(beside[n->actor], end - ns) + ns;
		return end - ns;
	}
	if (source && source->kind == NODE_OPERATION && source->actor != n->actor)
		return larger(end, beside[source->actor] + (double)(n->end_ns - source->end_ns) -
					   (n->kind == NODE_OPERATION ? (double)g->parts[n->parts].ns : 0));
	return end;
}

double replay_run(const struct graph *g, const struct edit *edit, double *ret_ends)
{
	SCOPED_MEMORY struct deferred_waits *deferred = deferred_of(g, edit);
	double *ends = ret_ends ? ret_ends : mem_alloc((g->node_count + 1) * sizeof(*ends)), ahead = 0, run = 0;
	SCOPED_MEMORY double *idle = mem_alloc((g->actor_count + 1) * sizeof(*idle)); /* the last one: of meetings */
	SCOPED_MEMORY double *beside = edit->overlaps ? mem_alloc((g->actor_count + 1) * sizeof(*beside)) : NULL;

	for (size_t i = 0; i <= g->actor_count; i++)
		idle[i] = -1;
	for (size_t i = 0; i < g->node_count; i++) {
		uint32_t node = g->order[i];
		uint32_t actor = g->nodes[node].kind == NODE_MEETING ? (uint32_t)g->actor_count : g->nodes[node].actor;

		ends[node] = end_of(g, edit, ends, node, idle[actor], ahead);
		if (deferred && g->nodes[node].kind != NODE_MEETING && graph_previous(g, node) != NODE_NONE)
			ends[node] = end_of_deferred(edit, deferred, node, &g->nodes[node], ends[node - 1], ends[node]);
		if (edit->starts_after && g->nodes[node].kind == NODE_START &&
		    edit->starts_after[g->nodes[node].actor] != NODE_NONE)
			ends[node] = larger(ends[node], ends[edit->starts_after[g->nodes[node].actor]]);
		if (edit->inputs && is_input_wait(g, edit, &g->nodes[node]))
			ends[node] = ends[node - 1];
		if ((g->nodes[node].kind == NODE_WAIT || g->nodes[node].kind == NODE_UNSEEN) &&
		    is_delayed(edit, &g->nodes[node]))
			ends[node] += edit->wait_delays[g->nodes[node].what];
		if (beside)
			ends[node] = end_with_overlap(g, edit, beside, ends, node);
		note_timer(g, edit, ends, node, &idle[actor]);
		ahead = larger(ahead, (double)g->nodes[node].end_ns - ends[node]);
	}
	for (size_t i = 0; i < g->end_count; i++)
		run = larger(run, ends[g->ends[i]]);
	if (!ret_ends)
		free(ends);
	return run;
}

/* A wait that does not wait is removed, whatever it waits for; another one that follows its source is not. */
static double removed(const struct graph *g, const struct edit *edit, uint32_t node)
{
	const struct run_node *n = &g->nodes[node];
	double ns = (double)(n->end_ns - replay_start(g, node));

	switch (n->kind) {
	case NODE_WORK:
		return lost(g, edit, node);
	case NODE_OPERATION:
		return edit->overlaps && edit->overlaps[n->what] ? (double)g->parts[n->parts].ns : lost(g, edit, node);
	case NODE_START:
		return n->source == NODE_NONE
			       ? 0
			       : (double)(n->end_ns - g->nodes[n->source].end_ns) - latency(g, edit, n);
	case NODE_WAIT:
	case NODE_UNSEEN:
		if ((edit->no_waits && edit->no_waits[n->what]) || (n->is_lock && edit->no_interpreter))
			return ns;
		if (replay_is_bound(g, node))
			return (double)(n->end_ns - g->nodes[n->source].end_ns) - latency(g, edit, n);
		return ns * (1 - factor_of(edit, n, n->what));
	default:
		return 0;
	}
}

double replay_removed(const struct graph *g, const struct edit *edit)
{
	double sum = 0;

	for (uint32_t i = 0; i < g->node_count; i++)
		sum += larger(removed(g, edit, i), 0);
	return sum;
}

uint32_t replay_last(const struct graph *g)
{
	uint32_t last = NODE_NONE;

	for (size_t i = 0; i < g->end_count; i++)
		if (last == NODE_NONE || g->nodes[g->ends[i]].end_ns > g->nodes[last].end_ns)
			last = g->ends[i];
	return last;
}
