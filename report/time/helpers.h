/* SPDX-License-Identifier: Apache-2.0 */
/* What does no work of the job's own. Threads that wait nearly all their life for work (pools of OpenBLAS and OpenMP,
 * watchdogs, resource trackers, supervisors), and daemons and threads of MPI libraries are idle helpers; shells and
 * wrappers that only wait for a child, and processes of start-up scripts are shims. Both are recognised by what they
 * do. */
#pragma once

#include "report/time/partition.h"

struct helpers {
	size_t root;	  /* the job's first program that is no shim, in the model */
	uint8_t *is_shim; /* by process */
	uint8_t *is_idle; /* by thread of the partition; main threads only if all threads of their process are */
};

/* The partition has calls. */
void helpers_find(const struct report_context *c, const struct partition *p, struct helpers *ret);
void helpers_done(struct helpers *h);

/* Whether a thread of the partition is one of those, or of what a process did before it executed its program. */
bool helpers_have(const struct helpers *h, const struct partition *p, size_t thread);

/* Whether the process continues the program of the one that started it. */
bool helpers_is_forked(const struct model *m, const struct process *p);
