/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of a run as rows: its time by what, actor and kind. */
#ifndef PILLION_PATH_H
#define PILLION_PATH_H

#include "report/base/emit.h"
#include "report/derive/causes/causes.h"
#include "report/derive/causes/critical.h"

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

/* What the end of the run waited for. */
void path_find(struct causality *s, uint64_t from_ns, uint64_t until_ns, struct path *ret);
/* Of parts of it: path_begin, then for each part what its end waited for, in this thread, back to its start. */
void path_begin(struct causality *s, struct path *ret);
void path_add(struct path *p, uint32_t actor, uint64_t from_ns, uint64_t until_ns);
void path_end(struct path *p);
void path_done(struct path *p);

/* The table of `pillion critical`. Joins rows of equal text and sorts them, so p is of no use for anything else. */
void path_table(struct path *p, struct table *t);

#endif
