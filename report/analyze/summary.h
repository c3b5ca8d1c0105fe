/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that a run ends with. */
#ifndef PILLION_SUMMARY_H
#define PILLION_SUMMARY_H

#include "report/derive/events/scan.h"

/* At most 24 lines on the whole run: with the launcher's own, 25. Its lines of source are those that report lines ranks first and of the
 * user's code, so not those of libraries, which that report shows after them; none of a capture so large that it would take long. */
void summary_text(const struct report_context *context, struct buffer *ret);

#endif
