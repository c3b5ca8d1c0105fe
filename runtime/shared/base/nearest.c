/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/base/nearest.h"

enum { NAME_BYTES = NEAREST_BYTES };

size_t nearest_distance(const char *a, const char *b)
{
	size_t row[NAME_BYTES], columns = strlen(b);

	if (strlen(a) >= NAME_BYTES || columns >= NAME_BYTES)
		return NAME_BYTES;
	for (size_t j = 0; j <= columns; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= columns; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[columns];
}

const char *nearest_find(const struct nearest *n, const char *word, bool *ret_is_near)
{
	const char *nearest = NULL;
	size_t fewest = NAME_BYTES;

	for (size_t i = 0; i < n->count; i++) {
		const char *name = n->name(n->list, i);
		size_t distance = name ? nearest_distance(word, name) : NAME_BYTES;

		if (distance < fewest) {
			fewest = distance;
			nearest = name;
		}
	}
	*ret_is_near = fewest <= strlen(word) / 2 && (fewest <= 2 || fewest <= strlen(word) / 3);
	return nearest;
}

void nearest_suggest(const struct nearest *n, const char *word, const char *prefix, const char *help, struct text *t)
{
	bool is_near;
	const char *nearest = nearest_find(n, word, &is_near);

	if (nearest && (is_near || n->is_short)) {
		text_add(t, is_near ? "; did you mean " : "; the nearest is ");
		text_add(t, prefix);
		text_add(t, nearest);
	}
	if (nearest && is_near) {
		text_add(t, "?");
	} else {
		text_add(t, "; see ");
		text_add(t, help);
	}
}
