/* SPDX-License-Identifier: Apache-2.0 */
/* What edits save, as people write them (saving.h): the one place that FIX FIRST, the rules, `analyze`, `whatif` and
 * `whatif --rank` ask, so that they print the same numbers for the same edit. */
#pragma once

#include "report/causes/path.h"
#include "report/causes/saving.h"

/* An edit that was asked for before is not computed again. -EINVAL: it is no edit; -ENODATA: it cannot be computed; err
 * says why. */
int price_find(struct causality *s, const char *edit, struct saving *ret, struct err *err);

/* Appends "line~job.py:12=0", without a file that of the function; nothing without a line, or where that has no name
 * because it is all code of a program or library. */
void price_add_line(const char *word, const struct code_line *line, const char *value, struct buffer *ret);
/* Appends a name as an edit's regular expression that matches it alone. */
void price_add_name(const char *name, struct buffer *ret);

/* Of a line that has started fewer processes, what these do is to be changed, and not that they are started. */
enum { PRICE_STARTED = 4 };

struct price {
	char *edit;
	uint32_t what; /* the editable with most time on the path; NODE_NONE: of a rank */
	bool is_kernel;
	double path_ns; /* of the critical path, of all that it changes */
	struct saving saves;
};

/* What each line, call, kernel and rank saves: of what has a part of the critical path, the most first. */
struct prices {
	struct price *items;
	size_t count;
};

void prices_rank(struct causality *s, const struct path *path, struct prices *ret);
void prices_done(struct prices *p);
