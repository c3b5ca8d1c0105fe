/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the forward pass that caused the device work of PyTorch's backward pass. Each operator of the forward
 * pass has a sequence number in its range, and so have the nodes of autograd that compute its gradients. */
#pragma once

#include "report/events/cuda/attribute.h"

enum backward_kind {
	BACKWARD_NONE,
	BACKWARD_OF_FORWARD, /* in a node of autograd that has a number */
	BACKWARD_AGAIN,	     /* operators of the forward pass that checkpointing executes again */
};

struct backward_cause {
	const struct trace_thread *thread;
	uint64_t start; /* ticks */
	uint32_t stack;
};

struct backward {
	struct nvtx_tree tree;
	struct backward_range *ranges; /* of the tree's nodes */
	struct backward_cause *causes;
	size_t count, capacity;
	struct map numbers; /* sequence number -> place in `causes` + 1 */
	struct map aliases; /* number of an operator in a node of autograd -> number of the node + 1 */
	size_t range;	    /* the innermost one, while a call is visited */
};

void backward_begin(struct backward *b, const struct image *image);

/* Notes a call with device records, or tells that it belongs to the backward pass of the operator *ret_seq. */
enum backward_kind backward_take(struct backward *b, const struct correlated *k, uint64_t *ret_seq);

/* The call of the forward pass, after all calls of the image were taken. The gradient of a gradient belongs to the
 * first forward pass. NULL: not known. */
const struct backward_cause *backward_cause(const struct backward *b, uint64_t seq);

void backward_done(struct backward *b);
