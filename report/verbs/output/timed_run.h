/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command and measures its wall time. Its standard input is empty, its standard output is discarded, with
 * `is_silent` its standard error, too. SIGINT, SIGTERM and SIGHUP that reach this process end the command as well. */
#pragma once

#include "report/base/util.h"

struct timed_run {
	uint64_t ns;
	int status; /* as wait(2) returns it */
};

/* -EINTR: a signal ended it, timed_run_signal() is its number; else 0 or -errno. */
int timed_run(char *const *argv, bool is_silent, struct timed_run *ret, struct err *err);

/* The signal that has reached this process during a run; 0: none. */
int timed_run_signal(void);

/* Ends this process by that signal. */
void timed_run_die(void);

/* "ended with status 3", "was ended by signal 9": of a command that did not end with 0. */
void timed_run_failure(int status, struct buffer *ret);
