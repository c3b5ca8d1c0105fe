/* SPDX-License-Identifier: Apache-2.0 */
/* line_profile: hits and time of the lines of the Python functions that --lines-of chose, of all threads and
 * processes; line_memory: by how much the memory of the process has changed in them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/events/stacks/source.h"
#include "report/tables/report.h"

/* Of a line; fields of its key: file, first line of the function, name of the function, line. */
struct line_sum {
	uint64_t first_line, line, hits, ns;
	int64_t resident, allocated, peak; /* KiB */
};
enum { FIELD_FILE, FIELD_FIRST_LINE, FIELD_NAME };

/* The key of the rows of a function, up to the line. */
static bool code_key(const struct trace *t, uint32_t id, uint64_t *ret_first_line, struct buffer *ret)
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
	*ret_first_line = head.first_line;
	buffer_print(ret, "%.*s%c%u%c%.*s%c", (int)head.file_length, file, 0, head.first_line, 0,
		     (int)(size - sizeof(head) - head.file_length), file + head.file_length, 0);
	return true;
}

static int64_t signed_number(const uint8_t bytes[TF_DATA_BYTES])
{
	return (int64_t)(tf_number(bytes) << 8) >> 8;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What was there when a function was first entered, which its first line has, is not added up. */
static void sum_merge(struct line_sum *sum, const struct line_sum *other)
{
	bool is_entry = other->line == other->first_line && (sum->hits || sum->ns);

	sum->first_line = other->first_line;
	sum->line = other->line;
	sum->hits += other->hits;
	sum->ns += other->ns;
	sum->resident = is_entry ? larger(sum->resident, other->resident) : sum->resident + other->resident;
	sum->allocated = is_entry ? larger(sum->allocated, other->allocated) : sum->allocated + other->allocated;
	sum->peak = larger(sum->peak, other->peak);
}

static void lines_read(struct aggregate *rows, bool is_memory, const struct report_context *c,
		       const struct image *image, const struct blob *b)
{
	const struct clock_map *clock = &c->model->machines[image->machine].clock;
	uint8_t numbers[TF_LINE_MEMORY_NUMBERS][TF_DATA_BYTES];
	size_t size = is_memory ? sizeof(struct tf_line_memory) : sizeof(struct tf_lines), of_code;
	struct line_sum line = {0};
	SCOPED(buffer) name = {0};
	uint64_t key;

	if (trace_blob(image->trace, b, numbers, size) < size)
		return;
	key = tf_number(numbers[TF_LINES_KEY]);
	if (!code_key(image->trace, (uint32_t)key, &line.first_line, &name))
		return;
	of_code = name.size;
	for (unsigned k = 0; k < TF_LINES_BLOCK; k++) {
		line.line = (key >> 32) * TF_LINES_BLOCK + k;
		line.hits = tf_number(numbers[TF_LINES_HITS + k]);
		if (is_memory) {
			line.resident = signed_number(numbers[TF_LINE_MEMORY_RESIDENT + k]);
			line.allocated = signed_number(numbers[TF_LINE_MEMORY_ALLOCATED + k]);
			line.peak = signed_number(numbers[TF_LINE_MEMORY_PEAK + k]);
		} else {
			line.ns = clock_map_duration(clock, tf_number(numbers[TF_LINES_TICKS + k]));
		}
		if (!line.hits && !line.ns)
			continue;
		name.size = of_code;
		buffer_print(&name, "%" PRIu64, line.line);
		sum_merge(aggregate_more(rows, aggregate_row(rows, name.data, name.size), sizeof(line)), &line);
	}
}

static int compare_functions(const struct aggregate_row *a, const struct aggregate_row *b)
{
	return strcmp(aggregate_field(a, FIELD_FILE), aggregate_field(b, FIELD_FILE)) ?:
	       order_of(((const struct line_sum *)a->more)->first_line, ((const struct line_sum *)b->more)->first_line)
	       ?: strcmp(aggregate_field(a, FIELD_NAME), aggregate_field(b, FIELD_NAME));
}

ROW_COMPARATOR(compare_rows, struct line_sum, compare_functions(row_a, row_b) ?: order_of(a->line, b->line))

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

static void function_rows(const struct aggregate_row *rows, size_t count, bool is_memory,
			  const struct texts *lines, struct table *table)
{
	uint64_t all = array_sum(one, rows, count, ((const struct line_sum *)one->more)->ns);

	array_each(const struct aggregate_row, row, rows, count) {
		const struct line_sum *s = row->more;
		bool has_text = s->line && s->line <= lines->count;

		table_cells(table, aggregate_field(row, FIELD_FILE), aggregate_field(row, FIELD_NAME), s->line);
		if (is_memory)
			table_cells(table, mib(s->peak), mib(s->resident), s->hits, mib(s->allocated));
		else
			table_cells(table, s->hits, s->ns, s->hits ? (double)s->ns / (double)s->hits : 0,
				    share_percent((double)s->ns, (double)all));
		table_cells(table, cell_if(has_text, has_text ? lines->items[s->line - 1] : ""));
	}
}

static void profile_rows(const struct report_context *c, struct aggregate *rows, bool is_memory, struct table *table)
{
	struct texts lines = {0};

	aggregate_sort_by(rows, compare_rows);
	for (size_t i = 0, end; i < rows->count; i = end) {
		const struct aggregate_row *first = &rows->rows[i];
		const char *file = aggregate_field(first, FIELD_FILE);

		for (end = i + 1; end < rows->count && !compare_functions(first, &rows->rows[end]); end++)
			;
		if (!i || strcmp(file, aggregate_field(first - 1, FIELD_FILE)) != 0) {
			texts_done(&lines);
			lines = file_lines(c, file);
		}
		function_rows(first, end - i, is_memory, &lines, table);
	}
	texts_done(&lines);
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
	SCOPED(aggregate) rows = {0};

	array_each(const struct image, image, c->model->images, c->model->image_count) {
		blobs_each(b, image->trace, is_memory ? TF_BLOB_LINE_MEMORY : TF_BLOB_LINES)
			lines_read(&rows, is_memory, c, image, b);
	}
	profile_rows(c, &rows, is_memory, table);
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
