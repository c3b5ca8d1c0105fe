/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a job by their role, as a person would name them: the main thread, the workers that it started, other
 * programs. Threads that wait nearly all their life for work (pools of OpenBLAS and OpenMP, watchdogs, resource
 * trackers, supervisors) are idle helpers, and shells and wrappers that only wait for a child are shims; both are
 * recognised by what they do and are in no role. */
#ifndef PILLION_ROLE_H
#define PILLION_ROLE_H

#include "report/derive/stacks/attribution.h"
#include "report/derive/time/partition.h"

/* Blocked time of a role in calls of one kind that one line made. */
struct role_call {
	enum blocked_kind kind;
	const char *function; /* the one with the most time; borrowed */
	uint64_t function_ns;
	uint64_t ns, count;
	struct symbol_frame frame; /* see roles_place; has_frame: a stack was taken */
	bool has_frame;
};

struct role {
	char label[32];
	bool is_main;	 /* the main thread of the job's first program that is not a shim */
	bool is_workers; /* forked children of one process, beside each other */
	bool is_program; /* main threads, as opposed to further threads of a program */
	const struct process *process; /* the first one */
	size_t threads, processes;
	uint64_t lifetime_ns, cpu_ns, delay_ns, stopped_ns, unexplained_ns;
	uint64_t unsure_ns;  /* as unexplained_ns, of threads whose run delay is not known and may be a part of it */
	uint64_t unknown_ns; /* lifetime of threads whose CPU time is not known, without their calls */
	uint64_t first_ns, last_ns; /* CLOCK_REALTIME */
	uint64_t waits_ns; /* waits for other threads and processes, part of the calls */
	struct role_call *calls; /* the largest first */
	size_t call_count, call_capacity;
	struct map known_calls;
};

struct roles {
	struct role *items; /* what did most itself first */
	size_t count, capacity;
	size_t idle_threads, idle_processes, shims;
	uint64_t wall_ns;
	uint8_t *has_role; /* by thread of the partition: it is in a role */
	uint8_t *is_shim;  /* by process: it is a shim */
	struct attribution attribution;
};

void roles_make(const struct report_context *c, const struct partition *p, struct roles *ret);
void roles_done(struct roles *r);

/* Time that the role did not wait for others. */
uint64_t role_own_ns(const struct role *r);

/* The average number of its threads that existed at a time, at least 1. */
double role_width(const struct role *r);

/* Appends "job.py:42 store"; nothing if the line is not known. */
void role_place(const struct report_context *c, const struct role_call *call, struct buffer *ret);

#endif
