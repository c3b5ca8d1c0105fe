/* SPDX-License-Identifier: Apache-2.0 */
/* line_profile: hits and time of the lines of the Python functions that --lines-of chose, of all threads and
 * processes; line_memory: by how much the memory of the process has changed in them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/interner.h"
#include "report/events/stacks/source.h"
#include "report/tables/report.h"

struct line_row {
	const char *file, *name; /* borrowed from struct line_profile */
	uint64_t first_line, line, hits;
	uint64_t ns;
	int64_t resident, allocated, peak; /* KiB */
};

struct line_profile {
	bool is_memory;
	struct line_row *rows;
	size_t row_count, row_capacity;
	struct interner texts;
};

static const char *text_keep(struct line_profile *p, const char *text, size_t size)
{
	return interner_field(&p->texts, interner_number(&p->texts, text, size), 0);
}

/* Sets what the rows of a function have in common. */
static bool code_read(struct line_profile *p, const struct trace *t, uint32_t id, struct line_row *ret)
{
	const struct blob *b = trace_definition(t, TF_BLOB_LINE_CODE, id);
	char bytes[8192], *file = bytes + sizeof(struct tf_line_code);
	size_t size = b ? trace_blob(t, b, bytes, sizeof(bytes)) : 0;
	struct tf_line_code head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.file_length > size - sizeof(head))
		return false;
	*ret = (struct line_row){
		.file = text_keep(p, file, head.file_length),
		.name = text_keep(p, file + head.file_length, size - sizeof(head) - head.file_length),
		.first_line = head.first_line,
	};
	return true;
}

static int64_t signed_number(const uint8_t bytes[TF_DATA_BYTES])
{
	return (int64_t)(tf_number(bytes) << 8) >> 8;
}

static void lines_read(struct line_profile *p, const struct report_context *c, const struct image *image,
		       const struct blob *b)
{
	const struct clock_map *clock = &c->model->machines[image->machine].clock;
	uint8_t numbers[TF_LINE_MEMORY_NUMBERS][TF_DATA_BYTES];
	size_t size = p->is_memory ? sizeof(struct tf_line_memory) : sizeof(struct tf_lines);
	struct line_row row;
	uint64_t key;
	bool is_known;

	if (trace_blob(image->trace, b, numbers, size) < size)
		return;
	key = tf_number(numbers[TF_LINES_KEY]);
	is_known = code_read(p, image->trace, (uint32_t)key, &row);
	for (unsigned k = 0; is_known && k < TF_LINES_BLOCK; k++) {
		row.line = (key >> 32) * TF_LINES_BLOCK + k;
		row.hits = tf_number(numbers[TF_LINES_HITS + k]);
		if (p->is_memory) {
			row.resident = signed_number(numbers[TF_LINE_MEMORY_RESIDENT + k]);
			row.allocated = signed_number(numbers[TF_LINE_MEMORY_ALLOCATED + k]);
			row.peak = signed_number(numbers[TF_LINE_MEMORY_PEAK + k]);
		} else {
			row.ns = clock_map_duration(clock, tf_number(numbers[TF_LINES_TICKS + k]));
		}
		if (row.hits || row.ns)
			mem_append(p->rows, p->row_count, p->row_capacity, row);
	}
}

static int compare_functions(const struct line_row *a, const struct line_row *b)
{
	return strcmp(a->file, b->file) ?: order_of(a->first_line, b->first_line) ?: strcmp(a->name, b->name);
}

COMPARATOR(compare_rows, struct line_row, compare_functions(a, b) ?: order_of(a->line, b->line))

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What was there when a function was first entered, which its first line has, is not added up. */
static void row_merge(struct line_row *row, const struct line_row *other)
{
	bool is_entry = row->line == row->first_line;

	row->hits += other->hits;
	row->ns += other->ns;
	row->resident = is_entry ? larger(row->resident, other->resident) : row->resident + other->resident;
	row->allocated = is_entry ? larger(row->allocated, other->allocated) : row->allocated + other->allocated;
	row->peak = larger(row->peak, other->peak);
}

static void rows_merge(struct line_profile *p)
{
	size_t used = 0;

	sort_unless_sorted(p->rows, p->row_count, sizeof(*p->rows), compare_rows);
	for (size_t i = 0; i < p->row_count; i++) {
		if (used && !compare_rows(&p->rows[used - 1], &p->rows[i])) {
			row_merge(&p->rows[used - 1], &p->rows[i]);
		} else {
			p->rows[used++] = p->rows[i];
		}
	}
	p->row_count = used;
}

/* The texts of a file's lines; empty if it was changed after the run began, or cannot be read. */
static struct texts file_lines(const struct report_context *c, const char *file)
{
	struct report_context own = *c;
	SCOPED(source) source = {0};
	SCOPED(buffer) text = {0};
	struct texts lines = {0};
	struct err err = {0};

	own.source = file;
	source_open(&source, &own, file, &err);
	while (source.file.is.mtime_ns <= c->model->origin_ns && source_next(&source, &text))
		texts_add(&lines, "%s", buffer_string(&text));
	return lines;
}

static double mib(int64_t kib)
{
	return round((double)kib / 1024 * 1000) / 1000;
}

static void row_cells(const struct line_row *r, bool is_memory, uint64_t all, struct table *table)
{
	table_cells(table, r->file, r->name, r->line);
	if (is_memory) {
		table_cells(table, mib(r->peak), mib(r->resident), r->hits, mib(r->allocated));
	} else {
		table_cells(table, r->hits, r->ns, r->hits ? (double)r->ns / (double)r->hits : 0,
			    share_percent((double)r->ns, (double)all));
	}
}

static void function_rows(const struct line_profile *p, const struct line_row *rows, size_t count,
			  const struct texts *lines, struct table *table)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += rows[i].ns;
	for (const struct line_row *r = rows; r < rows + count; r++) {
		row_cells(r, p->is_memory, all, table);
		if (r->line && r->line <= lines->count)
			table_text(table, lines->items[r->line - 1]);
		else
			table_nothing(table);
	}
}

static void profile_rows(const struct report_context *c, const struct line_profile *p, struct table *table)
{
	struct texts lines = {0};

	for (size_t i = 0, end; i < p->row_count; i = end) {
		for (end = i + 1; end < p->row_count && !compare_functions(&p->rows[i], &p->rows[end]); end++)
			;
		if (!i || strcmp(p->rows[i].file, p->rows[i - 1].file) != 0) {
			texts_done(&lines);
			lines = file_lines(c, p->rows[i].file);
		}
		function_rows(p, p->rows + i, end - i, &lines, table);
	}
	texts_done(&lines);
}

static void line_profile_done(struct line_profile *p)
{
	interner_done(&p->texts);
	free(p->rows);
}

static bool is_note(const char *text)
{
	return text && text_begins_with(text, "--lines-of: ");
}

/* The first note of a process about --lines-of: of the index, or of a trace. */
static bool find_note(const struct model *m, struct buffer *ret)
{
	for (size_t i = 0; i < m->note_count; i++)
		if (is_note(m->notes[i].text)) {
			buffer_text(ret, m->notes[i].text);
			return true;
		}
	array_each(const struct image, image, m->images, m->image_count) {
		blobs_each(b, image->trace, TF_BLOB_NOTE) {
			buffer_clear(ret);
			trace_text(image->trace, b, ret);
			if (is_note(buffer_string(ret)))
				return true;
		}
	}
	buffer_clear(ret);
	return false;
}

static bool has_lines(const struct model *m)
{
	for (size_t i = 0; i < m->image_count; i++) {
		blobs_each(b, m->images[i].trace, TF_BLOB_LINE_CODE)
			return true;
	}
	return false;
}

bool line_profile_lacks(const struct model *m, struct buffer *ret)
{
	size_t length;

	if (find_note(m, ret))
		return true;
	for (size_t i = 0; i < m->run_count && !has_lines(m); i++) {
		const char *names = run_option(&m->runs[i], "lines-of", &length);

		if (!names)
			continue;
		buffer_print(ret, "--lines-of=%.*s: %s", (int)length, names,
			     *names == '@' ? "the program has chosen no function that was called"
					   : "no such Python function was called; names are FUNC, Class.method, "
					     "MODULE:FUNC or MODULE:*");
		return true;
	}
	return false;
}

static bool profile_table(const struct report_context *c, bool is_memory, struct table *table)
{
	SCOPED(line_profile) p = {.is_memory = is_memory};

	array_each(const struct image, image, c->model->images, c->model->image_count) {
		blobs_each(b, image->trace, is_memory ? TF_BLOB_LINE_MEMORY : TF_BLOB_LINES)
			lines_read(&p, c, image, b);
	}
	rows_merge(&p);
	profile_rows(c, &p, table);
	return table_rows(table);
}

void report_line_profile(const struct report_context *c, struct table *table)
{
	SCOPED(buffer) why = {0};

	table_has(table, COL_FILE, COL_FUNCTION, COL_LINE_NUMBER, COL_HITS, COL_TIME_NS, COL_PER_HIT_NS,
		  COL_TIME_PERCENT, COL_SOURCE);
	if (!profile_table(c, false, table))
		table_lacks(table, "%s", line_profile_lacks(c->model, &why)
						 ? buffer_string(&why)
						 : "no lines were recorded: --lines-of records them");
}

void report_line_memory(const struct report_context *c, struct table *table)
{
	table_has(table, COL_FILE, COL_FUNCTION, COL_LINE_HASH, COL_MEM_USAGE_MIB, COL_INCREMENT_MIB, COL_OCCURRENCES,
		  COL_ALLOCATOR_INCREMENT_MIB, COL_LINE_CONTENTS);
	if (!profile_table(c, true, table))
		table_lacks(table, "no memory of lines was recorded: record with --lines-of=FUNC,... "
				   "--memory=python, native or all");
}
