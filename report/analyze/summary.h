/* SPDX-License-Identifier: Apache-2.0 */
/* The summary printed at the end of a run. */
#ifndef PILLION_SUMMARY_H
#define PILLION_SUMMARY_H

#include "report/derive/events/scan.h"

/* At most 24 lines on the whole run; with the launcher's own, 25. The source lines are the first ones of report
 * lines that belong to the user's code; library lines, which that report lists after them, are not shown. A capture
 * so large that this would take long has no source lines. */
void summary_text(const struct report_context *context, struct buffer *ret);

#endif
