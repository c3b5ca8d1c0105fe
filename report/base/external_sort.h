/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts more items than should be in memory at once: sorted runs are written to an unnamed file in $TMPDIR or
 * /var/tmp and merged. If the file cannot be written, all items stay in memory. */
#pragma once

#include "report/base/util.h"

struct external_sort {
	size_t item_bytes, held; /* items per run */
	int (*compare)(const void *, const void *);
	/* private to external_sort.c */
	uint8_t *items;
	size_t count, capacity;
	struct sorted_run *runs;
	size_t run_count, run_capacity;
	size_t *heap, heap_count; /* runs by their next item */
	uint64_t file_bytes;
	int fd; /* -1: none */
	bool is_merging, is_stuck;
};

void external_sort_init(struct external_sort *r, size_t item_bytes, size_t held,
			int (*compare)(const void *, const void *));

/* Space for one more item, zeroed. Borrowed until the next call. */
void *external_sort_add(struct external_sort *r);

/* After the last item was added: the next one in order, or NULL. Equal items are returned in the order in which they
 * were added, unless compare distinguishes them. Borrowed until the next call. */
const void *external_sort_next(struct external_sort *r);
void external_sort_done(struct external_sort *r);
