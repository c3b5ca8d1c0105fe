/* SPDX-License-Identifier: Apache-2.0 */
/* The causality of a run: for each actor, which is a thread or a stream of a device, a sequence of nodes in order of
 * time. A node lasts from the end of the one before it to its own end. The duration of work is an input; how long a
 * wait lasts follows from the node that ended it, its source. A wait whose source is not known keeps its length. Times
 * are in ns since the start of the capture. */
#pragma once

#include "report/base/util.h"

enum node_kind {
	NODE_START,	/* of the actor, not before its source */
	NODE_WORK,	/* its parts say of what */
	NODE_WAIT,	/* until its source has ended */
	NODE_UNSEEN,	/* a wait without a source, or until its time was over */
	NODE_OPERATION, /* of a device: begins after the previous one and its source, the call that launched it */
	NODE_MEETING	/* of no actor: several such nodes in succession end when the last of their sources has */
};

enum { NODE_NONE = UINT32_MAX };

struct run_node {
	uint64_t end_ns;
	uint32_t source; /* NODE_NONE: none */
	uint32_t parts;	 /* the first of its parts; the next node's first part follows the last one */
	uint32_t what;	 /* of a wait: what waits, see struct node_part */
	uint32_t actor : 26;
	uint32_t is_lock : 1; /* a wait for what its source released, and took after the node before that */
	uint32_t is_timer : 1; /* of NODE_UNSEEN: it woke by itself */
	uint32_t is_assumed : 1; /* that, or that it was for its source: it may have been for some time */
	uint32_t kind : 3; /* enum node_kind */
};

/* Time of a node. `what` identifies something that an edit can change (editable.h). */
struct node_part {
	uint32_t what;
	float ns;
};

/* What happened at one moment caused the end of a wait of another actor. */
struct edge {
	uint64_t from_ns, to_ns;
	uint32_t from, to; /* actors, or GRAPH_MEETING | number of a meeting */
	uint32_t node;	   /* private */
	bool is_lock;
};

#define GRAPH_MEETING (1u << 31)
#define GRAPH_NOWHERE (GRAPH_MEETING - 1) /* to no actor: the edge only ends a node where it begins */
#define GRAPH_ACTOR_NONE 0x3ffffffu

struct span_of_nodes {
	uint32_t first, count;
};

struct graph {
	struct run_node *nodes; /* by actor, then by time; those of meetings at the end */
	size_t node_count, node_capacity;
	struct node_part *parts;
	size_t part_count, part_capacity;
	struct edge *edges; /* by end, once graph_edges_done was called */
	size_t edge_count, edge_capacity;
	uint32_t *cuts; /* the edges by beginning */
	struct span_of_nodes *actors;
	size_t actor_count, meeting_count;
	bool has_assumed; /* nodes with is_assumed */
	uint32_t *order; /* all nodes, each after those that it depends on */
	uint32_t *ends;	 /* nodes: the run ends with the last of them */
	size_t end_count, end_capacity;
	/* What an operation usually takes from its launch to its start on an idle stream; 0: not known. */
	uint64_t launch_ns;
	/* while it is built */
	uint32_t actor;
	uint64_t now_ns, open_ns; /* open_ns: of the parts of the next node */
	size_t next_edge, next_cut;
	size_t asked_edge; /* where graph_has_edge has looked last */
	struct map open; /* what -> its place among the parts of the next node */
};

/* ---- building: first the edges, then the nodes of each actor in the order of their numbers ---- */

/* Ignored unless from_ns is before to_ns: then a clock is wrong, or it was not the cause. */
void graph_edge(struct graph *g, uint32_t from, uint64_t from_ns, uint32_t to, uint64_t to_ns);

/* Likewise of a wait for something that the other actor held from taken_ns on. Whoever asks for it before that does not
 * wait. */
void graph_lock(struct graph *g, uint32_t from, uint64_t taken_ns, uint64_t from_ns, uint32_t to, uint64_t to_ns);

/* Something that happens when the last of several actors has arrived: the number to use in edges to it and from it. */
uint32_t graph_meeting(struct graph *g);
void graph_arrive(struct graph *g, uint32_t meeting, uint32_t from, uint64_t from_ns);
/* When the last one arrived. */
void graph_leave(struct graph *g, uint32_t meeting, uint64_t arrived_ns, uint32_t to, uint64_t to_ns);

void graph_edges_done(struct graph *g);

void graph_begin(struct graph *g, uint32_t actor, uint64_t start_ns);
void graph_work(struct graph *g, uint64_t until_ns, uint32_t what);
/* A call that may wait: if there is an edge to its end, it did. */
/* What it does without an edge. GRAPH_ASSUMED: as GRAPH_TIMER, see is_assumed. */
enum graph_alone { GRAPH_WORKS, GRAPH_WAITS, GRAPH_TIMER, GRAPH_ASSUMED };
void graph_call(struct graph *g, uint64_t until_ns, uint32_t what, enum graph_alone alone);
void graph_operation(struct graph *g, uint64_t start_ns, uint64_t end_ns, uint32_t what);
/* is_end: the run does not end before this actor. */
void graph_end(struct graph *g, bool is_end);
void graph_finish(struct graph *g);

/* An edge to the end of a call of this actor exists. To be called in order of time. */
bool graph_has_edge(struct graph *g, uint32_t actor, uint64_t end_ns);

void graph_done(struct graph *g);

/* ---- reading ---- */

/* The node before it; NODE_NONE: it is the first. */
static inline uint32_t graph_previous(const struct graph *g, uint32_t node)
{
	const struct run_node *n = &g->nodes[node];

	return node && n->kind != NODE_START && n[-1].actor == n->actor &&
			       (n->kind != NODE_MEETING || n->what) ? node - 1 : NODE_NONE;
}

static inline size_t graph_parts(const struct graph *g, uint32_t node, const struct node_part **ret)
{
	*ret = g->parts ? &g->parts[g->nodes[node].parts] : NULL;
	return (node + 1 < g->node_count ? g->nodes[node + 1].parts : g->part_count) - g->nodes[node].parts;
}
