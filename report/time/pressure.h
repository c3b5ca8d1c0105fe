/* SPDX-License-Identifier: Apache-2.0 */
/* Who held the CPUs while threads of the job waited for one: the job itself, or others. */
#pragma once

#include "report/time/partition.h"

/* The threads of one machine that may use the same CPUs. */
struct pressure {
	size_t machine;
	struct cpu_limit limit;
	size_t threads; /* that waited for a CPU */
	uint64_t cpu_ns, delay_ns;
	uint64_t first_ns, last_ns; /* CLOCK_REALTIME */
	double others;	 /* the part of delay_ns in which other programs held the CPUs: 0 to 1 */
	double runnable; /* threads that had a CPU or waited for one, on average while any waited */
	bool has_threads; /* a process with several threads that waited */
	bool is_nested;	 /* several processes, each with several threads that waited: the product exceeds the CPUs */
	bool is_known;	 /* false: the CPUs that they may use are not known */
};

struct pressures {
	struct pressure *items;
	size_t count, capacity;
	struct map known; /* (mask, machine) -> item + 1 */
};

void pressures_find(const struct report_context *c, const struct partition *p, struct pressures *ret);
void pressures_done(struct pressures *p);

/* NULL: no thread of the partition has this limit. */
const struct pressure *pressures_of(const struct pressures *p, size_t machine, uint64_t mask);
