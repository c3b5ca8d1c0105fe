/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads add the same keys, each starting at a different one. */
#include <stdint.h>
#include <string.h>

#include "runtime/recorder/record/intern_table.h"
#include "threads.h"

enum { KEYS = 40000, NUMBERS = 1 << 22 };

static struct intern_table table;

static struct finder {
	uint32_t number[KEYS]; /* the value that this thread got for each key */
	unsigned added;
} finders[THREADS];

static uint64_t key_of(unsigned i)
{
	return intern_hash(7, &i, sizeof(i));
}

static void *add_all(void *number)
{
	unsigned self = (unsigned)(uintptr_t)number;
	struct finder *f = &finders[self];

	for (unsigned i = 0; i < KEYS; i++) {
		unsigned k = (i + self * (KEYS / THREADS)) % KEYS;
		bool is_new;
		struct intern_entry *e = intern_add(&table, key_of(k), &f->number[k], &is_new);

		if (!e)
			return NULL;
		f->added += is_new;
		__atomic_store_n(&e->value, k + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static bool numbers_differ(const uint32_t *numbers)
{
	static bool seen[NUMBERS];

	for (unsigned i = 0; i < KEYS; i++) {
		if (!numbers[i] || numbers[i] >= NUMBERS || seen[numbers[i]])
			return false;
		seen[numbers[i]] = true;
	}
	return true;
}

static bool has_all_values(void)
{
	for (unsigned i = 0; i < KEYS; i++) {
		if (intern_get(&table, key_of(i)) != i + 1)
			return false;
	}
	return true;
}

int main(void)
{
	unsigned added = 0, agreeing = 0;

	ok(in_threads(add_all), "threads ran");
	for (unsigned i = 0; i < THREADS; i++) {
		added += finders[i].added;
		agreeing += !memcmp(finders[i].number, finders[0].number, sizeof(finders[0].number));
	}
	ok(added == KEYS, "of %d keys %u were added, once each", KEYS, added);
	ok(agreeing == THREADS, "every thread got the same number for a key");
	ok(numbers_differ(finders[0].number), "no two keys have the same number");
	ok(has_all_values(), "every value is there");
	return done();
}
