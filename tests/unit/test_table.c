/* SPDX-License-Identifier: Apache-2.0 */
/* Filling and reading of tables, and series of values, whose numbers are computed by hand. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/diff/series.h"
#include "report/base/table/emit.h"

/* ---- tables ---- */

Test(table, has_the_columns_that_are_given)
{
	struct table t = {0};

	cr_expect_eq(table_rows(&t), 0, "without columns there are no rows");
	table_has(&t, COL_NAME, COL_NONE, COL_PID);
	table_column_as(&t, COL_PATH, COLUMN_ID);
	table_column(&t, "Made", COLUMN_REAL);
	cr_assert_eq(t.column_count, 4);
	cr_expect_str_eq(t.columns[0].title, "Name");
	cr_expect_eq(t.columns[1].id, COL_PID);
	cr_expect_eq(t.columns[2].type, COLUMN_ID);
	cr_expect_str_eq(t.columns[3].title, "Made");
	cr_expect_eq(table_find(&t, COL_NAME), 0);
	cr_expect_eq(table_find(&t, COL_PID), 1);
	cr_expect_eq(table_find(&t, COL_HOST), 4, "it has none");
	for (int i = 0; i < 100; i++)
		table_column(&t, "more", COLUMN_TEXT);
	cr_expect_eq(t.column_count, TABLE_COLUMNS);
	table_done(&t);
}

Test(table, cells_have_the_type_of_their_column)
{
	struct table t = {0};

	table_column(&t, "count", COLUMN_COUNT);
	table_column(&t, "percent", COLUMN_PERCENT);
	table_column(&t, "mb", COLUMN_MB);
	table_column(&t, "mean", COLUMN_NS_MEAN);
	table_column(&t, "text", COLUMN_TEXT);
	for (int i = 1; i <= 4; i++)
		table_number(&t, 7);
	table_text_part(&t, "abcdef", 3);
	cr_expect_eq(table_rows(&t), 1);
	table_cells(&t, NO_CELL, NO_CELL, cell_if(false, "ignored"), cell_if(false, 5));
	table_text_part(&t, NULL, 3);
	table_cells(&t, cell_if(true, 5));
	table_nothings(&t, 4);
	cr_assert_eq(table_rows(&t), 3);
	cr_expect_eq(t.cells[0].count, 7);
	cr_expect_eq(t.cells[1].real, 7.0);
	cr_expect_eq(t.cells[2].real, 7.0);
	cr_expect_eq(t.cells[3].real, 7.0);
	cr_expect_str_eq(t.cells[4].text, "abc");
	for (size_t i = 0; i < 15; i++)
		cr_expect_eq(t.absent[i], i >= 5 && i != 10, "cell %zu", i);
	cr_expect_str_eq(t.cells[9].text, "");
	cr_expect_eq(t.cells[10].count, 5);
	table_done(&t);
}

Test(table, values_become_cells_by_their_types)
{
	const uint32_t narrow = 4000000000;
	const char *name = "name";
	struct table t = {0};

	table_has(&t, COL_PID, COL_NAME, COL_AVG_NS, COL_RATIO, COL_RATIO_LOW, COL_TEXT);
	table_cells(&t, narrow, name, 7, share_percent(1, 4), 3, cell_if(narrow, "text"));
	table_cells(&t, NO_CELL, cell_if(!narrow, name), 1.5, share_percent(1, 0), cell_if(narrow, narrow), "");
	cr_assert_eq(table_rows(&t), 2);
	cr_expect_eq(t.cells[0].count, narrow);
	cr_expect_str_eq(t.cells[1].text, "name");
	cr_expect_eq(t.cells[2].real, 7.0);
	cr_expect_eq(t.cells[3].real, 25.0);
	cr_expect_eq(t.cells[4].real, 3.0);
	cr_expect_str_eq(t.cells[5].text, "text");
	cr_expect_eq(t.cells[8].real, 1.5);
	cr_expect_eq(t.cells[9].real, 0.0);
	cr_expect_eq(t.cells[10].real, 4e9);
	for (size_t i = 0; i < 12; i++)
		cr_expect_eq(t.absent[i], i == 6 || i == 7, "cell %zu", i);
	table_done(&t);
}

/* The rows that are left, by their numbers. */
static void expect_left(size_t rows, size_t aside_from, size_t aside_to, size_t count, uint64_t first, uint64_t last)
{
	struct table t = {0}, left;

	table_has(&t, COL_PID, COL_NAME);
	for (size_t i = 0; i < rows; i++) {
		if (i >= aside_from && i < aside_to)
			table_aside(&t, "of start-up");
		table_number(&t, i);
		table_text(&t, "x");
	}
	left = table_without_asides(&t);
	cr_assert_eq(table_rows(&left), count);
	cr_expect(!count || left.cells[0].count == first);
	cr_expect(!count || table_cell(&left, count - 1, COL_PID)->count == last);
	free(left.cells);
	free(left.absent);
	table_done(&t);
}

Test(table, rows_that_are_aside_are_left_out)
{
	expect_left(5, 0, 0, 5, 0, 4);
	expect_left(5, 0, 1, 4, 1, 4);
	expect_left(5, 4, 5, 4, 0, 3);
	expect_left(5, 1, 4, 2, 0, 4);
	expect_left(5, 0, 4, 1, 4, 4);
	expect_left(5, 0, 5, 5, 0, 4); /* all of them: then all are shown */
	expect_left(0, 0, 0, 0, 0, 0);
}

/* ---- series ---- */

static void add_values(struct series *s, size_t count, double even, double odd)
{
	for (size_t i = 0; i < count; i++)
		series_add(s, i % 2 ? odd : even);
}

Test(series, keeps_parts_of_equal_length)
{
	struct series s = {.count = 0};

	add_values(&s, 31, 1, 1);
	cr_expect(s.parts == 31 && s.length == 1 && s.total == 31);
	series_add(&s, 5);
	cr_expect(s.parts == 16 && s.length == 2 && s.count == 32 && s.total == 36);
	cr_expect(s.sums[0] == 2 && s.sums[15] == 6);
	series_add(&s, 3);
	cr_expect(s.parts == 16 && s.open == 3 && s.in_open == 1);
	series_add(&s, 4);
	cr_expect(s.parts == 17 && s.sums[16] == 7 && s.open == 0 && s.in_open == 0);
}

Test(series, has_a_variance_from_eight_parts_on)
{
	struct series s = {.count = 0}, equal = {.count = 0}, nothing = {.count = 0};

	add_values(&s, 7, 1, 3);
	cr_expect_lt(series_variance(&s), 0);
	series_add(&s, 3);
	/* The mean is 2, the variance 8 / 7; 1 / 8 for the parts, 1 / 16 for what lasts. */
	cr_expect_float_eq(series_variance(&s), 8.0 / 7 / 4 * (1.0 / 8 + 1.0 / 16), 1e-12);
	s.sampled = 4;
	cr_expect_float_eq(series_sampling(&s), 4.0 / 256, 1e-12);
	cr_expect_float_eq(series_variance(&s), 8.0 / 7 / 4 * (1.0 / 8 + 1.0 / 16) + 4.0 / 256, 1e-12);
	add_values(&equal, 20, 2, 2);
	cr_expect_float_eq(series_variance(&equal), 0, 1e-12);
	add_values(&nothing, 20, 0, 0);
	cr_expect_lt(series_variance(&nothing), 0);
	cr_expect_eq(series_sampling(&nothing), 0);
}
