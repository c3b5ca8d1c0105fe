/* SPDX-License-Identifier: Apache-2.0 */
/* Edges between processes and threads: their starts, their ends, and the waits for these. */
#include <stdlib.h>

#include "report/causes/causes_build.h"
#include "report/read/job/process_tree.h"

uint64_t last_long_call(const struct linker *l, uint32_t actor, uint64_t ns)
{
	size_t at = linker_long_call(l, actor, ns);

	return at > l->long_calls.first[actor] ? l->long_calls.items[at - 1].end_ns
					       : l->causes->actors[actor].start_ns;
}

void link_wait(struct linker *l, struct moment *wait, uint32_t from, uint64_t from_ns)
{
	wait->is_linked = true;
	if (wait->is_interpreter) {
		graph_lock(&l->causes->graph, from, last_long_call(l, from, wait->start_ns), from_ns, wait->actor,
			   wait->end_ns);
		return;
	}
	graph_edge(&l->causes->graph, from, from_ns, wait->actor, wait->end_ns);
}

size_t linker_parent(const struct linker *l, size_t process)
{
	size_t parent = l->causes->context->model->processes[process].parent;

	return parent != SIZE_MAX && l->last_of[parent] != NODE_NONE ? parent : SIZE_MAX;
}

bool linker_is_family(const struct linker *l, size_t a, size_t b)
{
	size_t parent_a = linker_parent(l, a), parent_b = linker_parent(l, b);

	return a == b || parent_a == b || parent_b == a || (parent_a == parent_b && parent_a != SIZE_MAX);
}

static void find_processes(struct linker *l)
{
	const struct causality *s = l->causes;
	const struct model *m = s->context->model;

	l->last_of = mem_alloc((m->process_count + 1) * sizeof(*l->last_of));
	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];

		l->last_of[i] = NODE_NONE;
		for (size_t k = p->first_image; k < p->first_image + p->image_count; k++)
			if (s->first_of_image[k] != NODE_NONE)
				l->last_of[i] = s->first_of_image[k];
	}
}

/* The main thread of the process at that time. */
static uint32_t main_at(const struct linker *l, size_t process, uint64_t ns)
{
	const struct causality *s = l->causes;
	const struct process *p = &s->context->model->processes[process];
	uint32_t found = NODE_NONE;

	for (size_t k = p->first_image; k < p->first_image + p->image_count; k++)
		if (s->first_of_image[k] != NODE_NONE &&
		    (found == NODE_NONE || s->actors[s->first_of_image[k]].start_ns <= ns))
			found = s->first_of_image[k];
	return found;
}

/* How many processes that started before are looked at. */
enum { BESIDE = 64 };

/* So long after a sleep the end of a process is found. */
enum { FOUND_NS = 20000000 };

static bool is_one_line(const struct causality *s, uint32_t a, uint32_t b)
{
	const struct editable *left = &s->editables.items[a], *right = &s->editables.items[b];

	return left->has_frame && right->has_frame && left->frame.place == right->frame.place;
}

/* No other process that was started by the same one runs beside it. */
static bool is_alone(const struct linker *l, size_t process)
{
	const struct model *m = l->causes->context->model;
	const struct process *p = &m->processes[process];

	for (size_t i = process + 1; i < m->process_count && m->processes[i].start_ns < p->end_ns; i++)
		if (m->processes[i].parent == p->parent)
			return false;
	for (size_t i = process; i-- > 0 && process - i < BESIDE;)
		if (m->processes[i].parent == p->parent && m->processes[i].end_ns > p->start_ns)
			return false;
	return true;
}

/* The call in which the actor waited for most of that time; NODE_NONE: none. */
static uint32_t awaiting_call(const struct linker *l, uint32_t actor, uint64_t start_ns, uint64_t end_ns)
{
	const struct moment *all = l->of[MOMENT_AWAIT].items;
	size_t count = l->of[MOMENT_AWAIT].count;
	uint64_t least_ns = end_ns - start_ns - (end_ns - start_ns) / 2;

	for (size_t i = first_place(k, 0, count,
				    all[k].actor < actor || (all[k].actor == actor && all[k].end_ns <= start_ns));
	     i < count && all[i].actor == actor && all[i].start_ns < end_ns; i++) {
		uint64_t from = all[i].start_ns > start_ns ? all[i].start_ns : start_ns,
			 until = all[i].end_ns < end_ns ? all[i].end_ns : end_ns;

		if (until - from >= least_ns && until > from)
			return all[i].what;
	}
	return NODE_NONE;
}

/* That thread, unless another one of the process has done something since. */
static uint32_t running_last(const struct linker *l, uint32_t from, uint64_t ns)
{
	const struct causality *s = l->causes;
	const struct image *image = s->actors[from].image;
	uint64_t latest = linker_last_running(l, NULL, from, ns);

	for (uint32_t i = s->first_of_image[image - s->context->model->images];
	     i < s->actor_count && s->actors[i].image == image; i++)
		if (s->actors[i].start_ns < ns && s->actors[i].end_ns >= ns &&
		    linker_last_running(l, NULL, i, ns) > latest) {
			latest = linker_last_running(l, NULL, i, ns);
			from = i;
		}
	return from;
}

/* Of the calls that started a process: the one of this pid, whose time until then is not that of a start; else of a
 * call that does not tell (vfork has no record) the thread that waits for it, else the main thread, and not one that
 * has been waiting for longer than another. */
static void link_start(struct linker *l, size_t process, uint32_t actor)
{
	const struct causality *s = l->causes;
	const struct model *m = s->context->model;
	const struct process *p = &m->processes[process];
	size_t parent = linker_parent(l, process);
	uint64_t start = s->actors[actor].start_ns, from_ns = start - 1;
	uint32_t from = main_at(l, parent, start), started_by = NODE_NONE, awaiting;
	bool is_found = false;

	for (size_t i = 0; i < l->of[MOMENT_SPAWN].count && !is_found; i++) {
		const struct moment *c = &l->of[MOMENT_SPAWN].items[i];

		is_found = c->value == p->pid && s->actors[c->actor].image->process == parent &&
			   c->start_ns < start && start - c->start_ns < 10000000000;
		if (is_found) {
			from = c->actor;
			from_ns = c->end_ns < start ? c->end_ns : start - 1;
			started_by = c->what;
		}
	}
	for (size_t i = 0; i < l->of[MOMENT_CHILD].count && !is_found; i++) {
		const struct moment *c = &l->of[MOMENT_CHILD].items[i];

		is_found = c->value == p->pid && s->actors[c->actor].image->process == parent && c->end_ns > start &&
			   s->actors[c->actor].start_ns < start;
		if (is_found)
			from = c->actor;
	}
	if (started_by == NODE_NONE)
		from = running_last(l, from, start);
	awaiting = is_alone(l, process) ? awaiting_call(l, from, start, s->actors[l->last_of[process]].end_ns)
					: NODE_NONE;
	if (awaiting != NODE_NONE && (started_by == NODE_NONE || is_one_line(s, started_by, awaiting)))
		l->causes->awaited_by[process] = awaiting;
	if (start)
		graph_edge(&l->causes->graph, from, from_ns, actor, start);
}

/* Who looks for the end of a process between sleeps finds it after the sleep in which it ended, or after the next one,
 * because a process ends later than what it records: then the sleeps waited for it until it ended, and what is left of
 * them is their own. */
static void find_in_sleeps(struct linker *l, const struct moment *found, uint32_t from)
{
	struct row_of_calls *row = linker_sleeps(l, found->actor, found->start_ns);
	uint64_t end_ns = l->causes->actors[from].end_ns;

	if (!row || end_ns <= row->start_ns || end_ns + 1 >= row->end_ns || end_ns < row->found_ns ||
	    found->start_ns > row->end_ns + FOUND_NS + (row->end_ns - row->start_ns) / 4)
		return;
	row->found_ns = end_ns + 1;
	row->found = from;
}

static void link_sleeps(struct linker *l)
{
	const struct rows_of_calls *all = &l->sleeps;

	for (uint32_t actor = 0; actor < l->causes->actor_count; actor++)
		for (size_t i = all->first[actor]; i < all->first[actor + 1]; i++)
			if (all->items[i].found_ns)
				graph_edge(&l->causes->graph, all->items[i].found, all->items[i].found_ns - 1, actor,
					   all->items[i].found_ns);
}

static void link_child(struct linker *l, struct moment *wait)
{
	const struct causality *s = l->causes;
	size_t machine = s->actors[wait->actor].image->machine;
	size_t process = wait->value ? process_tree_at(s->context->model, machine, wait->value, wait->end_ns)
				     : SIZE_MAX;
	uint32_t from = process == SIZE_MAX ? NODE_NONE : l->last_of[process];

	if (from == NODE_NONE || from == wait->actor || s->actors[from].end_ns >= wait->end_ns)
		return;
	if (s->actors[from].end_ns < wait->start_ns)
		find_in_sleeps(l, wait, from);
	link_wait(l, wait, from, s->actors[from].end_ns);
}

void link_processes(struct linker *l)
{
	struct causality *s = l->causes;
	const struct model *m = s->context->model;

	find_processes(l);
	s->awaited_by = mem_alloc((m->process_count + 1) * sizeof(*s->awaited_by));
	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];
		uint32_t before = NODE_NONE;

		s->awaited_by[i] = NODE_NONE;

		for (size_t k = p->first_image; k < p->first_image + p->image_count; k++) {
			uint32_t actor = s->first_of_image[k];

			if (actor == NODE_NONE)
				continue;
			if (before != NODE_NONE)
				graph_edge(&s->graph, before, s->actors[before].end_ns - 1, actor,
					   s->actors[actor].start_ns);
			else if (linker_parent(l, i) != SIZE_MAX)
				link_start(l, i, actor);
			before = actor;
		}
	}
	for (size_t i = 0; i < l->of[MOMENT_CHILD].count; i++)
		link_child(l, &l->of[MOMENT_CHILD].items[i]);
	link_sleeps(l);
}

size_t causes_started_at(struct causality *s, const struct code_line *line)
{
	size_t count = 0;

	for (size_t i = 0; i < s->context->model->process_count && line; i++)
		count += s->awaited_by[i] != NODE_NONE && editable_line(&s->editables, s->awaited_by[i]) == line;
	return count;
}

/* ---- threads ---- */

/* The clock is read just before the call that creates a thread, which may lose its CPU meanwhile. */
enum { CREATED_NS = 1000000 };

static void link_thread_start(struct linker *l, uint32_t actor)
{
	const struct causality *s = l->causes;
	const struct image *image = s->actors[actor].image;
	const struct moment *all = l->of[MOMENT_CREATE].items;
	size_t count = l->of[MOMENT_CREATE].count, at;
	uint64_t start = s->actors[actor].start_ns, nearest_ns = UINT64_MAX;
	/* else by an unrecorded call of the main thread */
	uint32_t from = s->first_of_image[image - s->context->model->images];

	at = first_place(i, 0, count, all[i].actor < from);
	while (at < count && s->actors[all[at].actor].image == image) {
		uint32_t creator = all[at].actor;
		size_t next = first_place(i, at, count, all[i].actor <= creator);

		at = first_place(i, at, next, all[i].end_ns < start);
		for (; at < next && all[at].start_ns <= start + CREATED_NS; at++) {
			uint64_t begin = all[at].start_ns, ns = begin > start ? begin - start : start - begin;

			if (creator != actor && ns < nearest_ns) {
				from = creator;
				nearest_ns = ns;
			}
		}
		at = next;
	}
	if (start)
		graph_edge(&l->causes->graph, from, start - 1, actor, start);
}

/* The thread of the image that ended last while the call waited; of a call that did not wait, the one that ended first
 * of those that no other call has joined. */
static void link_join(struct linker *l, struct moment *wait, uint8_t *is_joined)
{
	const struct causality *s = l->causes;
	const struct image *image = s->actors[wait->actor].image;
	uint32_t from = NODE_NONE, earlier = NODE_NONE;

	for (uint32_t i = s->first_of_image[image - s->context->model->images];
	     i < s->actor_count && s->actors[i].image == image; i++) {
		const struct actor *a = &s->actors[i];

		if (i == wait->actor || !a->ended || a->end_ns >= wait->end_ns)
			continue;
		if (a->end_ns <= wait->start_ns)
			earlier = !is_joined[i] && (earlier == NODE_NONE || a->end_ns < s->actors[earlier].end_ns)
					  ? i
					  : earlier;
		else if (from == NODE_NONE || a->end_ns > s->actors[from].end_ns)
			from = i;
	}
	from = from == NODE_NONE ? earlier : from;
	if (from == NODE_NONE)
		return;
	is_joined[from] = true;
	link_wait(l, wait, from, s->actors[from].end_ns);
}

void link_threads(struct linker *l)
{
	const struct causality *s = l->causes;
	SCOPED_MEMORY uint8_t *is_joined = mem_alloc(s->actor_count + 1);

	for (uint32_t i = 0; i < s->actor_count; i++)
		if (!s->actors[i].is_main && !s->actors[i].is_stream)
			link_thread_start(l, i);
	for (size_t i = 0; i < l->of[MOMENT_JOIN].count; i++)
		link_join(l, &l->of[MOMENT_JOIN].items[i], is_joined);
}
