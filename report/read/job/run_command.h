/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are the commands of a run, and how it ended. */
#pragma once

#include "report/read/job/model.h"

/* Whether a launcher started it; without a launcher, whether nothing that is recorded did. */
bool process_is_command(const struct model *m, const struct process *p);

/* The first COMMAND that failed; NULL: none has. */
const struct process *run_command_failed(const struct model *m);

/* How the run ended: as the first COMMAND that failed, if any, else as the first process. NULL: there is no process. */
const char *run_command_end(const struct model *m);

bool run_has_several_ranks(const struct model *m);
