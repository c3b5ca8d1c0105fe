/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, and the only place that formats them. A report fills a table; the presentation is decided here. */
#pragma once

#include <stdio.h>

#include "report/base/table/column_list.h"
#include "report/base/util.h"

enum column_type {
	COLUMN_TEXT,
	COLUMN_ID,	/* an integer that identifies something: no separators */
	COLUMN_COUNT,	/* an integer */
	COLUMN_NS,	/* nanoseconds as an integer; the title ends with " (ns)" */
	COLUMN_NS_MEAN, /* nanoseconds with one decimal; likewise */
	COLUMN_PERCENT, /* a real number with one decimal */
	COLUMN_MB, /* the value is in bytes, shown in 10^6 bytes; exact in csv, tsv and json */
	COLUMN_SIGNED, /* an integer that may be negative, without separators */
	COLUMN_REAL,   /* a real number in full */
};

/* COL_NAME: the column with the title "Name", see column_list.h. */
enum column_id {
	COL_NONE, /* no column, or one that is made of data, such as that of a query */
#define COLUMN_ENUMERATOR(id, title) COL_##id,
#define COLUMN_ENUMERATORS(type, list) list(COLUMN_ENUMERATOR)
	COLUMN_LISTS(COLUMN_ENUMERATORS)
#undef COLUMN_ENUMERATORS
#undef COLUMN_ENUMERATOR
	COLUMN_IDS
};

struct column_kind {
	const char *title;
	enum column_type type;
};
extern const struct column_kind column_kinds[COLUMN_IDS];

enum { TABLE_COLUMNS = 64 };

struct column {
	enum column_id id;
	char *title;
	enum column_type type;
};

union cell {
	char *text;
	uint64_t count;
	double real;
};

struct table {
	struct column columns[TABLE_COLUMNS];
	size_t column_count;
	union cell *cells; /* row by row */
	bool *absent;	   /* per cell */
	size_t cell_count, cell_capacity, absent_capacity;
	bool hides_zeros; /* in formats made for people: a column that has only zeros is left out */
	bool keeps_empty; /* likewise: a column without values is not left out */
	size_t *asides; /* in ascending order: the rows that tables on a terminal leave out */
	size_t aside_count, aside_capacity;
	const char *aside_words; /* what they are of */
	char *lacks; /* why there is no data; NULL: there is, or there was nothing to record */
};

/* ---- filling: first the columns, then the cells from left to right, row by row ---- */

/* table_has(t, COL_PID, has_rank ? COL_RANK : COL_NONE) */
#define table_has(t, ...)                                                                                              \
	table_columns(t, (const enum column_id[]){__VA_ARGS__},                                                        \
		      sizeof((const enum column_id[]){__VA_ARGS__}) / sizeof(enum column_id))
void table_columns(struct table *t, const enum column_id *ids, size_t count);
/* With another type than that of the list. */
void table_column_as(struct table *t, enum column_id id, enum column_type type);
/* COL_NONE */
void table_column(struct table *t, const char *title, enum column_type type);

void table_text(struct table *t, const char *text);  /* copied */
void table_text_part(struct table *t, const char *text, size_t length); /* likewise; NULL: nothing */
void table_number(struct table *t, uint64_t number); /* ID, COUNT, NS, MB, SIGNED */
void table_real(struct table *t, double real);	     /* NS_MEAN, PERCENT, MB, REAL */
void table_nothing(struct table *t);		     /* the value is not known */
void table_nothings(struct table *t, size_t count);

/* Several cells: table_cells(t, p->pid, p->name, cell_if(p->rank >= 0, p->rank), NO_CELL). A text is copied, NULL is
 * NO_CELL, and any integer is a number: one that may be negative in another column than of type SIGNED needs a cast to
 * double. The value of cell_if() is evaluated only if it is known. */
#define table_cells(t, ...)                                                                 \
	do {                                                                                \
		const struct cell_value values_[] = {CELL_LIST(CELL_EACH(__VA_ARGS__))};    \
		table_add_cells(t, values_, sizeof(values_) / sizeof(*values_));            \
	} while (0)
#define cell_if(is_known, value) ((is_known) ? CELL(value) : NO_CELL)
#define NO_CELL ((struct cell_value){CELL_NONE})
struct cell_value {
	enum { CELL_NONE, CELL_NUMBER, CELL_REAL, CELL_TEXT } kind;
	union {
		uint64_t number;
		double real;
		const char *text;
	};
};
void table_add_cells(struct table *t, const struct cell_value *values, size_t count);
/* 0 if there is no whole. */
static inline double share_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

#define CELL(value)                                                                                                    \
	_Generic((value), struct cell_value: cell_value, char *: cell_text, const char *: cell_text,                   \
		 float: cell_real, double: cell_real, default: cell_number)(value)
static inline struct cell_value cell_number(uint64_t number)
{
	return (struct cell_value){CELL_NUMBER, .number = number};
}
static inline struct cell_value cell_real(double real)
{
	return (struct cell_value){CELL_REAL, .real = real};
}
static inline struct cell_value cell_text(const char *text)
{
	return (struct cell_value){text ? CELL_TEXT : CELL_NONE, .text = text};
}
static inline struct cell_value cell_value(struct cell_value value)
{
	return value;
}
/* CELL() of each of up to 27 arguments: the preprocessor expands a name in its own expansion only when it reads that
 * again, which each CELL_LIST makes it do. */
#define CELL_EACH(value, ...) CELL(value) __VA_OPT__(, CELL_REST CELL_PARENTHESES (__VA_ARGS__))
#define CELL_REST() CELL_EACH
#define CELL_PARENTHESES ()
#define CELL_LIST(...) CELL_LIST_3(CELL_LIST_3(CELL_LIST_3(__VA_ARGS__)))
#define CELL_LIST_3(...) CELL_LIST_2(CELL_LIST_2(CELL_LIST_2(__VA_ARGS__)))
#define CELL_LIST_2(...) CELL_LIST_1(CELL_LIST_1(CELL_LIST_1(__VA_ARGS__)))
#define CELL_LIST_1(...) __VA_ARGS__

size_t table_rows(const struct table *t);
/* The row that begins now is not for a terminal: it is of `words`, "processes of start-up". */
void table_aside(struct table *t, const char *words);
/* Why the table has no data, or not all. */
void table_lacks(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- reading ---- */

/* The number of the column; column_count: the table does not have it. */
size_t table_find(const struct table *t, enum column_id id);
/* The cell of a column that the table has. */
const union cell *table_cell(const struct table *t, size_t row, enum column_id id);
/* The rows that a terminal shows; all if none is left. The caller frees its cells and absent, and nothing else. */
struct table table_without_asides(const struct table *t);
void table_done(struct table *t);

/* ---- writing ---- */

enum format {
	FORMAT_COLUMN,
	FORMAT_TABLE,
	FORMAT_CSV,
	FORMAT_TSV,
	FORMAT_JSON,
	FORMAT_MARKDOWN,
	FORMAT_HTML,
	FORMAT_COUNT
};
enum time_unit { UNIT_NS, UNIT_US, UNIT_MS, UNIT_S, UNIT_AUTO, UNIT_COUNT };

extern const char *const format_names[FORMAT_COUNT];
extern const char *const format_titles[FORMAT_COUNT];
extern const char *const format_endings[FORMAT_COUNT]; /* of the names of files */
extern const char *const unit_names[UNIT_COUNT];

struct emit {
	FILE *file;
	enum format format;
	enum time_unit unit; /* for formats made for people; csv, tsv and json always use ns */
	bool is_list;	     /* there are several tables: json becomes an object by name instead of one array */
	size_t rows;	     /* of a table at most; 0: all */
	size_t columns;	     /* width of the terminal for FORMAT_COLUMN and FORMAT_TABLE; 0: unlimited */
	bool is_screen;	     /* FORMAT_COLUMN as on a terminal, see emit_screen.h; otherwise as Nsight Systems has it */
	bool is_nsys;	     /* html and markdown as Nsight Systems has them, not as on a terminal */
	size_t emitted;
};

void emit_begin(struct emit *e);
/* title: NULL: the table has no heading. */
void emit_table(struct emit *e, const char *name, const char *title, const struct table *t);

/* How many rows of the table are not written. */
size_t emit_rows_cut(const struct emit *e, const struct table *t);

/* A line of text beside the tables, or several, in formats made for people; csv, tsv and json omit it. */
void emit_remark(struct emit *e, const char *text);
void emit_end(struct emit *e);

/* Rounds a mean or a percentage to one decimal. Ties are rounded up as in SQL's round(), so that figures equal those
 * of other tools. */
double round_to_tenth(double number);

/* Whether the format is made for people. */
bool format_is_human(enum format f);

/* ---- shared by emit.c and emit_columns.c ---- */

void emit_columns(struct emit *e, const char *name, const char *title, const struct table *t);

/* Writes the buffer to the file and empties it. */
void emit_write(struct emit *e, struct buffer *b);

/* Appends a text as the format quotes it. */
void emit_text(struct buffer *b, enum format format, const char *text);
/* The unit of a column of times, the column's title in that unit, and a cell in it. */
enum time_unit emit_unit(const struct emit *e, const struct table *t, size_t column);
void emit_title(struct buffer *b, const struct table *t, size_t column, enum time_unit unit);
void emit_cell(struct buffer *b, const struct emit *e, const struct table *t, size_t at, enum time_unit unit);
