/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks of MPI wait for in their calls in progress, and which of them wait for each other: proved by the arguments
 * of these calls, which the launcher has read, and by all messages and collectives that the traces have. The n-th send
 * to a rank with a tag is received by the n-th receive of that. So a rank waits for a message in vain if its sender is
 * stuck and has not sent as many as were to be received, and likewise for the receiver of its message; in a collective,
 * for those who have not called as many on that communicator. What a receive from any source gets is not known, nor is
 * a rank of which events were lost or of which several threads call MPI: that proves nothing. */
#pragma once

#include "report/causes/where/place.h"

struct rank_call {
	struct where_item *item; /* of the thread that is in the call, else NULL */
	const struct image *image;
	const char *name; /* of the rank: its number comes first */
	/* results */
	bool is_stuck;	   /* it waits for ranks that never come */
	bool is_collective; /* in a collective */
	bool is_known;	   /* what it waits for is */
	bool is_needed;	   /* another one waits for it */
	uint32_t set; /* from 1: of ranks that wait for each other, or of one that comes to nothing any more; 0: none */
	char waits_for[64]; /* "rank 1, 2"; "": not known */
};

/* Returns the number of sets. */
uint32_t rank_calls_find(struct rank_call *ranks, size_t count);
