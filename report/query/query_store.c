/* SPDX-License-Identifier: Apache-2.0 */
#include "report/query/query_store.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 1024, BYTE_VALUES = 256 };

void store_open(struct store *s, const struct report_context *context)
{
	*s = (struct store){.context = *context, .reports = mem_alloc(report_count * sizeof(*s->reports))};
}

static void forget_orders(struct stored *t)
{
	for (size_t i = 0; i < NSYS_COLUMNS; i++) {
		free(t->orders[i]);
		t->orders[i] = NULL;
	}
}

static void forget(struct stored *t)
{
	for (size_t i = 0; i < NSYS_COLUMNS; i++) {
		free(t->columns[i]);
		t->columns[i] = NULL;
	}
	forget_orders(t);
	t->rows = t->capacity = 0;
	t->loaded = 0;
	t->is_loaded = false;
}

void store_want(struct store *s, enum nsys_table table, int column)
{
	struct stored *t = &s->tables[table];

	t->wanted |= column < 0 ? 0 : (uint64_t)1 << column;
	if (t->is_loaded && t->wanted & ~t->loaded)
		forget(t);
}

/* ---- loading ---- */

static void begin_table(struct nsys_output *o, enum nsys_table table)
{
}

static void grow(struct stored *t)
{
	t->capacity = t->capacity ? 2 * t->capacity : FIRST_ROWS;
	for (size_t i = 0; i < NSYS_COLUMNS; i++)
		if (t->loaded & (uint64_t)1 << i)
			t->columns[i] = mem_resize(t->columns[i], t->capacity * sizeof(*t->columns[i]));
}

static int64_t keep_text(struct store *s, int64_t value)
{
	const char *text = nsys_text_of(value);

	return text ? (int64_t)aggregate_row(&s->texts, text, strlen(text)) : NSYS_NULL;
}

static void take_row(struct nsys_output *o, enum nsys_table table, const int64_t *values)
{
	struct store *s = (struct store *)((char *)o - offsetof(struct store, output));
	struct stored *t = &s->tables[table];
	const struct nsys_schema *schema = &nsys_schemas[table];

	if (t->rows == t->capacity)
		grow(t);
	for (uint64_t left = t->loaded; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		t->columns[i][t->rows] = schema->columns[i].type == NSYS_TEXT ? keep_text(s, values[i]) : values[i];
	}
	t->rows++;
}

/* Makes the tables whose bits are in `tables`. StringIds is made anew with them, because they refer to more texts. */
static void load(struct store *s, uint64_t tables, bool all_strings)
{
	const uint64_t strings = (uint64_t)1 << NSYS_STRINGS;

	if (s->tables[NSYS_STRINGS].wanted)
		tables |= strings;
	for (int i = 0; i < NSYS_TABLES; i++)
		if (tables & (uint64_t)1 << i) {
			forget(&s->tables[i]);
			s->tables[i].loaded = s->tables[i].wanted;
			s->tables[i].is_loaded = true;
		}
	s->has_all_strings |= all_strings;
	s->output = (struct nsys_output){.begin = begin_table, .row = take_row, .tables = tables,
					 .all_strings = all_strings};
	nsys_rows(&s->context, &s->strings, &s->output);
}

static uint64_t missing_tables(const struct store *s)
{
	uint64_t ret = 0;

	for (int i = 0; i < NSYS_TABLES; i++)
		if (s->tables[i].wanted && !s->tables[i].is_loaded)
			ret |= (uint64_t)1 << i;
	return ret;
}

const struct stored *store_table(struct store *s, enum nsys_table table, bool is_whole)
{
	struct stored *t = &s->tables[table];
	bool all_strings = is_whole && !s->has_all_strings;

	if (!t->is_loaded || all_strings)
		load(s, missing_tables(s) | (t->is_loaded ? 0 : (uint64_t)1 << table), all_strings);
	return t;
}

/* ---- order ---- */

/* One byte of a value, so that unsigned bytes are in the order of signed numbers. */
static size_t byte_of(int64_t value, unsigned int shift)
{
	return ((uint64_t)value ^ (uint64_t)1 << 63) >> shift & 0xff;
}

/* Sorts row numbers by one byte of their values; the order of equal ones remains. `from` NULL: the rows as they are. */
static void sort_by_byte(const int64_t *values, const uint32_t *from, uint32_t *to, size_t rows, unsigned int shift)
{
	size_t starts[BYTE_VALUES] = {0}, sum = 0;

	for (size_t i = 0; i < rows; i++)
		starts[byte_of(values[i], shift)]++;
	for (size_t i = 0; i < BYTE_VALUES; i++) {
		size_t count = starts[i];

		starts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < rows; i++) {
		uint32_t row = from ? from[i] : (uint32_t)i;

		to[starts[byte_of(values[row], shift)]++] = row;
	}
}

static uint32_t *order_of_values(const int64_t *values, size_t rows)
{
	uint32_t *order = NULL, *to = mem_alloc((rows + 1) * sizeof(*to));
	uint64_t differ = 0;

	for (size_t i = 0; i < rows; i++)
		differ |= (uint64_t)(values[i] ^ values[0]);
	for (unsigned int shift = 0; shift < 64; shift += 8)
		if (differ >> shift & 0xff) {
			uint32_t *from = order;

			sort_by_byte(values, from, to, rows, shift);
			order = to;
			to = from ? from : mem_alloc((rows + 1) * sizeof(*to));
		}
	if (order) {
		free(to);
		return order;
	}
	for (size_t i = 0; i < rows; i++)
		to[i] = (uint32_t)i;
	return to;
}

const uint32_t *store_order(struct store *s, enum nsys_table table, int column)
{
	struct stored *t = &s->tables[table];

	if (!t->orders[column])
		t->orders[column] = order_of_values(t->columns[column], t->rows);
	return t->orders[column];
}

const char *store_text(const struct store *s, int64_t value, size_t *ret_size)
{
	const struct aggregate_row *row = &s->texts.rows[value];

	*ret_size = row->key_size;
	return row->key;
}

const struct table *store_report(struct store *s, size_t place)
{
	if (!s->reports[place]) {
		s->reports[place] = mem_alloc(sizeof(**s->reports));
		report_list[place].run(&s->context, s->reports[place]); /* without data: no rows */
	}
	return s->reports[place];
}
