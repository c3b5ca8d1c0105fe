/* SPDX-License-Identifier: Apache-2.0 */
/* How the constructs of OpenMP are recorded, for the wrappers of libgomp (gomp.c) and for the tool of other run-time
 * libraries (ompt.c).
 *
 * A parallel region: openmp_region_begin() on the thread that encounters it; on each thread of the team
 * openmp_part_begin(), the outlined function, openmp_part_end(); then openmp_region_end(). A thread that has ended its
 * part waits until the region ends, but only the encountering thread learns when that is. The others find it in the
 * region when they begin their next part, and write then how long they waited, and how long they had nothing to do.
 *
 * Any thread; nothing takes a lock, and memory comes from mmap. A construct or wait that was begun while recording was
 * on is always ended, unless its thread ends first. */
#pragma once

#include "preload/hook/call.h"
#include "preload/openmp/hook_openmp.h"

/* Of one cache line, in a table that is never unmapped: a thread may look at a region that has ended, and whose place
 * has another one. */
struct openmp_region {
	uint32_t is_taken;
	uint32_t number; /* of the region among those of this place */
	uint32_t stack;	 /* of the encountering thread, or 0 */
	uint32_t ended;	 /* parts that have ended, and the sum of their ends in ticks since the start */
	uint64_t ends;
	uint64_t start_ticks, end_ticks; /* end_ticks 0: in progress */
	/* for gomp.c: the outlined function and its argument */
	void (*function)(void *);
	void *data;
} __attribute__((aligned(64)));

static inline bool openmp_is_on(void)
{
	return event_enabled(TF_GROUP_OPENMP) && hook_attached();
}

/* NULL: it is not recorded. `frame`: of the wrapper, whose caller the region's stack begins with. */
struct openmp_region *openmp_region_begin(uintptr_t frame);
void openmp_region_end(struct openmp_region *r);

/* Returns the time of the begin, which openmp_part_end() needs; 0: it is not recorded. */
uint64_t openmp_part_begin(struct openmp_region *r);
void openmp_part_end(struct openmp_region *r, uint64_t start_ticks);

/* Waits do not nest. `site`: a return address in the program's code; a long wait has its whole stack instead, from
 * `frame` on, unless that is 0. A wait of less than `least` ticks is not recorded. */
bool openmp_wait_begin(unsigned function, uintptr_t frame, const void *site);
void openmp_wait_end(uint64_t least);

/* Structured blocks: ended in reverse order; `site` is kept. An end without its begin has no effect. */
void openmp_block_begin(unsigned construct, const void *site);
void openmp_block_end(unsigned construct);

/* An explicit task runs, perhaps while the thread waits: then the wait is interrupted. `site`: in the task's code. */
struct openmp_task {
	uint64_t start_ticks; /* 0: not recorded */
	/* the wait that continues after it, as in openmp.c; 0: none */
	unsigned wait;
	uintptr_t frame;
	const void *site;
	struct openmp_region *region;
	uint32_t number, stack;
};
void openmp_task_begin(struct openmp_task *t);
void openmp_task_end(const struct openmp_task *t, const void *site);

/* ---- what a thread is in ---- */

enum { OPENMP_BLOCKS = 16, OPENMP_STARTED = 8, OPENMP_PARTS = 8, OPENMP_TASKS = 16 };

/* Mapped at the thread's first construct that is recorded. The counts may exceed the numbers above: what is further
 * inside is not recorded. */
struct openmp_thread {
	/* openmp.c. The region is that of the part that the thread ended last, while it waits for its end. */
	struct call wait;
	unsigned waits; /* the function, or 0 */
	const void *site;
	uint32_t number, stack;
	struct openmp_region *region;
	unsigned block_count;
	struct openmp_block {
		unsigned construct;
		const void *site;
		uint64_t start_ticks;
	} blocks[OPENMP_BLOCKS];

	/* gomp.c: regions between GOMP_parallel_start and GOMP_parallel_end */
	unsigned started_count;
	struct openmp_part {
		struct openmp_region *region;
		uint64_t start_ticks; /* 0: not recorded, or it has ended */
	} started[OPENMP_STARTED];

	/* ompt.c */
	unsigned part_count, task_count;
	bool is_waiting;
	struct openmp_part parts[OPENMP_PARTS];
	struct {
		const void *data;
		const void *site;
		struct openmp_task task;
	} tasks[OPENMP_TASKS];
};

/* Only a pointer: what an object has of thread-local memory must fit into what the loader keeps for objects that are
 * loaded under an auditor (--ld-audit). NULL: the thread has been in nothing yet. */
extern __thread struct openmp_thread *openmp_self __attribute__((tls_model("initial-exec"))) HIDDEN;

/* NULL: the thread does not record now, and has not before. */
__attribute__((noinline)) struct openmp_thread *openmp_thread_begin(void);
static inline struct openmp_thread *openmp_thread(void)
{
	return __builtin_expect(openmp_self != NULL, 1) ? openmp_self : openmp_thread_begin();
}

/* At the start, if the group is recorded. In the objects that have OpenMP. */
void openmp_init(void) __attribute__((weak)) HIDDEN;
