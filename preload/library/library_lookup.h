/* SPDX-License-Identifier: Apache-2.0 */
/* The pointers that symbol lookups return for functions of the libraries: trampolines of the same kind as the exported
 * stubs. Each belongs to one row and one real function. */
#ifndef PILLION_LIBRARY_LOOKUP_H
#define PILLION_LIBRARY_LOOKUP_H

#define LIBRARY_TRAMPOLINES 4096

#ifndef __ASSEMBLER__
#include "preload/hook/entry.h"

/* The row of number `index` < HOOK_LIBRARY_COUNT, as symbol lookup keeps it. */
struct entry_row library_lookup_row(unsigned index);

/* Fills a trampoline, before anybody has its address: with a row's `place`, and the real function. */
void library_trampoline_fill(unsigned trampoline, uint32_t place, void *real);

void *library_trampoline(unsigned trampoline);
#endif

#endif
