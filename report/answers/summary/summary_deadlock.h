/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary about threads that wait for each other. */
#pragma once

#include "report/causes/where/place.h"

/* For each proved cycle, up to a few, a line that begins with DEADLOCK and names waiters, holders and their lines.
 * Returns how many are proved. */
size_t summary_deadlock(const struct model *m, const struct where_place *place, struct buffer *out);

/* The places (file:line) at which threads of proved cycles wait. */
void deadlock_places(const struct where_place *place, struct texts *ret);

/* Ranks that do not go on and have been in their calls for at least `least_ns`: ranks that wait for each other, are
 * late or missing in a collective, or have ended. Returns the number of ranks to be named. */
size_t summary_stall_find(const struct model *m, const struct where_place *place, uint64_t least_ns,
			  struct where_ranks *ret, enum where_stall *ret_stall);

/* Their lines, each of which begins with the word of the stall (where_text_word). To read and name their stacks takes
 * longer than all else. */
void summary_stall_text(const struct model *m, const struct where_place *place, const struct where_ranks *ranks,
			struct buffer *out);

/* Both. */
size_t summary_stall(const struct model *m, const struct where_place *place, uint64_t least_ns,
		     enum where_stall *ret_stall, struct buffer *out);
