/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a job by their role, as a person would name them: the main thread, the workers that it started, other
 * programs. Helpers (helpers.h) are in no role. */
#pragma once

#include "report/causes/causes.h"
#include "report/names/attribution.h"
#include "report/time/recorded.h"

/* What took most of the time for which a role waited at a line, at the end of the chain of threads that wait for each
 * other. */
struct role_end {
	uint64_t ns;	      /* 0: not known */
	size_t thread;	      /* of the partition; see roles.role_of */
	const char *name;     /* of the thread, "": that of its program; borrowed from the partition */
	const char *function; /* NULL: the thread was in no recorded call */
	enum blocked_kind kind; /* of the function */
	bool computes;	      /* then it was on a CPU, or waited for one */
	struct symbol_frame frame;
	bool has_frame, is_users;
};

/* Blocked time of a role in calls of one kind that one line made; or in `lines`, the CPU time of a line. */
struct role_call {
	enum blocked_kind kind; /* BLOCKED_KINDS: it is of `lines` */
	const char *function; /* the one with the most time; borrowed */
	uint64_t function_ns;
	uint64_t ns, count;
	uint64_t import_ns; /* of these, of accesses to files in import statements */
	struct symbol_frame frame; /* see roles_place; has_frame: a stack was taken */
	bool has_frame, is_users; /* is_users: as in attribution.h */
	bool is_timed;		  /* a wait for descriptors whose longest calls ended because their time was over */
	struct role_end end;	  /* of a wait */
};

/* By line: those of the user first, the largest first. */
struct role_lines {
	struct role_call *items;
	size_t count, capacity;
	struct map known;
};

/* CPU time of a thread of a role in one stack. */
struct role_stack {
	const struct image *image;
	uint32_t stack;
	size_t thread; /* of the partition */
	uint64_t ns;
};

struct role {
	char label[32];
	bool is_main;	 /* the main thread of the job's first program that is not a shim */
	bool is_workers; /* forked children of one process, beside each other */
	bool is_ranks;	 /* the ranks beside that of the main role */
	bool is_program; /* main threads, as opposed to further threads of a program */
	const struct process *process; /* the first one */
	size_t parent; /* role + 1 of the program that started the first process, shims aside; 0: none */
	bool is_mains; /* further threads, or a descendant, of the main thread's process */
	size_t threads, processes;
	uint64_t lifetime_ns, cpu_ns, delay_ns, stopped_ns, unexplained_ns;
	uint64_t unsure_ns;  /* as unexplained_ns, of threads whose run delay is not known and may be a part of it */
	uint64_t unknown_ns; /* lifetime of threads whose CPU time is not known, without their calls */
	uint64_t first_ns, last_ns; /* CLOCK_REALTIME */
	uint64_t mask; /* see struct cpu_limit: of its thread that waited longest for a CPU */
	uint64_t longest_delay_ns;
	uint64_t least_ns, most_ns; /* the CPU time of one of its threads, without polling */
	uint64_t waits_ns; /* waits for other threads and processes, and for work: part of the calls */
	struct role_call *calls; /* the largest first */
	size_t call_count, call_capacity;
	struct map known_calls;
	/* CPU samples, without those in import statements; polls: of threads that only poll */
	struct role_lines lines, polls;
	struct role_stack *stacks; /* of lines, and of imports */
	size_t stack_count, stack_capacity;
	uint64_t import_ns;  /* of the samples: in import statements */
	uint64_t polling_ns; /* CPU time that polls for others: see role_polls, and of the samples attribution_polls */
};

struct roles {
	struct role *items; /* what did most itself first */
	size_t count, capacity;
	size_t idle_threads, shims;
	uint64_t run_ns;	 /* of the run */
	uint64_t wall_ns;	 /* likewise, or of its capture ranges: all shares are of this */
	struct recorded recorded;
	size_t *role_of; /* by thread of the partition: its role + 1, as in the order of items; 0: none */
	bool *only_polls; /* by thread of the partition, as role_polls() says */
	uint8_t *is_shim;  /* by process: it is a shim */
	struct attribution attribution;
};

/* causes: the graph; NULL: whom a wait waited for is not known. has_lines: false: neither samples nor names
 * are read. */
void roles_make(const struct report_context *c, const struct partition *p, struct causality *causes, bool has_lines,
		struct roles *ret);
void roles_done(struct roles *r);

/* The program that has started the role's threads; NULL: it is not known, or they are forked workers, whose stacks have
 * the line that has forked them. */
const struct role *roles_starter(const struct roles *roles, const struct role *role);

/* Whether `count` calls of the role, of `ns` in all, wait for another thread or process, or for work that others give
 * to it. Short sleeps are those of a loop that waits for something. */
bool role_call_waits(const struct role *r, enum blocked_kind kind, uint64_t ns, uint64_t count);

/* Time that the role did not wait for others. */
uint64_t role_own_ns(const struct role *r);

/* The CPU time of a role; the parts add up to cpu_ns. */
struct role_cpu {
	uint64_t work_ns, import_ns, polling_ns;
};

struct role_cpu role_cpu(const struct role *r);

/* The first rank of a program is the main role, and the others are another one: their names would be equal. False:
 * there are no ranks. */
bool roles_name_ranks(struct roles *roles, struct role *main);

/* Appends "the 4 workers", "main" or "job.py". */
void role_words(const struct role *r, struct buffer *ret);

/* A part of the role's time as a part of the run's, with all its threads at work. */
uint64_t role_wall_ns(const struct role *r, uint64_t ns);

/* Appends "job.py:42 store", without lines only "store", or "[libjob.so]" if the function has no name; nothing if no
 * stack was taken. */
void role_place(const struct report_context *c, const struct role_call *call, struct buffer *ret);

/* Appends the line where the role computed most, according to samples: "job.py:42 store", or "store" in a program
 * without lines; nothing if it is not known. */
void role_hot_line(const struct report_context *c, const struct role *r, struct buffer *ret);

/* The role in other processes for which a wait was that tells no end: of those that the role's process, or whoever
 * started it, has started, the one that computed most. NULL: none. */
const struct role *role_waited_for(const struct roles *all, const struct role *self, const struct role_call *wait);

/* The line of the call; NULL: no stack was taken. */
const struct code_line *role_call_line(const struct report_context *c, const struct role_call *call);

/* The line where the role computed most; NULL: it is not known. */
const struct code_line *role_hot_code_line(const struct report_context *c, const struct role *r);

/* The line at which the program that started this role's processes waited for them: the only one whose waits for
 * children last as long as they lived. *ret_parent is that program; it may be NULL. NULL: not known. */
const struct role_call *role_parent_wait(const struct roles *all, const struct role *r,
					 const struct role **ret_parent);

/* Appends ": job.py:42 store"; or for threads of a library " for main: " and the line for which they work, where the
 * program's main thread waits for others or computes, for forked workers where that of the process that forked them
 * does; or likewise that of role_parent_wait. Nothing if none is known. */
void role_work_line(const struct report_context *c, const struct roles *all, const struct role *r, struct buffer *ret);

/* role_poll.c: CPU time of a thread in calls that poll. *ret_only is set to whether it does nothing else; then the loop
 * around them is part of it. */
uint64_t role_polls(const struct report_context *c, const struct thread_time *t, bool *ret_only);

/* The position of the role's call to which a call of one of its threads was added; NULL: there is none. Valid until
 * the calls are sorted. */
const uint64_t *role_find_call(struct roles *all, size_t role, const struct image *image,
			       const struct blocked_call *c);

/* role_ends.c: fills in the ends of waits by the graph, before the roles and their calls are sorted. */
void roles_find_ends(struct causality *s, const struct partition *p, struct roles *roles);

/* Appends "thread last (nanosleep job.c:12 work)" for a wait of the role `self`, or "each other (...)" if its threads
 * wait for each other; nothing if the end of the wait is not known. */
void role_end_words(const struct report_context *c, const struct roles *all, const struct role *self,
		    const struct role_call *wait, struct buffer *ret);
/* Likewise; where its end is not known, "gzip (computes 75 %)", the role for which the wait was. */
void role_awaited_words(const struct report_context *c, const struct roles *all, const struct role *self,
			const struct role_call *wait, struct buffer *ret);

/* role_line.c: fills in the lines of all roles. */
void roles_find_lines(const struct report_context *c, const struct partition *p, struct causality *causes,
		      struct roles *roles);
