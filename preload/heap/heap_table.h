/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of the recorded blocks that are in use. Lock-free; a forked child begins with an empty table. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/shared/common/hot.h"

/* Most blocks that are freed are not in the table: a small filter counts, by hash, those that are. A count that has
 * reached its maximum stays there. It is mapped when the first block is added, so that it costs no other process. */
enum { HEAP_FILTER_BITS = 16 };
extern uint8_t *heap_filter HIDDEN;

static inline uint64_t heap_hash(const void *block)
{
	return ((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull;
}

static inline bool heap_table_may_have(const void *block)
{
	uint8_t *filter = __atomic_load_n(&heap_filter, __ATOMIC_ACQUIRE);

	return filter && __atomic_load_n(&filter[heap_hash(block) >> (64 - HEAP_FILTER_BITS)], __ATOMIC_RELAXED);
}

/* What all blocks in the table represent, in bytes; not of a forked child alone. Rounded as the entries are. */
extern int64_t heap_in_use HIDDEN;

/* `weight`: the bytes that it represents. False: there is no room. */
bool heap_table_add(const void *block, uint64_t weight);

/* False: it is not in the table. */
bool heap_table_remove(const void *block);
