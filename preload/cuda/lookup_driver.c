/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own lookup of its functions, by name, version and flags. */
#include <errno.h>
#include <string.h>

#include "preload/hook/entry.h"
#include "preload/lookup/lookup.h"
#include "runtime/recorder/loader/dso.h"

/* The suffixes that a driver function's symbol may have. Those that exist for a name are kept as bits of a word. */
static const char *const versions[] = {"", "_v2", "_v3", "_v4"}, *const variants[] = {"", "_ptds", "_ptsz"};
enum { VERSIONS = 4, VARIANTS = 3, NAME = 96 };

/* Hash of a driver function's name -> its symbols: 1 << (version * VARIANTS + variant). */
static struct intern_table bits_of;
static bool has_names;

static const uint16_t since[] = {
#define SINCE(kind, returns, symbol, parameters, arguments, about, record, since) since,
	HOOK_CUDA(SINCE)
#undef SINCE
};

static uint64_t name_hash(const char *s, size_t length)
{
	return intern_hash(0x646f6f72, s, length);
}

static bool ends_with(const char *s, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length > n && !memcmp(s + length - n, end, n);
}

static void add_driver_symbol(const char *symbol)
{
	size_t length = strlen(symbol);
	unsigned version = 0, variant = 0;
	struct intern_entry *e;
	uint32_t number;
	bool is_new;

	for (unsigned i = 1; i < VARIANTS; i++)
		if (ends_with(symbol, length, variants[i]))
			variant = i;
	length -= strlen(variants[variant]);
	for (unsigned i = 1; i < VERSIONS; i++)
		if (ends_with(symbol, length, versions[i]))
			version = i;
	length -= strlen(versions[version]);
	e = intern_add(&bits_of, name_hash(symbol, length), &number, &is_new);
	if (e)
		__atomic_fetch_or(&e->value, 1ull << (version * VARIANTS + variant), __ATOMIC_RELAXED);
}

/* Called at the first lookup, possibly by several threads at once. */
static void index_names(void)
{
	for (unsigned i = 0; i < HOOK_CUDA_COUNT; i++)
		add_driver_symbol(function_text(&hook_functions, HOOK_CUDA_FIRST + i));
	__atomic_store_n(&has_names, true, __ATOMIC_RELEASE);
}

/* The addresses that the driver exports for our rows. A process has one driver. */
static void *driver_at[HOOK_CUDA_COUNT];

static void *driver_function(unsigned function, const void *lookup)
{
	static bool is_known;

	if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
		const char *names[HOOK_CUDA_COUNT];

		for (unsigned i = 0; i < HOOK_CUDA_COUNT; i++)
			names[i] = function_text(&hook_functions, HOOK_CUDA_FIRST + i);
		if (!dso_all_beside(lookup, names, driver_at, HOOK_CUDA_COUNT))
			dso_all_beside(dso_library_symbol("libcuda.so", "cuInit"), names, driver_at, HOOK_CUDA_COUNT);
		__atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
	}
	return driver_at[function - HOOK_CUDA_FIRST];
}

struct driver_entry {
	const struct entry_row *row;
	unsigned since;
	bool is_exported, is_variant;
};

static bool is_better(const struct driver_entry *this, const struct driver_entry *best)
{
	if (!best->row || this->is_exported != best->is_exported)
		return !best->row || this->is_exported;
	return this->is_variant != best->is_variant ? this->is_variant : this->since > best->since;
}

/* The row of the function that the driver has returned. If the driver does not export that address: the newest row of
 * the name in the requested version, and a variant for per-thread default streams before a plain one. A symbol that the
 * driver does not export is newer than the driver: a runtime asks for its own version. */
static const struct entry_row *choose_row(const char *name, int version, uint64_t flags, void *real, const void *lookup)
{
	uint64_t bits = intern_get(&bits_of, name_hash(name, strlen(name)));
	struct driver_entry best = {0};
	char symbol[NAME];

	for (unsigned i = 0; bits && i < VERSIONS * VARIANTS; i++) {
		const struct entry_row *row;
		const void *exported;
		struct driver_entry this;

		if (!(bits & 1ull << i))
			continue;
		stpcpy(stpcpy(stpcpy(symbol, name), versions[i / VARIANTS]), variants[i % VARIANTS]);
		row = lookup_row(symbol);
		if (!row)
			continue;
		exported = driver_function(row->place, lookup);
		if (exported == real)
			return row;
		this = (struct driver_entry){row, since[row->place - HOOK_CUDA_FIRST], exported != NULL,
					     i % VARIANTS != 0};
		if ((int)this.since > version || (this.is_variant && !(flags & 2)))
			continue;
		if (is_better(&this, &best))
			best = this;
	}
	return best.row;
}

static void *driver_replacement(const char *name, int version, uint64_t flags, void *real, const void *lookup)
{
	const struct entry_row *row;

	if (strlen(name) > NAME - 16 || lookup_is_ours(real))
		return real;
	if (!__atomic_load_n(&has_names, __ATOMIC_ACQUIRE))
		index_names();
	row = choose_row(name, version, flags, real, lookup);
	return row ? lookup_trampoline(row, real) : real;
}

void *lookup_driver_trampoline(const char *name, int version, uint64_t flags, void *real, const void *lookup,
			       const void *caller)
{
	static struct intern_table answers; /* each runtime makes the same hundreds of lookups */
	uint64_t key, answer;
	int error = errno;

	if (lookup_caller_of(caller) != LOOKUP_BY_PROGRAM)
		return real;
	key = intern_hash(caller_key((unsigned)version, (uintptr_t)real) ^ flags << 40, name, strlen(name));
	answer = intern_get(&answers, key);
	if (!answer) {
		answer = (uint64_t)driver_replacement(name, version, flags, real, lookup);
		intern_set(&answers, key, answer);
		errno = error;
	}
	return (void *)answer;
}
