/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary about threads that wait for each other. */
#ifndef PILLION_SUMMARY_DEADLOCK_H
#define PILLION_SUMMARY_DEADLOCK_H

#include "report/base/text.h"
#include "report/causes/where/place.h"

/* For each proved cycle, up to a few, a line that begins with DEADLOCK and names waiters, holders and their lines.
 * Returns how many are proved. */
size_t summary_deadlock(const struct model *m, const struct where_place *place, struct buffer *out);

/* The places (file:line) at which threads of proved cycles wait. */
void deadlock_places(const struct where_place *place, struct texts *ret);

/* Lines that begin with DEADLOCK name ranks that wait for each other. Lines that begin with COLLECTIVE name ranks that
 * are missing in a collective, or have ended, where the other ranks have waited for at least `least_ns`. Returns the
 * number of ranks that are named. */
size_t summary_stall(const struct model *m, const struct where_place *place, uint64_t least_ns, struct buffer *deadlock,
		     struct buffer *collective);

#endif
