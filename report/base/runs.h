/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts more items than memory should hold: those that are held are sorted and wait in a file without a name, in $TMPDIR or
 * /var/tmp, and all such runs are merged. Where there is no room for the file memory holds them after all. */
#ifndef PILLION_RUNS_H
#define PILLION_RUNS_H

#include "report/base/util.h"

struct runs {
	size_t item_bytes, held; /* so many items at a time */
	int (*compare)(const void *, const void *);
	/* runs.c's own */
	uint8_t *items;
	size_t count, capacity;
	struct run *runs;
	size_t run_count, run_capacity;
	size_t *heap, heap_count; /* of runs by their next item */
	uint64_t file_bytes;
	int fd; /* -1: none */
	bool is_merging, is_stuck;
};

void runs_init(struct runs *r, size_t item_bytes, size_t held, int (*compare)(const void *, const void *));

/* A place for one more, zeroed. Borrowed until the next call. */
void *runs_add(struct runs *r);

/* After the last was added: the next one in order, or NULL. Of equal ones, those that were added first in turn, as far as
 * compare tells. Borrowed until the next call. */
const void *runs_next(struct runs *r);
void runs_done(struct runs *r);

#endif
