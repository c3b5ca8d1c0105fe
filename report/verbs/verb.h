/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs share: how one begins and ends, its messages, its exit status. A verb is a file verb_<name>.c with its
 * struct verb, and a row in the list of runtime/shared/base/verb_list.h. */
#pragma once

#include "report/verbs/command_line.h"
#include "report/verbs/output/colour.h"
#include "report/verbs/output/progress.h"

/* Done; done but something is missing or damaged; wrong usage or unreadable input; --fail-on applies. */
enum { EXIT_DONE = 0, EXIT_INCOMPLETE = 1, EXIT_UNUSABLE = 2, EXIT_FOUND = 3 };

struct verb {
	const char *name, *usage, *help;
	unsigned int bit; /* VERB_STATS ... */
	int (*run)(const struct command_line *l); /* the exit status */
	void (*more_help)(struct text *ret);	  /* may be NULL */
	const char *statuses; /* what the exit statuses mean; NULL: as of the enum above */
};

#define VERB_DECLARE(NAME, name, use) extern const struct verb verb_##name;
VERBS(VERB_DECLARE)
#undef VERB_DECLARE

/* The current verb, with which say() begins; NULL before one was selected. */
extern const struct verb *verb_now;

/* Prints one line on standard error. Names in it are untrusted: what a terminal would interpret is escaped. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What the exit statuses of verbs on live runs mean. */
#define VERB_LIVE_STATUSES "0 done, 1 some processes could not be reached, 2 no such live run, or wrong usage"

/* verb_status.c: the operand of such a verb, NULL: there is none. The exit status if there are several. */
int verb_target(const struct command_line *l, const char **ret);

/* newest.c: the name of the capture of the working directory that was made last; NULL: there is none. Owned. */
char *newest_capture(void);

/* What COLUMNS says, or the width of the terminal; 0: not known. */
size_t terminal_columns(int descriptor);

/* Prints the texts. EXIT_INCOMPLETE if there are any. */
int say_all(const struct texts *texts);

/* The state of a verb that reads captures. */
struct work {
	const struct command_line *line;
	struct model model;
	struct report_context context;
	struct emit emit;
	FILE *paged; /* what emit writes to if it may be shown in a pager; else NULL */
	struct texts theirs; /* what work_end says, too: of other parts, of reports of the default set */
	unsigned int flags;  /* of reports whose remark is due after all tables */
	bool was_cut;	     /* likewise: a file was truncated */
	int status;
};

/* Opens the captures and the output. On failure it prints the reason and returns the exit status; work_end must not be
 * called then. */
int work_begin(struct work *w, const struct command_line *l);

/* Likewise without captures: the model is empty. */
int work_begin_output(struct work *w, const struct command_line *l);

/* Likewise; `share`: this process reads a part of the files. All parts but the first print nothing. */
int work_begin_shared(struct work *w, const struct command_line *l, struct share *share);

/* Whether work_begin has refused captures of --mode=profile, which have no events. */
bool work_was_refused(void);

/* Part 0 gets what the other parts have to say at the end. */
void work_gather(struct work *w);

/* Returns the exit status. */
int work_end(struct work *w);

/* Writes a table, at most the rows that --top allows, and states what was left out. */
void work_table(struct work *w, const char *name, const char *title, const struct table *t);

/* Writes a text as it is. */
void work_text(struct work *w, const char *name, const struct buffer *text);

/* States the source of the device times in the table above; flags: REPORT_DEVICE, REPORT_ATTRIBUTED. */
void work_remark_source(struct work *w, unsigned int flags);

/* Writes lines, and a newline if the last one has none; on a terminal, `mark` is coloured where a line begins with
 * it. */
void work_marked(struct work *w, const char *text, const char *mark, enum colour colour);

/* One row of a list in --help; `note`, if any, follows `text` in parentheses. */
void verb_help_row(const char *mark, const char *name, const char *text, const char *note, struct text *ret);

/* Prints the ledger as one line below tables in a format for people. */
void work_ledger(struct work *w);
