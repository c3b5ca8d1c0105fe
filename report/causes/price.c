/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/price.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes/function.h"
#include "report/events/usage.h"
#include "report/names/kernel_kind.h"
#include "report/time/cpu_limit.h"

/* Edits that are ranked at most, and the part of the run from which on one is. */
enum { RANKED_MOST = 100, RANKED_PART = 100 };

/* ---- what does not wait for processes runs beside them, as far as there are CPUs ---- */

struct awaited {
	double waits_ns, cpu_ns;
	double cpus; /* 0: not known */
};

static void add_process(const struct causality *s, const struct usages *usages, const struct cpu_limits *limits,
			const struct image *image, struct awaited *ret)
{
	const struct process *p = &s->context->model->processes[image->process];
	struct usage_of usage = usages_recorded(usages, image, 0, 0, UINT64_MAX);
	struct cpu_limit limit = cpu_limits_of(limits, &(struct cpu_thread){.machine = image->machine, .pid = p->pid,
									    .tid = p->pid});

	ret->cpus = cpu_limit_width(&limit);
	if (usage.ticks && usage.cpu_ns != TF_USAGE_UNKNOWN)
		ret->cpu_ns += (double)usage.cpu_ns;
}

static void find_awaited(const struct causality *s, const struct edit *e, struct awaited *ret)
{
	struct usages *usages = usages_new(s->context->model);
	struct cpu_limits *limits = cpu_limits_new(s->context->model);
	SCOPED(map) known = {0};

	*ret = (struct awaited){0};
	for (uint32_t i = 0; i < s->graph.node_count; i++) {
		const struct run_node *n = &s->graph.nodes[i];
		const struct image *image;
		bool is_new;

		if (n->kind != NODE_WAIT || !e->no_waits[n->what] ||
		    s->editables.items[n->what].waits != BLOCKED_CHILD ||
		    s->graph.nodes[n->source].kind == NODE_MEETING)
			continue;
		image = s->actors[s->graph.nodes[n->source].actor].image;
		ret->waits_ns += (double)(n->end_ns - replay_start(&s->graph, i));
		map_put(&known, image->process, 0, &is_new);
		if (is_new)
			add_process(s, usages, limits, image, ret);
	}
	cpu_limits_free(limits);
	usages_free(usages);
}

static void limit_to(struct saving *s, uint64_t most_ns)
{
	s->saved_ns = s->saved_ns < most_ns ? s->saved_ns : most_ns;
	s->low_ns = s->low_ns < s->saved_ns ? s->low_ns : s->saved_ns;
	s->high_ns = s->high_ns < most_ns ? s->high_ns : most_ns;
	s->after_ns = s->before_ns - s->saved_ns;
}

static void limit_to_cpus(const struct causality *s, const struct edit *e, struct saving *ret)
{
	struct awaited all;
	double most_ns;

	find_awaited(s, e, &all);
	if (all.cpus < 1 || all.cpu_ns <= 0)
		return;
	most_ns = all.waits_ns - all.cpu_ns / all.cpus;
	limit_to(ret, most_ns > 0 ? (uint64_t)most_ns : 0);
}

/* Where a kernel is removed, another one does its work: what that then takes more is half of it at most. */
static void leave_half(struct causality *s, const char *edit, struct saving *ret)
{
	SCOPED(edit) e = {0};
	SCOPED(buffer) half = {0};
	struct saving saves;
	struct err err;

	buffer_print(&half, "%.*s=0.5x", (int)(strrchr(edit, '=') - edit), edit);
	edit_init(&e, s);
	if (!edit_parse(s, half.data, &e, &err))
		saving_find(s, &e, &saves);
	ret->low_ns = smaller_of(ret->low_ns, saves.low_ns);
}

static int find_new(struct causality *s, const char *edit, struct saving *ret, struct err *err)
{
	SCOPED(edit) e = {0};
	int code;

	edit_init(&e, s);
	code = edit_parse(s, edit, &e, err);
	if (!code && !function_saving_named(s, edit, ret))
		saving_find(s, &e, ret);
	if (!code && e.no_waits)
		limit_to_cpus(s, &e, ret);
	if (!code && text_begins_with(edit, "kernel~") && text_ends_with(edit, "=0"))
		leave_half(s, edit, ret);
	return code;
}

int price_find(struct causality *s, const char *edit, struct saving *ret, struct err *err)
{
	uint64_t hash = hash_bytes(edit, strlen(edit));
	const uint64_t *known = map_find(&s->priced, hash, 0);
	int code;

	if (known) {
		*ret = s->savings[*known];
		return 0;
	}
	code = find_new(s, edit, ret, err);
	if (!code) {
		*map_put(&s->priced, hash, 0, NULL) = s->saving_count;
		mem_append(s->savings, s->saving_count, s->saving_capacity, *ret);
	}
	return code;
}

/* ---- words ---- */

static bool add_place(const char *word, const char *mark, const struct code_line *line, struct buffer *ret)
{
	if (!line || code_line_is_nameless(line))
		return false;
	buffer_print(ret, "%s%s", word, mark);
	if (!code_line_place(line, ret))
		buffer_text(ret, line->function);
	return true;
}

void price_add_line(const char *word, const struct code_line *line, const char *value, struct buffer *ret)
{
	if (add_place(word, "~", line, ret))
		buffer_text(ret, value);
}

/* A line follows an @ in an edit of kernels. */
void price_add_name(const char *name, struct buffer *ret)
{
	for (; *name; name++)
		buffer_print(ret, "%s%c", strchr(".[]{}()*+?^$|\\", *name) ? "\\" : "", *name == '@' ? '.' : *name);
}

/* ---- what is worth a price ---- */

struct ranking {
	struct causality *causes;
	struct map known;
	struct price *items;
	double *most_ns; /* of the path, of the editable that a price names */
	size_t count;
};

static void add_choice(struct ranking *r, const char *edit, bool is_kernel, uint32_t what, double ns)
{
	uint64_t *place = map_put(&r->known, hash_bytes(edit, strlen(edit)), 0, NULL);

	if (!*place && r->count < RANKED_MOST) {
		r->items[r->count] = (struct price){mem_copy_text(edit, strlen(edit)), what, .is_kernel = is_kernel};
		r->most_ns[r->count] = ns;
		*place = ++r->count;
	} else if (*place && ns > r->most_ns[*place - 1]) {
		r->items[*place - 1].what = what;
		r->most_ns[*place - 1] = ns;
	}
	if (*place)
		r->items[*place - 1].path_ns += ns;
}

/* A kernel that several lines launch is to be changed at each of them, so each has its price. One of no library's most
 * tuned ones may be done by another kernel, which reads and writes the same data. */
static void add_kernel(struct ranking *r, const struct editable *e, const struct code_line *line, uint32_t what,
		       double ns)
{
	SCOPED(buffer) text = {0};

	buffer_text(&text, "kernel~^");
	price_add_name(e->name, &text);
	buffer_text(&text, "$");
	add_place("", "@", line, &text);
	buffer_text(&text, kernel_is_tuned(e->name) ? "=0.5x" : "=0");
	add_choice(r, text.data, true, what, ns);
}

static void add_editable(struct ranking *r, uint32_t what, double ns)
{
	const struct editable *e = &r->causes->editables.items[what];
	const struct code_line *line = editable_line(&r->causes->editables, what);
	size_t started = causes_started_at(r->causes, line);
	SCOPED(buffer) text = {0};

	if (!started || started >= PRICE_STARTED)
		price_add_line("line", line, "=0", &text);
	if (text.size)
		add_choice(r, text.data, false, what, ns);
	if (*e->name && e->kind == EDITABLE_KERNEL)
		add_kernel(r, e, line, what, ns);
	if (*e->name && e->kind == EDITABLE_CALL) {
		buffer_set(&text, "call~");
		price_add_name(e->name, &text);
		buffer_text(&text, "=0");
		add_choice(r, text.data, false, what, ns);
	}
}

/* Lines that start processes, which are on the path in their place. */
static void add_starts(struct ranking *r)
{
	uint32_t before = NODE_NONE;

	for (size_t i = 0; i < r->causes->context->model->process_count; i++) {
		uint32_t what = r->causes->awaited_by[i];

		if (what != NODE_NONE && what != before)
			add_editable(r, what, 0);
		before = what;
	}
}

static void add_ranks(struct ranking *r)
{
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < r->causes->actor_count; i++) {
		const char *rank = image_rank(r->causes->actors[i].image);

		buffer_set(&text, "rank~%s=median", rank);
		if (*rank)
			add_choice(r, text.data, false, NODE_NONE, 0);
	}
}

COMPARATOR(compare_prices, struct price, order_of(b->saves.saved_ns, a->saves.saved_ns) ?: strcmp(a->edit, b->edit))

void prices_rank(struct causality *s, const struct path *path, struct prices *ret)
{
	struct ranking r = {.causes = s, .items = mem_alloc(RANKED_MOST * sizeof(*r.items)),
			    .most_ns = mem_alloc(RANKED_MOST * sizeof(*r.most_ns))};
	struct err err;

	for (uint32_t i = 0; i < s->editables.count; i++)
		if (path->by_what[i] * RANKED_PART >= (double)s->run_ns)
			add_editable(&r, i, path->by_what[i]);
	add_starts(&r);
	add_ranks(&r);
	*ret = (struct prices){r.items, 0};
	for (size_t i = 0; i < r.count; i++)
		if (!price_find(s, r.items[i].edit, &r.items[i].saves, &err) &&
		    r.items[i].saves.saved_ns * RANKED_PART >= s->run_ns)
			r.items[ret->count++] = r.items[i];
		else
			free(r.items[i].edit);
	array_sort(ret->items, ret->count, compare_prices);
	map_done(&r.known);
	free(r.most_ns);
}

void prices_done(struct prices *p)
{
	array_free(item, p->items, p->count, free(item->edit));
}
