/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/startup.h"

/* The end of a process may be noticed later than what waited for it went on. */
enum { LATE_NS = 100000000 };

static bool is_of_startup(const struct model *m, const struct process *p, const struct process *parent)
{
	const struct image *last = &m->images[parent->first_image + parent->image_count - 1];
	uint64_t executed_ns = clock_map_ns(&m->machines[p->machine].clock, last->start_ticks);

	return parent->image_count > 1 && p->start_ns < executed_ns && p->end_ns < executed_ns + LATE_NS;
}

/* Processes are in the order of their starts, so that parents come before their children. */
uint8_t *startup_find(const struct model *m)
{
	uint8_t *ret = mem_alloc(m->process_count + 1);

	for (size_t i = 0; i < m->process_count; i++) {
		size_t parent = m->processes[i].parent;

		if (parent < i)
			ret[i] = ret[parent] || is_of_startup(m, &m->processes[i], &m->processes[parent]);
	}
	return ret;
}
