/* SPDX-License-Identifier: Apache-2.0 */
/* The pointers that symbol lookups return for functions of the libraries: trampolines of the same kind as the exported
 * stubs. Each belongs to one row and one real function. */
#pragma once

#define LIBRARY_TRAMPOLINES 2048

#ifndef __ASSEMBLER__
#include "preload/hook/entry.h"

/* The row with the number `index` < HOOK_LIBRARY_COUNT, in the form that symbol lookup uses. */
struct entry_row library_lookup_row(unsigned index);

/* Initialises a trampoline, before its address is given to the program, with a row's `place` and the real function.
 * False: there is no memory for it. */
bool library_trampoline_fill(unsigned trampoline, uint32_t place, void *real);

void *library_trampoline(unsigned trampoline);
#endif
