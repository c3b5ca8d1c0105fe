/* SPDX-License-Identifier: Apache-2.0 */
/* --json: what a verb has found as one JSON object, in place of tables and of messages on standard error.
 * envelope.schema.json, which is installed, describes it. */
#pragma once

#include "report/answers/rule.h"

/* From here on, say() and work_table() add to it. `verb` may be NULL; `hint`: the command to read after an error. */
void envelope_begin(const char *verb, const char *hint);
bool envelope_is_open(void);

/* The captures, which are borrowed; `bytes` of rows at most, 0: any. */
void envelope_settings(char *const *captures, size_t count, size_t bytes);

/* A line that would be printed on standard error; the first one is the error if the verb fails. */
void envelope_message(const char *text);

/* The first `rows` rows of a table. */
void envelope_table(const char *name, const struct table *t, size_t rows);

/* A text, one row for each line. */
void envelope_text(const char *name, const char *text);

/* A file that was written. */
void envelope_file(const char *path);

/* Without it, the verdict is found if there are rows, else clean, or could_not_check if the status is not 0. */
void envelope_verdict(enum verdict verdict, const char *reason);
void envelope_ledger(const char *text);
void envelope_next(const char *command);

/* Prints it to the file, NULL: to standard output. Returns the exit status: that of the verb, or 2 if it could not be
 * written. */
int envelope_end(int status, const char *path);

/* For when there is no memory: prints an error and nothing else. */
void envelope_abandon(void);
