/* SPDX-License-Identifier: Apache-2.0 */
/* dwarf_getscopes() reads all functions of a unit for each address: here that is done once for each unit. */
#include "report/names/symbol_inline.h"

#include <dwarf.h>
#include <stdlib.h>

struct dwarf_function {
	Dwarf_Addr start, end;
	Dwarf_Die die;
};

struct inline_unit {
	struct dwarf_function *functions; /* by start */
	size_t count, capacity;
};

static void add_function(struct inline_unit *u, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		mem_append(u->functions, u->count, u->capacity, (struct dwarf_function){start, end, *die});
}

/* Functions are children of the unit, or of the namespace in which they were defined. */
static void add_functions(struct inline_unit *u, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > 64 || dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_function(u, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
			add_functions(u, &die, depth + 1);
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

COMPARATOR(compare_functions, struct dwarf_function, order_of(a->start, b->start) ?: order_of(a->end, b->end))

static const struct inline_unit *inline_unit_of(struct inline_units *u, Dwarf_Die *unit)
{
	uint64_t *known = map_put(&u->by_offset, dwarf_dieoffset(unit), 0, NULL);

	if (!*known) {
		struct inline_unit made = {0};

		add_functions(&made, unit, 0);
		array_sort(made.functions, made.count, compare_functions);
		mem_append(u->units, u->count, u->capacity, made);
		*known = u->count;
	}
	return &u->units[*known - 1];
}

/* Descends to the child that contains the address, through blocks. False: there is none. */
static bool inline_descend(Dwarf_Die *die, Dwarf_Addr address, bool *ret_is_inlined)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);
		bool is_scope = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
				tag == DW_TAG_try_block || tag == DW_TAG_catch_block;

		if (is_scope && dwarf_haspc(&child, address) > 0) {
			*die = child;
			*ret_is_inlined = tag == DW_TAG_inlined_subroutine;
			return true;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

size_t inline_chain(struct inline_units *u, Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *ret, size_t size)
{
	const struct inline_unit *functions = inline_unit_of(u, unit);
	size_t at = first_place(i, 0, functions->count, functions->functions[i].start <= address), used = 1;
	bool is_inlined;
	Dwarf_Die die;

	if (!at || address >= functions->functions[at - 1].end)
		return 0;
	die = *ret = functions->functions[at - 1].die;
	while (used < size && inline_descend(&die, address, &is_inlined))
		if (is_inlined)
			ret[used++] = die;
	return used;
}

const char *inline_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static Dwarf_Word inline_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attribute) && !dwarf_formudata(&attribute, &value) ? value : 0;
}

const char *inline_call(Dwarf_Die *unit, Dwarf_Die *die, int *ret_line)
{
	Dwarf_Word file = inline_number(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	*ret_line = (int)inline_number(die, DW_AT_call_line);
	if (*ret_line <= 0 || dwarf_getsrcfiles(unit, &files, &count) || file >= count)
		return NULL;
	return dwarf_filesrc(files, file, NULL, NULL);
}

void inline_units_done(struct inline_units *u)
{
	array_free(one, u->units, u->count, free(one->functions));
	map_done(&u->by_offset);
}
