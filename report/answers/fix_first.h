/* SPDX-License-Identifier: Apache-2.0 */
/* What to fix, and first of all the one thing that would save most by a replay of the run (costs.h): of the findings
 * of the rules and of what the partition of time tells. A rule takes part by its finding's text, line and cost_ns
 * (rule.h); nothing else is needed. Causes at one line are one. */
#pragma once

#include "report/answers/costs.h"
#include "report/answers/roles/role.h"
#include "report/answers/rule.h"

/* A function through which the time passes, see spine.h. */
struct fix_first_frame {
	char *line;	/* "file:line", "": not known */
	char *function;
	uint64_t ns, own_ns; /* own_ns: without other functions of the program */
	bool is_recursive;
	char *own_place; /* of a caller: another line where it does much by itself, with what that calls; NULL: none */
	uint64_t own_place_ns;
};

enum { FIX_FRAMES = 5 };

struct fix_first_cause {
	const char *rule;	   /* its name */
	struct buffer text;	   /* with the line */
	const struct code_line *line; /* as in struct finding */
	struct buffer called_from; /* of the line, see caller.h; the caller fills it in */
	/* The outermost first; the last one is at the line, or the first one if most below that is linear algebra. */
	struct fix_first_frame frames[FIX_FRAMES];
	size_t frame_count;
	char *callee;	    /* what the line calls of a library; "", NULL: not known */
	struct buffer edit; /* as `whatif` takes it, for the saving; empty: none */
	bool is_program;    /* the first frame is a program, the second one of its functions; the text names both */
	size_t frames_at;   /* in the text: from here on it names frames, and then has the rest */
	struct buffer rest;
	size_t awaited_at;  /* likewise where what is awaited computes; 0: it does not */
	const struct finding *finding; /* of the rule that found it; NULL: no rule did. Borrowed */
	const char *how;	   /* what saves so much, where it is not to remove the line's time; NULL: that */
	struct saving saves;	   /* of the run's wall time */
	uint64_t whole_ns;	   /* the time that the text states; the saving is a part of it. 0: it states none */
	uint64_t worth_ns;	   /* by which causes are sorted */
	const struct actor *actor; /* whose time it is; NULL: not known. Borrowed from the costs */
	const struct role *role;   /* whose samples tell the place; NULL: none do. Borrowed */
	uint32_t place;		   /* then: its function, of the own stacks */
	bool is_of_callers;	   /* the saving is that of the outermost frame, around the line's calls */
	bool is_bound;		   /* work that may be needed: the run is bound by it */
	bool is_borrowed;	   /* the line is not of the code that takes the time, but waits for it */
	bool is_last;		   /* a wait of which nobody knows whether it is needed */
	bool is_balance;	   /* work that several threads share out unequally */
	bool is_cpu;		   /* a thread computes, and no samples tell where */
};

struct fix_first {
	/* What saves most first; each saves FIX_PERCENT of the run and FIX_NS, but for those that cost no time: they
	 * are the last, but before what the run is bound by. */
	struct fix_first_cause *items;
	size_t count, capacity;
};

enum { FIX_PERCENT = 2, FIX_NS = 100000000 };

/* The saving as it is printed beside the text: a part is no larger than its whole. What can save more than the time
 * that the text states is more than that: then *ret_whole has all that the edit removes, which ends the sentence. */
struct saving fix_first_told(const struct fix_first_cause *cause, struct buffer *ret_whole);

/* Nothing that saves less is printed. */
uint64_t fix_first_least(uint64_t wall_ns);

/* `found` are the findings of the rules. */
void fix_first_find(const struct report_context *c, struct costs *costs, const struct job_time *time,
		    const struct finding *found, size_t count, struct fix_first *ret);

/* The cause at a line (file:line, if it has them); NULL: there is none. */
struct fix_first_cause *fix_first_at(const struct fix_first *f, const struct code_line *line);

/* A finding's text with its line. */
void fix_first_words(const struct finding *f, struct buffer *ret);

/* Sets what the repair of a finding would save: the price of its edit, which follows from its line unless the rule has
 * set it. What has neither costs what the rule says. What saves a part that is not known counts only if it takes half
 * of the run. */
void fix_first_saving(struct costs *costs, struct finding *f, uint64_t least_ns);

void fix_first_done(struct fix_first *f);
