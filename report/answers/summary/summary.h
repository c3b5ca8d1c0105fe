/* SPDX-License-Identifier: Apache-2.0 */
/* The summary printed at the end of a run. */
#pragma once

#include "report/events/scan.h"

/* `capture` is named in commands to run next; NULL: none is named. At most 24 lines on the whole run; with the
 * launcher's own, 25. The first is wall time, processes and how the command ended; then what to fix first
 * (fix_first.h), the time of each role (summary_time.h), how processes ended, devices, the largest entries of tables,
 * further findings, the ledger, and the command to run next. The source lines are the first ones of report lines that
 * belong to the user's code. Of a large capture, what would take long is omitted; of a short run, all that is about
 * its time. Of several ranks that failed after the launcher had printed why, nothing says where the time went, so that
 * the job's end does not wait for that; the command that says it is named. No line is wider than `width` (0: any
 * width). `said`: what ended_text() had when the launcher printed it, which is not repeated; NULL: it has printed
 * nothing. */
void summary_text(const struct report_context *context, const char *capture, const char *said, size_t width,
		  struct buffer *ret);
