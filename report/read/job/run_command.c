/* SPDX-License-Identifier: Apache-2.0 */
#include "report/read/job/run_command.h"

#include "report/read/job/process_tree.h"

bool process_is_command(const struct model *m, const struct process *p)
{
	const struct run_record *r = model_run(m, &m->images[p->first_image]);

	return r ? r->pid == p->parent_pid : !process_parent(m, p);
}

const struct process *run_command_failed(const struct model *m)
{
	/* On another machine it is not known whether what has written no end still runs. */
	array_each(const struct process, p, m->processes, m->process_count)
		if (!p->is_running && process_is_command(m, p) &&
		    (p->has_status ? p->status != 0 : p->exit_status > 0 ||
		     (p->exit_status < 0 && m->machines[p->machine].is_this)))
			return p;
	return NULL;
}

const char *run_command_end(const struct model *m)
{
	const struct process *failed = run_command_failed(m);

	return failed ? failed->ended : m->process_count ? m->processes->ended : NULL;
}

bool run_has_several_ranks(const struct model *m)
{
	const char *rank = NULL;

	for (size_t i = 0; i < m->process_count; i++) {
		const char *its = m->processes[i].rank;

		if (rank && *its && strcmp(rank, its) != 0)
			return true;
		rank = *its ? its : rank;
	}
	return false;
}
