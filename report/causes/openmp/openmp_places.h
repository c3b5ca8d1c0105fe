/* SPDX-License-Identifier: Apache-2.0 */
/* The places in a program where threads of OpenMP wait for the last one of their team: the ends of parallel regions,
 * and barriers. */
#pragma once

#include "report/events/scan.h"

/* The line of a region is where it begins. Memory grows with the number of lines and threads. */
struct openmp_place {
	const struct image *image;
	bool is_barrier; /* false: the end of a region */
	const struct code_line *line; /* NULL: not known */
	uint64_t count;	 /* of regions; of a barrier, how often the thread that was there most often waited */
	uint64_t threads;  /* the most that a region had; those that ever waited at a barrier */
	uint64_t total_ns; /* the regions' time; of barriers 0 */
	uint64_t work_ns;  /* of all threads, until they arrived; likewise */
	uint64_t wait_ns;  /* of all threads */
	uint64_t lost_ns;  /* the same divided by the number of threads: what a perfect balance would save */
	/* the one that the others wait for: clearly the longest work, or the shortest waits; NULL: it varies */
	const struct trace_thread *late;
};

struct openmp_places {
	struct openmp_place *items; /* the largest lost_ns first */
	size_t count, capacity;
};

void openmp_places_find(const struct report_context *c, struct openmp_places *ret);
void openmp_places_done(struct openmp_places *p);

/* Whether any thread of the image recorded OpenMP. */
bool openmp_is_in(const struct image *image);
