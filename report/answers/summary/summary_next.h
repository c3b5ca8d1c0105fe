/* SPDX-License-Identifier: Apache-2.0 */
/* The options with which the job should be run again, because they record what is missing. */
#pragma once

#include "report/answers/fix_first.h"
#include "report/answers/rule.h"

/* Appends a line that names the options: -s cpu where threads compute (`computes`: that is what to fix first), -t with
 * mpi where ranks may wait for messages. is_large: events are not read. False: nothing is missing. */
bool summary_next(struct rules *r, bool computes, bool is_large, struct buffer *ret);

/* Appends a line that says what has a program write names of the code that it compiles, where it computes in such code
 * and has written none. */
void summary_names(const struct report_context *c, const struct roles *roles, const struct fix_first *first,
		   struct buffer *ret);
