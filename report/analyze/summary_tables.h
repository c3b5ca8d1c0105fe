/* SPDX-License-Identifier: Apache-2.0 */
/* What the summary says, as tables for programs. */
#ifndef PILLION_SUMMARY_TABLES_H
#define PILLION_SUMMARY_TABLES_H

#include "report/stats/report.h"

typedef void summary_table(void *data, const char *name, const char *title, const struct table *t);

/* Calls `each` with the tables run, fix_first, roles, gpu, ranks, lines, calls, ended, ledger. */
void summary_tables(const struct report_context *c, void *data, summary_table *each);

#endif
