/* SPDX-License-Identifier: Apache-2.0 */
/* How the time of a graph that was recorded as a whole is divided over its nodes, estimated from the launches of the
 * same executable graph that were recorded by nodes.
 *
 * The time of a node is a linear function of the time of the whole launch, fitted by least squares: so a node that
 * varies takes the part of the time by which the launch is longer than others. Where the launches hardly differ, the
 * time is divided in proportion. A node that a launch does not execute takes no time in it. */
#pragma once

#include "report/events/cuda/device.h"

struct graph_node_share {
	uint32_t operation;
	double mean_ns, slope; /* ns of the node per ns of the launch */
	double deviation_ns;   /* of the node's time from the fitted one */
	uint64_t exact_ns, executions; /* in the launches that were recorded by nodes */
};

struct graph_shares {
	uint32_t exec;
	uint64_t by_nodes, as_whole; /* launches */
	double mean_ns, mean_whole_ns; /* duration of the former and of the latter */
	double spread; /* sum of the squared distances from mean_ns */
	double outside_ns; /* of the latter: by which they are shorter or longer than all of the former */
	struct graph_node_share *nodes; /* in the order of their first execution */
	size_t node_count;
};

/* Prepares an image, once. False: it has no graph that was recorded in both ways. */
bool graph_estimate_prepare(const struct report_context *c, const struct image *image);

/* The shares of an executable graph; NULL: no launch of it was recorded by nodes, or none as a whole. */
const struct graph_shares *graph_estimate(const struct trace *t, uint32_t exec);

/* Calls visit for each executable graph of an image of which a launch was recorded by nodes, whether others were
 * recorded as a whole or not. */
void graph_estimate_each(const struct report_context *c, const struct image *image, void *context,
			 void (*visit)(void *context, const struct graph_shares *s));

/* The time of a node in a launch that took `whole_ns`, not negative. */
double graph_estimate_ns(const struct graph_shares *s, size_t node, uint64_t whole_ns);

/* The error of a node's total over all launches that were recorded as a whole, in ns, at a confidence of 95 %. < 0: not
 * known, because fewer than 3 launches were recorded by nodes. */
double graph_estimate_error(const struct graph_shares *s, size_t node);

/* Whether a capture has times that are estimates. */
bool graph_estimate_any(const struct report_context *c);

/* Appends a remark on the images whose times are estimates, with their error; nothing if there are none. */
void graph_estimate_remark(const struct report_context *c, struct buffer *ret);
