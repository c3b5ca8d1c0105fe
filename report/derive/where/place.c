/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/where/place.h"

#include <stdlib.h>

enum { FEW_THREADS = 64 };

/* Of an image that has only a bound of its start time, the PID may have been another process's before. */
static bool is_image_of(const struct image *i, const struct look *l, const struct look_process *p)
{
	return i->run == l->run && i->pid == p->head.pid && i->start_ticks <= p->ticks &&
	       (i->start_is_bound ? i->process_start >= p->head.start : i->process_start == p->head.start);
}

/* The last image of the process that the look has found. */
static const struct image *image_of(const struct model *m, const struct look *l, const struct look_process *p)
{
	const struct image *last = NULL;

	for (size_t i = 0; i < m->image_count; i++)
		if (is_image_of(&m->images[i], l, p))
			last = &m->images[i];
	return last;
}

/* Nobody asked for this look, and the process has ended by itself or has become another program since. */
static bool is_over(const struct model *m, const struct image *image, const struct look_process *p)
{
	return p->is_quiet && image && !m->processes[image->process].is_running &&
	       (image->end == TF_END_EXIT || image->end == TF_END_EXEC) && image->end_ticks > p->ticks;
}

static const struct trace_thread *find_thread(const struct image *image, uint32_t tid)
{
	const struct trace_thread *found = NULL;

	for (size_t i = 0; image && image->trace && i < image->trace->thread_count; i++)
		if (image->trace->threads[i].tid == tid)
			found = &image->trace->threads[i];
	return found;
}

/* A thread that is in a recorded call since before the look, or that has recorded nothing after it, is where it was. */
static void find_call(const struct model *m, struct where_item *item)
{
	const struct trace_thread *t = find_thread(item->image, item->thread->head.tid);
	uint64_t start, ticks = item->process->ticks;
	const struct function *f;
	uint32_t id;

	if (!t)
		return;
	item->since = t->page && t->page->end_ticks ? WHERE_WENT_ON
		      : t->last_ticks <= ticks	    ? WHERE_STILL
						    : WHERE_WENT_ON;
	if (!thread_current(t, &id, &start))
		return;
	item->since = start <= ticks ? WHERE_STILL : WHERE_WENT_ON;
	f = trace_function(item->image->trace, id);
	item->name = f && item->since == WHERE_STILL ? f->name : NULL;
	item->has_age = item->name && ticks > start;
	if (item->has_age)
		item->age_ns = clock_map_duration(&m->machines[item->image->machine].clock, ticks - start);
}

static struct where_item *new_item(struct where_place *p, const struct model *m, const struct look *l,
				   const struct look_process *process, const struct look_thread *thread,
				   const struct image *image)
{
	struct where_item *item;

	p->items = mem_grow(p->items, p->count, &p->capacity, sizeof(*p->items));
	item = &p->items[p->count++];
	*item = (struct where_item){.look = l,
				    .process = process,
				    .thread = thread,
				    .image = image,
				    .rank = image ? image_rank(image) : ""};
	find_call(m, item);
	return item;
}

static void read_stack(struct where_place *p, struct where_item *item)
{
	where_stack_done(&item->stack);
	where_wait_done(&item->wait);
	where_stack_read(p->files, item->look, item->process, item->thread, &item->stack);
	where_wait_find(item->look, item->process, item->thread, &item->stack, item->name, &item->wait);
}

/* Without a recorded call, the stack tells which function waits. */
static void add_waiting(struct where_place *p, const struct model *m, const struct look *l,
			const struct look_process *process, const struct look_thread *thread,
			const struct image *image)
{
	struct where_item *item;

	if (!(thread->head.flags & TF_WHERE_IN_CALL))
		return;
	item = new_item(p, m, l, process, thread, image);
	if (item->since == WHERE_STILL)
		where_wait_find(l, process, thread, &item->stack, item->name, &item->wait);
	if (item->since == WHERE_STILL && !item->wait.owner && !item->name && process->thread_count <= FEW_THREADS)
		read_stack(p, item);
	if (item->wait.owner)
		return;
	where_stack_done(&item->stack);
	where_wait_done(&item->wait);
	p->count--;
}

size_t where_place_find(const struct where_place *p, const struct look_process *process, uint32_t tid)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].process == process && p->items[i].thread->head.tid == tid)
			return i;
	return SIZE_MAX;
}

static void find_cycles(struct where_place *p)
{
	size_t *owners = mem_alloc((p->count + 1) * sizeof(*owners));
	uint32_t *cycles = mem_alloc((p->count + 1) * sizeof(*cycles));

	for (size_t i = 0; i < p->count; i++)
		owners[i] = p->items[i].wait.owner
				    ? where_place_find(p, p->items[i].process, p->items[i].wait.owner)
				    : SIZE_MAX;
	p->cycles = where_cycles(owners, p->count, cycles);
	for (size_t i = 0; i < p->count; i++)
		p->items[i].cycle = cycles[i];
	free(owners);
	free(cycles);
}

bool where_cycle_is_proved(const struct where_place *p, uint32_t cycle)
{
	bool is_proved = false;

	for (size_t i = 0; i < p->count; i++) {
		const struct where_item *item = &p->items[i];

		if (item->cycle != cycle)
			continue;
		if (item->since != WHERE_STILL || item->wait.is_timed)
			return false;
		is_proved = true;
	}
	return is_proved;
}

/* Opens the looks, without the processes that are of no interest any more. */
static void looks_open(struct where_place *p, const struct model *m, uint64_t request)
{
	*p = (struct where_place){.files = where_files_new()};
	p->looks = mem_alloc((m->where_count + 1) * sizeof(*p->looks));
	for (size_t i = 0; i < m->where_count; i++) {
		struct look *l = &p->looks[p->look_count];
		size_t kept = 0;

		if (!look_read(&m->wheres[i], request, l)) {
			look_done(l);
			continue;
		}
		for (size_t k = 0; k < l->count; k++) {
			if (is_over(m, image_of(m, l, &l->processes[k]), &l->processes[k]))
				look_process_done(&l->processes[k]);
			else
				l->processes[kept++] = l->processes[k];
		}
		l->count = kept;
		p->look_count++;
	}
}

static void add_threads(struct where_place *p, const struct model *m, bool waiting_only)
{
	for (size_t i = 0; i < p->look_count; i++)
		for (size_t k = 0; k < p->looks[i].count; k++) {
			const struct look *l = &p->looks[i];
			const struct look_process *process = &l->processes[k];
			const struct image *image = image_of(m, l, process);

			for (size_t n = 0; n < process->thread_count; n++) {
				if (waiting_only)
					add_waiting(p, m, l, process, &process->threads[n], image);
				else
					read_stack(p, new_item(p, m, l, process, &process->threads[n], image));
			}
		}
	find_cycles(p);
}

void where_place_read(struct where_place *p, const struct model *m, uint64_t request)
{
	looks_open(p, m, request);
	add_threads(p, m, false);
}

void where_place_read_cycles(struct where_place *p, const struct model *m)
{
	looks_open(p, m, 0);
	add_threads(p, m, true);
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].cycle)
			read_stack(p, &p->items[i]);
}

void where_place_done(struct where_place *p)
{
	for (size_t i = 0; i < p->count; i++) {
		where_stack_done(&p->items[i].stack);
		where_wait_done(&p->items[i].wait);
	}
	for (size_t i = 0; i < p->look_count; i++)
		look_done(&p->looks[i]);
	free(p->items);
	free(p->looks);
	if (p->files)
		where_files_free(p->files);
	*p = (struct where_place){0};
}
