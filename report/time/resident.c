/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/resident.h"

#include <stdlib.h>
#include <string.h>

COMPARATOR(compare_points, struct resident_point,
	   order_of(a->machine, b->machine) ?: order_of(a->pid, b->pid) ?: order_of(a->process_start, b->process_start)
	   ?: order_of(a->ns, b->ns))

/* A process that is ending has given its memory back. */
static bool has_memory(const struct tf_usage_sample *s)
{
	return s->kind == TF_USAGE_PROCESS && s->resident_kb;
}

static struct resident_point point_of(const struct model *m, const struct usage_samples *u,
				      const struct tf_usage_sample *s)
{
	struct resident_point p = {
		.pid = s->pid,
		.process_start = s->process_start,
		.ns = clock_map_ns(&m->machines[u->machine].clock, s->ticks),
		.kb = s->resident_kb,
		.machine = u->machine,
	};

	memcpy(p.name, s->name, sizeof(s->name));
	return p;
}

struct resident_point *resident_points(const struct model *m, size_t *ret_count)
{
	struct resident_point *points = NULL;
	size_t capacity = 0;

	*ret_count = 0;
	array_each(const struct usage_samples, u, m->usages, m->usage_count) {
		for (size_t k = 0; k < u->count; k++) {
			if (!has_memory(&u->items[k]))
				continue;
			points = mem_grow(points, *ret_count, &capacity, sizeof(*points));
			points[(*ret_count)++] = point_of(m, u, &u->items[k]);
		}
	}
	if (points)
		qsort(points, *ret_count, sizeof(*points), compare_points);
	return points;
}

size_t resident_end(const struct resident_point *points, size_t count, size_t from)
{
	size_t to = from + 1;

	while (to < count && points[to].machine == points[from].machine && points[to].pid == points[from].pid &&
	       points[to].process_start == points[from].process_start)
		to++;
	return to;
}

/* Of a forked process only a bound of its start is known: it has the samples after it began. */
static bool is_of(const struct model *m, const struct image *image, const struct tf_usage_sample *s, uint64_t ns)
{
	if (s->pid != image->pid)
		return false;
	return image->start_is_bound ? s->process_start <= image->process_start &&
					       ns >= m->processes[image->process].start_ns
				     : s->process_start == image->process_start;
}

void resident_of(const struct model *m, const struct image *image, void *context,
		 void (*visit)(void *context, uint64_t bytes, uint64_t ns))
{
	array_each(const struct usage_samples, u, m->usages, m->usage_count) {
		for (size_t k = 0; u->machine == image->machine && k < u->count; k++) {
			const struct tf_usage_sample *s = &u->items[k];
			uint64_t ns = clock_map_ns(&m->machines[u->machine].clock, s->ticks);

			if (has_memory(s) && is_of(m, image, s, ns))
				visit(context, (uint64_t)s->resident_kb * 1024, ns);
		}
	}
}
