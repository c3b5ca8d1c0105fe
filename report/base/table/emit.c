/* SPDX-License-Identifier: Apache-2.0 */
/* Writes tables in seven formats; emit_columns.c lays out those for a terminal. */
#include "report/base/table/emit.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/table/emit_screen.h"
#include "report/base/table/json_writer.h"
#include "report/base/text.h"

/* ---- formats written row by row ---- */

static void emit_separated(struct emit *e, const struct table *t)
{
	const char *separator = e->format == FORMAT_CSV ? "," : "\t";
	SCOPED(buffer) b = {0};

	buffer_text(&b, e->emitted ? "\n" : "");
	for (size_t i = 0; i < t->column_count; i++) {
		buffer_text(&b, i ? separator : "");
		emit_text(&b, e->format, t->columns[i].title);
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
}

static void emit_json(struct emit *e, const char *name, const struct table *t)
{
	SCOPED(buffer) b = {0};
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
}

/* The positions of the columns of a document, in its order. */
static void document_order(const struct emit *e, const struct table *t, size_t *ret)
{
	for (size_t i = 0; i < t->column_count; i++)
		ret[i] = i;
	if (!e->is_nsys)
		screen_order(t, ret, t->column_count);
}

static void emit_markdown(struct emit *e, const char *name, const char *title, const struct table *t)
{
	size_t order[TABLE_COLUMNS];
	SCOPED(buffer) b = {0};

	document_order(e, t, order);
	buffer_text(&b, e->emitted ? "\n" : "");
	if (title)
		buffer_print(&b, "## %s (%s)\n\n", title, name);
	buffer_text(&b, "|");
	for (size_t i = 0; i < t->column_count; i++) {
		buffer_text(&b, " ");
		document_title(&b, e, t, order[i]);
		buffer_text(&b, " |");
	}
	buffer_text(&b, "\n|");
	for (size_t i = 0; i < t->column_count; i++)
		buffer_text(&b, t->columns[order[i]].type == COLUMN_TEXT ? " --- |" : " ---: |");
	for (size_t i = 0; i < t->cell_count; i++) {
		size_t column = i % t->column_count;

		buffer_text(&b, column ? " " : "\n| ");
		document_cell(&b, e, t, i - column + order[column]);
		buffer_text(&b, " |");
	}
	buffer_text(&b, "\n");
	emit_write(e, &b);
}

static void emit_html(struct emit *e, const char *name, const char *title, const struct table *t)
{
	size_t order[TABLE_COLUMNS];
	SCOPED(buffer) b = {0};

	document_order(e, t, order);
	if (title)
		buffer_print(&b, "<h2 id=\"%s\">%s (%s)</h2>\n", name, title, name);
	buffer_text(&b, "<table>\n<tr>");
	for (size_t i = 0; i < t->column_count; i++) {
		buffer_text(&b, "<th>");
		document_title(&b, e, t, order[i]);
		buffer_text(&b, "</th>");
	}
	for (size_t i = 0; i < t->cell_count; i++) {
		size_t column = i % t->column_count;

		buffer_text(&b, column ? "" : "</tr>\n<tr>");
		buffer_text(&b, t->columns[order[column]].type == COLUMN_TEXT ? "<td>" : "<td class=\"n\">");
		document_cell(&b, e, t, i - column + order[column]);
		buffer_text(&b, "</td>");
	}
	buffer_text(&b, "</tr>\n</table>\n");
	emit_write(e, &b);
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
	SCOPED(buffer) b = {0}, wrapped = {0};

	if (!format_is_human(e->format))
		return;
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		SCOPED_MEMORY char *line = mem_copy_text(text, length = strcspn(text, "\n"));

		buffer_text(&b, e->format == FORMAT_HTML ? "<p>" : !b.size && e->emitted ? "\n " : " ");
		emit_text(&b, e->format, line);
		buffer_text(&b, e->format == FORMAT_HTML ? "</p>\n" : "\n");
	}
	if (e->is_screen)
		text_wrap(&wrapped, b.data, e->columns, 1);
	emit_write(e, e->is_screen ? &wrapped : &b);
	e->emitted++;
}

void emit_end(struct emit *e)
{
	if (e->format == FORMAT_JSON)
		fputs(e->is_list ? "}\n" : e->emitted ? "\n" : "[]\n", e->file);
	if (e->format == FORMAT_HTML)
		fputs("</body></html>\n", e->file);
}
