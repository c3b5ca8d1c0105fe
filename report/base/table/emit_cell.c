/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a cell and of a title of a column, in each format. */
#include "report/base/table/emit.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/base/table/json_writer.h"
#include "report/base/text.h"

const char *const format_names[FORMAT_COUNT] = {"column", "table", "csv", "tsv", "json", "markdown", "html"};
const char *const format_titles[FORMAT_COUNT] = {
	"columns of text, as wide as the terminal",
	"the same in a frame",
	"comma-separated values; times in ns, sizes in bytes",
	"tab-separated values, likewise",
	"JavaScript Object Notation, likewise",
	"tables of Markdown",
	"an HTML document with tables",
};
const char *const format_endings[FORMAT_COUNT] = {".txt", ".txt", ".csv", ".tsv", ".json", ".md", ".html"};
const char *const unit_names[UNIT_COUNT] = {"ns", "us", "ms", "s", "auto"};
static const double unit_ns[] = {1, 1e3, 1e6, 1e9};

bool format_is_human(enum format f)
{
	return f == FORMAT_COLUMN || f == FORMAT_TABLE || f == FORMAT_MARKDOWN || f == FORMAT_HTML;
}

static bool is_time(enum column_type type)
{
	return type == COLUMN_NS || type == COLUMN_NS_MEAN;
}

/* The largest unit in which the largest value of the column is at least 1. */
static enum time_unit best_unit(const struct table *t, size_t column)
{
	enum time_unit unit = UNIT_NS;
	double most = 0;

	for (size_t i = column; i < t->cell_count; i += t->column_count) {
		double value = t->columns[column].type == COLUMN_NS ? (double)t->cells[i].count : t->cells[i].real;

		if (value > most)
			most = value;
	}
	while (unit < UNIT_S && most >= unit_ns[unit + 1])
		unit++;
	return unit;
}

enum time_unit emit_unit(const struct emit *e, const struct table *t, size_t column)
{
	if (!format_is_human(e->format) || !is_time(t->columns[column].type))
		return UNIT_NS;
	return e->unit == UNIT_AUTO ? best_unit(t, column) : e->unit;
}

void emit_title(struct buffer *b, const struct table *t, size_t column, enum time_unit unit)
{
	const char *title = t->columns[column].title;
	size_t length = strlen(title);

	if (unit == UNIT_NS) {
		buffer_text(b, title);
		return;
	}
	buffer_add(b, title, length - strlen("ns)"));
	buffer_print(b, "%s)", unit_names[unit]);
}

/* Inserts a comma before every third digit of the integer part that starts at `from`. */
static void separate_thousands(struct buffer *b, size_t from)
{
	char digits[512];
	size_t length = b->size - from, whole;

	if (length >= sizeof(digits))
		return;
	memcpy(digits, b->data + from, length);
	whole = strspn(b->data + from, "0123456789");
	b->size = from;
	for (size_t i = 0; i < length; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			buffer_add(b, ",", 1);
		buffer_add(b, digits + i, 1);
	}
}

double round_to_tenth(double number)
{
	return floor(number * 10 + 0.5) / 10;
}

static void add_number(struct buffer *b, const struct emit *e, enum column_type type, union cell cell,
		       enum time_unit unit)
{
	switch (type) {
	case COLUMN_ID:
	case COLUMN_COUNT:
		buffer_print(b, "%" PRIu64, cell.count);
		break;
	case COLUMN_NS:
		if (unit == UNIT_NS)
			buffer_print(b, "%" PRIu64, cell.count);
		else
			buffer_print(b, "%.3f", (double)cell.count / unit_ns[unit]);
		break;
	case COLUMN_NS_MEAN:
		if (unit == UNIT_NS)
			buffer_print(b, "%.1f", round_to_tenth(cell.real));
		else
			buffer_print(b, "%.3f", cell.real / unit_ns[unit]);
		break;
	case COLUMN_PERCENT:
		buffer_print(b, "%.1f", round_to_tenth(cell.real));
		break;
	case COLUMN_MB:
		buffer_print(b, format_is_human(e->format) ? "%.3f" : "%.6f", cell.real / 1e6);
		break;
	case COLUMN_SIGNED:
		buffer_print(b, "%" PRId64, (int64_t)cell.count);
		break;
	case COLUMN_REAL:
		buffer_print(b, isfinite(cell.real) || e->format != FORMAT_JSON ? "%.15g" : "null", cell.real);
		break;
	case COLUMN_TEXT:
		break;
	}
}

static void add_csv(struct buffer *b, const char *text)
{
	SCOPED(buffer) safe = {0};

	text_escape(&safe, text, "\t\n\r");
	if (!safe.size || !strpbrk(safe.data, ",\"\n\r")) {
		buffer_add(b, safe.data, safe.size);
	} else {
		buffer_text(b, "\"");
		for (const char *p = safe.data; *p; p++)
			buffer_add(b, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
		buffer_text(b, "\"");
	}
}

/* Writes tab, newline and backslash as two characters, so that a row stays on one line. */
static void add_tsv(struct buffer *b, const char *text)
{
	while (*text) {
		uint32_t code = text_next(&text);

		if (code == '\t' || code == '\n' || code == '\r' || code == '\\')
			buffer_text(b, code == '\t' ? "\\t" : code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\\\");
		else if (text_is_control(code))
			buffer_print(b, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
		else
			text_add_code(b, code);
	}
}

static const char *html_entity(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void add_html(struct buffer *b, const char *text)
{
	SCOPED(buffer) safe = {0};

	text_escape(&safe, text, "");
	for (const char *p = safe.data; p && *p; p++) {
		const char *entity = html_entity(*p);

		buffer_add(b, entity ? entity : p, entity ? strlen(entity) : 1);
	}
}

static void add_markdown(struct buffer *b, const char *text)
{
	SCOPED(buffer) safe = {0};

	text_escape(&safe, text, "");
	for (const char *p = safe.data; p && *p; p++) {
		if (strchr("|\\`*_<>[]#", *p))
			buffer_text(b, "\\");
		buffer_add(b, p, 1);
	}
}

void emit_text(struct buffer *b, enum format format, const char *text)
{
	switch (format) {
	case FORMAT_CSV:
		add_csv(b, text);
		break;
	case FORMAT_TSV:
		add_tsv(b, text);
		break;
	case FORMAT_JSON:
		json_add(b, text);
		break;
	case FORMAT_HTML:
		add_html(b, text);
		break;
	case FORMAT_MARKDOWN:
		add_markdown(b, text);
		break;
	default:
		text_escape(b, text, "");
	}
}

void emit_cell(struct buffer *b, const struct emit *e, const struct table *t, size_t at, enum time_unit unit)
{
	const struct column *column = &t->columns[at % t->column_count];
	enum column_type type = column->type;
	size_t from = b->size;

	if (t->absent[at]) {
		buffer_text(b, e->format == FORMAT_JSON ? "null" : format_is_human(e->format) ? "-" : "");
	} else if (column->id == COL_FRAMES && e->format == FORMAT_JSON) {
		buffer_text(b, t->cells[at].text); /* a list */
	} else if (type == COLUMN_TEXT) {
		emit_text(b, e->format, t->cells[at].text);
	} else {
		add_number(b, e, type, t->cells[at], unit);
		if (format_is_human(e->format) && type != COLUMN_ID && type != COLUMN_SIGNED && type != COLUMN_REAL)
			separate_thousands(b, from);
	}
}

void emit_write(struct emit *e, struct buffer *b)
{
	if (b->size)
		fwrite(b->data, 1, b->size, e->file);
	buffer_clear(b);
}
