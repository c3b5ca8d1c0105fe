/* SPDX-License-Identifier: Apache-2.0 */
/* Device records with the call to which their time is attributed: that of correlate.h, except that an operation that
 * the launch of a CUDA graph executed is attributed to the call that made its node (graph.h), and the time of a launch
 * that was recorded as a whole is divided over its nodes where that can be estimated (graph_estimate.h). */
#ifndef PILLION_ATTRIBUTE_H
#define PILLION_ATTRIBUTE_H

#include "report/derive/device/correlate.h"
#include "report/derive/nvtx/nvtx_tree.h"

/* As correlate_image(). k->launch is the call that launched the graph if k->event is the one that made the node. */
void attribute_image(const struct report_context *c, const struct image *image, void *context,
		     void (*visit)(void *context, const struct correlated *k));

/* Calls visit for each NVTX range around k->event, and before that for the other ranges around k->launch: those inside
 * are last. */
void attribute_ranges(const struct nvtx_tree *tree, const struct correlated *k, void *context,
		      void (*visit)(void *context, size_t node));

#endif
