/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path: what the end of the run waited for, back to its start. Each moment of the run is in it once. If
 * something is removed, the run becomes shorter by at most its time on this path. */
#pragma once

#include "report/causes/graph.h"

enum critical_kind {
	CRITICAL_PART,	 /* of work, or of an operation */
	CRITICAL_CALL,	 /* a call that had not to wait */
	CRITICAL_UNSEEN, /* a wait without a source */
	CRITICAL_LATENCY, /* from the source to the end of a wait, or to the start of an operation or an actor */
	CRITICAL_BEFORE	 /* the start of the first actor */
};

/* `what` is as in struct node_part; of CRITICAL_LATENCY of a start and of CRITICAL_BEFORE there is none. */
typedef void critical_visit(void *context, enum critical_kind kind, uint32_t node, uint32_t what, double ns);

/* From the end of the last node, or from until_ns on, back to from_ns. */
void critical_walk(const struct graph *g, uint32_t last, uint64_t from_ns, uint64_t until_ns, critical_visit *visit,
		   void *context);

/* The node of an actor that lasted at that time. */
uint32_t critical_node_at(const struct graph *g, uint32_t actor, uint64_t ns);
