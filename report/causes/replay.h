/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats a run in virtual time, with edits: when would each node have ended? Without an edit, when it did. One replay
 * visits each node once. */
#pragma once

#include "report/causes/graph.h"

/* How long waits without a source last. UNSEEN_SHRINK: the unknown cause of their end came earlier by as much as
 * anything did: the most that they could be shorter. */
enum replay_unseen { UNSEEN_STAY, UNSEEN_SHRINK };

enum replay_no_wait { AWAITED_AS_EVER, AWAITED_LATER, AWAITED_NEVER };

/* What is changed. Factors multiply times: 0 is no time, 1 the recorded one. */
struct edit {
	float *factors;	      /* by what; NULL: none */
	double *actor_factors; /* by actor, of its work; NULL: none */
	/* by what: its waits do not wait for their sources. AWAITED_LATER: the last such wait of an actor waits for the
	 * sources of all of them. NULL: none */
	uint8_t *no_waits;
	/* by actor: it does not start before this node has ended; NODE_NONE: any time. NULL: none. In the run, the node
	 * ended before that actor started, too. */
	uint32_t *starts_after;
	/* by what: operations that run beside all others of the device, until something waits for them. NULL: none */
	uint8_t *overlaps;
	/* by actor: those whose input takes no time, and by what: what obtains input. A wait for another one of these
	 * actors is none for input. NULL: none */
	uint8_t *input_actors, *inputs;
	/* by what: the ns that each ns of work becomes longer by, and each wait after its end; by actor, whether it
	 * does. NULL: none */
	double *work_delays, *wait_delays;
	uint8_t *delayed_actors;
	enum replay_unseen unseen;
	bool assumes_nothing; /* nodes with is_assumed keep their length, and wait for nobody */
	bool no_interpreter; /* waits for the lock of an interpreter do not wait */
};

/* When the run would have ended, in ns. `ret_ends` (may be NULL): when each node would have. */
double replay_run(const struct graph *g, const struct edit *edit, double *ret_ends);

/* What the edit removes from the nodes, all actors together: the run is not shorter by more. */
double replay_removed(const struct graph *g, const struct edit *edit);

/* The node whose end was that of the run. */
uint32_t replay_last(const struct graph *g);

/* The latest end of the nodes that a wait or an operation depended on is that of its source, not of the node before. */
bool replay_is_bound(const struct graph *g, uint32_t node);

/* When a node other than an operation began. */
static inline uint64_t replay_start(const struct graph *g, uint32_t node)
{
	uint32_t previous = graph_previous(g, node);

	return previous == NODE_NONE ? g->nodes[node].end_ns : g->nodes[previous].end_ns;
}
