/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a compiler inlined at an address. */
#pragma once

#include <elfutils/libdw.h>

#include "report/base/util.h"

/* The functions of the units that were requested, by address. */
struct inline_units {
	struct map by_offset; /* offset of a unit in .debug_info -> position in units + 1 */
	struct inline_unit *units;
	size_t count, capacity;
};

/* The function of a unit that contains an address, then the subroutines inlined there, outermost first. Returns how
 * many, at most `size`, which is not 0. */
size_t inline_chain(struct inline_units *u, Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *ret, size_t size);

/* The mangled name, else the plain one, else NULL. */
const char *inline_name(Dwarf_Die *die);

/* The file and line of the call that was replaced by the function; NULL: not known. */
const char *inline_call(Dwarf_Die *unit, Dwarf_Die *die, int *ret_line);

void inline_units_done(struct inline_units *u);
