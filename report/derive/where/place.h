/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads of a job are: what the looks of a capture and the traces say of each, and which threads wait for
 * each other. `pillion where` and the summary show it. */
#ifndef PILLION_WHERE_PLACE_H
#define PILLION_WHERE_PLACE_H

#include "report/derive/where/wait.h"

/* Whether a thread was, at the end of its process or of what was recorded, where the look found it. */
enum where_since { WHERE_NOT_KNOWN, WHERE_STILL, WHERE_WENT_ON };

/* One thread, with what is known of it. */
struct where_item {
	const struct look *look;
	const struct look_process *process;
	const struct look_thread *thread;
	const struct image *image; /* NULL: not known */
	const char *rank;	   /* "": none */
	const char *name;	   /* of the recorded call in progress, NULL: none; borrowed */
	bool has_age;
	uint64_t age_ns; /* of that call */
	struct where_stack stack;
	struct where_wait wait;
	enum where_since since;
	uint32_t cycle; /* from 1; 0: none */
};

struct where_place {
	struct look *looks;
	size_t look_count;
	struct where_item *items;
	size_t count, capacity;
	size_t cycles;
	struct where_files *files;
};

/* Reads the looks that answer `request`, 0: the last ones. The caller frees it by where_place_done(). */
void where_place_read(struct where_place *p, const struct model *m, uint64_t request);

/* Likewise the last looks, but only threads that wait for another thread, and stacks of those in a cycle: it is to be
 * fast even where a job has thousands of threads. */
void where_place_read_cycles(struct where_place *p, const struct model *m);
void where_place_done(struct where_place *p);

/* The position of a thread among the items; SIZE_MAX: there is none. */
size_t where_place_find(const struct where_place *p, const struct look_process *process, uint32_t tid);

/* Whether a cycle is proved: no wait ends by itself, and every thread is known to have remained in it. */
bool where_cycle_is_proved(const struct where_place *p, uint32_t cycle);

#endif
