/* SPDX-License-Identifier: Apache-2.0 */
/* A set of 64-bit keys with 64-bit values that only grows. Lock-free, for any thread and any signal handler; memory
 * comes from mmap. The number of a key is its place in the table. It is defined as soon as the key is stored, so a
 * handler that interrupts an insertion need not wait. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern_entry {
	uint64_t key;	/* never 0 */
	uint64_t value; /* atomic; 0 until a value is stored */
};

enum { INTERN_LEVELS = 10, INTERN_FIRST_LEVEL = 4096, INTERN_FIRST_PAGE = 256 };

/* A zeroed table is empty. Level n has 4096 << 2n entries. The first 256 are filled first, so that a process that
 * inserts little touches one page. */
struct intern_table {
	struct intern_entry *level[INTERN_LEVELS];
};

/* Returns the entry of `key`, inserting it if necessary; NULL if memory is exhausted. *ret_number: > 0, unique, <
 * 2^32. *ret_is_new: this call inserted it (true in one of several concurrent calls). */
struct intern_entry *intern_add(struct intern_table *t, uint64_t key, uint32_t *ret_number, bool *ret_is_new);

static inline uint64_t intern_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

/* Fast path: the place of `key` if it is its first one in the first page or in the first level, as for most keys; else
 * SIZE_MAX, and intern_find(), intern_get() or intern_add() must look further. */
static inline size_t intern_near(const struct intern_table *t, uint64_t key)
{
	const struct intern_entry *first = __atomic_load_n(&t->level[0], __ATOMIC_ACQUIRE);
	uint64_t hash = intern_mix(key);
	size_t place = hash & (INTERN_FIRST_PAGE - 1);

	if (__builtin_expect(!first, 0))
		return SIZE_MAX;
	if (__atomic_load_n(&first[place].key, __ATOMIC_ACQUIRE) == key)
		return place;
	place = hash & (INTERN_FIRST_LEVEL - 1);
	return __atomic_load_n(&first[place].key, __ATOMIC_ACQUIRE) == key ? place : SIZE_MAX;
}

static inline uint32_t intern_number(const struct intern_table *t, uint64_t key)
{
	return (uint32_t)(intern_near(t, key) + 1);
}

/* The number of `key`; 0 if it is absent. */
uint32_t intern_find(const struct intern_table *t, uint64_t key);

/* The value of `key`; 0 if it is absent. */
uint64_t intern_get(const struct intern_table *t, uint64_t key);

/* Calls visit for every entry, in no particular order, until it returns false. Returns false in that case. */
bool intern_each(struct intern_table *t, bool (*visit)(struct intern_entry *e));

/* Sets the value of `key`. False: out of memory. */
bool intern_set(struct intern_table *t, uint64_t key, uint64_t value);

/* Unmaps the memory of a table that nothing uses any more. */
__attribute__((cold)) void intern_release(struct intern_table *t);

/* Hashes bytes to a key, never 0. With 64 bits, one in 2^32 tables of 65,000 different texts has a collision. */
uint64_t intern_hash(uint64_t seed, const void *bytes, uint64_t size);

/* Combines two words into one. All 128 bits of the product contribute, so its quality as a key equals intern_hash's. */
static inline uint64_t intern_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ 0xd6e8feb86659fd93ull) * (b ^ 0xa0761d6478bd642full);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}
