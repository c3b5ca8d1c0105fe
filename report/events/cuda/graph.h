/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that made the nodes of CUDA graphs, by capture or explicitly.
 *
 * A device record has the node's id in the executable graph. Instantiation keeps the numbers of the nodes and changes
 * only the id of the graph. Therefore the node's number identifies the node in the source graph: the graph that was
 * instantiated, or the graph of the last update. The nodes of inner graphs (child graphs, bodies of conditional nodes)
 * get new numbers. They are matched with the nodes of the inner source graph by kind, kernel, grid and block; nodes
 * that agree in all four are matched in order of execution. */
#pragma once

#include "report/events/cuda/device.h"

struct graph_node {
	const struct trace_thread *thread;
	struct event event; /* the call; args are valid as long as the trace is */
	uint32_t graph, node; /* its id when it was made */
};

/* Prepares an image, once: reads the calls that made nodes, and device records if there are graphs inside of graphs.
 * False: no call of it has made a node. */
bool graph_prepare(const struct report_context *c, const struct image *image);

/* The node that an operation of a replay executed; `ticks`: when it was launched. NULL: not known, or no node. Without
 * graph_prepare(): NULL. */
const struct graph_node *graph_node_of(const struct trace *t, const struct tf_device_operation *operation,
				       uint64_t ticks);
