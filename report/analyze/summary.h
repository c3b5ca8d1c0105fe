/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that a run ends with. */
#ifndef PILLION_SUMMARY_H
#define PILLION_SUMMARY_H

#include "../derive/scan.h"

/* At most 25 lines on the whole run. */
void summary_text(const struct report_context *context, struct buffer *ret);

#endif
