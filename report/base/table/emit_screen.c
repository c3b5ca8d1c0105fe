/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/table/emit_screen.h"

#include <string.h>

#include "report/base/text.h"

enum { BAR = 10 };

/* In this order. */
enum screen_place { KEY, NAME, TOTAL, SHARE, OTHER, DETAIL };

/* What is of less interest than sum, count, average and maximum. */
static bool is_detail(enum column_id id)
{
	static const enum column_id details[] = {
		COL_MED_NS,    COL_MIN_NS,  COL_STDDEV_NS, COL_MED_MB,	COL_MIN_MB,    COL_STDDEV_MB, COL_AMED_NS,
		COL_AMIN_NS,   COL_ASTDDEV_NS, COL_QMED_NS, COL_QMIN_NS, COL_QSTDDEV_NS, COL_KMED_NS,  COL_KMIN_NS,
		COL_KSTDDEV_NS, COL_TMED_NS, COL_TMIN_NS, COL_TSTDDEV_NS, COL_PROJ_MED_NS, COL_PROJ_MIN_NS,
		COL_PROJ_STDDEV_NS};

	return array_find(detail, details, sizeof(details) / sizeof(*details), *detail == id) != NULL;
}

/* What a row of a trace is named by. */
static bool is_name(enum column_id id)
{
	return id == COL_NAME || id == COL_KERNEL_NAME || id == COL_OPERATION || id == COL_RANGE || id == COL_FILE ||
	       id == COL_PATH || id == COL_FUNCTION || id == COL_API_NAME || id == COL_EVENT;
}

/* In a table of sums, what is before the share is the key of --by, and what follows it the total. */
static enum screen_place place_of(const struct table *t, size_t column)
{
	size_t share = table_find(t, COL_TIME_PERCENT);

	if (is_detail(t->columns[column].id))
		return DETAIL;
	if (share == t->column_count)
		return is_name(t->columns[column].id) ? NAME : OTHER;
	if (column < share)
		return KEY;
	if (t->columns[column].type == COLUMN_TEXT)
		return NAME;
	return column == share ? SHARE : column == share + 1 ? TOTAL : OTHER;
}

void screen_order(const struct table *t, size_t *columns, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		size_t column = columns[i], at = i;

		for (; at && place_of(t, columns[at - 1]) > place_of(t, column); at--)
			columns[at] = columns[at - 1];
		columns[at] = column;
	}
}

/* Whether each cell has a time in the unit that suits it. */
static bool has_own_unit(const struct emit *e, enum column_type type)
{
	return (type == COLUMN_NS || type == COLUMN_NS_MEAN) && (e->unit == UNIT_NS || e->unit == UNIT_AUTO);
}

void document_title(struct buffer *b, const struct emit *e, const struct table *t, size_t column)
{
	const char *title = t->columns[column].title;

	if (!e->is_nsys && has_own_unit(e, t->columns[column].type))
		buffer_add(b, title, strlen(title) - strlen(" (ns)"));
	else
		emit_title(b, t, column, emit_unit(e, t, column));
}

void screen_title(struct buffer *b, const struct emit *e, const struct table *t, size_t column)
{
	if (t->columns[column].id == COL_TIME_PERCENT)
		buffer_text(b, "Share");
	else
		document_title(b, e, t, column);
}

static void add_time(struct buffer *b, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t unit = 0;

	for (; ns >= 999.5 && unit < 3; unit++)
		ns /= 1e3;
	buffer_print(b, "%.*f %s", !unit || ns >= 99.95 ? 0 : ns >= 9.995 ? 1 : 2, ns, units[unit]);
}

static void add_share(struct buffer *b, double percent)
{
	for (int i = 0; i < BAR; i++)
		buffer_text(b, (i + 0.5) * (100.0 / BAR) < percent ? "█" : "·");
	buffer_print(b, " %5.1f%%", round_to_tenth(percent));
}

void document_cell(struct buffer *b, const struct emit *e, const struct table *t, size_t at)
{
	const struct column *column = &t->columns[at % t->column_count];

	if (!t->absent[at] && !e->is_nsys && has_own_unit(e, column->type))
		add_time(b, column->type == COLUMN_NS ? (double)t->cells[at].count : t->cells[at].real);
	else
		emit_cell(b, e, t, at, emit_unit(e, t, at % t->column_count));
}

/* What runs before the program's own code: frames of libc's start of programs and threads. */
static bool is_start(const char *frame, size_t length)
{
	static const char *const names[] = {"_start", "__libc_", "__clone", "clone3", "clone ", "start_thread "};

	return array_find(name, names, sizeof(names) / sizeof(*names),
			  !strncmp(frame, *name, strlen(*name)) && strlen(*name) <= length) != NULL;
}

/* A frame "function (directory/file:line)", the file by its name. */
static void add_frame(struct buffer *b, const char *frame, size_t length)
{
	const char *place = text_place(frame, length), *slash = memrchr(frame, '/', length);

	if (!place || !slash || slash < place) {
		buffer_add(b, frame, length);
		return;
	}
	buffer_add(b, frame, (size_t)(place + 2 - frame));
	buffer_add(b, slash + 1, length - (size_t)(slash + 1 - frame));
}

void screen_line(struct buffer *ret, const char *text)
{
	const char *path = text_path(text), *slash = path == text ? strrchr(text, '/') : NULL;

	if (strstr(text, " ("))
		add_frame(ret, text, strlen(text));
	else
		buffer_text(ret, slash && slash[1] ? slash + 1 : path);
}

static void add_stack(struct buffer *b, const char *text)
{
	static const char join[] = " <- ";
	bool is_first = true;

	while (*text) {
		const char *end = strstr(text, join);
		size_t length = end ? (size_t)(end - text) : strlen(text);

		if (is_first || !is_start(text, length)) {
			buffer_text(b, is_first ? "" : join);
			add_frame(b, text, length);
		}
		is_first = false;
		text += length + (end ? strlen(join) : 0);
	}
}

void screen_cell(struct buffer *b, const struct emit *e, const struct table *t, size_t at)
{
	if (!t->absent[at] && t->columns[at % t->column_count].id == COL_TIME_PERCENT)
		add_share(b, t->cells[at].real);
	else if (!t->absent[at] && t->columns[at % t->column_count].id == COL_STACK) {
		SCOPED(buffer) text = {0};

		emit_text(&text, e->format, t->cells[at].text);
		add_stack(b, buffer_string(&text));
	} else
		document_cell(b, e, t, at);
}
