/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own look-up of its functions: by name, version and flags. */
#include <errno.h>
#include <string.h>

#include "runtime/common/loaded.h"
#include "preload/lookup/door.h"
#include "preload/hook/entry.h"

/* Suffixes of a driver function's symbol: those of one name make a word of bits. */
static const char *const versions[] = {"", "_v2", "_v3", "_v4"}, *const twins[] = {"", "_ptds", "_ptsz"};
enum { VERSIONS = 4, TWINS = 3, NAME = 96 };

static struct table bits_of; /* hash of a driver function's name -> its symbols: 1 << (version * TWINS + twin) */
static bool is_listed;

static const uint16_t since[] = {
#define SINCE(kind, returns, symbol, parameters, arguments, about, record, since) since,
	HOOK_CUDA(SINCE)
#undef SINCE
};

static uint64_t hash(const char *s, size_t length)
{
	return table_hash(0x646f6f72, s, length);
}

static bool ends_with(const char *s, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length > n && !memcmp(s + length - n, end, n);
}

static void list_driver(const char *symbol)
{
	size_t length = strlen(symbol);
	unsigned version = 0, twin = 0;
	struct table_entry *e;
	uint32_t number;
	bool is_new;

	for (unsigned i = 1; i < TWINS; i++)
		if (ends_with(symbol, length, twins[i]))
			twin = i;
	length -= strlen(twins[twin]);
	for (unsigned i = 1; i < VERSIONS; i++)
		if (ends_with(symbol, length, versions[i]))
			version = i;
	length -= strlen(versions[version]);
	e = table_add(&bits_of, hash(symbol, length), &number, &is_new);
	if (e)
		__atomic_fetch_or(&e->value, 1ull << (version * TWINS + twin), __ATOMIC_RELAXED);
}

/* At the first look-up, by however many threads at once. */
static void list(void)
{
	for (unsigned i = 0; i < HOOK_CUDA_COUNT; i++)
		list_driver(hook_functions.list[HOOK_CUDA_FIRST + i].name);
	__atomic_store_n(&is_listed, true, __ATOMIC_RELEASE);
}

/* Where the driver, there being one in a process, exports the functions of our rows. */
static void *driver_at[HOOK_CUDA_COUNT];

static void *driver_function(unsigned function, const void *lookup)
{
	static bool is_known;

	if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
		const char *names[HOOK_CUDA_COUNT];

		for (unsigned i = 0; i < HOOK_CUDA_COUNT; i++)
			names[i] = hook_functions.list[HOOK_CUDA_FIRST + i].name;
		if (!loaded_all_beside(lookup, names, driver_at, HOOK_CUDA_COUNT))
			loaded_all_beside(loaded_in("libcuda.so", "cuInit"), names, driver_at, HOOK_CUDA_COUNT);
		__atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
	}
	return driver_at[function - HOOK_CUDA_FIRST];
}

struct choice {
	const struct entry_row *row;
	unsigned since;
	bool is_twin;
};

/* Of the rows of a name: the one whose function the driver has given, else, the driver's functions not being those it exports,
 * the newest that the version asked for knows, a twin before a plain one. */
static const struct entry_row *choose(const char *name, int version, uint64_t flags, void *real, const void *lookup)
{
	uint64_t bits = table_get(&bits_of, hash(name, strlen(name)));
	struct choice best = {NULL, 0, false};
	char symbol[NAME];

	for (unsigned i = 0; bits && i < VERSIONS * TWINS; i++) {
		const struct entry_row *row;
		struct choice this;

		if (!(bits & 1ull << i))
			continue;
		stpcpy(stpcpy(stpcpy(symbol, name), versions[i / TWINS]), twins[i % TWINS]);
		row = door_row(symbol);
		if (!row)
			continue;
		if (driver_function(row->place, lookup) == real)
			return row;
		this = (struct choice){row, since[row->place - HOOK_CUDA_FIRST], i % TWINS != 0};
		if ((int)this.since > version || (this.is_twin && !(flags & 2)))
			continue;
		if (!best.row || this.is_twin > best.is_twin || (this.is_twin == best.is_twin && this.since > best.since))
			best = this;
	}
	return best.row;
}

static void *replace(const char *name, int version, uint64_t flags, void *real, const void *lookup)
{
	const struct entry_row *row;

	if (strlen(name) > NAME - 16 || door_is_ours(real))
		return real;
	if (!__atomic_load_n(&is_listed, __ATOMIC_ACQUIRE))
		list();
	row = choose(name, version, flags, real, lookup);
	return row ? door_hand(row, real) : real;
}

void *door_hand_driver(const char *name, int version, uint64_t flags, void *real, const void *lookup, const void *caller)
{
	static struct table answers; /* runtimes ask hundreds of questions, and several runtimes the same ones */
	uint64_t key, answer;
	int error = errno;

	if (door_asker_of(caller) != DOOR_PROGRAM)
		return real;
	key = table_hash(caller_key((unsigned)version, (uintptr_t)real) ^ flags << 40, name, strlen(name));
	answer = table_get(&answers, key);
	if (!answer) {
		answer = (uint64_t)replace(name, version, flags, real, lookup);
		table_set(&answers, key, answer);
		errno = error;
	}
	return (void *)answer;
}
