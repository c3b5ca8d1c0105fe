/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes the time of device records to calls. The call is the one that correlate.h finds, with two exceptions. An
 * operation of a CUDA graph is attributed to the call that added its node to the graph (graph.h). If CUPTI recorded the
 * launch of a graph as a whole, its time is divided over the nodes, provided that their times can be estimated
 * (graph_estimate.h). */
#pragma once

#include "report/events/cuda/correlate.h"
#include "report/events/nvtx/nvtx_tree.h"

/* As correlate_image(). k->launch is the call that launched the graph if k->event is the one that made the node. */
void attribute_image(const struct report_context *c, const struct image *image, void *context,
		     void (*visit)(void *context, const struct correlated *k));

/* Calls visit for each NVTX range around k->event, and before that for the other ranges around k->launch: those inside
 * are last. */
void attribute_ranges(const struct nvtx_tree *tree, const struct correlated *k, void *context,
		      void (*visit)(void *context, size_t node));
