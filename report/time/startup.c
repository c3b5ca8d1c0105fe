/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/startup.h"

/* The end of a process may be noticed later than what waited for it went on. */
enum { LATE_NS = 100000000 };

/* When a process executed the last program that took longer, with those after it, than all before: a script of a job
 * may execute its last command, and what it ran before is the work. 0: there is none. */
static uint64_t startup_end_ns(const struct model *m, const struct process *p)
{
	uint64_t ret = 0;

	for (size_t i = 1; i < p->image_count; i++) {
		const struct image *image = &m->images[p->first_image + i];
		uint64_t executed_ns = clock_map_ns(&m->machines[p->machine].clock, image->start_ticks);

		if (executed_ns - p->start_ns < p->end_ns - executed_ns && executed_ns < p->end_ns)
			ret = executed_ns;
	}
	return ret;
}

static bool is_of_startup(const struct model *m, const struct process *p, const struct process *parent)
{
	uint64_t executed_ns = startup_end_ns(m, parent);

	return executed_ns && p->start_ns < executed_ns && p->end_ns < executed_ns + LATE_NS;
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
