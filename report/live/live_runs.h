/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of this machine that have not ended, and their processes: from /proc, from outside, without asking anybody.
 * A launcher is found by the range file that it maps, a process by PILLION_RUN in its environment, or else by its
 * nearest ancestor that has it. What the kernel does not let us read, such as processes of other users, is left out. */
#pragma once

#include "report/base/util.h"
#include "runtime/shared/format/trace_format.h"

struct live_process {
	uint32_t pid, parent_pid;
	uint64_t start; /* field 22 of /proc/PID/stat: with pid, identifies it */
	char *command;	/* its arguments; the kernel's name of it in brackets if it has none */
	char *rank;	/* "": it is not one of several ranks */
	char *job;	/* SLURM_JOB_ID, "": none */
};

struct live_run {
	uint64_t id;	    /* as PILLION_RUN and the names of its files have it */
	uint32_t launcher;  /* PID of pillion-launch; 0: it has ended, or there was none */
	uint32_t user;	    /* the owner of its processes */
	char *capture;	    /* absolute path */
	char *directory;    /* that its range file is in: the capture, or its spool */
	char *host;	    /* as the names of its files have it; "": it has no range file */
	char *command;	    /* that of its first process */
	const char *rank;   /* of its first process */
	bool is_recording;  /* false where no range is open */
	uint32_t range;	    /* the number of the open range, from 1; 0: none is open, or the run has no ranges */
	uint32_t ranges;    /* ranges begun so far */
	struct live_process *processes; /* by start, then by PID; without the launcher */
	size_t process_count, process_capacity;
};

struct live_runs {
	struct live_run *items; /* by capture, then by PID of the launcher */
	size_t count, capacity;
};

/* `target`: NULL: the runs of the calling user; a capture, as model_find() takes it; the PID of a process or of a
 * launcher; or slurm:JOBID. Finding none is no failure. -errno if a capture of that name cannot be read. */
int live_find(const char *target, struct live_runs *ret, struct err *err);
void live_done(struct live_runs *l);

/* For a verb whose operand may be left out: the runs of the target; without one, the only capture that has live runs.
 * -ENOENT if there is none, -EINVAL if there are several; `err` then lists the captures that there are. */
int live_find_one(const char *target, struct live_runs *ret, struct err *err);
