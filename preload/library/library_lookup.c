/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/library/library_lookup.h"

#include "preload/library/frame.h"

extern const char library_trampolines[LIBRARY_TRAMPOLINES][16] HIDDEN; /* in entry_<architecture>.S */

struct entry_row library_lookup_row(unsigned index)
{
	unsigned group = (unsigned)__builtin_ctz(library_rows[index].group);

	return (struct entry_row){library_symbol(index), NULL, HOOK_COUNT + index, group};
}

void library_trampoline_fill(unsigned trampoline, uint32_t place, void *real)
{
	library_found[trampoline] = library_rows[place - HOOK_COUNT];
	library_found[trampoline].place = (struct caller_place){.real = real};
}

void *library_trampoline(unsigned trampoline)
{
	return (void *)library_trampolines[trampoline];
}
