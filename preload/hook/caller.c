/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/hook/caller.h"

#include <errno.h>
#include <string.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/loader/loader.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/thread/thread.h"

static struct intern_table reals; /* caller_key() -> real function */
HOT uint64_t caller_epoch;

static void *resolve_for_caller(unsigned function, const char *symbol, uintptr_t caller)
{
	struct thread_guard guard;
	uint64_t key;
	void *found;

	/* The result is equal for all callers in one object: a library has a call site for each kernel that it
	 * launches. */
	thread_guard_enter(&thread_self, &guard);
	key = caller_key(function, dso_start((const void *)caller));
	found = (void *)intern_get(&reals, key);
	if (!found)
		found = dso_from((const void *)caller, symbol);
	if (found) {
		intern_set(&reals, key, (uint64_t)found);
		intern_set(&reals, caller_key(function, caller), (uint64_t)found);
	}
	thread_guard_leave(&thread_self, &guard);
	return found;
}

void *caller_recall(struct caller_place *p, unsigned function, const char *symbol, uintptr_t caller)
{
	uint64_t place = caller_key(0, caller), key = place ^ (uint64_t)function << 48;
	uint64_t epoch = __atomic_load_n(&caller_epoch, __ATOMIC_RELAXED);
	void *real = (void *)intern_get(&reals, key);

	if (!real)
		real = resolve_for_caller(function, symbol, caller);
	/* The entry is not replaced: call sites that alternate on several CPUs would contend for the cache line. */
	if (real && (!p->real || p->epoch != epoch)) {
		__atomic_store_n(&p->epoch, epoch, __ATOMIC_RELAXED);
		__atomic_store_n(&p->check, place ^ (uintptr_t)real, __ATOMIC_RELAXED);
		__atomic_store_n(&p->real, real, __ATOMIC_RELAXED);
	}
	return real;
}

static int count_unloads(struct dl_phdr_info *info, size_t size, void *ret_count)
{
	*(uint64_t *)ret_count = info->dlpi_subs;
	return 1;
}

void caller_unloaded(void)
{
	static uint64_t unloads;
	int error = errno;
	uint64_t count = 0, known_count = __atomic_load_n(&unloads, __ATOMIC_ACQUIRE);

	loader_each(count_unloads, &count);
	/* The epoch changes before the count: no thread returns that has found the count but not the new epoch. */
	if (known_count < count)
		__atomic_fetch_add(&caller_epoch, 0x9e3779b97f4a7c15ull, __ATOMIC_RELEASE);
	/* Another thread may have stored a later count in the meantime. */
	while (known_count < count && !__atomic_compare_exchange_n(&unloads, &known_count, count, true,
								   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	errno = error;
}

struct text_extent {
	const char *text;
	int64_t length;
	uintptr_t start, end; /* of the segment */
};

static int measure_text(struct dl_phdr_info *info, size_t size, void *data)
{
	struct text_extent *extent = data;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t at = (uintptr_t)extent->text - (info->dlpi_addr + segment->p_vaddr);

		if (segment->p_type == PT_LOAD && at < segment->p_memsz) {
			extent->length = (int64_t)strnlen(extent->text, segment->p_memsz - at);
			extent->start = info->dlpi_addr + segment->p_vaddr;
			extent->end = extent->start + segment->p_memsz;
			return 1;
		}
	}
	return 0;
}

bool caller_is_in_library(const char *text)
{
	/* Written by several threads at once, the words do not match `check`. */
	static uintptr_t start, end, check;
	struct text_extent extent = {text, -1, 0, 0};
	uintptr_t epoch = __atomic_load_n(&caller_epoch, __ATOMIC_RELAXED),
		  from = __atomic_load_n(&start, __ATOMIC_RELAXED), to = __atomic_load_n(&end, __ATOMIC_RELAXED);

	if ((uintptr_t)text >= from && (uintptr_t)text < to &&
	    __atomic_load_n(&check, __ATOMIC_RELAXED) == (from ^ to << 1 ^ epoch))
		return true;
	loader_each(measure_text, &extent);
	if (extent.length < 0)
		return false;
	__atomic_store_n(&start, extent.start, __ATOMIC_RELAXED);
	__atomic_store_n(&end, extent.end, __ATOMIC_RELAXED);
	__atomic_store_n(&check, extent.start ^ extent.end << 1 ^ epoch, __ATOMIC_RELAXED);
	return true;
}

int64_t caller_text_length(const char *text)
{
	struct text_extent extent = {text, -1, 0, 0};

	loader_each(measure_text, &extent);
	return extent.length;
}
