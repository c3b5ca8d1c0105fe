/* SPDX-License-Identifier: Apache-2.0 */
/* Where one report goes if `stats` writes each to a place of its own: a new file, or the standard input of a
 * command. */
#pragma once

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

#include "report/base/util.h"

struct destination {
	FILE *file;
	const char *name; /* borrowed: for messages */
	pid_t command;	  /* 0: a file */
	struct sigaction at_pipe; /* the caller's action for SIGPIPE while there is a command */
};

/* Opens a file for writing and empties it. A new one is readable by its owner only, as a capture is. NULL: errno. */
FILE *private_file(const char *path);

/* Creates a file, private likewise. -EEXIST if it exists and may not be replaced. */
int destination_file(const char *path, bool is_forced, struct destination *ret, struct err *err);

/* Runs a command: its words are separated by spaces, and there is no shell, as in nsys. It shares our standard output,
 * which is flushed before. */
int destination_command(const char *command, struct destination *ret, struct err *err);

/* Waits for the command. Not 0 if something was not written, or the command failed. A command that succeeds need not
 * read everything. */
int destination_close(struct destination *d, struct err *err);
