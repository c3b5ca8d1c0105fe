/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary about what to fix: FIX FIRST, and findings beside it. */
#pragma once

#include "report/answers/answer.h"

enum { SUMMARY_FINDINGS = 4, SUMMARY_FINDINGS_SHOWN = 2 }; /* the costliest; shown beside the first */

void summary_first(const struct fix_first *first, struct buffer *out);

/* What is outside of the program: a note under the partition of time, never what to fix first. */
void summary_outside(const struct answer *a, struct buffer *out);

/* Findings beside the first one, if they cost as much as would be worth a first line. */
void summary_findings(const struct answer *a, struct buffer *out);
