/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary about processes that did not exit with status 0. */
#pragma once

#include "report/answers/roles/role.h"
#include "report/answers/summary/summary_died.h"

/* Not the first process, which is in the first line, the one that died first and those of start-up; ranks that ended
 * because of that death are only counted. Processes of one program that ended in the same way are one line. */
void summary_ends(const struct report_context *c, const struct roles *roles, const struct died *died,
		  struct buffer *out);
