/* SPDX-License-Identifier: Apache-2.0 */
/* Why ranks wait for each other: delay analysis, as Scalasca calls it. A wait lasts until another rank arrives. The
 * path that leads to that arrival is followed back to the last time at which all of them were at the same place: over
 * what the late rank did itself, and from its own waits to the rank for which it waited. What the rank that waits did
 * in the same span, followed in the same way, is subtracted. The difference is exactly the wait; it belongs to the
 * calls and the lines of code that the late ranks spent more time in. */
#pragma once

#include "report/base/interner.h"
#include "report/causes/causes.h"
#include "report/causes/mpi/mpi_wait.h"
#include "report/time/blocked.h"

enum rank_cause_kind {
	RANK_CANNOT_TELL, /* nothing explains RANK_CAUSE_PERCENT of the wait */
	RANK_CALLS,	  /* calls of the operating system or a device's library: `waits` says what they do */
	RANK_COMPUTES,	  /* by CPU samples */
	RANK_WANTS_CPU,	  /* runnable, while others had its CPU */
	RANK_MESSAGES,	  /* calls of MPI that waited for nobody */
	RANK_DEVICE,	  /* a kernel or a copy */
	RANK_GIL,	  /* waits for the lock of Python's interpreter */
	RANK_GC,	  /* Python's garbage collection */
	RANK_OPENMP,	  /* its threads of OpenMP wait for each other */
	RANK_CAUSE_KINDS
};
extern const char *const rank_cause_kinds[RANK_CAUSE_KINDS];

enum rank_set_kind { RANKS_ONE, RANKS_SOME, RANKS_OF_HOST, RANKS_EVERY_SECOND, RANKS_IN_TURN };

/* Whether CPU samples tell it. */
static inline bool rank_cause_is_sampled(enum rank_cause_kind kind)
{
	return kind == RANK_COMPUTES || kind == RANK_GC || kind == RANK_OPENMP;
}

/* A cause has to explain so much of a wait. */
enum { RANK_CAUSE_PERCENT = 80 };

/* All waits of one call in one line. */
struct rank_cause {
	enum rank_cause_kind kind;
	enum blocked_kind waits;	    /* of RANK_CALLS */
	const char *wait_name;		    /* of the call that waits; "": not known. Texts are borrowed */
	const struct code_line *wait_line;  /* likewise; NULL: not known */
	const char *name;		    /* of the call, the kernel; "": none */
	const struct code_line *line;	    /* of the cause; NULL: not known */
	char *ranks;			    /* "rank 2", "ranks 2 and 3". Owned */
	char *parts;			    /* of RANK_CANNOT_TELL: what explains which part of the wait. Owned */
	enum rank_set_kind set;
	size_t process;			    /* of the first rank of the set */
	uint64_t wait_ns, count;	    /* the time that all ranks waited, and how often */
	size_t waiting;			    /* the ranks that waited, without those that hardly did; at least 1 */
	uint64_t cause_ns;		    /* what the cause explains of it */
	uint64_t idle_ns; /* of RANK_CANNOT_TELL: how long late ranks had no CPU, as far as samples tell */
	uint64_t faults; /* of RANK_COMPUTES: page faults of the late ranks beyond those of a typical one, if many */
	bool is_collective;		    /* the call that waits */
};

struct rank_causes {
	struct rank_cause *items; /* the longest wait first */
	size_t count, capacity;
	size_t ranks;		 /* that were matched */
	uint64_t meetings;	 /* matched: collectives and messages */
	uint64_t span_ns;	 /* from the start of the first wait to the end of the last one */
	const char *reason;	 /* why none were; NULL: they were */
	struct interner texts;	 /* that the items borrow */
};

/* causes: NULL: they are found where they are needed. */
void rank_causes_find(const struct report_context *c, struct causality *causes, struct rank_causes *ret);
void rank_causes_done(struct rank_causes *r);
