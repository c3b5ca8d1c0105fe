/* SPDX-License-Identifier: Apache-2.0 */
#include "report/read/job/process_tree.h"

void process_tree_find(struct model *m)
{
	map_done(&m->process_by_pid);
	for (size_t i = 0; i < m->process_count; i++) {
		struct process *p = &m->processes[i];
		const uint64_t *parent = map_find(&m->process_by_pid, p->parent_pid, p->machine);
		uint64_t *place;

		p->parent = parent ? (size_t)*parent - 1 : SIZE_MAX;
		if (parent)
			m->processes[p->parent].children++;
		place = map_put(&m->process_by_pid, p->pid, p->machine, NULL);
		p->earlier = (size_t)*place - 1;
		*place = i + 1;
	}
}

size_t process_tree_at(const struct model *m, size_t machine, uint64_t pid, uint64_t ns)
{
	const uint64_t *last = map_find(&m->process_by_pid, pid, machine);
	size_t process = last ? (size_t)*last - 1 : SIZE_MAX;

	while (process != SIZE_MAX && model_since_origin(m, m->processes[process].start_ns) >= ns)
		process = m->processes[process].earlier;
	return process;
}
