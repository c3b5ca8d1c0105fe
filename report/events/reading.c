/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/reading.h"

#include "report/events/host_time.h"

struct chunk_reading {
	const struct trace *trace;
	uint64_t from, to, ns;
};

static void add_input(void *context, const struct host_span *span)
{
	struct chunk_reading *r = context;
	const struct function *f = trace_function(r->trace, span->function);
	uint64_t start = span->start > r->from ? span->start : r->from, end = span->end < r->to ? span->end : r->to;

	if (f && f->kind.does & FUNCTION_INPUT && end > start)
		r->ns += end - start;
}

bool reading_by_another(const struct model *m, size_t process, uint64_t from, uint64_t to)
{
	array_each(const struct image, image, m->images, m->image_count) {
		const struct process *p = &m->processes[image->process];
		bool is_wanted = image->process == process || p->parent == process;

		if (!image->trace || !is_wanted || p->start_ns >= to || p->end_ns <= from)
			continue;
		for (size_t k = 0; k < image->trace->thread_count; k++) {
			struct chunk_reading r = {image->trace, from, to, 0};

			host_time(m, image, &image->trace->threads[k], from, to, &r, add_input);
			if (r.ns * 2 >= to - from)
				return true;
		}
	}
	return false;
}
