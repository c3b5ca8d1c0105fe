/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: what was recorded, what was not, and the cost of recording. */
#pragma once

#include "report/events/scan.h"
#include "report/tables/run/ledger_list.h"

struct ledger_entry {
	enum ledger_fact fact;
	int64_t pid;	  /* -1: it belongs to no process */
	const char *host; /* NULL: nor to a host */
	uint64_t count;
	const char *detail;
};

struct ledger_kind {
	unsigned int flags;
	const char *fact, *detail;
};
extern const struct ledger_kind ledger_kinds[LEDGER_FACTS];

/* Calls visit for each entry, which is valid during the call. */
void ledger_each(const struct report_context *c, void *data, void (*visit)(void *data, const struct ledger_entry *));

struct ledger_totals {
	uint64_t recorded, below, lost; /* with device records */
	uint64_t own_ns, launcher_ns;	/* CPU time that recording has cost */
	struct buffer missing;		/* what is not recorded, and why: each begins with ", "; owned */
};
void ledger_totals(const struct model *m, struct ledger_totals *ret);

/* The totals in one line. */
void ledger_line(const struct model *m, struct buffer *ret);
