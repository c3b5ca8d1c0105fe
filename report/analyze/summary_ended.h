/* SPDX-License-Identifier: Apache-2.0 */
/* The table `ended` of the summary: what ended or stopped the run, for programs. */
#ifndef PILLION_SUMMARY_ENDED_H
#define PILLION_SUMMARY_ENDED_H

#include "report/stats/report.h"

/* A row for the death that ended the run, for a kill for memory, for each thread of a proved deadlock, and for each
 * rank that did not come to a collective or waits for ranks that wait for it. */
void summary_ended(const struct report_context *c, struct table *t);

#endif
