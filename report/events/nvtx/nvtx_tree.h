/* SPDX-License-Identifier: Apache-2.0 */
/* The NVTX ranges of one image that begin and end on the same thread, and how they nest. */
#pragma once

#include "report/events/interval_tree.h"
#include "report/events/nvtx/nvtx.h"

struct nvtx_node {
	uint64_t start, end; /* ticks */
	size_t parent;	     /* index of the innermost range around it; NVTX_NO_PARENT: none */
	uint32_t domain, text, level, children;
	uint32_t stack; /* of its begin; 0: none was taken */
	bool is_pushpop;
	const struct trace_thread *thread;
};

#define NVTX_NO_PARENT SIZE_MAX

struct nvtx_tree {
	const struct image *image;
	struct nvtx_node *nodes; /* by thread, then by start, longer ones first */
	size_t count, capacity;
	struct interval_tree intervals; /* of the nodes */
};

/* Takes only push/pop ranges, or start/end ranges as well. The caller frees *ret with nvtx_tree_done. */
void nvtx_tree_make(struct nvtx_tree *t, const struct image *image, bool only_pushpop);
void nvtx_tree_done(struct nvtx_tree *t);

/* Calls visit for each range of the thread that contains all of [start, end], from the outermost to the innermost. */
void nvtx_tree_around(const struct nvtx_tree *t, const struct trace_thread *thread, uint64_t start, uint64_t end,
		      void *context, void (*visit)(void *context, size_t node));

/* nvtx_name and nvtx_sum_name of a node. */
void nvtx_tree_name(const struct nvtx_tree *t, size_t node, struct buffer *ret);
void nvtx_tree_sum_name(const struct nvtx_tree *t, size_t node, struct buffer *ret);

/* Paths and drawings show this many levels of nested ranges. */
enum { NVTX_TREE_LEVELS = 256 };

/* From a node outwards through those around it, but no more than a program nests that ends its ranges. */
#define NVTX_NODES_AROUND(nodes, i, node)                                                                  \
	for (size_t i = (node), left_ = NVTX_TREE_LEVELS; i != NVTX_NO_PARENT && left_; left_--, \
		    i = (nodes)[i].parent)

/* Appends ":1:4:7", the ids (position + 1 + first) of the ranges from the outermost to this one; if there are too
 * many, ":..." and the innermost ones. */
void nvtx_tree_path(const struct nvtx_tree *t, size_t node, size_t first, struct buffer *ret);
