/* SPDX-License-Identifier: Apache-2.0 */
/* The line of the summary about the death that ended the run. */
#pragma once

#include "report/answers/rule.h"
#include "report/answers/summary/exception.h"
#include "report/causes/where/place.h"

/* The death that others followed from. */
struct died {
	const struct process *process; /* NULL: the run did not fail, or was told to end */
	int signal;		       /* 0: it exited */
	bool has_ranks;		       /* several */
	bool is_of_ranks;	       /* others follow from it: there are several ranks, or it is that of a worker */
	struct exception exception;    /* that it ended by */
	const struct process *lost;    /* a worker, whose end the exception speaks of; NULL: none */
	const struct run_record *oom;	       /* whose processes the kernel killed for memory; NULL: none */
};

/* The first process that crashed or raised an exception that nothing caught, or the first COMMAND or rank that failed
 * without having been told to end by a signal to its launcher; before these a rank in MPI_Abort. The caller frees it by
 * summary_died_done(). */
void summary_died_find(const struct model *m, struct died *ret);
void summary_died_done(struct died *d);

/* Whether somebody ended the process, where ranks or threads have stood still before, is_proved: for ever: by a signal,
 * or it ended in a call. */
bool summary_was_ended(const struct model *m, const struct died *d, bool is_proved);

/* Whether it is worth a line: with one rank, a failure that is no crash is in the summary's first line. */
bool summary_has_died(const struct died *d);

/* A line that begins with OUT OF MEMORY; nothing if the kernel killed nothing for memory. */
void summary_oom(const struct model *m, const struct died *d, struct buffer *out);

/* A line that begins with CRASH or, with several ranks or workers, DIED FIRST; nothing if there is none. */
void summary_died(struct rules *r, const struct died *d, const struct where_place *place, struct buffer *out);

/* Of the workers of a process that failed the first one, whose end is why it has raised the exception; NULL: why it
 * fails, or waits for ever. Then it is one that a signal ended, but SIGTERM, which the others get. Returns NULL if
 * there is none. */
const struct process *summary_lost_worker(const struct model *m, const struct process *master,
					  const struct exception *e);
