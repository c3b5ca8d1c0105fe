/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a capture is reported: --filter-time, --filter-nvtx (filter_nvtx.h) and the parts of a split export.
 * A filter is a list of intervals of the common time. Calls, marks, samples, ranges and device records that overlap
 * none of them are skipped; the others count in full. The ledger, the list of processes and the counts of short
 * calls always describe the whole run. */
#pragma once

#include "report/read/job/model.h"

/* The common time in ns, both ends included. 0 and UINT64_MAX: unbounded. */
struct time_interval {
	uint64_t from_ns, to_ns;
};

struct filter {
	bool is_set; /* false: everything passes */
	struct time_interval *intervals; /* sorted and disjoint */
	size_t count;
};

bool filter_is_set(const struct model *m);

/* Intersects the model's filter with these intervals, which are sorted and disjoint. */
void filter_narrow(struct model *m, const struct time_interval *intervals, size_t count);

/* Excludes what was recorded in ranges that `pillion cancel` has ended. */
void filter_cancelled(struct model *m);

/* A copy of the model's filter, by which filter_restore replaces the filter as often as needed. */
struct filter filter_copy(const struct model *m);
void filter_restore(struct model *m, const struct filter *f);
void filter_done(struct filter *f);

/* The filter of a trace in its own ticks; NULL: everything passes. Borrowed until the filter changes. */
const struct tick_spans *filter_of(const struct trace *t);

/* Does anything from `from` to `to` pass the filter of the trace? */
bool filter_shows(const struct trace *t, uint64_t from, uint64_t to);

/* Like cursor_init; the cursor skips the events that the filter excludes. */
void filter_cursor_init(struct cursor *c, const struct trace *t, const struct trace_thread *thread);

/* "A/B": from A to B after the start of the capture, in ns or with a unit (us, ms, s); either may be omitted. 0 or
 * -EINVAL. */
int filter_time(struct model *m, const char *spec, struct err *err);

/* Parses a time with an optional unit (ns, us, ms, s). Returns what follows it, or NULL if there is no time. */
const char *filter_duration(const char *text, double *ret_ns);
