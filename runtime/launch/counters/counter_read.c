/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/counters/counter.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/shared/format/trace_energy.h"

/* What follows the key in its line; NULL: there is no such line. */
static const char *line_find(const char *text, const char *key)
{
	size_t length = strlen(key);

	while (*text) {
		text += strspn(text, " ");
		if (!strncmp(text, key, length))
			return text + length;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return NULL;
}

static bool word_number(const char *at, size_t length, uint64_t *ret)
{
	const char *equals = memchr(at, '=', length);

	at = equals ? equals + 1 : at;
	*ret = strtoull(at, NULL, 10);
	return *at >= '0' && *at <= '9';
}

static bool words_add(const char *at, uint32_t columns, uint64_t *ret)
{
	uint64_t number;

	*ret = 0;
	for (; columns; columns >>= 1) {
		size_t length;

		at += strspn(at, " \t");
		length = strcspn(at, " \t\n");
		if (columns & 1) {
			if (!word_number(at, length, &number))
				return false;
			*ret += number;
		}
		at += length;
	}
	return true;
}

static bool ratio_parse(const char *at, uint64_t *ret)
{
	uint64_t whole;

	if (!words_add(at, 1, ret) || !words_add(at, 2, &whole) || !whole)
		return false;
	*ret = *ret * 1000 / whole;
	return true;
}

bool counter_parse(const struct node_counter *c, const char *text, uint64_t *ret)
{
	const char *at = line_find(text, c->key), *less = c->row->less ? line_find(text, c->row->less) : NULL;
	uint64_t subtracted = 0;

	if (!at || (c->row->less && (!less || !words_add(less, 1, &subtracted))))
		return false;
	if (c->row->is_ratio)
		return ratio_parse(at, ret);
	if (!words_add(at, c->row->columns, ret))
		return false;
	*ret -= subtracted < *ret ? subtracted : *ret;
	return true;
}

enum { FILE_BYTES = 1 << 20 }; /* a large machine has more than 100 KB in /proc/stat */

/* The buffer is not static, because RLIMIT_DATA counts what is, also in launchers that read no counters. */
static const char *file_text(int fd)
{
	static char *text;
	size_t used = 0;
	ssize_t n;

	if (!text)
		text = malloc(FILE_BYTES);
	if (!text)
		return "";
	while (used < FILE_BYTES - 1 && (n = pread(fd, text + used, FILE_BYTES - 1 - used, (off_t)used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	return text;
}

void counter_read(const struct node_counter_set *set, uint64_t *ret)
{
	const char *text = "";

	for (size_t i = 0; i < set->count; i++) {
		const struct node_counter *c = &set->items[i];

		if (!i || c->file != c[-1].file)
			text = file_text(set->files[c->file]);
		if (!counter_parse(c, text, &ret[i]))
			ret[i] = TF_ENERGY_UNKNOWN;
	}
}
