/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts more items than memory should hold: those that are held are sorted and wait in a file without a name, in $TMPDIR or
 * /var/tmp, and all such runs are merged. Where there is no room for the file memory holds them after all. */
#ifndef PILLION_EXTERNAL_SORT_H
#define PILLION_EXTERNAL_SORT_H

#include "report/base/util.h"

struct external_sort {
	size_t item_bytes, held; /* so many items at a time */
	int (*compare)(const void *, const void *);
	/* external_sort.c's own */
	uint8_t *items;
	size_t count, capacity;
	struct run *runs;
	size_t run_count, run_capacity;
	size_t *heap, heap_count; /* of runs by their next item */
	uint64_t file_bytes;
	int fd; /* -1: none */
	bool is_merging, is_stuck;
};

void external_sort_init(struct external_sort *r, size_t item_bytes, size_t held, int (*compare)(const void *, const void *));

/* A place for one more, zeroed. Borrowed until the next call. */
void *external_sort_add(struct external_sort *r);

/* After the last was added: the next one in order, or NULL. Of equal ones, those that were added first in turn, as far as
 * compare tells. Borrowed until the next call. */
const void *external_sort_next(struct external_sort *r);
void external_sort_done(struct external_sort *r);

#endif
