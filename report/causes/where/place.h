/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads of a job are: what the looks of a capture and the traces say of each, and which threads wait for
 * each other. `pillion where` and the summary show it. */
#pragma once

#include "report/causes/where/wait.h"
#include "report/events/stacks/lines.h"

/* Whether a thread was, at the end of its process or of what was recorded, where the look found it. */
enum where_since { WHERE_NOT_KNOWN, WHERE_STILL, WHERE_WENT_ON };

/* One thread, with what is known of it. */
struct where_item {
	const struct look *look;
	const struct look_process *process;
	const struct look_thread *thread;
	const struct image *image; /* NULL: not known */
	const char *rank;	   /* "": none */
	/* of the recorded call in progress, NULL: none; borrowed. Of nested calls the innermost one, unless the
	 * outermost one is a collective */
	const char *name;
	bool has_age;
	bool is_recorded; /* all that is known is in its trace, and the stack is the last one recorded */
	uint64_t age_ns; /* of that call */
	struct where_stack stack;
	struct where_stack last; /* of a call of MPI or NCCL whose `stack` has no line, the one recorded before it */
	struct where_wait wait;
	/* of a thread that waits for the GPU: the collective of NCCL in whose kernel that waits for other ranks; NULL:
	 * none; borrowed */
	const char *on_gpu;
	char waits_for[64]; /* ranks: "rank 1, 2"; "": not known */
	enum where_since since;
	uint32_t cycle; /* from 1; 0: none */
};

struct where_place {
	struct look *looks;
	size_t look_count;
	bool is_recorded; /* there are no looks but the one that the traces make */
	struct where_item *items;
	size_t count, capacity;
	size_t cycles;
	const struct model *model; /* borrowed */
	struct where_files *files;
	bool borrows_files;
	struct symbols *symbols; /* borrowed */
};

/* Reads the looks that answer `request`. 0: the last looks, and what the traces have of processes that nobody looked
 * into and that did not end by themselves. The caller frees it by where_place_done(). */
void where_place_read(struct where_place *p, const struct model *m, struct symbols *symbols, uint64_t request);

/* Likewise the threads of the looks that answer `request`, and of running processes that these lack; stacks by
 * where_place_stack. `files` are borrowed. */
void where_place_read_now(struct where_place *p, const struct model *m, struct symbols *symbols, uint64_t request,
			  struct where_files *files);

/* Likewise the last looks, but only threads that wait for another thread, and one thread of each rank; stacks only of
 * threads in a cycle, see where_place_stack: it is to be fast even where a job has thousands of threads. */
void where_place_read_briefly(struct where_place *p, const struct model *m, struct symbols *symbols);
/* The stack of an item that was read briefly. */
void where_place_stack(const struct where_place *p, struct where_item *item);
/* The thread waits for the GPU, which waits in that collective for other ranks. */
void where_item_on_gpu(struct where_item *item, const char *collective);
void where_place_done(struct where_place *p);

/* The program's line: of a thread in a collective the one that called it. NULL: not known. */
const struct where_frame *where_item_line(const struct where_item *item);
/* The one that the thread recorded last, where that has none. */
const struct where_frame *where_item_last_line(const struct where_item *item);

/* Whether the thread has called exit(), or its interpreter ends. */
bool where_item_exits(const struct where_item *item);

/* The position of a thread among the items; SIZE_MAX: there is none. */
size_t where_place_find(const struct where_place *p, const struct look_process *process, uint32_t tid);

/* Whether a cycle is proved: no wait ends by itself, and every thread is known to have remained in it. */
bool where_cycle_is_proved(const struct where_place *p, uint32_t cycle);

/* Whether a cycle is all threads of one or more processes. Each waits for one of the others, but it is not known for
 * which: nobody holds a semaphore. */
bool where_cycle_is_process(const struct where_place *p, uint32_t cycle);

/* Adds the time of calls of the operating system in progress to the lines where they were made; not with --by. */
void where_add_lines(const struct report_context *c, const struct lines_filter *filter, struct lines *l);

/* ---- place_ranks.c ---- */

/* Why no rank goes on. Not proved: LATE: some ranks are in a collective, others have not come, and may come;
 * IN_CALLS: all are in calls, none of which has ended. Proved: MISSING: some ranks are in a collective, others are in
 * MPI_Finalize or have ended. MISMATCH: all are in collectives, which differ. NOBODY_SENDS: all receive.
 * NOBODY_RECEIVES: all send. EACH_OTHER: some wait for each other. */
enum where_stall {
	WHERE_NO_STALL,
	WHERE_LATE,
	WHERE_IN_CALLS,
	WHERE_MISSING,
	WHERE_MISMATCH,
	WHERE_NOBODY_SENDS,
	WHERE_NOBODY_RECEIVES,
	WHERE_EACH_OTHER
};

/* A rank that has been in one call for this long does not merely wait for the next message. */
#define STALLED_NS 1000000000u

struct where_ranks {
	enum where_stall stall;
	size_t count, in;	/* ranks, and those in a collective or message; of those of a proof, if there is one */
	bool knows_needed;	/* for which of those that are late the others wait */
	const char *name;	/* of that call; borrowed */
	uint64_t least_ns;	/* how long every rank in it has been there; 0: not known */
	/* one of each rank that is late or missing or, with another stall, of each rank; borrowed */
	struct where_item **items;
	size_t item_count;
};

/* The caller frees it by where_ranks_done(). */
void where_ranks_find(const struct where_place *p, struct where_ranks *ret);
void where_ranks_done(struct where_ranks *r);

/* ---- place_nccl.c, for place_ranks.c ---- */

/* Sets the collective in which items wait that are in a call which waits for the GPU: one that another rank has not
 * called, or not the same one. NULL: an item that is not known, or is in a collective already. */
void where_nccl_find(const struct where_place *p, struct where_item **items, size_t count);

/* ---- waker.c, for place.c ---- */

/* Whether all threads of a process are blocked without a time limit in calls that other threads or processes can end,
 * and no signal handler can wake them. */
bool where_may_be_stuck(const struct look *l, const struct look_process *p);
/* Makes a cycle of threads that wait for each other, and that nothing else can wake. */
void where_find_stuck(struct where_place *p);

/* ---- place_trace.c, for place.c ---- */

/* The thread of an image; NULL: it has recorded nothing. */
const struct trace_thread *where_trace_thread(const struct image *image, uint32_t tid);
/* Sets the name of the call in progress. False: there is none. */
bool where_call_in_progress(struct where_item *item, const struct trace_thread *thread, uint64_t *ret_start);
/* Replaces what is known of a thread by what its trace has. */
void where_item_from_trace(struct where_item *item, const struct model *m);
/* The last stack that the thread recorded of what began before that tick, and when; 0: none. */
uint32_t where_last_stack(const struct image *image, const struct trace_thread *thread, uint64_t before,
			  uint64_t *ret_start);
void where_stack_recorded(struct symbols *symbols, const struct image *image, uint32_t stack, struct where_stack *ret);
/* A look that has the processes of the model which none of the looks has and which did not end by themselves.
 * `ranks_only`: only ranks. The caller frees it by look_done(). */
void where_look_from_traces(const struct model *m, const struct look *looks, size_t count, bool ranks_only,
			    struct look *ret);
