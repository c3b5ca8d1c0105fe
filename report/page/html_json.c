/* SPDX-License-Identifier: Apache-2.0 */
/* The texts, tables and profiles of the page's JSON, which goes into the pack in pieces. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/page/export_html.h"

/* Maximum number of rows of a table in the page. */
enum { TABLE_ROWS = 100000, FULL = 1 << 16 };

void html_json_take(struct html_json *j)
{
	if (j->html->pack && j->text.size > FULL)
		pack_take(j->html->pack, &j->text);
}

void html_json_string(struct html_json *j, const char *text)
{
	buffer_print(&j->text, "%" PRIu32, html_string(j->html, text));
}

static void add_real(struct buffer *b, const char *format, double real)
{
	/* JSON cannot represent them */
	if (real != real || real > 1e300 || real < -1e300)
		buffer_text(b, "null");
	else
		buffer_print(b, format, real);
}

/* Numbers have the same digits as in csv. */
static void json_add_cell(struct html_json *j, const struct table *t, size_t cell)
{
	union cell value = t->cells[cell];

	if (t->absent[cell]) {
		buffer_text(&j->text, "null");
		return;
	}
	switch (t->columns[cell % t->column_count].type) {
	case COLUMN_TEXT:
		html_json_string(j, value.text);
		break;
	case COLUMN_ID:
	case COLUMN_COUNT:
	case COLUMN_NS:
		buffer_print(&j->text, "%" PRIu64, value.count);
		break;
	case COLUMN_NS_MEAN:
	case COLUMN_PERCENT:
		add_real(&j->text, "%.1f", round_to_tenth(value.real));
		break;
	case COLUMN_MB:
		add_real(&j->text, "%.3f", value.real / 1e6);
		break;
	case COLUMN_SIGNED: /* of queries only */
		buffer_print(&j->text, "%" PRId64, (int64_t)value.count);
		break;
	case COLUMN_REAL:
		add_real(&j->text, "%.15g", value.real);
		break;
	}
}

static void add_columns(struct html_json *j, const struct table *t)
{
	static const char *const types[] = {"text", "id", "count", "ns", "mean", "percent", "mb", "count", "real"};

	buffer_text(&j->text, ",\"columns\":[");
	for (size_t i = 0; i < t->column_count; i++) {
		buffer_text(&j->text, i ? ",{\"title\":" : "{\"title\":");
		json_add(&j->text, t->columns[i].title);
		buffer_print(&j->text, ",\"type\":\"%s\"}", types[t->columns[i].type]);
	}
	buffer_text(&j->text, "],\"cells\":[");
}

void html_json_table(struct html_json *j, const char *name, const char *title, bool is_info, const struct table *t)
{
	size_t rows = table_rows(t), kept = rows < TABLE_ROWS ? rows : TABLE_ROWS;

	buffer_print(&j->text, "{\"name\":\"%s\",\"title\":", name);
	json_add(&j->text, title);
	buffer_print(&j->text, ",\"rows\":%zu,\"info\":%s", rows, is_info ? "true" : "false");
	add_columns(j, t);
	for (size_t column = 0; column < t->column_count; column++) {
		buffer_text(&j->text, column ? ",[" : "[");
		for (size_t row = 0; row < kept; row++) {
			if (row)
				buffer_text(&j->text, ",");
			json_add_cell(j, t, row * t->column_count + column);
			html_json_take(j);
		}
		buffer_text(&j->text, "]");
	}
	buffer_text(&j->text, "]}");
}

void html_json_profile(struct html_json *j, const struct profile *p)
{
	SCOPED_MEMORY uint32_t *strings = mem_alloc((p->name_count + 1) * sizeof(*strings));
	const struct metric_words *words = &metrics[p->metric];
	SCOPED(buffer) text = {0};
	static const char *const kinds[PROFILE_KINDS] = {"other", "python", "native", "library", "interpreter",
							 "import", "call", "device"};

	for (size_t i = 0; i < p->name_count; i++) {
		buffer_clear(&text);
		code_line_text(p->names[i].line, &text);
		strings[i] = html_string(j->html, buffer_string(&text));
	}
	buffer_print(&j->text, "{\"metric\":\"%s\",\"title\":\"%s\",\"unit\":\"%s\",\"kinds\":[", words->name,
		     words->title, words->unit);
	for (size_t i = 0; i < p->name_count; i++)
		buffer_print(&j->text, "%s%" PRIu32 ",\"%s\"", i ? "," : "", strings[i],
			     kinds[p->names[i].kind]);
	buffer_text(&j->text, "],\"stacks\":[");
	for (size_t row = 0; row < p->aggregate.count; row++) {
		size_t count;
		const uint32_t *stack = profile_stack(p, row, &count);

		buffer_print(&j->text, "%s[%" PRIu64, row ? "," : "", p->aggregate.rows[row].total);
		for (size_t i = 0; i < count; i++)
			buffer_print(&j->text, ",%" PRIu32, strings[stack[i]]);
		buffer_text(&j->text, "]");
		html_json_take(j);
	}
	buffer_text(&j->text, "]}");
}

void html_json_texts(struct html_json *j, const struct texts *t, bool is_json)
{
	for (size_t i = 0; i < t->count; i++) {
		if (i)
			buffer_text(&j->text, ",");
		if (is_json)
			buffer_text(&j->text, t->items[i]);
		else
			json_add(&j->text, t->items[i]);
		html_json_take(j);
	}
}
