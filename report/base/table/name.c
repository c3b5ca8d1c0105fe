/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/table/name.h"

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

/* ---- without types ---- */

/* Namespaces that only tell versions apart: "lts_20250127", "__1", "__cxx11", and the hash of Rust's names. */
static bool is_version(const char *part, size_t length)
{
	size_t digits = 0;

	if (length > 4 && text_begins_with(part, "lts_"))
		return true;
	if (length == 7 && text_begins_with(part, "__cxx11"))
		return true;
	if (length > 2 && text_begins_with(part, "__"))
		digits = strspn(part + 2, "0123456789") + 2;
	else if (length == 17 && *part == 'h')
		digits = strspn(part + 1, "0123456789abcdef") + 1;
	return digits && digits >= length;
}

static const char anonymous[] = "(anonymous namespace)";

/* The name without lists, and without what stands before it: its type. */
static void without_lists(struct buffer *ret, const char *text)
{
	size_t begin = ret->size;

	for (const char *at = text; *at;) {
		const char *end = *at == '<' || *at == '(' ? list_end(text, at) : NULL;

		if (ends_with_operator(text, at) && *at != ' ') {
			/* its arguments are the last thing that is left out */
			size_t length = text_begins_with(at, "()") ? 2 : strspn(at, "<>=!+-*/%^&|~,[]");

			buffer_add(ret, at, length);
			return;
		} else if (end) {
			at = end;
		} else if (!strncmp(at, anonymous, strlen(anonymous))) {
			buffer_text(ret, anonymous);
			at += strlen(anonymous);
		} else if (text_begins_with(at, " const") || text_begins_with(at, " [clone") || *at == '[') {
			return;
		} else if (*at == ' ' && !ends_with_operator(text, at)) {
			ret->size = begin;
			at++;
		} else {
			buffer_add(ret, at++, 1);
		}
	}
}

void name_brief(struct buffer *ret, const char *text)
{
	SCOPED(buffer) plain = {0};
	const char *at, *join = "";

	if (!strstr(text, "::")) {
		buffer_text(ret, text);
		return;
	}
	without_lists(&plain, text);
	for (at = buffer_string(&plain); *at;) {
		const char *end = strstr(at, "::");
		size_t length = end ? (size_t)(end - at) : strlen(at);

		if (!is_version(at, length)) {
			buffer_text(ret, join);
			buffer_add(ret, at, length);
			join = "::";
		}
		at += length + (end ? 2 : 0);
	}
	if (!plain.size)
		buffer_text(ret, text);
}
