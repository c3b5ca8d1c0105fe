/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of a run as rows: its time by what, actor and kind. */
#pragma once

#include "report/base/table/emit.h"
#include "report/causes/causes.h"
#include "report/causes/critical.h"

struct path_row {
	enum critical_kind kind;
	uint32_t what; /* an editable, or EDITABLE_OF_POOL: of none */
	uint32_t actor;
	double ns;
};

struct path {
	struct path_row *rows; /* the largest first */
	size_t count, capacity;
	double *by_what; /* of CRITICAL_PART, CRITICAL_CALL and CRITICAL_UNSEEN */
	struct map known;
	struct causality *causes;
};

/* What the end of the run waited for, of the time until `until_ns`. */
void path_find(struct causality *s, uint64_t until_ns, struct path *ret);
/* Of parts of it: path_begin, then for each part what its end waited for, in this thread, back to its start. */
void path_begin(struct causality *s, struct path *ret);
void path_add(struct path *p, uint32_t actor, uint64_t from_ns, uint64_t until_ns);
void path_end(struct path *p);
void path_done(struct path *p);

/* A stretch of the path, in ns since the start of the capture. */
struct path_slice {
	uint64_t start_ns, end_ns;
	enum critical_kind kind;
	uint32_t what; /* as in struct path_row; of what is divided by samples, the largest part */
	uint32_t actor;
};

/* The path of the whole run in the order of time; neighbours that differ in nothing but their times are one. Returns
 * how many there are; the caller frees *ret. */
size_t path_slices(struct causality *s, struct path_slice **ret);
/* Appends "CPU in step (job.py:3), main [17]", or "not seen: read in load (job.py:9), main [17]". */
void path_slice_words(struct causality *s, const struct path_slice *slice, struct buffer *ret);

/* The table of `pillion critical`. Joins rows of equal text and sorts them, so p is of no use for anything else. */
void path_table(struct path *p, struct table *t);
