/* SPDX-License-Identifier: Apache-2.0 */
/* The host memory of one image by source line, as far as --memory recorded it: allocations and frees are replayed in
 * the order of time. Small allocations are samples, so their bytes and numbers are estimates. The report's memory grows
 * with the number of recorded blocks in use at once and of distinct stacks. A filter (filter.h) does not apply, because
 * what is in use depends on everything before. */
#pragma once

#include "report/names/attribution.h"

/* Bytes, except those that say otherwise. */
struct heap_values {
	uint64_t allocated, allocations; /* in total; allocations is a number */
	uint64_t samples;		 /* recorded allocations */
	uint64_t in_use;		 /* at the end */
	uint64_t peak;			 /* at the peak of the image */
	uint64_t first, last;		 /* in use when the first step begins and when the last one ends */
	uint32_t grown;			 /* steps after the first at whose end more was in use than at their begin */
};

struct heap_line {
	const struct code_line *line; /* "(not attributed)" without a stack */
	bool is_users;		/* user code as defined in attribution.h */
	bool is_kept;		/* not all of its stacks are of imports, which keep the code of modules */
	struct heap_values values;
	uint64_t at_step; /* in use at the end of the previous step */
};

struct heap_stack {
	uint32_t stack; /* 0: not taken */
	size_t line;
	struct heap_values values;
};

/* A step is an interval of the time between allocations: the instances of the NVTX range that takes most of the time
 * of a thread and occurs several times, each joined with those that follow if there are more than HEAP_STEPS; without
 * such a range, HEAP_STEPS equal parts of the time until the peak, or until the last allocation if the peak is much
 * earlier. At the end of a program most memory is freed, so what is in use then tells little. */
enum { HEAP_STEPS = 16, HEAP_LEAST_STEPS = 4 };

struct heap {
	const struct image *image;
	struct heap_line *lines;
	struct heap_stack *stacks;
	size_t line_count, line_capacity, stack_count, stack_capacity;
	uint64_t peak, peak_ns; /* of all that was recorded */
	uint64_t step_ns[HEAP_STEPS + 1]; /* the begin of the first step, then the end of each */
	size_t steps;
	char *step_name; /* of the range; NULL: equal parts of the time */
	uint64_t instances; /* of the range, or the number of parts */
};

bool heap_is_recorded(const struct image *image);
void heap_replay(const struct model *model, const struct image *image, struct attribution *attribution,
		 struct heap *ret);
void heap_done(struct heap *h);

/* From the begin of the first step to the end of the last one. */
uint64_t heap_growth(const struct heap_values *v);

/* The line uses more memory from step to step: it has grown in most steps after the first. */
bool heap_line_grows(const struct heap *h, const struct heap_line *l);

/* Bytes that an allocation represents. */
uint64_t heap_weight(const struct event *e);

/* Calls watch with the bytes in use: in each of HEAP_POINTS parts of the time, the most and the last. */
enum { HEAP_POINTS = 2000 };
typedef void heap_watch(void *context, uint64_t in_use, uint64_t ns);
void heap_over_time(const struct model *model, const struct image *image, heap_watch *watch, void *context);
