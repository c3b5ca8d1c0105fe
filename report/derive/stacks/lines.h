/* SPDX-License-Identifier: Apache-2.0 */
/* What each source line cost: events by the line that they are charged to (attribution.h).
 * Memory grows with the distinct stacks, not with the events. Frames are named at the end, once for each place that is
 * charged: a stack's other frames cost nothing. */
#ifndef PILLION_LINES_H
#define PILLION_LINES_H

#include "report/derive/events/scan.h"

/* Times in ns, memory in bytes. */
enum line_value {
	LINE_TOTAL,	/* a thread's time, each moment of it once: samples, and calls without what lay within them */
	LINE_PYTHON,	/* CPU samples in the interpreter */
	LINE_NATIVE,	/* CPU samples in other code */
	LINE_OFF_CPU,	/* OS calls without the samples that came upon them */
	LINE_OS,	/* OS calls */
	LINE_CUDA,	/* CUDA calls */
	LINE_GPU,	/* what the devices did for the line's calls, whenever */
	LINE_ALLOCATED, /* of device memory */
	LINE_COPIED,	/* by copies and memsets, as the calls asked for */
	LINE_SAMPLES,
	LINE_CALLS,	/* OS and CUDA calls that were recorded */
	LINE_VALUES
};

struct line_values {
	uint64_t of[LINE_VALUES];
	bool is_users; /* the user's code, by the rule above */
};

struct lines {
	struct aggregate keys; /* fields: of --by, file ("": not known), line, function */
	struct line_values *values; /* by row of keys */
	size_t count, capacity;
	bool has_stacks; /* false: all is charged to "(no stack)" */
};

/* context->lines_all: the innermost frame is charged, whoever wrote it. */
void lines_gather(const struct report_context *context, struct lines *ret);
void lines_done(struct lines *l);

/* The first `wanted` rows in the order of lines_order, of the user's code alone, and perhaps some after them; whatever --by says, as if it
 * said nothing. What else there is has no row. The cost is that of reading the events; names are looked for only among what may
 * be one of those rows. */
void lines_top(const struct report_context *context, size_t wanted, struct lines *ret);

/* The numbers of all rows, as a list of lines shows them: the user's own by time, then by what they made devices do; libraries'; "(no
 * stack)". To be freed. */
size_t *lines_order(const struct report_context *context, const struct lines *l);

/* The i-th field after that of --by, "" past the end. */
const char *lines_field(const struct report_context *context, const struct lines *l, size_t row, size_t i);

/* "(no stack)": what is charged to no line. */
bool lines_is_stackless(const struct report_context *context, const struct lines *l, size_t row);

#endif
