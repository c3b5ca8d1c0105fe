/* SPDX-License-Identifier: Apache-2.0 */
/* How long ranks of an MPI job waited for each other, and for whom. The calls of one rank are matched with those of the
 * others by MPI's rules of order: the n-th send from a to b with a tag is received by the n-th receive of b from a with
 * that tag; the n-th call of a collective function is the same collective in all ranks.
 *
 * Communicators are known by numbers that are the same in all their ranks; one that some of its ranks did not use is
 * not matched, nor are intercommunicators. Only ranks whose calls were all recorded since MPI_Init are matched. What a
 * rank receives cannot be told after a receive from any source or with any tag without a status, a matched probe, or a
 * persistent request: its messages are no longer matched from there on, and those of others are. */
#pragma once

#include "report/read/job/model.h"

enum mpi_wait_kind {
	MPI_LATE_SENDER,   /* a receive, or the wait for it, began before the send */
	MPI_LATE_RECEIVER, /* a blocking send began before the receive and lasted until then */
	MPI_LATE_IN_COLLECTIVE,
	MPI_WAIT_KINDS
};

/* A call of one rank. */
struct mpi_side {
	const struct image *image;
	const struct trace_thread *thread;
	uint32_t rank, function, stack; /* stack 0: not taken */
	uint64_t start_ns, end_ns;	/* CLOCK_REALTIME */
	bool is_shown;			/* by the filter */
};

struct mpi_wait {
	enum mpi_wait_kind kind;
	struct mpi_side waiting, late; /* of a collective: the last rank to arrive of those that had to */
	uint64_t ns;		       /* until the late one began, at most until the end of the waiting call */
	bool is_meeting;	       /* of a collective in which `waiting` waits for all, see mpi_visit_meeting */
};

/* A collective: the calls of all ranks, of which all wait for each other, or only the `only`-th one for all; SIZE_MAX:
 * all. */
typedef void mpi_visit_meeting(void *context, const struct mpi_side *sides, size_t count, size_t only);

/* A call of which the calls of other ranks tell for whom it waits. */
typedef void mpi_visit_known(void *context, const struct mpi_side *side);

struct mpi_wait_counts {
	size_t jobs, ranks; /* that were matched */
	const char *reason; /* why there are none, or fewer than there could be; NULL: all were matched */
	uint64_t collectives, messages;
};

/* Calls visit for each wait that passes the filter; meet for each collective and known for each call of which it is
 * known for whom it waits (both may be NULL). Memory grows with the number of ranks and of messages under way. */
void mpi_waits(const struct model *m, void *context, void (*visit)(void *context, const struct mpi_wait *wait),
	       mpi_visit_meeting *meet, mpi_visit_known *known, struct mpi_wait_counts *ret);

/* ---- for mpi_*.c ---- */

/* Images that make one job: those of the same step, one for each rank. */
struct mpi_job {
	const struct image **ranks; /* by number */
	uint32_t *ranges; /* by rank: the capture range that contains MPI_Init */
	size_t count;
};

/* The jobs of which all ranks are known; `ret_job_of`: by image, its job + 1, 0: none. The caller frees both with
 * mpi_jobs_done. */
struct mpi_jobs {
	struct mpi_job *items;
	size_t count, capacity;
	uint32_t *job_of, *rank_of; /* by image; job_of: its job + 1, or 0 */
	const char *reason;
};
void mpi_jobs_find(const struct model *m, struct mpi_jobs *ret);
void mpi_jobs_done(struct mpi_jobs *j);

/* Whether nothing of a trace is missing. */
bool mpi_is_whole(const struct trace *t);

/* MPI_PROC_NULL, which is -2 in Open MPI and -1 in MPICH, where MPI_ANY_SOURCE is the other one; 0: not known. Told by
 * the variables with which mpirun starts a rank. */
int64_t mpi_proc_null(const struct image *image);
