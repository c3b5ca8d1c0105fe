/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences about threads that hang, which `pillion where`, the summary and rules share. */
#pragma once

#include "report/causes/where/place.h"

/* "futex for 12.3 s: waits for ...". The recorded call is what the program has called. */
void where_text_state(const struct where_item *item, struct buffer *ret);

/* " at main (job.c:12)"; the stack must have been read. Nothing if it is not known. */
void where_text_line(const struct where_item *item, struct buffer *ret);

/* "3 of 4 ranks are in MPI_Barrier; rank 2, PID 12, has not come for 3.1 s: computes at main (job.c:12)", or "is not:
 * MPI_Finalize for 2 s", of one of the ranks' items. */
void where_text_missing(const struct where_ranks *r, const struct where_item *item, struct buffer *ret);

/* "rank 2, PID 12: MPI_Recv for 3.1 s at main (job.c:12)", of a rank in such a call. */
void where_text_rank(const struct where_item *item, struct buffer *ret);

/* The word that begins the line: DEADLOCK or COLLECTIVE if it is proved that no rank can go on, else STALLED. */
const char *where_text_word(enum where_stall stall);
/* Why no rank goes on, if none is late or missing. */
const char *where_text_stall(enum where_stall stall);
