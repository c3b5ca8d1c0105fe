/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in columns for a terminal. Columns have their natural width if the row fits. If it does not, titles are
 * split into two lines, then the middle of long texts is cut out, and finally a row takes several lines, each with
 * some of the columns, so that no number is cut. */
#include <stdlib.h>
#include <string.h>

#include "report/base/table/emit_screen.h"
#include "report/base/table/name.h"
#include "report/base/text.h"

/* Texts are not cut below this width; continuation lines of a row are indented. */
enum { LEAST_TEXT = 24, LEAST_NAME = 8, INDENT = 4 };

struct column_layout {
	const struct emit *emit;
	const struct table *table;
	size_t widths[TABLE_COLUMNS];
	size_t lines[TABLE_COLUMNS + 1]; /* the first column of each line of a row, then the number of columns */
	size_t line_count;
	bool is_cut; /* titles */
};

static void buffer_pad(struct buffer *b, char with, size_t count)
{
	while (count--)
		buffer_add(b, &with, 1);
}

static bool has_frame(const struct column_layout *l)
{
	return l->emit->format == FORMAT_TABLE;
}

/* The width that a column takes beside its cells, and a line beside its columns. */
static size_t column_gap(const struct column_layout *l)
{
	return has_frame(l) ? 3 : 2;
}

/* One space, or a border and a space; and the border at the end of a line. Every column but the first has two spaces
 * before it. */
static size_t line_width(const struct column_layout *l, size_t from, size_t to)
{
	size_t total = (has_frame(l) ? 2 : 0) + (from ? INDENT : 0);

	for (size_t i = from; i < to; i++)
		total += column_gap(l) + l->widths[i];
	return has_frame(l) ? total : total - 1;
}

/* The space at which a title is best split; NULL: it is a single word. */
static char *title_space(char *title)
{
	size_t length = strlen(title), least = length;
	char *best = NULL;

	for (char *p = strchr(title, ' '); p; p = strchr(p + 1, ' ')) {
		size_t before = (size_t)(p - title), behind = length - before - 1,
		       longest = before > behind ? before : behind;

		if (longest < least) {
			least = longest;
			best = p;
		}
	}
	return best;
}

static size_t cut_width(char *title)
{
	char *space = title_space(title);
	size_t before = space ? (size_t)(space - title) : 0, behind = text_width(space ? space + 1 : title);

	return before > behind ? before : behind;
}

/* Widths of the titles, whole or split, and of the cells. */
static void layout_measure(struct column_layout *l, char *const *texts, size_t cells, bool is_cut)
{
	size_t columns = l->table->column_count;

	l->is_cut = is_cut;
	memset(l->widths, 0, sizeof(l->widths));
	for (size_t i = 0; i < cells; i++) {
		size_t width = i < columns && is_cut ? cut_width(texts[i]) : text_width(texts[i]);

		l->widths[i % columns] = larger_of(l->widths[i % columns], width);
	}
}

static bool layout_fits(const struct column_layout *l)
{
	return !l->emit->columns || line_width(l, 0, l->lines[1]) <= l->emit->columns;
}

/* Narrows the widest text columns of the first line until it fits or they have their minimum width. */
static void narrow_texts(struct column_layout *l, size_t least)
{
	size_t *widths = l->widths, columns = l->lines[1], total = line_width(l, 0, columns);

	while (total > l->emit->columns) {
		size_t widest = columns, next = least, cut;

		for (size_t i = 0; i < columns; i++)
			if (l->table->columns[i].type == COLUMN_TEXT && widths[i] > least &&
			    (widest == columns || widths[i] > widths[widest]))
				widest = i;
		if (widest == columns)
			return;
		for (size_t i = 0; i < columns; i++)
			if (l->table->columns[i].type == COLUMN_TEXT && widths[i] < widths[widest] && widths[i] > next)
				next = widths[i];
		cut = widths[widest] - next < total - l->emit->columns ? widths[widest] - next
								       : total - l->emit->columns;
		widths[widest] -= cut;
		total -= cut;
	}
}

/* Gives a text column the rest of its line if that is wide enough to be readable, else a line of its own. */
static void narrow_to_line(struct column_layout *l, size_t column, size_t from)
{
	size_t others = line_width(l, from, column) + column_gap(l),
	       room = l->emit->columns > others ? l->emit->columns - others : 0;

	if (l->table->columns[column].type == COLUMN_TEXT && l->widths[column] > room &&
	    (room >= LEAST_TEXT || (from == column && room > 1)))
		l->widths[column] = room;
}

static void layout_fold(struct column_layout *l)
{
	size_t columns = l->table->column_count, from = 0;

	l->line_count = 0;
	for (size_t i = 0; i < columns; i++) {
		narrow_to_line(l, i, from);
		if (i && line_width(l, from, i + 1) > l->emit->columns) {
			from = i;
			narrow_to_line(l, i, from);
		}
		if (from == i)
			l->lines[l->line_count++] = i;
	}
	l->lines[l->line_count] = columns;
}

/* Leaves out the last columns until each row fits into a line. */
static void layout_drop(struct column_layout *l, char *const *texts, size_t cells)
{
	do {
		l->lines[1] -= l->lines[1] > 2;
		layout_measure(l, texts, cells, true);
		narrow_texts(l, l->lines[1] > 2 ? LEAST_TEXT : LEAST_NAME);
	} while (l->lines[1] > 2 && !layout_fits(l));
}

static void lay_out(struct column_layout *l, char *const *texts, size_t cells)
{
	l->line_count = 1;
	l->lines[1] = l->table->column_count;
	layout_measure(l, texts, cells, false);
	if (layout_fits(l))
		return;
	layout_measure(l, texts, cells, true);
	if (layout_fits(l))
		return;
	narrow_texts(l, LEAST_TEXT);
	if (layout_fits(l))
		return;
	layout_measure(l, texts, cells, true);
	if (l->emit->is_screen)
		layout_drop(l, texts, cells);
	else
		layout_fold(l);
}

/* ---- lines ---- */

/* Trailing spaces are removed. */
/* is_stack: it loses its end, the outermost frames. */
static void add_padded(struct buffer *b, const char *text, size_t width, bool to_right, bool is_open, bool is_stack)
{
	size_t have = text_width(text), missing = have < width ? width - have : 0;

	if (to_right)
		buffer_pad(b, ' ', missing);
	if (have > width)
		missing = width - (is_stack ? text_cut(b, text, width) : text_shorten(b, text, width));
	else
		buffer_text(b, text);
	if (!to_right && !is_open)
		buffer_pad(b, ' ', missing);
}

static void add_rule(struct buffer *b, const struct column_layout *l, size_t line)
{
	size_t from = l->lines[line];

	buffer_pad(b, ' ', from ? INDENT : 0);
	for (size_t i = from; i < l->lines[line + 1]; i++) {
		buffer_text(b, has_frame(l) ? (i > from ? "+" : " +") : i > from ? "  " : " ");
		buffer_pad(b, '-', l->widths[i] + (has_frame(l) ? 2 : 0));
	}
	buffer_text(b, has_frame(l) ? "+\n" : "\n");
}

static void add_line(struct buffer *b, const struct column_layout *l, size_t line, char *const *cells)
{
	size_t from = l->lines[line], to = l->lines[line + 1];

	buffer_pad(b, ' ', from ? INDENT : 0);
	for (size_t i = from; i < to; i++) {
		buffer_text(b, has_frame(l) ? " | " : i > from ? "  " : " ");
		add_padded(b, cells[i], l->widths[i], l->table->columns[i].type != COLUMN_TEXT,
			   i + 1 == to && !has_frame(l), l->table->columns[i].id == COL_STACK);
	}
	while (l->emit->is_screen && b->size && b->data[b->size - 1] == ' ')
		b->size--;
	buffer_text(b, has_frame(l) ? " |\n" : "\n");
}

/* Lines whose width differs from the previous one need a border of their own. */
static void layout_add_row(struct buffer *b, const struct column_layout *l, char *const *cells)
{
	for (size_t line = 0; line < l->line_count; line++) {
		add_line(b, l, line, cells);
		if (has_frame(l) && l->line_count > 1)
			add_rule(b, l, line);
	}
}

/* Cuts the cells in place. */
static void add_titles(struct buffer *b, const struct column_layout *l, char *const *titles)
{
	char *upper[TABLE_COLUMNS], *lower[TABLE_COLUMNS], nothing[] = "";

	for (size_t i = 0; i < l->table->column_count; i++) {
		char *space = l->is_cut ? title_space(titles[i]) : NULL;

		upper[i] = space ? titles[i] : nothing;
		lower[i] = space ? space + 1 : titles[i];
		if (space)
			*space = 0;
	}
	for (size_t line = 0; line < l->line_count; line++) {
		bool has_upper = l->is_cut && !l->emit->is_screen;

		for (size_t i = l->lines[line]; i < l->lines[line + 1]; i++)
			has_upper |= *upper[i] != 0;
		if (has_frame(l))
			add_rule(b, l, line);
		if (has_upper)
			add_line(b, l, line, upper);
		add_line(b, l, line, lower);
		add_rule(b, l, line);
	}
}

/* ---- what is shown of a table ---- */

static bool is_empty_cell(const struct table *t, size_t at)
{
	switch (t->columns[at % t->column_count].type) {
	case COLUMN_TEXT:
		return t->absent[at] || !*t->cells[at].text;
	case COLUMN_COUNT:
	case COLUMN_NS:
		return t->absent[at] || (t->hides_zeros && !t->cells[at].count);
	case COLUMN_NS_MEAN:
	case COLUMN_PERCENT:
	case COLUMN_MB:
		return t->absent[at] || (t->hides_zeros && t->cells[at].real == 0);
	default:
		return t->absent[at];
	}
}

static bool is_empty_column(const struct table *t, size_t column)
{
	size_t at = column;

	while (at < t->cell_count && is_empty_cell(t, at))
		at += t->column_count;
	return t->cell_count && at >= t->cell_count;
}

/* The table without its empty columns, and without cells. ret_from: their positions in the table. */
static struct table shown_columns(const struct emit *e, const struct table *t, size_t ret_from[TABLE_COLUMNS])
{
	struct table ret = {0};
	bool is_all = true;

	for (size_t i = 0; i < t->column_count; i++)
		is_all &= is_empty_column(t, i);
	for (size_t i = 0; i < t->column_count; i++)
		if (is_all || t->keeps_empty || !is_empty_column(t, i))
			ret_from[ret.column_count++] = i;
	if (e->is_screen)
		screen_order(t, ret_from, ret.column_count);
	for (size_t i = 0; i < ret.column_count; i++)
		ret.columns[i] = t->columns[ret_from[i]];
	return ret;
}

/* Forms of a text, the shortest first; only terminals have the first. */
enum { BRIEF, SHORTENED, WHOLE };

static void add_form(struct buffer *ret, enum column_id id, const char *text, int form)
{
	if (form == BRIEF && id == COL_LINE)
		screen_line(ret, text);
	else if (form == BRIEF && id != COL_STACK)
		name_brief(ret, text);
	else if (form != WHOLE)
		name_shorten(ret, text);
	else
		buffer_text(ret, text);
}

/* Names of C++ functions and places are shortened unless two of a column would become the same. `names` has the text
 * that each shortened one comes from. */
static void add_text(struct buffer *all, struct map *names, const struct emit *e, enum column_id id, const char *text,
		     bool is_final)
{
	uint64_t hash = hash_bytes(text, strlen(text)), *from;
	SCOPED(buffer) name = {0};
	bool is_new;

	for (int form = e->is_screen ? BRIEF : SHORTENED; form < WHOLE; form++) {
		buffer_clear(&name);
		add_form(&name, id, text, form);
		from = map_put(names, (uint64_t)id << 1 | (uint64_t)form, hash_bytes(buffer_string(&name), name.size),
			       &is_new);
		if (is_new)
			*from = hash;
		else if (*from != hash)
			*from = 0;
		if (is_final && *from == hash)
			break;
		if (is_final)
			buffer_clear(&name);
	}
	buffer_text(all, name.size || !is_final ? buffer_string(&name) : text);
}

static bool is_name(const struct emit *e, const struct table *t, size_t at)
{
	const struct column *column = &t->columns[at % t->column_count];

	return column->type == COLUMN_TEXT &&
	       (strstr(t->cells[at].text, "::") ||
		(e->is_screen && column->id == COL_LINE && strchr(t->cells[at].text, '/')));
}

/* On a terminal a row of which all numbers are 0 says nothing. */
static bool is_zero_row(const struct table *t, size_t row)
{
	bool has_numbers = false;

	for (size_t i = 0; i < t->column_count; i++) {
		size_t at = row * t->column_count + i;

		switch (t->columns[i].type) {
		case COLUMN_COUNT:
		case COLUMN_NS:
			has_numbers = true;
			if (!t->absent[at] && t->cells[at].count)
				return false;
			break;
		case COLUMN_NS_MEAN:
		case COLUMN_PERCENT:
		case COLUMN_MB:
			has_numbers = true;
			if (!t->absent[at] && t->cells[at].real != 0)
				return false;
			break;
		case COLUMN_TEXT:
		case COLUMN_ID:
			break;
		default:
			return false;
		}
	}
	return has_numbers;
}

/* The rows to be shown, at most all of them. */
static size_t shown_rows(const struct emit *e, const struct table *t, size_t *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < table_rows(t); i++)
		if (!e->is_screen || !is_zero_row(t, i))
			ret[count++] = i;
	for (size_t i = 0; !count && i < table_rows(t); i++)
		ret[i] = i;
	return count ? count : table_rows(t);
}

static void add_cell(struct buffer *all, struct map *names, const struct emit *e, const struct table *t, size_t at,
		       bool is_final)
{
	size_t column = at % t->column_count;
	SCOPED(buffer) text = {0};

	if (e->is_screen)
		screen_cell(&text, e, t, at);
	else
		emit_cell(&text, e, t, at, emit_unit(e, t, column));
	if (is_name(e, t, at))
		add_text(all, names, e, t->columns[column].id, buffer_string(&text), is_final);
	else
		buffer_text(all, buffer_string(&text));
	buffer_add(all, "", 1);
}

void emit_columns(struct emit *e, const char *name, const char *title, const struct table *t)
{
	size_t from[TABLE_COLUMNS];
	struct table shown = shown_columns(e, t, from);
	size_t *rows = mem_alloc((table_rows(t) + 1) * sizeof(*rows)), columns = shown.column_count,
	       cells = columns * (1 + shown_rows(e, t, rows)),
	       *places = mem_alloc((cells + 1) * sizeof(*places));
	SCOPED_MEMORY char **texts = mem_alloc((cells + 1) * sizeof(*texts));
	SCOPED(buffer) all = {0}, out = {0};
	struct column_layout l = {.emit = e, .table = &shown};
	SCOPED(map) names = {0};

	for (size_t i = 0; i < t->cell_count; i++)
		if (is_name(e, t, i))
			add_cell(&all, &names, e, t, i, false);
	buffer_clear(&all);
	for (size_t i = 0; i < cells; i++) {
		places[i] = all.size;
		if (i >= columns) {
			add_cell(&all, &names, e, t, rows[i / columns - 1] * t->column_count + from[i % columns],
				 true);
			continue;
		}
		if (e->is_screen)
			screen_title(&all, e, t, from[i]);
		else
			emit_title(&all, t, from[i], emit_unit(e, t, from[i]));
		buffer_add(&all, "", 1);
	}
	for (size_t i = 0; i < cells; i++)
		texts[i] = all.data + places[i];
	lay_out(&l, texts, cells);
	buffer_text(&out, e->emitted ? "\n" : "");
	if (title)
		buffer_print(&out, " ** %s (%s):\n", title, name);
	if (l.lines[l.line_count] < columns)
		buffer_print(&out, "    %zu more column%s: --nsys", columns - l.lines[l.line_count],
			     columns - l.lines[l.line_count] == 1 ? "" : "s");
	buffer_text(&out, title ? "\n" : "");
	add_titles(&out, &l, texts);
	for (size_t i = columns; i < cells; i += columns) {
		layout_add_row(&out, &l, texts + i);
		emit_write(e, &out);
	}
	if (has_frame(&l) && l.line_count == 1)
		add_rule(&out, &l, 0);
	emit_write(e, &out);
	free(places);
	free(rows);
}
