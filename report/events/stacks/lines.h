/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of each source line: events are aggregated by the line to which they are attributed (attribution.h).
 * Memory grows with the number of distinct stacks, not of events. Frames are named at the end, once for each
 * attributed place; the other frames of a stack are never named. */
#pragma once

#include "report/events/scan.h"

/* Times in ns, memory in bytes. */
enum line_value {
	LINE_TOTAL, /* the thread's time without double counting: samples, and calls without what was inside of them */
	LINE_HELPERS, /* of it: of threads that do no work of the job's own; set by who needs it (time/helpers.h) */
	LINE_INCLUSIVE, /* the times of LINE_TOTAL of all stacks that the line is in; only if it is requested */
	LINE_GPU_INCLUSIVE, /* likewise: of LINE_GPU */
	LINE_PYTHON,	/* CPU samples in the Python interpreter */
	LINE_NATIVE,	/* CPU samples in other code */
	LINE_OFF_CPU,	/* OS calls without the samples taken during them */
	LINE_OS,	/* OS calls */
	LINE_IN_OS,	/* of LINE_PYTHON and LINE_NATIVE: samples taken during OS calls */
	LINE_SYSTEM,	/* OS calls with a stack, samples in others, waits for a CPU: signed; no waits by lines_top() */
	LINE_CUDA,	/* CUDA calls */
	LINE_GPU,	/* what the devices executed for the line's calls, at any time, and for LINE_BACKWARD */
	LINE_ESTIMATED, /* of it: parts of CUDA graphs that were recorded as a whole (graph_estimate.h) */
	LINE_BACKWARD,	/* of LINE_GPU: the work of the backward pass that the line's operators caused (backward.h) */
	LINE_ENERGY,	/* that the work of LINE_GPU took, in uJ: an estimate, see energy_share.h */
	LINE_LAUNCHES,	/* of kernels and graphs; those of the backward pass likewise */
	LINE_ALLOCATED, /* device memory */
	LINE_HOST,	/* host memory allocated, as far as --memory recorded it; an estimate */
	LINE_HOST_PEAK, /* of it: in use at the peak of the process; set by who needs it */
	LINE_HOST_GROWTH, /* likewise: see heap_growth() */
	LINE_COPIED,	/* by copies and memsets, as requested by the calls */
	LINE_MOVED,	/* read, written, sent and received by OS calls that were recorded one by one */
	LINE_FLOPS,	/* of the kernels of LINE_GPU, as far as they are known; set by who needs them (tables/ops) */
	LINE_AT_PEAK,	/* likewise: the time (ns) that LINE_FLOPS take at the devices' peak rates */
	LINE_SAMPLES,
	LINE_CALLS,	/* recorded OS and CUDA calls */
	LINE_VALUES
};

struct line_values {
	uint64_t of[LINE_VALUES];
	bool is_users; /* user code as defined in attribution.h */
};

struct lines {
	struct aggregate keys; /* fields: of --by, file ("": not known), line, function */
	struct line_values *values; /* by row of keys */
	size_t count, capacity;
	bool has_stacks; /* false: everything is attributed to "(not attributed)" */
	struct map stacks; /* number of the image, stack -> row + 1; not with --by range or thread */
};

/* Of which threads lines are wanted; NULL: of all. */
struct lines_filter {
	bool (*is_wanted)(const void *more, const struct image *image, uint32_t tid);
	const void *more;
};

/* Told of each part of LINE_TOTAL: the row of keys, the event with its image (s->image). The rows' values are not
 * complete yet. */
typedef void lines_each(void *more, uint32_t row, const struct scan *s, const struct event *e, uint64_t ns);

/* Attributes to the innermost frame if context->lines_all is set. `each` may be NULL. */
void lines_gather(const struct report_context *context, lines_each *each, void *more, struct lines *ret);
void lines_done(struct lines *l);

/* The first `wanted` rows of lines_order that are user code, and possibly some after them; --by is ignored. Other
 * lines get no row. The cost is that of reading the events; only candidates for these rows are named. filter may be
 * NULL. */
void lines_top(const struct report_context *context, size_t wanted, const struct lines_filter *filter,
	       struct lines *ret);

/* The values of the row of a line, which is made if there is none; without --by. */
struct line_values *lines_values_of(struct lines *l, const struct code_line *line);

/* The files of user code that events are attributed to, as the traces name them. Borrowed from the model. */
const struct texts *lines_files(const struct report_context *context);

/* Row numbers in output order: user code by time, then by device time; then libraries; then "(not attributed)". The
 * caller frees them. */
size_t *lines_order(const struct report_context *context, const struct lines *l);

/* The i-th field after that of --by, "" past the end. */
const char *lines_field(const struct report_context *context, const struct lines *l, size_t row, size_t i);
