/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary about peaks of memory. */
#pragma once

#include "report/answers/rule.h"
#include "report/time/resident.h"

/* The largest peak of a GPU's memory and, with --memory, of the host's: how much, where, and the line that held most of
 * it. */
void summary_memory(struct rules *r, struct buffer *ret);

/* The largest peak of resident memory of a process, and whether it grew steadily; in the last line of those that
 * summary_memory() has appended, if the text was `before` bytes long before them. */
void summary_resident(struct rules *r, size_t before, struct buffer *ret);

/* rule_memory.c: whether the memory of the process of these samples grows steadily after its start. */
struct memory_growth {
	uint64_t from_kb, to_kb, ns;
	size_t samples;
};
bool memory_grows(struct rules *r, const struct resident_point *points, size_t count, struct memory_growth *ret);
