/* SPDX-License-Identifier: Apache-2.0 */
/* Fills tables. */
#include <stdlib.h>
#include <string.h>

#include "report/base/emit.h"

void table_column(struct table *t, const char *title, enum column_type type)
{
	if (t->column_count < TABLE_COLUMNS)
		t->columns[t->column_count++] = (struct column){mem_copy_text(title, strlen(title)), type};
}

void table_columns(struct table *t, const struct column_head *heads, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_column(t, heads[i].title, heads[i].type);
}

static void table_add_cell(struct table *t, union cell cell, bool absent)
{
	t->cells = mem_grow(t->cells, t->cell_count, &t->cell_capacity, sizeof(*t->cells));
	t->absent = mem_grow(t->absent, t->cell_count, &t->absent_capacity, sizeof(*t->absent));
	t->cells[t->cell_count] = cell;
	t->absent[t->cell_count++] = absent;
}

static enum column_type next_type(const struct table *t)
{
	return t->columns[t->cell_count % t->column_count].type;
}

void table_text_part(struct table *t, const char *text, size_t length)
{
	if (text)
		table_add_cell(t, (union cell){.text = mem_copy_text(text, length)}, false);
	else
		table_nothing(t);
}

void table_text(struct table *t, const char *text)
{
	table_add_cell(t, (union cell){.text = mem_copy_text(text, strlen(text))}, false);
}

void table_number(struct table *t, uint64_t number)
{
	enum column_type type = next_type(t);

	if (type == COLUMN_NS_MEAN || type == COLUMN_PERCENT || type == COLUMN_MB)
		table_real(t, (double)number);
	else
		table_add_cell(t, (union cell){.count = number}, false);
}

void table_real(struct table *t, double real)
{
	table_add_cell(t, (union cell){.real = real}, false);
}

void table_nothing(struct table *t)
{
	union cell none = {0};

	if (next_type(t) == COLUMN_TEXT)
		none.text = mem_copy_text("", 0);
	table_add_cell(t, none, true);
}

void table_nothings(struct table *t, size_t count)
{
	while (count--)
		table_nothing(t);
}

void table_number_if(struct table *t, bool is_known, uint64_t number)
{
	if (is_known)
		table_number(t, number);
	else
		table_nothing(t);
}

size_t table_rows(const struct table *t)
{
	return t->column_count ? t->cell_count / t->column_count : 0;
}

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->cell_count; i++)
		if (t->columns[i % t->column_count].type == COLUMN_TEXT)
			free(t->cells[i].text);
	for (size_t i = 0; i < t->column_count; i++)
		free(t->columns[i].title);
	free(t->cells);
	free(t->absent);
	*t = (struct table){0};
}
