/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs share: how one begins and ends, what it says, its exit status. A verb is a file verb_<name>.c with its
 * struct verb, and its place in the list of command_line.h. */
#ifndef PILLION_VERB_H
#define PILLION_VERB_H

#include "report/command_line.h"
#include "report/progress.h"

/* Done; done but something is missing or damaged; wrong usage or unreadable input. */
enum { EXIT_DONE = 0, EXIT_INCOMPLETE = 1, EXIT_UNUSABLE = 2 };

struct verb {
	const char *name, *usage, *help;
	unsigned int bit; /* VERB_STATS ... */
	int (*run)(const struct command_line *l); /* the exit status */
	void (*more_help)(struct text *ret);	  /* may be NULL */
};

#define VERB_DECLARE(NAME, name) extern const struct verb verb_##name;
VERBS(VERB_DECLARE)
#undef VERB_DECLARE

/* The verb that runs, NULL before there is one: what say() begins with. */
extern const struct verb *verb_now;

/* One line on standard error. Names in it come from anywhere: what a terminal would obey is escaped. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* EXIT_INCOMPLETE if there was anything to say. */
int say_all(const struct texts *texts);

/* What a verb that reads captures works with. */
struct work {
	const struct command_line *line;
	struct model model;
	struct report_context context;
	struct emit emit;
	int status;
};

/* Opens the captures and the output; or says why not, and gives the exit status: then there is nothing to end. */
int work_begin(struct work *w, const struct command_line *l);

/* The exit status. */
int work_end(struct work *w);

/* One row of a list in --help; `note`, if any, follows `text` in parentheses. */
void verb_help_row(const char *mark, const char *name, const char *text, const char *note, struct text *ret);

/* The ledger in a line, below tables for people. */
void work_ledger(struct work *w);

#endif
