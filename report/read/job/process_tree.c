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

bool process_is_command(const struct model *m, const struct process *p)
{
	const struct run_record *r = model_run(m, &m->images[p->first_image]);

	return r ? r->pid == p->parent_pid : !process_parent(m, p);
}

const char *process_tree_end(const struct model *m)
{
	/* On another machine it is not known whether what has written no end still runs. */
	array_each(const struct process, p, m->processes, m->process_count)
		if (!p->is_running && process_is_command(m, p) &&
		    (p->has_status ? p->status != 0 : p->exit_status > 0 ||
		     (p->exit_status < 0 && m->machines[p->machine].is_this)))
			return p->ended;
	return m->process_count ? m->processes->ended : NULL;
}
