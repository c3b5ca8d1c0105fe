/* SPDX-License-Identifier: Apache-2.0 */
/* Writes tables in seven formats. */
#include "report/base/emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/json_writer.h"
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
	struct buffer safe = {0};

	text_escape(&safe, text, "\t\n\r");
	if (!safe.size || !strpbrk(safe.data, ",\"\n\r")) {
		buffer_add(b, safe.data, safe.size);
	} else {
		buffer_text(b, "\"");
		for (const char *p = safe.data; *p; p++)
			buffer_add(b, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
		buffer_text(b, "\"");
	}
	buffer_done(&safe);
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
	struct buffer safe = {0};

	text_escape(&safe, text, "");
	for (const char *p = safe.data; p && *p; p++) {
		const char *entity = html_entity(*p);

		buffer_add(b, entity ? entity : p, entity ? strlen(entity) : 1);
	}
	buffer_done(&safe);
}

static void add_markdown(struct buffer *b, const char *text)
{
	struct buffer safe = {0};

	text_escape(&safe, text, "");
	for (const char *p = safe.data; p && *p; p++) {
		if (strchr("|\\`*_<>[]#", *p))
			buffer_text(b, "\\");
		buffer_add(b, p, 1);
	}
	buffer_done(&safe);
}

static void add_text(struct buffer *b, enum format format, const char *text)
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
	enum column_type type = t->columns[at % t->column_count].type;
	size_t from = b->size;

	if (t->absent[at]) {
		buffer_text(b, e->format == FORMAT_JSON ? "null" : format_is_human(e->format) ? "-" : "");
	} else if (type == COLUMN_TEXT) {
		add_text(b, e->format, t->cells[at].text);
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

/* ---- formats written row by row ---- */

static void emit_separated(struct emit *e, const struct table *t)
{
	const char *separator = e->format == FORMAT_CSV ? "," : "\t";
	struct buffer b = {0};

	buffer_text(&b, e->emitted ? "\n" : "");
	for (size_t i = 0; i < t->column_count; i++) {
		buffer_text(&b, i ? separator : "");
		add_text(&b, e->format, t->columns[i].title);
	}
	buffer_text(&b, "\n");
	for (size_t i = 0; i < t->cell_count; i++) {
		buffer_text(&b, i % t->column_count ? separator : "");
		emit_cell(&b, e, t, i, UNIT_NS);
		if (i % t->column_count + 1 < t->column_count)
			continue;
		buffer_text(&b, "\n");
		emit_write(e, &b);
	}
	emit_write(e, &b);
	buffer_done(&b);
}

static void emit_json(struct emit *e, const char *name, const struct table *t)
{
	struct buffer b = {0};
	struct json_writer w = {.to = &b};

	if (e->is_list) {
		w.has_value = e->emitted;
		json_space(&w, e->emitted ? "\n" : NULL);
		json_name(&w, name);
	}
	json_begin(&w, '[');
	for (size_t i = 0; i < t->cell_count; i++) {
		size_t column = i % t->column_count;

		if (!column) {
			json_space(&w, "\n ");
			json_begin(&w, '{');
		}
		json_name(&w, t->columns[column].title);
		emit_cell(&b, e, t, i, UNIT_NS);
		w.has_value = true;
		if (column + 1 < t->column_count)
			continue;
		json_end(&w, '}');
		emit_write(e, &b);
	}
	json_space(&w, "\n");
	json_end(&w, ']');
	emit_write(e, &b);
	buffer_done(&b);
}

static void emit_markdown(struct emit *e, const char *name, const char *title, const struct table *t)
{
	struct buffer b = {0};

	buffer_text(&b, e->emitted ? "\n" : "");
	if (title)
		buffer_print(&b, "## %s (%s)\n\n", title, name);
	buffer_text(&b, "|");
	for (size_t i = 0; i < t->column_count; i++) {
		buffer_text(&b, " ");
		emit_title(&b, t, i, emit_unit(e, t, i));
		buffer_text(&b, " |");
	}
	buffer_text(&b, "\n|");
	for (size_t i = 0; i < t->column_count; i++)
		buffer_text(&b, t->columns[i].type == COLUMN_TEXT ? " --- |" : " ---: |");
	for (size_t i = 0; i < t->cell_count; i++) {
		buffer_text(&b, i % t->column_count ? " " : "\n| ");
		emit_cell(&b, e, t, i, emit_unit(e, t, i % t->column_count));
		buffer_text(&b, " |");
	}
	buffer_text(&b, "\n");
	emit_write(e, &b);
	buffer_done(&b);
}

static void emit_html(struct emit *e, const char *name, const char *title, const struct table *t)
{
	struct buffer b = {0};

	if (title)
		buffer_print(&b, "<h2 id=\"%s\">%s (%s)</h2>\n", name, title, name);
	buffer_text(&b, "<table>\n<tr>");
	for (size_t i = 0; i < t->column_count; i++) {
		buffer_text(&b, "<th>");
		emit_title(&b, t, i, emit_unit(e, t, i));
		buffer_text(&b, "</th>");
	}
	for (size_t i = 0; i < t->cell_count; i++) {
		size_t column = i % t->column_count;

		buffer_text(&b, column ? "" : "</tr>\n<tr>");
		buffer_text(&b, t->columns[column].type == COLUMN_TEXT ? "<td>" : "<td class=\"n\">");
		emit_cell(&b, e, t, i, emit_unit(e, t, column));
		buffer_text(&b, "</td>");
	}
	buffer_text(&b, "</tr>\n</table>\n");
	emit_write(e, &b);
	buffer_done(&b);
}

void emit_begin(struct emit *e)
{
	if (e->format == FORMAT_JSON && e->is_list)
		fputs("{", e->file);
	if (e->format == FORMAT_HTML)
		fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>pillion stats</title>\n"
		      "<style>body{font:14px sans-serif}table{border-collapse:collapse}th,td{border:1px solid "
		      "#ccc;padding:2px 8px;"
		      "text-align:left}td.n{text-align:right;font-variant-numeric:tabular-nums}</style></head><body>\n",
		      e->file);
}

size_t emit_rows_cut(const struct emit *e, const struct table *t)
{
	size_t rows = table_rows(t);

	return e->rows && rows > e->rows ? rows - e->rows : 0;
}

void emit_table(struct emit *e, const char *name, const char *title, const struct table *whole)
{
	struct table shown = *whole, *t = &shown; /* shares the cells */

	shown.cell_count -= emit_rows_cut(e, whole) * whole->column_count;
	switch (e->format) {
	case FORMAT_CSV:
	case FORMAT_TSV:
		emit_separated(e, t);
		break;
	case FORMAT_JSON:
		emit_json(e, name, t);
		break;
	case FORMAT_MARKDOWN:
		emit_markdown(e, name, title, t);
		break;
	case FORMAT_HTML:
		emit_html(e, name, title, t);
		break;
	default:
		emit_columns(e, name, title, t);
	}
	e->emitted++;
}

void emit_remark(struct emit *e, const char *text)
{
	struct buffer b = {0};

	if (!format_is_human(e->format))
		return;
	buffer_text(&b, e->format == FORMAT_HTML ? "<p>" : e->emitted ? "\n " : " ");
	add_text(&b, e->format, text);
	buffer_text(&b, e->format == FORMAT_HTML ? "</p>\n" : "\n");
	emit_write(e, &b);
	buffer_done(&b);
	e->emitted++;
}

void emit_end(struct emit *e)
{
	if (e->format == FORMAT_JSON)
		fputs(e->is_list ? "}\n" : e->emitted ? "\n" : "[]\n", e->file);
	if (e->format == FORMAT_HTML)
		fputs("</body></html>\n", e->file);
}
