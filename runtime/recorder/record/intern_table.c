/* SPDX-License-Identifier: Apache-2.0 */
/* An insert-only hash table: levels of growing size; a key is looked for in a few places from its hash in each level,
 * at first in the first page of the first level. Nothing is moved or removed, so a key is in a later level only if all
 * its places in the earlier levels are taken. */
#include "runtime/recorder/record/intern_table.h"

#include <string.h>

#include "runtime/shared/common/sys.h"

enum { PROBES = 8 };

static uint64_t intern_level_size(int level)
{
	return (uint64_t)INTERN_FIRST_LEVEL << 2 * level;
}

static struct intern_entry *intern_level_create(struct intern_table *t, int level)
{
	size_t size = intern_level_size(level) * sizeof(struct intern_entry);
	struct intern_entry *fresh = sys_mmap_own(size);
	struct intern_entry *other = NULL;

	if (!fresh)
		return NULL;
	if (__atomic_compare_exchange_n(&t->level[level], &other, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	sys_munmap(fresh, size);
	return other;
}

/* Where a key may be, in this order: in the first page of the first level, then in each level. The number of the first
 * entry of a level is `base`. */
struct intern_walk {
	int level; /* -1: the first page */
	uint64_t size, base;
};

static const struct intern_walk intern_begin = {-1, INTERN_FIRST_PAGE, 1};

static void intern_next(struct intern_walk *w)
{
	if (w->level >= 0)
		w->base += w->size;
	w->size = intern_level_size(++w->level);
}

struct intern_entry *intern_add(struct intern_table *t, uint64_t key, uint32_t *ret_number, bool *ret_is_new)
{
	uint64_t hash = intern_mix(key);

	*ret_is_new = false;
	for (struct intern_walk w = intern_begin; w.level < INTERN_LEVELS; intern_next(&w)) {
		int level = w.level < 0 ? 0 : w.level;
		struct intern_entry *entries = __atomic_load_n(&t->level[level], __ATOMIC_ACQUIRE);

		if (!entries && !(entries = intern_level_create(t, level)))
			return NULL;
		for (uint64_t i = 0; i < PROBES; i++) {
			uint64_t place = (hash + i) & (w.size - 1);
			uint64_t found = __atomic_load_n(&entries[place].key, __ATOMIC_ACQUIRE);

			if (!found && __atomic_compare_exchange_n(&entries[place].key, &found, key, false,
								  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
				*ret_is_new = true;
				found = key;
			}
			if (found == key) {
				*ret_number = (uint32_t)(w.base + place);
				return &entries[place];
			}
		}
	}
	return NULL;
}

static const struct intern_entry *intern_search(const struct intern_table *t, uint64_t key, uint32_t *ret_number)
{
	uint64_t hash = intern_mix(key);

	for (struct intern_walk w = intern_begin; w.level < INTERN_LEVELS; intern_next(&w)) {
		int level = w.level < 0 ? 0 : w.level;
		const struct intern_entry *entries = __atomic_load_n(&t->level[level], __ATOMIC_ACQUIRE);

		if (!entries)
			return NULL;
		for (uint64_t i = 0; i < PROBES; i++) {
			uint64_t place = (hash + i) & (w.size - 1);
			uint64_t found = __atomic_load_n(&entries[place].key, __ATOMIC_ACQUIRE);

			*ret_number = (uint32_t)(w.base + place);
			if (found == key)
				return &entries[place];
			if (!found)
				return NULL;
		}
	}
	return NULL;
}

uint32_t intern_find(const struct intern_table *t, uint64_t key)
{
	uint32_t number;

	return intern_search(t, key, &number) ? number : 0;
}

uint64_t intern_get(const struct intern_table *t, uint64_t key)
{
	uint32_t number;
	const struct intern_entry *e = intern_search(t, key, &number);

	return e ? __atomic_load_n(&e->value, __ATOMIC_ACQUIRE) : 0;
}

bool intern_each(struct intern_table *t, bool (*visit)(struct intern_entry *e))
{
	for (int level = 0; level < INTERN_LEVELS; level++) {
		struct intern_entry *entries = __atomic_load_n(&t->level[level], __ATOMIC_ACQUIRE);

		for (uint64_t i = 0; entries && i < intern_level_size(level); i++)
			if (__atomic_load_n(&entries[i].key, __ATOMIC_ACQUIRE) && !visit(&entries[i]))
				return false;
	}
	return true;
}

bool intern_set(struct intern_table *t, uint64_t key, uint64_t value)
{
	uint32_t number;
	bool is_new;
	struct intern_entry *e = intern_add(t, key, &number, &is_new);

	if (e)
		__atomic_store_n(&e->value, value, __ATOMIC_RELEASE);
	return e;
}

void intern_release(struct intern_table *t)
{
	for (int level = 0; level < INTERN_LEVELS; level++)
		if (t->level[level])
			sys_munmap(t->level[level], intern_level_size(level) * sizeof(struct intern_entry));
	*t = (struct intern_table){0};
}

/* Four independent lanes, because the multiplications then overlap. */
uint64_t intern_hash(uint64_t seed, const void *bytes, uint64_t size)
{
	const unsigned char *p = bytes;
	uint64_t hash = (seed + 1) * 0xff51afd7ed558ccdull ^ size, word;
	uint64_t lane[4] = {hash, ~hash, hash << 1, ~hash << 1};
	unsigned i = 0;

	for (; size >= 32; size -= 32, p += 32)
		for (unsigned j = 0; j < 4; j++) {
			memcpy(&word, p + 8 * j, 8);
			lane[j] = (lane[j] ^ word) * 0x9fb21c651e98df25ull;
			lane[j] ^= lane[j] >> 32;
		}
	for (; size > 0; i++, p += 8) {
		uint64_t part = size < 8 ? size : 8;

		word = 0;
		if (part == 8)
			memcpy(&word, p, 8);
		else
			memcpy(&word, p, part);
		lane[i] = (lane[i] ^ word) * 0x9fb21c651e98df25ull;
		lane[i] ^= lane[i] >> 32;
		size -= part;
	}
	hash = intern_mix(intern_mix(lane[0] + lane[1] * 0xff51afd7ed558ccdull) ^
			  (lane[2] + lane[3] * 0xc4ceb9fe1a85ec53ull));
	return hash ? hash : 1;
}
