/* SPDX-License-Identifier: Apache-2.0 */
/* Calls in which threads were when their process ended: they took no stack, but who looked into the process did. */
#include "report/causes/where/place.h"

static void add_call(const struct model *m, const struct where_item *item, struct lines *l)
{
	const struct where_frame *frame = where_item_line(item);
	const struct trace_thread *thread =
		item->image ? where_trace_thread(item->image, item->thread->head.tid) : NULL;
	const struct function *f;
	struct line_values *values;
	uint64_t start, start_ns, end_ns, seen_ns;
	uint32_t function;

	if (!frame || !frame->line->file || item->is_recorded || item->since == WHERE_WENT_ON || !thread ||
	    !thread_current(thread, &function, &start))
		return;
	f = trace_function(item->image->trace, function);
	start_ns = clock_map_ns(&m->machines[item->image->machine].clock, start);
	end_ns = m->processes[item->image->process].end_ns;
	/* The look may be the last sign of life of a process that was killed. */
	seen_ns = clock_map_ns(&m->machines[item->image->machine].clock, item->process->ticks);
	end_ns = end_ns > seen_ns ? end_ns : seen_ns;
	if (!f || f->group != TF_GROUP_OSRT || end_ns <= start_ns)
		return;
	values = lines_values_of(l, frame->line);
	values->of[LINE_TOTAL] += end_ns - start_ns;
	values->of[LINE_OS] += end_ns - start_ns;
	values->of[LINE_OFF_CPU] += end_ns - start_ns;
	values->of[LINE_CALLS]++;
	l->has_stacks = true;
}

void where_add_lines(const struct report_context *c, const struct lines_filter *filter, struct lines *l)
{
	const struct model *m = c->model;
	SCOPED(where_place) place = {0};

	if (c->by != BY_NOTHING || c->share ||
	    !array_find(image, m->images, m->image_count, image->end == TF_END_NONE && image->trace))
		return;
	where_place_read(&place, m, c->symbols, 0);
	list_each(const struct where_item, item, &place)
		if (!filter || (item->image && filter->is_wanted(filter->more, item->image, item->thread->head.tid)))
			add_call(m, item, l);
}
