/* SPDX-License-Identifier: Apache-2.0 */
/* One row of a table of Nsight Systems, and the texts and numbers that rows refer to. */
#include <string.h>

#include "report/base/text.h"
#include "report/tables/nsys/nsys_writer.h"

int64_t nsys_thread(const struct nsys_writer *w, uint32_t tid)
{
	return w->global_pid | (tid & 0xffffff);
}

int64_t nsys_text_id(struct nsys_writer *w, enum timeline_text kind, uint32_t number)
{
	uint64_t *slot = timeline_slot(&w->timeline, kind, number);
	struct buffer text = {0};

	if (!*slot) {
		timeline_text(&w->timeline, kind, number, &text);
		*slot = (uint64_t)nsys_string(w, buffer_string(&text));
		buffer_done(&text);
	}
	return (int64_t)*slot;
}

int64_t nsys_correlation(struct nsys_writer *w, uint64_t number)
{
	bool is_new;
	uint64_t *source = map_put(&w->sources, w->image->process, number >> 32, &is_new);

	if (is_new)
		*source = w->sources.count - 1;
	return (int64_t)(*source << 32 | (uint32_t)number);
}

void nsys_begin(struct nsys_writer *w, enum nsys_table table)
{
	if (w->begun & NSYS_BIT(table) || !nsys_wants(w, NSYS_BIT(table)) || w->output->failed)
		return;
	w->begun |= NSYS_BIT(table);
	w->output->begin(w->output, table);
}

/* Escapes what a terminal would interpret in the texts of a row. */
static void make_safe(struct nsys_writer *w, const struct nsys_schema *schema, int64_t *row)
{
	size_t texts = 0;

	for (size_t i = 0; i < schema->count; i++) {
		struct buffer *safe = &w->safe[texts];

		if (schema->columns[i].type != NSYS_TEXT || row[i] == NSYS_NULL)
			continue;
		buffer_clear(safe);
		text_escape(safe, nsys_text_of(row[i]), "\n\t");
		row[i] = nsys_text(buffer_string(safe));
		texts++;
	}
}

void nsys_row(struct nsys_writer *w, enum nsys_table table, const int64_t *values, size_t count)
{
	const struct nsys_schema *schema = &nsys_schemas[table];
	int64_t row[NSYS_COLUMNS];

	if (!nsys_wants(w, NSYS_BIT(table)))
		return;
	nsys_begin(w, table);
	if (w->output->failed)
		return;
	memcpy(row, values, count * sizeof(*row));
	for (size_t i = count; i < schema->count; i++)
		row[i] = NSYS_NULL;
	if (w->with_texts & NSYS_BIT(table))
		make_safe(w, schema, row);
	w->output->row(w->output, table, row);
}

int64_t nsys_string(struct nsys_writer *w, const char *text)
{
	size_t before = w->strings->count;
	int64_t id = (int64_t)aggregate_row(w->strings, text, strlen(text)) + 1;

	if (w->strings->count > before)
		nsys_row(w, NSYS_STRINGS, (int64_t[]){id, nsys_text(text)}, 2);
	return id;
}
