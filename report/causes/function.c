/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/path.h"
#include "report/events/usage.h"

enum { STACK_FRAMES = TF_BLOB_BYTES / sizeof(uint64_t) };

struct wanted {
	struct causality *causes;
	struct own_stacks *own;
	const uint32_t *functions; /* of own */
	size_t count;
	struct own_frame import; /* what is imported there instead; of own */
	struct texts names;
	struct map places; /* of frames -> 1 + FRAME_NAMED, FRAME_USERS */
	struct map all, below; /* by image: CPU time, but for the program's end */
	struct map lines;      /* by line of the innermost of them */
	bool is_at_place;      /* the stack that was looked at is below the last function, too */
	/* of CPU time: in all; its parts of the programs' ends, which are in that, too; linear algebra and models; what
	 * is in neither, below the last function */
	double below_ns, end_ns, algebra_ns, model_ns, place_ns;
	struct symbol_frame *frames;
};

static bool is_end(const struct wanted *w, const struct editable_stack *stack)
{
	uint32_t number = own_stack_of(w->own, stack->image, stack->stack); /* may move the stacks */

	return w->own->stacks[number].is_end;
}

/* What a change of the program saves little of. */
static void add_library(struct wanted *w, const struct editable_stack *stack)
{
	uint32_t number = own_stack_of(w->own, stack->image, stack->stack); /* may move the stacks */
	const struct own_stack *own = &w->own->stacks[number];

	bool is_of_model = own->is_model && !own->is_import;

	w->algebra_ns += own->is_algebra ? (double)stack->ns : 0;
	w->model_ns += is_of_model ? (double)stack->ns : 0;
	w->place_ns += w->is_at_place && !own->is_algebra && !is_of_model ? (double)stack->ns : 0;
}

/* Whether a stack is below the functions, and through which line of the innermost of them. */
typedef bool below_find(struct wanted *w, const struct editable_stack *stack, uint64_t *ret_line);

/* By stack: 1 below the function, 0 elsewhere; at the end of its program the function's part of it. */
static float *parts_below(const struct editables *all, below_find *is_below, struct wanted *w, bool *ret_any)
{
	float *ret = mem_alloc((all->stack_count + 1) * sizeof(*ret));

	*ret_any = false;
	for (size_t i = 0; i < all->stack_count; i++) {
		const struct editable_stack *stack = &all->stacks[i];
		uint64_t line = 0;
		bool is_such;

		w->is_at_place = true;
		is_such = is_below(w, stack, &line);
		ret[i] = is_such;
		*ret_any |= is_such;
		if (is_such)
			*map_put(&w->lines, line, 0, NULL) += stack->ns;
		if (all->items[stack->what].kind != EDITABLE_CPU || is_end(w, stack))
			continue;
		*map_put(&w->all, (uintptr_t)stack->image, 0, NULL) += stack->ns;
		*map_put(&w->below, (uintptr_t)stack->image, 0, NULL) += is_such ? stack->ns : 0;
		if (is_such)
			add_library(w, stack);
	}
	for (size_t i = 0; i < all->stack_count && *ret_any; i++) {
		const struct editable_stack *stack = &all->stacks[i];
		uint64_t image = (uintptr_t)stack->image, ns = *map_put(&w->all, image, 0, NULL);
		bool is_cpu = all->items[stack->what].kind == EDITABLE_CPU, is_ends = !ret[i] && ns && is_end(w, stack);

		if (is_ends)
			ret[i] = (float)((double)*map_put(&w->below, image, 0, NULL) / (double)ns);
		w->below_ns += is_cpu ? (double)ret[i] * (double)stack->ns : 0;
		w->end_ns += is_cpu && is_ends ? (double)ret[i] * (double)stack->ns : 0;
	}
	map_done(&w->all);
	map_done(&w->below);
	return ret;
}

/* The largest part that passes through one line. */
static double largest_line(const struct map *lines)
{
	uint64_t most = 0, all = 0;

	array_each(const struct map_slot, line, lines->slots, lines->size) {
		all += line->used ? line->value : 0;
		most = line->used && line->value > most ? line->value : most;
	}
	return all ? (double)most / (double)all : 1;
}

static float *shares_of(struct causality *s, below_find *is_below, struct wanted *w, struct function_part *ret_part,
			bool *ret_any)
{
	const struct editables *all = &s->editables;
	SCOPED_MEMORY double *sums = mem_alloc((all->count + 1) * sizeof(*sums));
	float *ret = mem_alloc((all->count + 1) * sizeof(*ret));
	SCOPED_MEMORY float *parts = parts_below(all, is_below, w, ret_any);

	for (size_t i = 0; i < all->stack_count; i++) {
		const struct editable_stack *stack = &all->stacks[i];

		sums[stack->what] += (double)stack->ns;
		ret[stack->what] += parts[i] * (float)stack->ns;
	}
	for (size_t i = 0; i < all->count; i++)
		ret[i] = sums[i] > 0 ? (float)((double)ret[i] / sums[i]) : 0;
	*ret_part = (struct function_part){.line = largest_line(&w->lines), .least = FUNCTION_LEAST};
	if (w->below_ns > w->end_ns) {
		double ns = w->below_ns - w->end_ns;

		ret_part->end = w->end_ns / w->below_ns;
		ret_part->least = fmax(FUNCTION_LEAST * (w->place_ns / ns),
				       FUNCTION_LEAST_ALL * ((ns - w->algebra_ns) / ns));
	}
	map_done(&w->lines);
	return ret;
}

/* What the top of a file imports has a price by itself. */
static bool is_others_import(const struct wanted *w, uint32_t stack, uint32_t function)
{
	return w->own->stacks[stack].is_import && own_is_top(w->own, function);
}

typedef bool function_find(const struct wanted *w, uint32_t function);

/* The innermost own function of the stack that is wanted; its line is that of the outermost call, which all of a
 * recursion passes through. */
static bool find_own(struct wanted *w, const struct editable_stack *stack, function_find *is_wanted,
		     function_find *is_last, uint64_t *ret_line)
{
	uint32_t number = own_stack_of(w->own, stack->image, stack->stack);
	const struct own_frame *frames = own_frames(w->own, number);

	w->is_at_place = false;
	for (uint32_t i = 0; i < w->own->stacks[number].count; i++) {
		uint32_t function = frames[i].function;
		bool is_others = is_others_import(w, number, function);

		w->is_at_place |= !w->is_at_place && !is_others && is_last(w, function);
		if (*ret_line ? function + 1 == *ret_line >> 32 : is_wanted(w, function) && !is_others)
			*ret_line = (uint64_t)(function + 1) << 32 | frames[i].line;
	}
	return *ret_line;
}

static bool is_one_of(const struct wanted *w, uint32_t function)
{
	return array_find(one, w->functions, w->count, *one == function) != NULL;
}

static bool is_last_one(const struct wanted *w, uint32_t function)
{
	return function == w->functions[w->count - 1];
}

static bool is_below_own(struct wanted *w, const struct editable_stack *stack, uint64_t *ret_line)
{
	return find_own(w, stack, is_one_of, is_last_one, ret_line);
}

float *function_shares(struct causality *s, struct own_stacks *own, const uint32_t *functions, size_t count,
		       struct function_part *ret_part)
{
	struct wanted w = {.causes = s, .own = own, .functions = functions, .count = count};
	bool is_any;

	return shares_of(s, is_below_own, &w, ret_part, &is_any);
}

static bool is_imported(struct wanted *w, const struct editable_stack *stack, uint64_t *ret_line)
{
	uint32_t number = own_stack_of(w->own, stack->image, stack->stack);
	const struct own_stack *own = &w->own->stacks[number];
	const struct own_frame *at = w->own->frames + own->first;

	*ret_line = 0;
	return own->is_import && own->count && at->function == w->import.function && at->line == w->import.line;
}

float *function_import_shares(struct causality *s, struct own_stacks *own, struct own_frame at,
			      struct function_part *ret_part)
{
	struct wanted w = {.causes = s, .own = own, .import = at};
	bool is_any;

	return shares_of(s, is_imported, &w, ret_part, &is_any);
}

/* ---- functions by their names ---- */

/* "f" and "C.f" are C.f; "job.py:f" is that of this file. */
static bool is_of_name(const char *wanted, const char *name, const char *file)
{
	const char *colon = strrchr(wanted, ':');
	const char *plain = colon && (colon == wanted || colon[-1] != ':') ? colon + 1 : wanted;
	size_t length = strlen(name), size = strlen(plain);
	struct buffer of = {0};
	bool is_file = plain == wanted;

	if (!is_file) {
		buffer_print(&of, "/%.*s", (int)(colon - wanted), wanted);
		is_file = file && (!strcmp(file, of.data + 1) || text_ends_with(file, of.data));
		buffer_done(&of);
	}
	return is_file && length >= size && !strcmp(name + length - size, plain) &&
	       (length == size || name[length - size - 1] == '.' || name[length - size - 1] == ':');
}

static bool is_named(const struct wanted *w, const char *name, const char *file)
{
	return list_find(one, &w->names, is_of_name(*one, name, file)) != NULL;
}

static bool is_own_named(const struct wanted *w, uint32_t function)
{
	return is_named(w, w->own->functions[function].name, w->own->functions[function].file);
}

static bool is_last_named(const struct wanted *w, uint32_t function)
{
	const struct own_function *own = &w->own->functions[function];

	return is_of_name(w->names.items[w->names.count - 1], own->name, own->file);
}

static bool is_below_named(struct wanted *w, const struct editable_stack *stack, uint64_t *ret_line)
{
	return find_own(w, stack, is_own_named, is_last_named, ret_line);
}

enum { FRAME_NAMED = 1, FRAME_USERS = 2 };

static uint64_t frame_flags(struct wanted *w, const struct symbol_frame *f)
{
	uint64_t *known = map_put(&w->places, f->place, 0, NULL);
	const char *file = f->exact->file;

	if (!*known)
		*known = 1 + (is_named(w, f->exact->function, file) ? FRAME_NAMED : 0) +
			 (f->is_python && file && !attribution_is_library(file) && !attribution_is_generated(file)
				  ? FRAME_USERS
				  : 0);
	return *known - 1;
}

/* Of libraries: by all frames of the stacks. What the user's code does that a library calls is not the library's. */
static bool is_below_frame(struct wanted *w, const struct editable_stack *stack, uint64_t *ret_line)
{
	size_t count = symbols_frames(w->causes->context->symbols, stack->image, stack->stack, w->frames, STACK_FRAMES);
	bool is_users = false;

	for (size_t i = 0; i < count; i++) {
		uint64_t flags = w->frames[i].place == SYMBOL_NO_PLACE ? 0 : frame_flags(w, &w->frames[i]);

		*ret_line = w->frames[i].place;
		is_users |= flags & FRAME_USERS;
		if (flags & FRAME_NAMED && (flags & FRAME_USERS || !is_users))
			return true;
	}
	return false;
}

/* The whole text is a name, too: "operator|". */
static void add_names(const char *text, struct texts *ret)
{
	texts_add(ret, "%s", text);
	for (const char *at = text, *end; strchr(text, '|') && *at; at = end + (*end == '|')) {
		end = at + strcspn(at, "|");
		texts_add(ret, "%.*s", (int)(end - at), at);
	}
}

float *function_shares_named(struct causality *s, const char *name, bool by_frames, struct function_part *ret_part)
{
	SCOPED(own_stacks) own = {0};
	struct wanted w = {.causes = s, .own = &own,
			   .frames = mem_alloc(STACK_FRAMES * sizeof(*w.frames))};
	float *ret;
	bool is_any;

	own_stacks_init(&own, s->context->symbols);
	add_names(name, &w.names);
	ret = shares_of(s, by_frames ? is_below_frame : is_below_named, &w, ret_part, &is_any);
	if (!is_any && !by_frames) {
		free(ret);
		ret = shares_of(s, is_below_frame, &w, ret_part, &is_any);
	}
	map_done(&w.places);
	texts_done(&w.names);
	free(w.frames);
	if (!is_any) {
		free(ret);
		ret = NULL;
	}
	return ret;
}

void function_edit(const struct causality *s, const float *shares, double factor, struct edit *edit)
{
	for (uint32_t i = 0; i < s->editables.count; i++)
		if (shares[i] > 0)
			edit_scale(edit, i, 1 - (double)shares[i] * (1 - factor));
}

/* ---- what it saves ---- */

static void add_total(void *context, uint32_t what, double ns)
{
	((double *)context)[what] += ns;
}

double *function_totals(const struct causality *s)
{
	const struct editables *all = &s->editables;
	/* pools apart, each divided once */
	SCOPED_MEMORY double *sums = mem_alloc((editables_count(all) + 1) * sizeof(*sums));
	double *ret = mem_alloc((all->count + 1) * sizeof(*ret));

	for (uint32_t i = 0; i < s->graph.node_count; i++) {
		const struct node_part *parts;
		const struct run_node *n = &s->graph.nodes[i];
		uint32_t before = graph_previous(&s->graph, i);
		size_t count = n->kind == NODE_WORK ? graph_parts(&s->graph, i, &parts) : 0;

		if (n->kind == NODE_UNSEEN && before != NODE_NONE)
			sums[n->what] += (double)(n->end_ns - s->graph.nodes[before].end_ns);
		for (size_t p = 0; p < count; p++)
			sums[parts[p].what] += (double)parts[p].ns;
	}
	for (uint32_t what = 0; what < editables_count(all); what++)
		if (sums[what] > 0)
			editable_divide(all, what, sums[what], ret, add_total);
	return ret;
}

struct slow_thread {
	double cpu_ns, slowness;
};

COMPARATOR(compare_slow, struct slow_thread, order_of(a->slowness, b->slowness))

/* The time that a thread had a CPU or waited for one, as a multiple of the time that it had one; of the thread that is
 * in the middle by CPU time, because one that polls and yields waits much and computes nothing. */
static double slowness(const struct causality *s)
{
	struct usages *usages = usages_new(s->context->model);
	SCOPED_MEMORY struct slow_thread *threads = mem_alloc((s->actor_count + 1) * sizeof(*threads));
	double cpu_ns = 0, below_ns = 0;
	size_t count = 0, at = 0;

	array_each(const struct actor, a, s->actors, s->actor_count) {
		struct usage_of usage;

		if (a->is_stream)
			continue;
		usage = usages_recorded(usages, a->image, a->thread ? a->thread->tid : a->image->pid, 0, UINT64_MAX);
		if (!usage.ticks || usage.delay_ns == TF_USAGE_UNKNOWN || usage.cpu_ns == TF_USAGE_UNKNOWN ||
		    !usage.cpu_ns)
			continue;
		threads[count++] = (struct slow_thread){(double)usage.cpu_ns,
							1 + (double)usage.delay_ns / (double)usage.cpu_ns};
		cpu_ns += (double)usage.cpu_ns;
	}
	usages_free(usages);
	qsort(threads, count, sizeof(*threads), compare_slow);
	while (at < count && (below_ns += threads[at].cpu_ns) * 2 < cpu_ns)
		at++;
	return at < count ? threads[at].slowness : 1;
}

/* The time of samples in what is below the function. */
static double sampled_below(const struct causality *s, const float *shares)
{
	return array_sum(stack, s->editables.stacks, s->editables.stack_count,
			 s->editables.items[stack->what].kind == EDITABLE_CPU
				 ? (double)stack->ns * (double)shares[stack->what]
				 : 0);
}

void function_interval(uint64_t ns, struct saving *ret)
{
	ret->saved_ns = ret->high_ns = ns;
	ret->low_ns = (uint64_t)(FUNCTION_LEAST * (double)ns);
}

/* Waits of which nobody knows what ended them take no time. False: there are none. */
static bool drop_unseen(const struct causality *s, struct edit *edit)
{
	bool is_any = false;

	for (uint32_t i = 0; i < s->graph.node_count; i++) {
		if (s->graph.nodes[i].kind != NODE_UNSEEN)
			continue;
		edit_scale(edit, s->graph.nodes[i].what, 0);
		is_any = true;
	}
	return is_any;
}

/* What the run without what is below the function saves: such waits may have been for it, so that they end earlier by
 * as much as anything did, or as early as they can. */
static double saved_without(struct causality *s, const float *shares)
{
	SCOPED(edit) edit = {0}, without = {0};
	double saved, more;

	edit_init(&edit, s);
	edit.unseen = UNSEEN_SHRINK;
	function_edit(s, shares, 0, &edit);
	saved = saving_only(s, &edit);
	if (!drop_unseen(s, &edit))
		return saved;
	if (s->unseen_ns < 0) {
		edit_init(&without, s);
		drop_unseen(s, &without);
		s->unseen_ns = saving_only(s, &without);
	}
	more = saving_only(s, &edit) - s->unseen_ns;
	return more > saved ? more : saved;
}

/* At most so much is saved for sure: less than ever if some waits are only assumed to be for others. */
static double saved_surely(struct causality *s, const float *shares)
{
	SCOPED(edit) edit = {0};
	double assumed, saved;

	if (!s->graph.has_assumed)
		return INFINITY;
	edit_init(&edit, s);
	function_edit(s, shares, 0, &edit);
	assumed = saving_only(s, &edit);
	edit.assumes_nothing = true;
	saved = saving_only(s, &edit);
	return saved < assumed ? fmax(saved - assumed * SAVING_PERCENT / 100 - SAVING_NS, 0) : INFINITY;
}

uint64_t function_saving(struct causality *s, const float *shares, const struct function_part *part,
			 const double *by_what, const double *totals, struct saving *ret)
{
	double path_ns = 0, total_ns = 0, cpu_ns = sampled_below(s, shares) * slowness(s), run_ns = (double)s->run_ns,
	       factor, saved;
	SCOPED_MEMORY float *served = function_with_served(s, shares);

	for (size_t i = 0; i < s->editables.count; i++) {
		path_ns += by_what[i] * (double)served[i];
		total_ns += totals[i] * (double)shares[i];
	}
	factor = total_ns > 0 && cpu_ns > total_ns ? cpu_ns / total_ns : 1;
	saved = saved_without(s, served) * factor;
	path_ns = path_ns * factor < run_ns ? path_ns * factor : run_ns;
	saved = saved > 0 ? saved < run_ns ? saved : run_ns : 0;
	if (saved > path_ns) /* the path goes through such waits */
		path_ns = saved;
	*ret = (struct saving){.before_ns = s->run_ns, .after_ns = s->run_ns - (uint64_t)saved};
	function_interval((uint64_t)saved, ret);
	ret->high_ns = (uint64_t)fmin(path_ns, saved * (1 + saving_sampling_error(s, shares)));
	ret->low_ns = (uint64_t)fmin(saved * fmin(part->least, part->line) * (1 - part->end), saved_surely(s, served));
	return (uint64_t)path_ns;
}

bool function_saving_named(struct causality *s, const char *text, struct saving *ret)
{
	const char *name = text + strcspn(text, "~"), *equals = strrchr(text, '=');
	bool by_frames = text_begins_with(text, "frames~");
	SCOPED_MEMORY char *function = NULL;
	float *shares = NULL;
	struct function_part part;
	double *totals;
	struct path path;

	if ((!by_frames && !text_begins_with(text, "function~")) || !equals || strcmp(equals, "=0") != 0)
		return false;
	function = mem_copy_text(name + 1, (size_t)(equals - name) - 1);
	shares = function_shares_named(s, function, by_frames, &part);
	if (shares) {
		totals = function_totals(s);
		path_find(s, UINT64_MAX, &path);
		function_saving(s, shares, &part, path.by_what, totals, ret);
		path_done(&path);
		free(totals);
	}
	free(shares);
	return shares != NULL;
}
