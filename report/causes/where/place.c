/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/where/place.h"

#include <stdlib.h>
#include <string.h>

#include "report/names/attribution.h"

/* WOKEN_NS: what a signal makes a thread do may come that much before the launcher's look. */
enum { FEW_THREADS = 64, WOKEN_NS = 500000000, STACKS_BACK = 16 };

/* Of an image that has only a bound of its start time, the PID may have been another process's before. */
static bool is_image_of(const struct image *i, const struct look_process *p)
{
	return i->run == p->run && i->pid == p->head.pid && i->start_ticks <= p->ticks &&
	       (i->start_is_bound ? i->process_start >= p->head.start : i->process_start == p->head.start);
}

/* The last image of the process that the look has found. */
static const struct image *image_of(const struct model *m, const struct look_process *p)
{
	const struct image *last = NULL;

	for (size_t i = 0; i < m->image_count; i++)
		if (is_image_of(&m->images[i], p))
			last = &m->images[i];
	return last;
}

/* Nobody asked for this look, and the process has succeeded or has become another program since. */
static bool is_over(const struct model *m, const struct image *image, const struct look_process *p)
{
	return p->is_quiet && image && !m->processes[image->process].is_running &&
	       ((image->end == TF_END_EXIT && !image->end_status) || image->end == TF_END_EXEC) &&
	       image->end_ticks > p->ticks;
}

/* Whether a thread has begun or ended a recorded call after the look and before a signal that came afterwards, but for
 * what the signal made it do while the launcher looked. */
static bool has_recorded_until(const struct model *m, const struct where_item *item, const struct trace_thread *t)
{
	const struct clock_map *clock = &m->machines[item->image->machine].clock;
	uint64_t from = item->process->ticks;
	uint64_t until = clock_map_tick_at(clock, clock_map_ns(clock, item->process->until_ticks) - WOKEN_NS);
	struct cursor c;
	struct event e;

	cursor_init(&c, item->image->trace, t);
	cursor_skip_to(&c, from);
	while (cursor_next(&c, &e)) {
		uint64_t start = e.ticks - e.duration;

		if ((start > from && start < until) || (e.ticks > from && e.ticks < until))
			return true;
	}
	return false;
}

/* Whether a thread is where the look found it: it is in a recorded call since before the look, or has recorded nothing
 * after it. */
static bool is_still(const struct model *m, const struct where_item *item, const struct trace_thread *t,
		     bool is_in_call, uint64_t start)
{
	uint64_t ticks = item->process->ticks;
	bool has_ended = t->page && t->page->end_ticks;

	if (item->process->until_ticks)
		return !has_recorded_until(m, item, t);
	return is_in_call ? start <= ticks : !has_ended && t->last_ticks <= ticks;
}

/* The call has lasted until the last sign of life of the process, which may have come long after the look. */
static void add_age_since(const struct model *m, struct where_item *item)
{
	uint64_t seen_ns = clock_map_ns(&m->machines[item->image->machine].clock, item->process->ticks);
	uint64_t end_ns = m->processes[item->image->process].end_ns;

	item->age_ns += end_ns > seen_ns ? end_ns - seen_ns : 0;
}

static void find_call(const struct model *m, struct where_item *item)
{
	const struct trace_thread *t = where_trace_thread(item->image, item->thread->head.tid);
	uint64_t start = 0, ticks = item->process->ticks, until = item->process->until_ticks;
	bool is_in_call = t && where_call_in_progress(item, t, &start);

	if (!t)
		return;
	item->since = is_still(m, item, t, is_in_call, start) ? WHERE_STILL : WHERE_WENT_ON;
	if (start > ticks || item->since == WHERE_WENT_ON)
		item->name = NULL;
	until = until > ticks ? until : ticks;
	item->has_age = item->name && until > start;
	if (item->has_age)
		item->age_ns = clock_map_duration(&m->machines[item->image->machine].clock, until - start);
	if (item->has_age && item->process->is_quiet && !item->process->until_ticks)
		add_age_since(m, item);
}

static struct where_item *new_item(struct where_place *p, const struct model *m, const struct look *l,
				   const struct look_process *process, const struct look_thread *thread,
				   const struct image *image)
{
	struct where_item *item = list_new(p, (struct where_item){.look = l,
								  .process = process,
								  .thread = thread,
								  .image = image,
								  .rank = image ? image_rank(image) : "",
								  .wait = {.call = ""}});

	find_call(m, item);
	return item;
}

static bool is_of_a_file(const struct where_frame *line)
{
	return line && line->line->file;
}

/* The last stack that the thread recorded; of a look, before the call that it is in. With a line if one of the last has
 * one: an interpreter that exits has stacks without its program's, and a sample that came as it changed its frames. */
static void read_last_stack(const struct where_place *p, const struct where_item *item, struct where_stack *ret)
{
	const struct trace_thread *t = where_trace_thread(item->image, item->thread->head.tid);
	struct where_item in = *item;
	struct where_stack earlier;
	uint64_t before = UINT64_MAX;
	uint32_t stack;

	if (item->is_recorded || !t || !where_call_in_progress(&in, t, &before))
		before = UINT64_MAX;
	stack = where_last_stack(item->image, t, before, &before);
	where_stack_done(ret);
	where_stack_recorded(p->symbols, item->image, stack, ret);
	for (unsigned tries = STACKS_BACK; stack && --tries && !is_of_a_file(where_stack_line(ret));) {
		stack = where_last_stack(item->image, t, before, &before);
		where_stack_recorded(p->symbols, item->image, stack, &earlier);
		if (is_of_a_file(where_stack_line(&earlier))) {
			where_stack_done(ret);
			*ret = earlier;
			return;
		}
		where_stack_done(&earlier);
	}
}

static bool has_line(const struct where_item *item)
{
	return is_of_a_file(where_item_line(item));
}

void where_item_on_gpu(struct where_item *item, const char *collective)
{
	item->on_gpu = collective;
	if (collective && !item->wait.collective)
		item->wait.collective = mem_copy_text(collective, strlen(collective));
}

void where_place_stack(const struct where_place *p, struct where_item *item)
{
	if (item->is_recorded) {
		read_last_stack(p, item, &item->stack);
		return;
	}
	where_stack_done(&item->stack);
	where_wait_done(&item->wait);
	where_stack_read(p->files, item->look, item->process, item->thread, &item->stack);
	where_wait_find(item->look, item->process, item->thread, &item->stack, item->name, &item->wait);
	where_item_on_gpu(item, item->on_gpu);
	if (item->image && item->wait.collective && !has_line(item))
		read_last_stack(p, item, &item->last);
}

/* A look that nobody asked for says nothing of a thread that has gone on since: its trace does. */
static struct where_item *new_item_now(struct where_place *p, const struct model *m, const struct look *l,
				       const struct look_process *process, const struct look_thread *thread,
				       const struct image *image)
{
	struct where_item *item = new_item(p, m, l, process, thread, image);

	if (process->is_recorded || (process->is_quiet && item->since == WHERE_WENT_ON))
		where_item_from_trace(item, m);
	return item;
}

static bool is_of_interest(const struct where_item *item)
{
	return item->wait.owner || item->wait.collective ||
	       (*item->rank && item->thread->head.tid == item->process->head.pid);
}

/* Without a recorded call, the stack tells which function waits. It tells that of PyTorch's c10d, in which ranks wait
 * for a condition variable. */
static bool is_told_by_stack(const struct where_item *item)
{
	const struct where_wait *w = &item->wait;
	bool is_rank = *item->rank && item->thread->head.tid == item->process->head.pid;

	if (!(item->thread->head.flags & TF_WHERE_IN_CALL) || item->is_recorded || item->since != WHERE_STILL)
		return false;
	return !w->owner && (!item->name || (is_rank && !w->collective && w->waits == WAITS_FUTEX)) &&
	       item->process->thread_count <= FEW_THREADS;
}

static void add_briefly(struct where_place *p, const struct model *m, const struct look *l,
			const struct look_process *process, const struct look_thread *thread,
			const struct image *image, bool is_wanted)
{
	struct where_item *item = new_item_now(p, m, l, process, thread, image);

	if (!item->is_recorded)
		where_wait_find(l, process, thread, &item->stack, item->name, &item->wait);
	if (is_told_by_stack(item))
		where_place_stack(p, item);
	if (is_wanted || is_of_interest(item))
		return;
	where_stack_done(&item->stack);
	where_stack_done(&item->last);
	where_wait_done(&item->wait);
	p->count--;
}

const struct where_frame *where_item_line(const struct where_item *item)
{
	struct where_stack outer = item->stack;
	const struct where_frame *line;

	for (size_t i = 0; item->wait.collective && i < item->stack.count; i++) {
		const char *function = item->stack.frames[i].line->function;

		if (!strcmp(function + (*function == 'P' || *function == 'p'), item->wait.collective) ||
		    !strcmp(function, item->wait.collective)) {
			outer.frames = item->stack.frames + i + 1;
			outer.count = item->stack.count - i - 1;
		}
	}
	line = where_stack_line(&outer);
	return line ? line : where_stack_line(&item->stack);
}

const struct where_frame *where_item_last_line(const struct where_item *item)
{
	const struct where_frame *line = has_line(item) ? NULL : where_stack_line(&item->last);

	return line && line->line->file ? line : NULL;
}

bool where_item_exits(const struct where_item *item)
{
	return array_find(frame, item->stack.frames, item->stack.count,
			  !frame->is_python && function_ends_program(frame->line->function)) != NULL;
}

bool where_cycle_is_process(const struct where_place *p, uint32_t cycle)
{
	return list_find(item, p, item->cycle == cycle && !item->wait.owner) != NULL;
}

bool where_cycle_is_proved(const struct where_place *p, uint32_t cycle)
{
	bool is_proved = false;

	list_each(const struct where_item, item, p) {
		if (item->cycle != cycle)
			continue;
		if (item->since != WHERE_STILL || item->wait.is_timed)
			return false;
		is_proved = true;
	}
	return is_proved;
}

/* Opens the looks, without the processes that are of no interest any more. */
static void looks_open(struct where_place *p, const struct model *m, uint64_t request, struct where_files *files)
{
	*p = (struct where_place){
		.model = m, .files = files ? files : where_files_new(), .borrows_files = files};
	p->looks = mem_alloc((m->where_count + 2) * sizeof(*p->looks)); /* with one of the traces */
	for (size_t i = 0; i < m->where_count; i++) {
		struct look *l = &p->looks[p->look_count];
		size_t kept = 0;

		if (!look_read(&m->wheres[i], request, l)) {
			look_done(l);
			continue;
		}
		for (size_t k = 0; k < l->count; k++) {
			if (is_over(m, image_of(m, &l->processes[k]), &l->processes[k]))
				look_process_done(&l->processes[k]);
			else
				l->processes[kept++] = l->processes[k];
		}
		l->count = kept;
		p->look_count++;
	}
}

static void add_threads(struct where_place *p, const struct model *m, bool is_brief)
{
	for (size_t i = 0; i < p->look_count; i++)
		for (size_t k = 0; k < p->looks[i].count; k++) {
			const struct look *l = &p->looks[i];
			const struct look_process *process = &l->processes[k];
			const struct image *image = image_of(m, process);
			bool is_wanted = is_brief && where_may_be_stuck(l, process);

			for (size_t n = 0; n < process->thread_count; n++) {
				if (is_brief)
					add_briefly(p, m, l, process, &process->threads[n], image, is_wanted);
				else
					where_place_stack(p, new_item_now(p, m, l, process, &process->threads[n],
									  image));
			}
		}
	where_find_stuck(p);
}

static void place_read(struct where_place *p, const struct model *m, struct symbols *symbols, uint64_t request,
		       bool is_brief)
{
	looks_open(p, m, request, NULL);
	if (is_brief || (symbols && symbols_skips_c_library(symbols)))
		where_files_skip_c_library(p->files);
	p->symbols = symbols;
	if (!request) {
		p->is_recorded = !p->look_count;
		where_look_from_traces(m, p->looks, p->look_count, is_brief, &p->looks[p->look_count]);
		p->look_count += p->looks[p->look_count].count > 0;
	}
	add_threads(p, m, is_brief);
}

void where_place_read(struct where_place *p, const struct model *m, struct symbols *symbols, uint64_t request)
{
	place_read(p, m, symbols, request, false);
}

void where_place_read_now(struct where_place *p, const struct model *m, struct symbols *symbols, uint64_t request,
			  struct where_files *files)
{
	looks_open(p, m, request, files);
	p->symbols = symbols;
	where_look_from_traces(m, p->looks, p->look_count, false, &p->looks[p->look_count]);
	p->look_count += p->looks[p->look_count].count > 0;
	for (size_t i = 0; i < p->look_count; i++)
		array_each(const struct look_process, process, p->looks[i].processes, p->looks[i].count) {
			const struct image *image = image_of(m, process);

			for (size_t n = 0; n < process->thread_count; n++)
				new_item_now(p, m, &p->looks[i], process, &process->threads[n], image);
		}
}

void where_place_read_briefly(struct where_place *p, const struct model *m, struct symbols *symbols)
{
	place_read(p, m, symbols, 0, true);
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].cycle)
			where_place_stack(p, &p->items[i]);
}

void where_place_done(struct where_place *p)
{
	for (size_t i = 0; i < p->count; i++) {
		where_stack_done(&p->items[i].stack);
		where_stack_done(&p->items[i].last);
		where_wait_done(&p->items[i].wait);
	}
	array_free(one, p->looks, p->look_count, look_done(one));
	free(p->items);
	if (p->files && !p->borrows_files)
		where_files_free(p->files);
	*p = (struct where_place){0};
}
