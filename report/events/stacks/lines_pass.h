/* SPDX-License-Identifier: Apache-2.0 */
/* The state of lines.c while events are read. Private to lines*.c. */
#pragma once

#include "report/events/cuda/backward.h"
#include "report/events/stacks/lines.h"
#include "report/events/usage.h"
#include "report/names/attribution.h"

enum { WITHIN = 64 };

/* A call or sample that has ended on a thread and may be inside a call that is still to come: calls are written when
 * they end. */
struct within {
	uint64_t start; /* ticks */
	uint64_t total, os, cuda; /* ns */
	size_t sample; /* the site of a sample + 1 */
	int64_t waited; /* before the sample */
};

/* Sums before they are named: the place of a frame, in one group of --by. */
struct site {
	const struct image *image;
	const struct trace_thread *thread;
	uint32_t range;
	bool is_users, is_stackless;
	struct symbol_frame frame;
	uint64_t values[LINE_VALUES];
	int64_t waited; /* the gaps before its samples, of the thread that is read: ns */
	uint32_t row; /* once it has one */
	bool has_row;
};

/* What the devices executed. */
struct device_work {
	uint64_t ns, estimated, launches, energy_uj; /* estimated: of ns */
};

/* Device work of the backward pass, until the line of its forward pass is known, and the stack of its launch. */
struct deferred_call {
	uint64_t seq, start;
	const struct trace_thread *thread;
	uint32_t stack;
	struct device_work work;
};

/* The sites of all lines that a stack is in, one after the other. */
struct around {
	size_t site;
	bool is_last;
};

struct lines_pass {
	struct scan scan;
	struct lines *lines;
	struct attribution attribution;
	struct site *sites;
	size_t site_count, site_capacity;
	struct map numbers; /* image, range and place of a frame -> site */
	struct map stacks;  /* image, range and stack -> site << 1 | whether its innermost frame is the interpreter's */
	/* the last question to `stacks`, and its answer */
	uint64_t last_group, last_known;
	uint32_t last_stack;
	bool has_last;
	const struct lines_filter *filter;
	const struct trace_thread *thread; /* the thread to which `within` belongs */
	bool is_unwanted;		   /* it is */
	/* The latest WITHIN at most, from within_first on; they are moved to the beginning when the end is reached. */
	struct within within[8 * WITHIN];
	size_t within_first, within_count;
	uint64_t sampled; /* its last sample */
	int64_t waited;	  /* ns that it neither computed since then nor was in calls */
	struct usages *usages; /* NULL: waits for a CPU are not wanted */
	size_t *waiting; /* sites before whose samples the thread had gaps */
	size_t waiting_count, waiting_capacity;
	int64_t gaps; /* their sum, ns */
	struct backward *backward;	   /* of the image, NULL: it has no operators */
	struct deferred_call *deferred;
	size_t deferred_count, deferred_capacity;
	struct map deferred_numbers; /* sequence number, site -> place in `deferred` */
	struct around *around;	 /* what LINE_INCLUSIVE needs */
	size_t around_count, around_capacity;
	struct map around_stacks; /* image, range and stack -> the first place in `around` + 1 */
	bool has_energy; /* LINE_ENERGY is wanted and known */
	lines_each *each; /* NULL: nobody is told */
	void *more;
};

void lines_pass_begin(struct lines_pass *w, const struct report_context *context, struct lines *ret);
void lines_pass_read(struct lines_pass *w);
void lines_pass_done(struct lines_pass *w);

/* Adds the gap before a sample of a site, which may be a wait for a CPU, or takes it off. */
void lines_waits_add(struct lines_pass *w, size_t site, int64_t ns);
/* Once all samples of a thread were read. */
void lines_waits_end(struct lines_pass *w);

/* Adds a site to its row. */
void lines_add_row(struct lines_pass *w, struct site *site);

/* The order of lines: by time, then by device time, with callees if these times are requested. */
int compare_line_values(const uint64_t *a, const uint64_t *b);
