/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/stacks/caller.h"

#include <stdlib.h>
#include <string.h>

#include "report/events/stacks/samples.h"
#include "report/names/attribution.h"

/* Of one stack of an image. */
struct stack_time {
	const struct image *image;
	uint32_t stack;
	uint64_t ns;
};

/* Of one caller of a line; an empty text: the stacks have none. */
struct caller_time {
	size_t query;
	struct buffer text;
	uint64_t ns;
};

struct callers {
	const struct caller_query *queries;
	size_t count;
	struct map known; /* (stack, image) -> its position in times + 1 */
	struct stack_time *times;
	size_t time_count, time_capacity;
	struct map known_callers; /* (hash of the text, query) -> its position in items + 1 */
	struct caller_time *items;
	size_t item_count, item_capacity;
};

static void callers_visit(struct scan *s, const struct event *e)
{
	struct callers *k = s->more;
	uint32_t stack = event_stack(e);
	uint64_t *known;

	if (!stack || (e->kind != TF_CALL && e->kind != TF_SAMPLE))
		return;
	known = map_put(&k->known, stack, (uint64_t)(s->image - s->context->model->images), NULL);
	if (!*known) {
		mem_append(k->times, k->time_count, k->time_capacity,
			   (struct stack_time){.image = s->image, .stack = stack});
		*known = k->time_count;
	}
	k->times[*known - 1].ns +=
		e->kind == TF_SAMPLE ? samples_ns(e) : clock_map_duration(s->clock, e->duration);
}

static bool is_same_function(const struct code_line *a, const struct code_line *b)
{
	bool is_file = !strcmp(a->file ? a->file : "", b->file ? b->file : "");

	/* a comprehension is a function within its line */
	return is_file && (!strcmp(a->function, b->function) || (a->file && a->line == b->line));
}

/* Every program in Python has a line at the top level of its file that calls main(). */
static bool is_top_of(const struct code_line *f, const struct code_line *own)
{
	return f->file && own->file && function_is_module(f->function) && !strcmp(f->file, own->file);
}

/* Appends the caller in a stack that is attributed to `line`. */
static void add_caller(struct attribution *c, const struct stack_time *t, const struct code_line *own,
		       struct buffer *ret)
{
	const struct symbol_frame *frames;
	size_t count = attribution_users(c, t->image, t->stack, &frames);
	bool is_inside = false, is_done = false;

	for (size_t i = 0; i < count && !is_done; i++) {
		struct symbol_frame f = frames[i];

		symbols_name(c->symbols, &f);
		is_done = is_inside && !is_same_function(f.line, own);
		is_inside |= is_same_function(f.line, own);
		if (is_done && !f.line->file)
			buffer_text(ret, f.line->function);
		else if (is_done && !is_top_of(f.line, own) && !attribution_is_generated(f.line->file))
			code_line_place(f.line, ret);
	}
}

static void callers_add(struct callers *k, size_t query, struct buffer *text, uint64_t ns)
{
	uint64_t *known = map_put(&k->known_callers, hash_bytes(buffer_string(text), text->size), query, NULL);

	if (!*known) {
		k->items = mem_grow(k->items, k->item_count, &k->item_capacity, sizeof(*k->items));
		k->items[k->item_count] = (struct caller_time){.query = query, .text = *text};
		*text = (struct buffer){0};
		*known = ++k->item_count;
	}
	k->items[*known - 1].ns += ns;
}

static void read_stacks(struct callers *k, struct symbols *symbols)
{
	SCOPED(attribution) attribution = {.symbols = symbols};
	SCOPED(buffer) caller = {0};

	array_each(const struct stack_time, t, k->times, k->time_count) {
		const struct code_line *line = attribution_line(&attribution, t->image, t->stack);

		for (size_t q = 0; q < k->count && line; q++) {
			if (k->queries[q].line != line)
				continue;
			buffer_clear(&caller);
			add_caller(&attribution, t, line, &caller);
			callers_add(k, q, &caller, t->ns);
		}
	}
}

static void conclude(const struct callers *k, size_t query)
{
	const struct caller_time *most = NULL;
	uint64_t total = 0;

	array_each(const struct caller_time, t, k->items, k->item_count) {
		if (t->query != query)
			continue;
		total += t->ns;
		most = !most || t->ns > most->ns ? t : most;
	}
	if (most && most->text.size && most->ns * 100 >= total * CALLER_PERCENT)
		buffer_add(k->queries[query].ret, most->text.data, most->text.size);
}

void callers_find(const struct report_context *c, const struct caller_query *queries, size_t count)
{
	struct callers k = {.queries = queries, .count = count};

	if (!array_find(query, queries, count, query->line))
		return;
	scan_events(&(struct scan){.context = c, .args = 1u << TF_ARG_STACK, .call_args = 1u << TF_ARG_STACK,
				   .more = &k}, callers_visit);
	read_stacks(&k, c->symbols);
	for (size_t i = 0; i < count; i++)
		conclude(&k, i);
	array_free(item, k.items, k.item_count, buffer_done(&item->text));
	free(k.times);
	map_done(&k.known);
	map_done(&k.known_callers);
}
