/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/library/library_lookup.h"

#include "preload/library/frame.h"
#include "runtime/shared/common/sys.h"

extern const char library_trampolines[LIBRARY_TRAMPOLINES][16] HIDDEN; /* in entry_<architecture>.S */

struct entry_row library_lookup_row(unsigned index)
{
	unsigned group = (unsigned)__builtin_ctz(library_rows[index].group);

	return (struct entry_row){NULL, HOOK_COUNT + index, group};
}

static bool library_trampolines_prepare(void)
{
	enum { BYTES = LIBRARY_TRAMPOLINES * sizeof(struct library_row) };
	struct library_row *fresh, *other = NULL;

	if (__atomic_load_n(&library_found, __ATOMIC_ACQUIRE))
		return true;
	fresh = sys_mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh &&
	    !__atomic_compare_exchange_n(&library_found, &other, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		sys_munmap(fresh, BYTES);
	return fresh;
}

bool library_trampoline_fill(unsigned trampoline, uint32_t place, void *real)
{
	if (!library_trampolines_prepare())
		return false;
	library_found[trampoline] = library_rows[place - HOOK_COUNT];
	library_found[trampoline].place = (struct caller_place){.real = real};
	return true;
}

void *library_trampoline(unsigned trampoline)
{
	return (void *)library_trampolines[trampoline];
}
