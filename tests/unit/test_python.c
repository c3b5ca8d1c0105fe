/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the line tables that CPython 3.8, 3.10 and 3.12 generate for one function of 308 lines. */
#include <criterion/criterion.h>

#include "report/names/python.h"

static const uint8_t steps[] = {0, 1, 4, 1, 4, 1, 2, 255, 2, 3, 6, 1, 2, 255, 6, 127, 0, 127, 0, 48};
static const uint8_t lengths[] = {4, 1, 4, 1, 2, 1, 2, 255, 6, 3, 2, 1, 6, 255, 0, 127, 0, 127, 6, 48};
static const uint8_t entries[] = {128, 0, 216, 8,  9,   128, 65,  217, 8,   9,   217, 12,  13,  240, 6, 0, 17, 18, 246,
				  3,   1, 16,  19, 144, 97,  146, 1,   242, 0,   1,   16,  19,  240, 0, 1, 9,  19, 240,
				  92,  9, 0,   12, 13,  143, 54,  137, 54,  128, 77,  249, 242, 93,  9, 1, 16, 19};

static void assert_line(unsigned version, const uint8_t *table, size_t size, uint32_t offset, int64_t line)
{
	int64_t got = python_line(version, table, size, 1, offset);

	cr_assert_eq(got, line, "offset %u: line %lld, not %lld", offset, (long long)got, (long long)line);
}

Test(python, lines_of_old_tables)
{
	static const uint32_t cases[][2] = {{0, 2},  {3, 2},  {4, 3},  {8, 4},    {10, 3},  {12, 6},
					    {17, 6}, {18, 7}, {20, 6}, {26, 308}, {30, 308}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_line(0x308, steps, sizeof(steps), cases[i][0], cases[i][1]);
		assert_line(0x30a, lengths, sizeof(lengths), cases[i][0], cases[i][1]);
	}
	assert_line(0x30a, lengths, sizeof(lengths), 1000, 0);
}

Test(python, lines_of_location_entries)
{
	static const uint32_t cases[][2] = {{0, 1},    {2, 2},    {6, 3},  {10, 4}, {14, 7},  {16, 6},
					    {46, 308}, {69, 308}, {70, 0}, {74, 6}, {1000, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_line(0x30c, entries, sizeof(entries), cases[i][0], cases[i][1]);
}

Test(python, tables_that_end_anywhere_or_hold_anything)
{
	uint8_t bytes[64];

	for (size_t size = 0; size <= sizeof(entries); size++)
		for (uint32_t offset = 0; offset < 90; offset += 2) {
			cr_assert_geq(python_line(0x30c, entries, size, 1, offset), 0);
			cr_assert_geq(python_line(0x308, entries, size, 1, offset), 0);
			cr_assert_geq(python_line(0x30a, entries, size, 1, offset), 0);
		}
	for (unsigned seed = 1; seed < 2000; seed++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)((seed * 2654435761u >> (i % 24)) ^ i * seed);
		cr_assert_geq(python_line(0x30d, bytes, sizeof(bytes), (int64_t)seed, seed % 200), 0);
	}
}
