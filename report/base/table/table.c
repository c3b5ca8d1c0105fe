/* SPDX-License-Identifier: Apache-2.0 */
/* Fills tables. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/table/emit.h"

const struct column_kind column_kinds[COLUMN_IDS] = {
#define TEXT_KIND(id, title) [COL_##id] = {title, COLUMN_TEXT},
#define ID_KIND(id, title) [COL_##id] = {title, COLUMN_ID},
#define COUNT_KIND(id, title) [COL_##id] = {title, COLUMN_COUNT},
#define NS_KIND(id, title) [COL_##id] = {title, COLUMN_NS},
#define NS_MEAN_KIND(id, title) [COL_##id] = {title, COLUMN_NS_MEAN},
#define PERCENT_KIND(id, title) [COL_##id] = {title, COLUMN_PERCENT},
#define MB_KIND(id, title) [COL_##id] = {title, COLUMN_MB},
#define SIGNED_KIND(id, title) [COL_##id] = {title, COLUMN_SIGNED},
#define REAL_KIND(id, title) [COL_##id] = {title, COLUMN_REAL},
#define COLUMN_KINDS(type, list) list(type##_KIND)
	COLUMN_LISTS(COLUMN_KINDS)
};

static void table_add_column(struct table *t, enum column_id id, const char *title, enum column_type type)
{
	if (t->column_count < TABLE_COLUMNS)
		t->columns[t->column_count++] = (struct column){id, mem_copy_text(title, strlen(title)), type};
}

void table_columns(struct table *t, const enum column_id *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i])
			table_column_as(t, ids[i], column_kinds[ids[i]].type);
}

void table_column_as(struct table *t, enum column_id id, enum column_type type)
{
	table_add_column(t, id, column_kinds[id].title, type);
}

void table_column(struct table *t, const char *title, enum column_type type)
{
	table_add_column(t, COL_NONE, title, type);
}

size_t table_find(const struct table *t, enum column_id id)
{
	size_t i = 0;

	while (i < t->column_count && t->columns[i].id != id)
		i++;
	return i;
}

const union cell *table_cell(const struct table *t, size_t row, enum column_id id)
{
	return &t->cells[row * t->column_count + table_find(t, id)];
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

	if (type == COLUMN_NS_MEAN || type == COLUMN_PERCENT || type == COLUMN_MB || type == COLUMN_REAL)
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

void table_add_cells(struct table *t, const struct cell_value *values, size_t count)
{
	array_each(const struct cell_value, v, values, count) {
		if (v->kind == CELL_NUMBER)
			table_number(t, v->number);
		else if (v->kind == CELL_REAL)
			table_real(t, v->real);
		else if (v->kind == CELL_TEXT)
			table_text(t, v->text);
		else
			table_nothing(t);
	}
}

size_t table_rows(const struct table *t)
{
	return t->column_count ? t->cell_count / t->column_count : 0;
}

void table_aside(struct table *t, const char *words)
{
	t->aside_words = words;
	mem_append(t->asides, t->aside_count, t->aside_capacity, table_rows(t));
}

struct table table_without_asides(const struct table *t)
{
	size_t columns = t->column_count, rows = table_rows(t), aside = 0;
	struct table ret = *t;

	ret.cells = mem_alloc((t->cell_count + 1) * sizeof(*ret.cells));
	ret.absent = mem_alloc((t->cell_count + 1) * sizeof(*ret.absent));
	ret.cell_count = 0;
	for (size_t i = 0; i < rows; i++) {
		if (aside < t->aside_count && t->asides[aside] == i && t->aside_count < rows) {
			aside++;
			continue;
		}
		memcpy(ret.cells + ret.cell_count, t->cells + i * columns, columns * sizeof(*ret.cells));
		memcpy(ret.absent + ret.cell_count, t->absent + i * columns, columns * sizeof(*ret.absent));
		ret.cell_count += columns;
	}
	return ret;
}

void table_lacks(struct table *t, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	free(t->lacks);
	if (vasprintf(&t->lacks, format, list) < 0)
		mem_failed();
	va_end(list);
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
	free(t->asides);
	free(t->lacks);
	*t = (struct table){0};
}
