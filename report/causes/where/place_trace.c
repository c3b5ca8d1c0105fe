/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads are according to their traces: of processes that nobody looked into before they were killed. */
#include <stdio.h>
#include <string.h>

#include "report/causes/where/place.h"
#include "report/names/symbol.h"
#include "report/names/symbol_module.h"

/* BACK_TICKS: some 100 ms. */
enum { FRAMES = 64, BACK_TICKS = 1 << 28, BACK_STEP = 16 };

bool where_call_in_progress(struct where_item *item, const struct trace_thread *thread, uint64_t *ret_start)
{
	const struct function *f;
	uint64_t start;
	uint32_t id;

	if (!thread_current(thread, &id, ret_start))
		return false;
	f = trace_function(item->image->trace, id);
	item->name = f ? f->name : NULL;
	if (!thread_outer(thread, &id, &start))
		return true;
	f = trace_function(item->image->trace, id);
	if (f && (function_of_ranks(f->name) || f->kind.cuda & CUDA_SYNCHRONIZE)) {
		item->name = f->name;
		*ret_start = start;
	}
	return true;
}

static bool is_sleep(const char *name)
{
	return function_kind_of(name, TF_GROUP_OSRT).waits == BLOCKED_SLEEP;
}

void where_item_from_trace(struct where_item *item, const struct model *m)
{
	const struct trace_thread *t = where_trace_thread(item->image, item->thread->head.tid);
	uint64_t start, start_ns;

	item->is_recorded = true;
	item->has_age = false;
	item->name = NULL;
	item->since = WHERE_STILL;
	if (!t || (t->page && t->page->end_ticks)) {
		item->since = WHERE_WENT_ON;
		where_wait_recorded(NULL, &item->wait);
		buffer_text(&item->wait.text, t ? "has ended since" : "its trace has nothing");
		return;
	}
	if (where_call_in_progress(item, t, &start)) {
		start_ns = clock_map_ns(&m->machines[item->image->machine].clock, start);
		item->has_age = m->processes[item->image->process].end_ns > start_ns;
		item->age_ns = item->has_age ? m->processes[item->image->process].end_ns - start_ns : 0;
	}
	where_wait_recorded(item->name, &item->wait);
	if (!item->name)
		buffer_text(&item->wait.text, "in no recorded call");
	else if (is_sleep(item->name))
		buffer_text(&item->wait.text, "sleeps");
}

static uint32_t last_stack_since(const struct image *image, const struct trace_thread *thread, uint64_t since,
				 uint64_t before, uint64_t *ret_start)
{
	uint32_t last = 0;
	struct cursor c;
	struct event e;

	cursor_init(&c, image->trace, thread);
	cursor_skip_to(&c, since);
	while (cursor_next(&c, &e)) {
		uint64_t arg = e.kind == TF_CALL || e.kind == TF_SAMPLE ? event_arg(&e, TF_ARG_STACK) : 0;

		if (!arg || event_start(&e) >= before)
			continue;
		last = (uint32_t)tf_arg_value(arg);
		*ret_start = event_start(&e);
	}
	return last;
}

/* Looks back by ever larger steps: the trace may be long, and its last chunks without a stack; one that has just begun
 * has none yet. */
uint32_t where_last_stack(const struct image *image, const struct trace_thread *thread, uint64_t before,
			  uint64_t *ret_start)
{
	uint64_t end;
	uint32_t last = 0;

	if (!thread)
		return 0;
	end = before < thread->last_ticks ? before : thread->last_ticks;
	last = last_stack_since(image, thread, end, before, ret_start);
	for (uint64_t back = BACK_TICKS; !last && back < end; back *= BACK_STEP)
		last = last_stack_since(image, thread, end - back, before, ret_start);
	if (!last)
		last = last_stack_since(image, thread, 0, before, ret_start);
	return last;
}

void where_stack_recorded(struct symbols *symbols, const struct image *image, uint32_t stack, struct where_stack *ret)
{
	struct symbol_frame frames[FRAMES];
	size_t count = stack && symbols ? symbols_frames(symbols, image, stack, frames, FRAMES) : 0;

	*ret = (struct where_stack){.is_complete = true};
	for (size_t i = 0; i < count; i++) {
		if (frames[i].place == SYMBOL_NO_PLACE)
			continue;
		mem_append(ret->frames, ret->count, ret->capacity, (struct where_frame){
					       .line = frames[i].exact,
					       .is_named = true,
					       .path = frames[i].module ? frames[i].module : "",
					       .is_python = frames[i].is_python,
					       .is_hidden = frames[i].is_interpreter ||
							    (!frames[i].is_python && frames[i].module &&
							     module_is_interpreter(frames[i].module)),
				       });
	}
}

/* ---- processes without a look ---- */

static bool has_process(const struct look *looks, size_t count, const struct image *image)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < looks[i].count; k++)
			if (looks[i].processes[k].run == image->run && looks[i].processes[k].head.pid == image->pid)
				return true;
	return false;
}

static void add_process(struct look *l, const struct model *m, const struct image *image)
{
	struct look_process *p;

	p = mem_new(l->processes, l->count, l->capacity, (struct look_process){
		.head = {.pid = image->pid, .start = image->process_start},
		.run = image->run,
		.ticks = image_last_ticks(image),
		.realtime_ns = m->processes[image->process].end_ns,
		.is_recorded = true});
	p->executable = mem_copy_text(image->executable, strlen(image->executable));
	p->sockets = mem_copy_text("", 0);
	p->threads = mem_alloc((image->trace->thread_count + 1) * sizeof(*p->threads));
	array_each(const struct trace_thread, t, image->trace->threads, image->trace->thread_count) {
		struct look_thread *thread = &p->threads[p->thread_count];

		if ((t->page && t->page->end_ticks) || where_trace_thread(image, t->tid) != t)
			continue;
		*thread = (struct look_thread){.head = {.tid = t->tid}};
		snprintf(thread->name, sizeof(thread->name), "%s", t->name);
		p->thread_count++;
	}
	l->begin.realtime_ns = larger_of(l->begin.realtime_ns, p->realtime_ns);
}

void where_look_from_traces(const struct model *m, const struct look *looks, size_t count, bool ranks_only,
			    struct look *ret)
{
	*ret = (struct look){.is_complete = true};
	array_each(const struct process, p, m->processes, m->process_count) {
		const struct image *image = &m->images[p->first_image + p->image_count - 1];

		if (image->end != TF_END_NONE || !image->trace || !image->trace->thread_count ||
		    image->via == TF_VIA_OBSERVED || (ranks_only && !*image_rank(image)) ||
		    has_process(looks, count, image))
			continue;
		add_process(ret, m, image);
	}
}

const struct trace_thread *where_trace_thread(const struct image *image, uint32_t tid)
{
	const struct trace_thread *found = NULL;

	for (size_t i = 0; image && image->trace && i < image->trace->thread_count; i++)
		if (image->trace->threads[i].tid == tid)
			found = &image->trace->threads[i];
	return found;
}
