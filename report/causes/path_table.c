/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "report/causes/path.h"

static const char *kind_words(const struct causality *s, enum critical_kind kind, uint32_t what)
{
	switch (kind) {
	case CRITICAL_UNSEEN:
		return "not seen";
	case CRITICAL_LATENCY:
		return what & EDITABLE_OF_POOL ? "start" : "latency";
	case CRITICAL_BEFORE:
		return "start";
	default:
		return editable_kinds[s->editables.items[what].kind];
	}
}

static const char *kind_of(const struct causality *s, const struct path_row *r)
{
	return kind_words(s, r->kind, r->what);
}

void path_slice_words(struct causality *s, const struct path_slice *slice, struct buffer *ret)
{
	bool is_named = !(slice->what & EDITABLE_OF_POOL);
	const struct code_line *line = is_named ? editable_line(&s->editables, slice->what) : NULL;

	if (!is_named || (slice->kind != CRITICAL_PART && slice->kind != CRITICAL_CALL))
		buffer_print(ret, "%s%s", kind_words(s, slice->kind, slice->what), is_named ? ": " : "");
	if (is_named)
		editable_words(&s->editables, slice->what, ret);
	if (line) {
		buffer_text(ret, " in ");
		code_line_text(line, ret);
	}
	buffer_text(ret, ", ");
	actor_words(&s->actors[slice->actor], ret);
}

/* Instructions of one line are several editables, so rows are joined by their line. */
struct joined {
	struct path_row row;
	struct buffer key;
};

static void add_row(struct causality *s, const struct path_row *r, double whole, struct table *t)
{
	const struct actor *a = &s->actors[r->actor];
	SCOPED(buffer) name = {0}, thread = {0};
	const struct code_line *line = r->what & EDITABLE_OF_POOL ? NULL : editable_line(&s->editables, r->what);

	table_cells(t, 100 * r->ns / whole, (uint64_t)(r->ns + 0.5), kind_of(s, r), image_rank(a->image));
	actor_words(a, &thread);
	table_text(t, thread.data);
	if (!(r->what & EDITABLE_OF_POOL))
		editable_words(&s->editables, r->what, &name);
	table_text(t, buffer_string(&name));
	code_line_cell(line, NULL, t);
}

static uint64_t key_of(struct causality *s, const struct path_row *r)
{
	const struct code_line *line = r->what & EDITABLE_OF_POOL ? NULL : editable_line(&s->editables, r->what);
	const char *name = r->what & EDITABLE_OF_POOL ? "" : s->editables.items[r->what].name;

	return hash_bytes(&line, sizeof(line)) ^ hash_bytes(name, strlen(name)) * 31 ^
	       hash_bytes(kind_of(s, r), strlen(kind_of(s, r))) * 7;
}

COMPARATOR(compare_rows, struct path_row,
	   (b->ns > a->ns) - (b->ns < a->ns) ?: order_of(a->what, b->what) ?: order_of(a->actor, b->actor))

void path_table(struct path *p, struct table *t)
{
	struct causality *s = p->causes;
	SCOPED(map) known = {0};
	double whole = 0;
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++) {
		uint64_t *place = map_put(&known, key_of(s, &p->rows[i]), p->rows[i].actor, NULL);

		whole += p->rows[i].ns;
		if (*place) {
			p->rows[*place - 1].ns += p->rows[i].ns;
			continue;
		}
		p->rows[count] = p->rows[i];
		*place = ++count;
	}
	array_sort(p->rows, count, compare_rows);
	table_has(t, COL_TIME_PERCENT, COL_TIME_NS, COL_KIND, COL_RANK, COL_THREAD, COL_NAME, COL_LINE);
	for (size_t i = 0; i < count && whole > 0; i++)
		add_row(s, &p->rows[i], whole, t);
}
