/* SPDX-License-Identifier: Apache-2.0 */
/* The known name that is closest to a mistyped one. No allocation, no I/O. */
#pragma once

#include "runtime/shared/base/text.h"

struct nearest {
	const char *(*name)(const void *list, size_t i); /* NULL: no candidate at this position */
	const void *list;
	size_t count;
	bool is_short; /* the list is: also a name that is not near tells what there is */
};

/* Levenshtein distance; NEAREST_BYTES where one of them has that many bytes. */
enum { NEAREST_BYTES = 64 };
size_t nearest_distance(const char *a, const char *b);

/* The name with the smallest edit distance to `word`, NULL if there is none. *ret_is_near: two letters differ, or a
 * third of a long word, and at most half of it, so that it probably is what was meant. */
const char *nearest_find(const struct nearest *n, const char *word, bool *ret_is_near);

/* Completes "unknown ...": "; did you mean NAME?", or where to look, in a short list with the closest one. */
void nearest_suggest(const struct nearest *n, const char *word, const char *prefix, const char *help, struct text *t);
