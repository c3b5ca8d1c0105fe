/* SPDX-License-Identifier: Apache-2.0 */
/* Which process started which. A PID is used again: the parent of a process is the last one of that PID, on its
 * machine, that had started before. */
#pragma once

#include "report/read/job/model.h"

/* Sets `parent`, `children` and `earlier` of each process, which are in the order of their start. */
void process_tree_find(struct model *m);

/* The process with that PID that had started before that time since the start of the run. SIZE_MAX: none. */
size_t process_tree_at(const struct model *m, size_t machine, uint64_t pid, uint64_t ns);

/* NULL: the parent is not recorded. */
static inline const struct process *process_parent(const struct model *m, const struct process *p)
{
	return p->parent != SIZE_MAX ? &m->processes[p->parent] : NULL;
}
