/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table in levels, each four times as large as the one before and mapped when that has no room for an address
 * in its place. A place is one cache line. */
#include "preload/heap/heap_table.h"

#include "runtime/shared/common/sys.h"

enum { LEVELS = 8, FIRST_PLACES = 1 << 12, PLACE = 8 };

/* An entry has the address below, and above it the weight: its highest 11 bits, and how far these are shifted. What an
 * address may have above 48 bits, as the tag of a pointer, is left out. */
enum { ADDRESS_BITS = 48, WEIGHT_BITS = 11 };
#define ADDRESS (((uintptr_t)1 << ADDRESS_BITS) - 1)

uint8_t *heap_filter;
int64_t heap_in_use;

static uintptr_t *levels[LEVELS];

static uint64_t level_places(int level)
{
	return (uint64_t)FIRST_PLACES << 2 * level;
}

/* Memory of zeros, which a forked child has anew. The first of several threads sets *place. */
static void *map_once(void *place, size_t size)
{
	void *fresh = sys_mmap_own(size), *other = NULL;

	if (!fresh)
		return NULL;
	sys_madvise(fresh, size, MADV_WIPEONFORK);
	if (__atomic_compare_exchange_n((void **)place, &other, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	sys_munmap(fresh, size);
	return other;
}

static uintptr_t *place_of(uintptr_t *places, int level, uint64_t hash)
{
	return places + (hash >> 16 & (level_places(level) - 1)) * PLACE;
}

static uintptr_t entry_make(const void *block, uint64_t weight)
{
	unsigned shift = weight >> WEIGHT_BITS ? (unsigned)(64 - __builtin_clzll(weight)) - WEIGHT_BITS : 0;

	return ((uintptr_t)block & ADDRESS) | (shift << WEIGHT_BITS | (uintptr_t)(weight >> shift)) << ADDRESS_BITS;
}

static int64_t entry_weight(uintptr_t entry)
{
	uint64_t above = entry >> ADDRESS_BITS;

	return (int64_t)((above & ((1 << WEIGHT_BITS) - 1)) << (above >> WEIGHT_BITS));
}

/* Replaces the entry of an address in the place. Returns it; `none`: there is none. */
static uintptr_t place_replace(uintptr_t *place, uintptr_t address, uintptr_t new, uintptr_t none)
{
	for (int i = 0; i < PLACE; i++) {
		uintptr_t old = __atomic_load_n(&place[i], __ATOMIC_RELAXED);

		if ((old & ADDRESS) == address &&
		    __atomic_compare_exchange_n(&place[i], &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return old;
	}
	return none;
}

/* Adds 1 or subtracts it. */
static void filter_count(uint64_t hash, int change)
{
	uint8_t *count = heap_filter + (hash >> (64 - HEAP_FILTER_BITS));
	uint8_t now = __atomic_load_n(count, __ATOMIC_RELAXED);

	while (now != UINT8_MAX && (now || change > 0) &&
	       !__atomic_compare_exchange_n(count, &now, (uint8_t)(now + change), false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		;
}

bool heap_table_add(const void *block, uint64_t weight)
{
	uint64_t hash = heap_hash(block);
	uintptr_t entry = entry_make(block, weight);

	if (!__atomic_load_n(&heap_filter, __ATOMIC_ACQUIRE) && !map_once(&heap_filter, 1 << HEAP_FILTER_BITS))
		return false;
	for (int level = 0; level < LEVELS; level++) {
		uintptr_t *places = __atomic_load_n(&levels[level], __ATOMIC_ACQUIRE);

		if (!places &&
		    !(places = map_once(&levels[level], level_places(level) * PLACE * sizeof(uintptr_t))))
			return false;
		if (place_replace(place_of(places, level, hash), 0, entry, entry))
			continue;
		__atomic_add_fetch(&heap_in_use, entry_weight(entry), __ATOMIC_RELAXED);
		filter_count(hash, 1);
		return true;
	}
	return false;
}

bool heap_table_remove(const void *block)
{
	uint64_t hash = heap_hash(block);
	uintptr_t *places, entry;

	if (!block) /* which marks an empty entry */
		return false;
	for (int level = 0; level < LEVELS && (places = __atomic_load_n(&levels[level], __ATOMIC_ACQUIRE)); level++) {
		entry = place_replace(place_of(places, level, hash), (uintptr_t)block & ADDRESS, 0, 0);
		if (!entry)
			continue;
		__atomic_sub_fetch(&heap_in_use, entry_weight(entry), __ATOMIC_RELAXED);
		filter_count(hash, -1);
		return true;
	}
	return false;
}
