/* SPDX-License-Identifier: Apache-2.0 */
/* A set of 64-bit keys, each with a 64-bit value, that only grows. Lock-free: any thread, any signal handler; memory
 * comes from mmap. A key's number is its place in the table: it is known as soon as the key is, so that a handler that
 * interrupts the one who adds it needs not wait. */
#ifndef PILLION_INTERN_TABLE_H
#define PILLION_INTERN_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct intern_entry {
	uint64_t key;	/* never 0 */
	uint64_t value; /* atomic; 0 until somebody stores one */
};

enum { INTERN_LEVELS = 10, INTERN_FIRST_LEVEL = 4096 };

/* All zeroes is an empty table. Level n holds 4096 << 2n entries. */
struct intern_table {
	struct intern_entry *level[INTERN_LEVELS];
};

/* The entry of `key`, added if need be; NULL where memory is out. *ret_number: > 0, unique, < 2^32. *ret_is_new: this
 * call added it (of several at once, one). */
struct intern_entry *intern_add(struct intern_table *t, uint64_t key, uint32_t *ret_number, bool *ret_is_new);

static inline uint64_t intern_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

/* The number of `key` where it stands in the place that it asks for first, as most do; else 0: intern_add() tells. */
static inline uint32_t intern_number(const struct intern_table *t, uint64_t key)
{
	const struct intern_entry *first = __atomic_load_n(&t->level[0], __ATOMIC_ACQUIRE);
	uint64_t place = intern_mix(key) & (INTERN_FIRST_LEVEL - 1);

	return __builtin_expect(first && __atomic_load_n(&first[place].key, __ATOMIC_ACQUIRE) == key, 1)
		       ? (uint32_t)place + 1
		       : 0;
}

/* The value of `key`, 0 if it is not there. */
uint64_t intern_get(const struct intern_table *t, uint64_t key);

/* Calls visit for every key, in no order, until it returns false. False: it did. */
bool intern_each(struct intern_table *t, bool (*visit)(struct intern_entry *e));

/* Sets or replaces the value of `key`. False: out of memory. */
bool intern_set(struct intern_table *t, uint64_t key, uint64_t value);

/* A key from any bytes. 64 bits: two different texts meet once in 2^32 tables of 65,000. Never 0. */
uint64_t intern_hash(uint64_t seed, const void *bytes, uint64_t size);

/* Two words into one. All 128 bits of the product count: a key made of some of these is as good as intern_hash's. */
static inline uint64_t intern_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ 0xd6e8feb86659fd93ull) * (b ^ 0xa0761d6478bd642full);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
