/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/name.h"

#include <ctype.h>
#include <string.h>

/* A list is not cut up to this length; lists within lists are cut earlier. */
enum { LIST_WIDTH = 40, INNER_WIDTH = 12, DEEPEST = 32, LONGEST = 4096 };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool ends_with_operator(const char *from, const char *at)
{
	static const char word[] = "operator";
	size_t length = strlen(word);

	return (size_t)(at - from) >= length && !strncmp(at - length, word, length);
}

/* The end of the list that begins with "<" or "(", behind its bracket; NULL: it has none, or this is no list. */
static const char *list_end(const char *from, const char *at)
{
	const char *start = at;
	size_t angles = 0, rounds = 0;

	if (at == from || (!is_word(at[-1]) && !(*at == '(' && (at[-1] == '>' || at[-1] == ')'))) ||
	    ends_with_operator(from, at))
		return NULL;
	do {
		angles += *at == '<' && !rounds;
		angles -= *at == '>' && !rounds && angles && at[-1] != '-';
		rounds += *at == '(';
		rounds -= *at == ')' && rounds;
		at++;
	} while (*at && (angles || rounds) && at - start < LONGEST);
	return angles || rounds ? NULL : at;
}

static void shorten_part(struct buffer *ret, const char *from, const char *to, int depth);

/* The elements of a list that fit, at least one. */
static void shorten_list(struct buffer *ret, const char *from, const char *to, int depth)
{
	size_t start = ret->size, width = depth ? INNER_WIDTH : LIST_WIDTH;
	char closing = to[-1];
	const char *at = from + 1;

	buffer_add(ret, from, 1);
	if ((size_t)(to - from) <= width) {
		buffer_add(ret, at, (size_t)(to - at));
		return;
	}
	while (at < to - 1 && closing == '>' && !depth) {
		const char *end = at;
		size_t before = ret->size;

		while (end < to - 1 && *end != ',') {
			const char *inner = *end == '<' || *end == '(' ? list_end(from, end) : NULL;

			end = inner && inner < to ? inner : end + 1;
		}
		shorten_part(ret, at, end, depth + 1);
		if (ret->size - start > width && before > start + 1) {
			ret->size = before;
			break;
		}
		at = end;
		if (at < to - 1)
			buffer_add(ret, at++, 1);
	}
	if (at < to - 1)
		buffer_text(ret, ret->size > start + 1 ? " ..." : "...");
	buffer_add(ret, &closing, 1);
}

static void shorten_part(struct buffer *ret, const char *from, const char *to, int depth)
{
	for (const char *at = from; at < to;) {
		const char *end = (*at == '<' || *at == '(') && depth < DEEPEST ? list_end(from, at) : NULL;

		if (end && end <= to) {
			shorten_list(ret, at, end, depth);
			at = end;
		} else {
			buffer_add(ret, at++, 1);
		}
	}
}

void name_shorten(struct buffer *ret, const char *text)
{
	if (strstr(text, "::") && strpbrk(text, "<("))
		shorten_part(ret, text, text + strlen(text), 0);
	else
		buffer_text(ret, text);
}
