/* SPDX-License-Identifier: Apache-2.0 */
/* Which call made each node of a CUDA graph, so that the report can attribute the operations of a replay.
 *
 * The functions below add arguments (TF_ARG_GRAPH...) to the record of a call that returned no error; the wrappers of
 * CUDA call them. The ids are those of device records. The driver provides them from CUDA 13.1 on, CUPTI before that,
 * while it is open; no subscription is needed. If neither does, nothing is added. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/record/process_state.h"
#include "runtime/shared/common/hot.h"

/* Stream captures in progress. It may be too high, because a stream may be destroyed during a capture; then the
 * driver is queried in vain. */
extern uint32_t graph_captures HIDDEN;

static inline bool graph_is_capturing(void)
{
	return __builtin_expect(__atomic_load_n(&graph_captures, __ATOMIC_RELAXED) != 0, 0);
}

void graph_capture_begins(void);
void graph_capture_ends(unsigned result);

/* Each adds to the `count` arguments at `words` and returns the new count; at most 4 are added. */

/* A call on `stream`, which may be capturing: takes two queries of the driver. `exec`: the executable graph that was
 * launched; NULL: another call. */
unsigned graph_captured(uint64_t *words, unsigned count, void *stream, bool is_per_thread, void *exec);

/* A call that added `node` to `graph`. `inner`: the graphs inside of the node. */
unsigned graph_added(uint64_t *words, unsigned count, void *graph, void *node, void *const *inner, unsigned inners);
/* Likewise by cuGraphAddNode() or cudaGraphAddNode(): `params` is their CUgraphNodeParams. */
unsigned graph_added_any(uint64_t *words, unsigned count, void *graph, void *node, const void *params);

/* The flags of an instantiation: notes in the ledger what will not be recorded. */
void graph_note_flags(uint64_t flags);
/* A call that instantiated `graph`, or updated `exec` by it. */
unsigned graph_instantiated(uint64_t *words, unsigned count, void *exec, void *graph);

/* A call that cloned `original`. */
unsigned graph_cloned(uint64_t *words, unsigned count, void *clone, void *original);

/* ---- --cuda-graph-sampling ---- */

/* Before a launch of `exec`. True: the launch is recorded by nodes, and graph_launched_by_nodes() must be called after
 * it. CUPTI is told to, for all threads: what they launch meanwhile is recorded by nodes as well. */
bool graph_launch_by_nodes(void *exec);
void graph_launched_by_nodes(void);

/* After records were read: CUPTI may have stopped to record whole graphs because it was told to record one by nodes.
 * Then all are recorded by nodes from now on. With the claim. */
void graph_check_whole(void);
