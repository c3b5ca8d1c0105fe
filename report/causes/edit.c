/* SPDX-License-Identifier: Apache-2.0 */
/* Edits as people write them. */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/function.h"

/* WHAT~PATTERN=VALUE: what it changes, and by how much. */
struct wish {
	struct causality *causes;
	struct edit *edit;
	char *pattern;
	const char *place; /* of a line; NULL: kernels of all lines */
	const char *value; /* NULL: none */
	double factor; /* or a count */
	bool is_count;
	size_t matches;
	regex_t regex; /* compiled from the pattern when it is first needed */
	bool has_regex, is_no_regex;
};

static bool is_line(struct wish *w, uint32_t what)
{
	const struct code_line *line = editable_line(&w->causes->editables, what);

	if (!line)
		return false;
	return line->file ? code_line_is_at(line->file, line->line, w->place) : !strcmp(line->function, w->place);
}

/* Each wish asks either for whole names or for parts of them. */
static bool is_named(struct wish *w, const char *name, bool is_whole)
{
	struct buffer pattern = {0};

	if (!w->has_regex && !w->is_no_regex) {
		buffer_print(&pattern, is_whole ? "^(%s)$" : "%s", w->pattern);
		w->is_no_regex = regcomp(&w->regex, pattern.data, REG_EXTENDED | REG_NOSUB);
		w->has_regex = !w->is_no_regex;
		buffer_done(&pattern);
	}
	return w->has_regex && !regexec(&w->regex, name, 0, NULL, 0);
}

static void wish_scale(struct wish *w, uint32_t what)
{
	edit_scale(w->edit, what, w->factor);
	w->matches++;
}

static void wish_line(struct wish *w, uint32_t what)
{
	if (is_line(w, what))
		wish_scale(w, what);
}

/* What a line starts and waits for is a part of it. */
static void scale_started(struct wish *w)
{
	struct causality *s = w->causes;
	const struct model *m = s->context->model;

	for (uint32_t i = 0; i < s->actor_count; i++) {
		bool is_part = false;

		for (size_t p = s->actors[i].image->process; p != SIZE_MAX && !is_part; p = m->processes[p].parent)
			is_part = s->awaited_by[p] != NODE_NONE && is_line(w, s->awaited_by[p]);
		if (is_part)
			edit_scale_actor(w->edit, s, i, w->factor);
	}
}

static void wish_call(struct wish *w, uint32_t what)
{
	const struct editable *e = &w->causes->editables.items[what];

	if (e->kind == EDITABLE_CALL && is_named(w, e->name, true))
		wish_scale(w, what);
}

static void wish_kernel(struct wish *w, uint32_t what)
{
	const struct editable *e = &w->causes->editables.items[what];

	if (e->kind == EDITABLE_KERNEL && is_named(w, e->name, false) && (!w->place || is_line(w, what)))
		wish_scale(w, what);
}

static void wish_copy(struct wish *w, uint32_t what)
{
	if (w->causes->editables.items[what].kind == EDITABLE_COPY)
		wish_scale(w, what);
}

/* The waits at a line: for locks, or of any kind. */
static void wish_lock(struct wish *w, uint32_t what)
{
	const struct editable *e = &w->causes->editables.items[what];

	if (e->kind != EDITABLE_CALL || (e->waits != BLOCKED_LOCK && e->waits != BLOCKED_THREAD) || !is_line(w, what))
		return;
	edit_no_wait(w->edit, w->causes, what, AWAITED_NEVER);
	w->matches++;
}

static void wish_no_sync(struct wish *w, uint32_t what)
{
	if (w->causes->editables.items[what].kind != EDITABLE_CALL || !is_line(w, what))
		return;
	edit_no_wait(w->edit, w->causes, what, AWAITED_LATER);
	w->matches++;
}

static uint8_t *marks_of(uint8_t **marks, size_t count)
{
	if (!*marks)
		*marks = mem_alloc(count + 1);
	return *marks;
}

static void wish_overlap(struct wish *w, uint32_t what)
{
	const struct editables *all = &w->causes->editables;

	if (all->items[what].kind != EDITABLE_KERNEL || !is_named(w, all->items[what].name, false))
		return;
	marks_of(&w->edit->overlaps, editables_count(all))[what] = 1;
	w->matches++;
}

/* Calls that read or receive, and waits for others that may do so, where operations are launched. */
static void wish_input(struct wish *w, uint32_t what)
{
	const struct editables *all = &w->causes->editables;
	const struct editable *e = &all->items[what];

	if (e->kind != EDITABLE_CALL || e->waits == BLOCKED_GPU || e->waits == BLOCKED_MPI ||
	    e->waits == BLOCKED_NCCL || !(e->does & (FUNCTION_INPUT | FUNCTION_AWAITS)))
		return;
	marks_of(&w->edit->inputs, editables_count(all))[what] = 1;
	w->matches++;
}

/* The threads from which operations begin. */
static bool mark_launchers(const struct causality *s, struct edit *e)
{
	uint8_t *marks = marks_of(&e->input_actors, s->actor_count);
	bool is_any = false;

	for (size_t i = 0; i < s->graph.node_count; i++) {
		const struct run_node *n = &s->graph.nodes[i], *source;

		if (n->kind != NODE_OPERATION || n->source == NODE_NONE)
			continue;
		source = &s->graph.nodes[n->source];
		if (source->kind == NODE_MEETING)
			continue;
		marks[source->actor] |= !s->actors[source->actor].is_stream;
		is_any = true;
	}
	return is_any;
}

/* Waits for the lock of an interpreter do not wait. */
static int wish_interpreter(struct wish *w, struct err *err)
{
	if (w->factor != 0)
		return err_set(err, -ENODATA, "interpreter: waits for it can only be removed: interpreter=0");
	w->edit->no_interpreter = true;
	return 0;
}

static const struct {
	const char *word;
	bool has_pattern, has_value;
	void (*apply)(struct wish *w, uint32_t what); /* NULL: it cannot be computed */
} wishes[] = {
	{"kernel", true, true, wish_kernel}, {"line", true, true, wish_line}, {"call", true, true, wish_call},
	{"function", true, true, NULL},      {"frames", true, true, NULL},
	{"lock", true, true, wish_lock},     {"no-sync", true, false, wish_no_sync}, {"copy", false, true, wish_copy},
	{"overlap", true, false, wish_overlap}, {"workers", false, true, NULL}, {"cpus", false, true, NULL},
	{"rank", true, true, NULL},	     {"gap", true, true, wish_input}, {"interpreter", false, true, NULL},
};

/* ---- ranks ---- */

/* What the actors of a rank did themselves. */
static double rank_work(const struct causality *s, const char *rank)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->graph.node_count; i++) {
		const struct run_node *n = &s->graph.nodes[i];
		const struct node_part *parts = NULL;
		size_t count = n->kind == NODE_MEETING || strcmp(image_rank(s->actors[n->actor].image), rank) != 0
				       ? 0
				       : graph_parts(&s->graph, i, &parts);

		sum += array_sum(part, parts, count, (double)part->ns);
	}
	return sum;
}

COMPARATOR(compare_works, double, (*a > *b) - (*a < *b))

static double median_of_ranks(const struct causality *s)
{
	double *works = mem_alloc((s->actor_count + 1) * sizeof(*works)), median;
	SCOPED(map) known = {0};
	size_t count = 0;

	for (size_t i = 0; i < s->actor_count; i++) {
		const char *rank = image_rank(s->actors[i].image);
		bool is_new;

		map_put(&known, hash_bytes(rank, strlen(rank)), 0, &is_new);
		if (is_new && *rank)
			works[count++] = rank_work(s, rank);
	}
	array_sort(works, count, compare_works);
	median = count ? count % 2 ? works[count / 2] : (works[count / 2 - 1] + works[count / 2]) / 2 : 0;
	free(works);
	return median;
}

static int wish_rank(struct wish *w, struct err *err)
{
	const struct causality *s = w->causes;
	double work = rank_work(s, w->pattern),
	       factor = strcmp(w->value, "median") ? w->factor : work > 0 ? median_of_ranks(s) / work : 1;

	if (work <= 0)
		return err_set(err, -ENODATA, "rank~%s: no such rank has done anything", w->pattern);
	for (uint32_t i = 0; i < s->actor_count; i++)
		if (!strcmp(image_rank(s->actors[i].image), w->pattern))
			edit_scale_actor(w->edit, s, i, factor);
	return 0;
}

/* ---- functions ---- */

static int wish_function(struct wish *w, const char *word, struct err *err)
{
	struct function_part part;
	SCOPED_MEMORY float *shares =
		function_shares_named(w->causes, w->pattern, !strcmp(word, "frames"), &part);

	if (!shares)
		return err_set(err, -ENODATA, "%s~%s: no recorded stack has that function", word, w->pattern);
	function_edit(w->causes, shares, w->factor, w->edit);
	return 0;
}

/* ---- parsing ---- */

/* "0", "0.5x" or "median". */
static bool parse_value(struct wish *w)
{
	char *end;

	if (!strcmp(w->value, "median"))
		return !w->is_count;
	w->factor = strtod(w->value, &end);
	if (end == w->value || !(w->factor >= 0) || w->factor > 1000)
		return false;
	if (w->is_count)
		return !*end && w->factor >= 1 && w->factor == (double)(uint32_t)w->factor;
	return !*end || (!strcmp(end, "x"));
}

static int wish_apply(struct wish *w, size_t kind, const char *text, struct err *err)
{
	if (!strcmp(wishes[kind].word, "rank"))
		return wish_rank(w, err);
	if (!strcmp(wishes[kind].word, "function") || !strcmp(wishes[kind].word, "frames"))
		return wish_function(w, wishes[kind].word, err);
	if (!strcmp(wishes[kind].word, "interpreter"))
		return wish_interpreter(w, err);
	if (!strcmp(wishes[kind].word, "workers"))
		return edit_workers(w->causes, (uint32_t)w->factor, w->edit, err);
	if (!wishes[kind].apply)
		return err_set(err, -ENODATA, "%s: the capture does not say when each thread waited for a CPU", text);
	if (wishes[kind].apply == wish_input &&
	    (strcmp(w->pattern, "input") != 0 || w->factor != 0 || !strcmp(w->value, "median")))
		return err_set(err, -ENODATA, "%s: of gaps of devices, only waits for input can be removed: "
			       "gap~input=0", text);
	if (wishes[kind].apply == wish_input && !mark_launchers(w->causes, w->edit))
		return err_set(err, -ENODATA, "%s: no thread launched operations of a device", text);
	for (uint32_t i = 0; i < w->causes->editables.count; i++)
		wishes[kind].apply(w, i);
	if (!w->matches)
		return err_set(err, -ENODATA, "%s: nothing that was recorded matches", text);
	if (wishes[kind].apply == wish_line)
		scale_started(w);
	return 0;
}

/* "gemm@train.py:12" */
static void split_kernel(struct wish *w)
{
	char *at = strrchr(w->pattern, '@');

	w->place = at ? at + 1 : NULL;
	if (at)
		*at = 0;
}

int edit_parse(struct causality *s, const char *text, struct edit *ret, struct err *err)
{
	size_t word = strcspn(text, "~="), kind = 0;
	const char *equals = strrchr(text, '=');
	struct wish w = {.causes = s, .edit = ret};
	int code;

	while (kind < sizeof(wishes) / sizeof(*wishes) &&
	       (strlen(wishes[kind].word) != word || strncmp(wishes[kind].word, text, word) != 0))
		kind++;
	if (kind == sizeof(wishes) / sizeof(*wishes) || (text[word] == '~') != wishes[kind].has_pattern ||
	    (equals != NULL) != wishes[kind].has_value)
		return err_set(err, -EINVAL,
			       "%s: an edit is kernel~REGEX=0.5x, line~FILE:N=0, function~NAME=0, "
			       "frames~NAME=0, call~NAME=0, lock~FILE:N=0, no-sync~FILE:N, copy=0.5x, "
			       "overlap~nccl, workers=4, cpus=8, rank~5=median, gap~input=0 or interpreter=0",
			       text);
	w.value = equals ? equals + 1 : NULL;
	w.is_count = !strcmp(wishes[kind].word, "workers") || !strcmp(wishes[kind].word, "cpus");
	if (w.value && !parse_value(&w))
		return err_set(err, -EINVAL, "%s: %s is no factor: 0, 0.5x", text, w.value);
	if (wishes[kind].has_pattern)
		w.pattern = mem_copy_text(text + word + 1,
					  equals ? (size_t)(equals - text) - word - 1 : strlen(text + word + 1));
	w.place = w.pattern;
	if (wishes[kind].apply == wish_kernel)
		split_kernel(&w);
	code = wish_apply(&w, kind, text, err);
	free(w.pattern);
	if (w.has_regex)
		regfree(&w.regex);
	return code;
}
