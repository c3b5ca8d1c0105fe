/* SPDX-License-Identifier: Apache-2.0 */
/* The first few lines in user code, of which alone names are looked up. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/stacks/lines_pass.h"

/* A site in user code, with the values of all sites of its file and line. */
struct ranked {
	struct site *site;
	const uint64_t *line; /* LINE_VALUES */
	uint32_t number;      /* of the file and line */
};

COMPARATOR(compare_ranked, struct ranked,
	   compare_line_values(a->line, b->line) ?: order_of(a->number, b->number)
	   ?: order_of((uintptr_t)a->site, (uintptr_t)b->site))

/* The files of user code, once lines_top was called. */
struct user_files {
	struct aggregate names;
	struct texts list;
};

static void files_forget(void *state)
{
	struct user_files *f = state;

	aggregate_done(&f->names);
	texts_done(&f->list);
}

static const struct attachment_kind files_kind = {sizeof(struct user_files), files_forget};

static struct user_files *files_of(const struct report_context *context)
{
	return attachment_get((struct attachments *)&context->model->attachments, &files_kind);
}

static void add_file(struct lines_pass *w, const char *file)
{
	struct user_files *f = files_of(w->scan.context);

	if (file && *file && aggregate_row(&f->names, file, strlen(file)) == f->list.count)
		texts_add(&f->list, "%s", file);
}

/* File and line without the function, whose name is the expensive part of a native frame; the function where there is
 * no line. */
static void lines_add_place(struct lines_pass *w, struct site *site, struct buffer *key)
{
	uint32_t line;
	const char *file = symbols_source(w->attribution.symbols, &site->frame, &line);
	const struct code_line *named;

	if (file) {
		buffer_print(key, "%s:%" PRIu32, file, line);
		add_file(w, file);
		return;
	}
	symbols_name(w->attribution.symbols, &site->frame);
	named = site->frame.line;
	if (!code_line_place(named, key))
		buffer_text(key, named->function);
	add_file(w, named->file);
}

/* The sites in user code, those of the most expensive line first. Returns how many; ret_lines holds the values that
 * their `line` points to. */
static size_t lines_rank_stacks(struct lines_pass *w, struct ranked *ret, uint64_t **ret_lines)
{
	uint64_t *lines = mem_alloc((w->site_count + 1) * LINE_VALUES * sizeof(*lines));
	SCOPED(aggregate) places = {0};
	size_t count = 0;

	array_each(struct site, site, w->sites, w->site_count) {
		SCOPED(buffer) key = {0};
		uint32_t row;

		if (!site->is_users)
			continue;
		lines_add_place(w, site, &key);
		row = aggregate_row(&places, key.data, key.size);
		for (size_t k = 0; k < LINE_VALUES; k++)
			lines[row * LINE_VALUES + k] += site->values[k];
		ret[count++] = (struct ranked){site, lines + row * LINE_VALUES, row};
	}
	qsort(ret, count, sizeof(*ret), compare_ranked);
	*ret_lines = lines;
	return count;
}

/* Whether that many rows precede all rows that this line can have: a row has at most the values of its line. */
static bool has_before(const struct lines *l, size_t wanted, const uint64_t *line)
{
	return array_sum(value, l->values, l->count, compare_line_values(value->of, line) <= 0) >= wanted;
}

void lines_top(const struct report_context *context, size_t wanted, const struct lines_filter *filter,
	       struct lines *ret)
{
	struct report_context plain = *context;
	SCOPED_MEMORY struct ranked *ranked = NULL;
	SCOPED_MEMORY uint64_t *lines = NULL;
	SCOPED(lines_pass) w = {0};
	size_t count;

	plain.by = BY_NOTHING;
	plain.lines_all = false;
	lines_pass_begin(&w, &plain, ret);
	w.scan.args = 1u << TF_ARG_STACK;
	w.filter = filter;
	lines_pass_read(&w);
	ranked = mem_alloc((w.site_count + 1) * sizeof(*ranked));
	count = lines_rank_stacks(&w, ranked, &lines);
	for (size_t i = 0; i < count; i++) {
		if ((!i || ranked[i].number != ranked[i - 1].number) && has_before(ret, wanted, ranked[i].line))
			break;
		lines_add_row(&w, ranked[i].site);
	}
}

const struct texts *lines_files(const struct report_context *context)
{
	struct user_files *f = attachment_find(&context->model->attachments, &files_kind);

	if (!f) {
		SCOPED(lines) l = {0};

		f = files_of(context);
		lines_top(context, 0, NULL, &l);
	}
	return &f->list;
}
