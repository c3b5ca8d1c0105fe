/* SPDX-License-Identifier: Apache-2.0 */
/* CPython's three line tables: Objects/lnotab_notes.txt (to 3.9), PEP 626 (3.10), Objects/locations.md (from 3.11 on). */
#include "python.h"

enum { UNIT = 2, KIND_NONE = 15, KIND_LONG = 14, KIND_NO_COLUMN = 13, KIND_ONE_LINE = 10 };

/* Pairs of steps, of bytes and of lines: the last pair that does not pass the instruction holds. */
static int64_t line_by_steps(const uint8_t *p, const uint8_t *end, int64_t line, uint32_t offset)
{
	for (uint64_t at = 0; end - p >= 2; p += 2) {
		at += p[0];
		if (at > offset)
			break;
		line += (int8_t)p[1];
	}
	return line;
}

/* Pairs of a length in bytes and a step in lines, -128: no line. */
static int64_t line_by_lengths(const uint8_t *p, const uint8_t *end, int64_t line, uint32_t offset)
{
	for (uint64_t at = 0; end - p >= 2; p += 2) {
		int8_t step = (int8_t)p[1];

		if (step != -128)
			line += step;
		at += p[0];
		if (at > offset)
			return step == -128 ? 0 : line;
	}
	return 0;
}

/* Six bits a byte, the lowest first, bit 6: more follow; the sign is bit 0. */
static int64_t signed_number(const uint8_t **p, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *p < end; shift += 6) {
		uint8_t byte = *(*p)++;

		if (shift < 36)
			value |= (uint64_t)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Entries begin with a byte that has bit 7: kind, and how many units of code. Only they have that bit. */
static int64_t line_by_entries(const uint8_t *p, const uint8_t *end, int64_t line, uint32_t offset)
{
	for (uint64_t at = 0; p < end;) {
		uint8_t head = *p++, kind = head >> 3 & 15;

		at += (uint64_t)((head & 7) + 1) * UNIT;
		if (kind == KIND_LONG || kind == KIND_NO_COLUMN)
			line += signed_number(&p, end);
		else if (kind >= KIND_ONE_LINE && kind < KIND_NO_COLUMN)
			line += kind - KIND_ONE_LINE;
		while (p < end && !(*p & 128))
			p++;
		if (at > offset)
			return kind == KIND_NONE ? 0 : line;
	}
	return 0;
}

int64_t python_line(unsigned version, const uint8_t *table, size_t size, int64_t first_line, uint32_t offset)
{
	int64_t line;

	if (version >= 0x30b)
		line = line_by_entries(table, table + size, first_line, offset);
	else if (version == 0x30a)
		line = line_by_lengths(table, table + size, first_line, offset);
	else
		line = line_by_steps(table, table + size, first_line, offset);
	return line > 0 ? line : 0;
}
