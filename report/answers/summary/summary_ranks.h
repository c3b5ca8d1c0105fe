/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary about the ranks of a job. Nothing if there are fewer than two. */
#pragma once

#include "report/answers/rule.h"

/* The range of the ranks' durations. */
void summary_ranks(const struct model *m, struct buffer *out);

/* The share of the ranks' time in calls of MPI or NCCL, its range over the ranks, and the function and line that take
 * most of it, other than the start and the end of MPI. */
void summary_messages(struct rules *r, enum blocked_kind kind, const char *title, struct buffer *out);

/* POP's efficiencies of ranks of MPI or NCCL, in one line. */
void summary_efficiency(const struct report_context *c, struct buffer *out);
