/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of each process: the turns of the loop in which it does its work. Ranges of NVTX that are steps are
 * believed; without any, steps follow from the order of a thread's calls. */
#pragma once

#include "report/events/scan.h"

enum step_source {
	STEPS_BY_PYTORCH,   /* ranges called ProfilerStep */
	STEPS_BY_RANGES,    /* other ranges of NVTX */
	STEPS_BY_OPTIMIZER, /* calls of an optimizer, or its kernels */
	STEPS_BY_COLLECTIVES,
	STEPS_BY_LAUNCHES,
	STEPS_BY_REQUESTS, /* from the arrival of a request to the last byte of the answer */
	STEPS_BY_CALLS,
	STEP_SOURCES
};
extern const char *const step_sources[STEP_SOURCES];

struct run_step {
	uint64_t start_ns, end_ns; /* in the common time */
	uint64_t usual_ns;	   /* the median length of the steps that are like it: those between two changes */
	uint64_t spread_ns;	   /* a step that is longer than this differs from them by more than they do */
	bool is_warmup, is_slow;
	/* from this step on, steps take this time as a part of what they took before; 0: no change */
	double change;
};

/* The steps of one thread. */
struct step_series {
	const struct image *image;
	const struct trace_thread *thread;
	enum step_source source;
	struct run_step *items; /* in order of time; a step ends before the next one begins. The trace owns them */
	size_t count, capacity;
	double coverage; /* the part of the thread's lifetime that they cover */
};

struct step_list {
	struct step_series *items; /* in the order of the model's images, at most one for each */
	size_t count, capacity;
};

void steps_find(const struct report_context *c, struct step_list *ret);
void step_list_done(struct step_list *l);

/* A step of which it is known at `from_ns` no more, at `to_ns` yet: STEPS_AFTER steps have followed it, or
 * `after_ns`. */
enum { STEPS_AFTER = 5 };
struct slow_step {
	double factor; /* how much longer than usual it is; 0: not wanted */
	uint64_t after_ns, from_ns, to_ns;
};
/* The longest one, compared with its usual length; NULL: there is none. */
const struct run_step *steps_slow(const struct step_list *l, const struct slow_step *wanted,
				  const struct step_series **ret_series);

/* The steps of one thread as sums; of --mode=profile, of which only ranges are known, the median is an estimate. */
struct step_sum {
	const struct image *image;
	uint32_t tid;
	enum step_source source;
	uint64_t count, total_ns, least_ns, most_ns;
	double squares; /* of ns */
	double median_ns; /* 0: not known */
};

struct step_sums {
	struct step_sum *items; /* in the order of the model's images, at most one for each */
	size_t count, capacity;
};

void steps_sum(const struct report_context *c, struct step_sums *ret);
void step_sums_done(struct step_sums *s);

/* ---- for steps.c ---- */

/* By the name of a range; the best one is last. */
enum range_role { NAMED_NONE, NAMED_OTHERWISE, NAMED_OPTIMIZER, NAMED_STEP, NAMED_PYTORCH };
enum range_role step_role(const char *name);
enum step_source step_source(enum range_role role);
/* Appends a text without its numbers. False: it is an operator of PyTorch. */
bool step_name(const struct trace *t, uint32_t string, struct buffer *ret);
bool steps_are_loop(enum range_role role, uint64_t count, double coverage);
double steps_lifetime_ns(const struct report_context *c, const struct image *image);

/* When what is recorded of the image begins: with --ring, later than the image. */
static inline uint64_t steps_since_ticks(const struct image *image)
{
	uint64_t ring_ticks = image->trace->header.ring_ticks;

	return image->start_ticks > ring_ticks ? image->start_ticks : ring_ticks;
}

void step_add(struct step_series *s, uint64_t start_ns, uint64_t end_ns);
/* By ranges of NVTX, by calls. False: there are none. */
bool steps_of_ranges(const struct report_context *c, const struct image *image, struct step_series *ret);
bool steps_of_calls(const struct report_context *c, const struct image *image, const struct trace_thread *thread,
		    struct step_series *ret);
/* Finds warm-up, changes and slow steps. */
void steps_mark(struct step_series *s);
