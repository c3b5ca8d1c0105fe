/* SPDX-License-Identifier: Apache-2.0 */
/* A parser for the part of JSON (RFC 8259) that the file needs. */
#include "runtime/shared/common/functions.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/shared/base/text.h"

/* ---- words ---- */

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static char next_char(struct functions_parser *f)
{
	while (f->at < f->end && is_one_of(*f->at, " \t\r\n"))
		f->at++;
	return f->at < f->end ? *f->at : '\0';
}

static bool take_char(struct functions_parser *f, char c)
{
	if (next_char(f) != c)
		return false;
	f->at++;
	return true;
}

static int refuse(const struct functions_parser *f, struct text *why, const char *what)
{
	unsigned line = 1;

	for (const char *c = f->start; c < f->at && c < f->end; c++)
		line += *c == '\n';
	text_add(why, "line ");
	text_number(why, line);
	text_add(why, ": ");
	text_add(why, what);
	return -EINVAL;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20; /* to lower case */
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* At most `size` digits of base 16, at least one. */
static bool hex(const char *s, unsigned size, uint32_t *ret)
{
	unsigned n = 0;

	for (*ret = 0; n < size && digit(s[n]) >= 0; n++)
		*ret = *ret << 4 | (uint32_t)digit(s[n]);
	return n > 0;
}

static char *add_utf8(char *at, uint32_t c)
{
	if (c < 0x80) {
		*at++ = (char)c;
		return at;
	}
	if (c < 0x800) {
		*at++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*at++ = (char)(0xe0 | c >> 12);
		} else {
			*at++ = (char)(0xf0 | c >> 18);
			*at++ = (char)(0x80 | (c >> 12 & 63));
		}
		*at++ = (char)(0x80 | (c >> 6 & 63));
	}
	*at++ = (char)(0x80 | (c & 63));
	return at;
}

/* After "\u": four digits, and four more if those are the first half of a surrogate pair. Returns how many bytes were
 * read. */
static size_t take_code(const char *s, const char *end, uint32_t *ret)
{
	uint32_t second;

	if (end - s < 4 || digit(s[1]) < 0 || digit(s[2]) < 0 || digit(s[3]) < 0 || !hex(s, 4, ret))
		return 0;
	if (*ret >> 10 != 0x36)
		return 4;
	if (end - s < 10 || s[4] != '\\' || s[5] != 'u' || !hex(s + 6, 4, &second) || second >> 10 != 0x37)
		return 0;
	*ret = 0x10000 + ((*ret & 0x3ff) << 10 | (second & 0x3ff));
	return 10;
}

/* Unescapes a string in place; the result is never longer than the string. */
static int take_string(struct functions_parser *f, const char **ret, struct text *why, const char *what)
{
	static const char escapes[] = "\"\\/";
	char *to;

	if (!take_char(f, '"'))
		return refuse(f, why, what);
	*ret = to = f->at;
	while (f->at < f->end && *f->at != '"') {
		uint32_t c = (unsigned char)*f->at++;
		size_t length = 0;

		if (c == '\\' && f->at < f->end) {
			char escape = *f->at++;

			if (escape == 'u')
				length = take_code(f->at, f->end, &c);
			else if (is_one_of(escape, escapes))
				c = (unsigned char)escape;
			if (escape == 'u' ? !length : !is_one_of(escape, escapes))
				return refuse(f, why, "this escape is not for a name");
			f->at += length;
		}
		if (c < 0x20)
			return refuse(f, why, "a control character in a name");
		if (length)
			to = add_utf8(to, c);
		else
			*to++ = (char)c;
	}
	if (f->at >= f->end)
		return refuse(f, why, "a string without its end");
	f->at++;
	*to = '\0';
	return 0;
}

/* Skips any value. */
static bool skip_value(struct functions_parser *f)
{
	unsigned depth = 0;

	do {
		char c = next_char(f);

		if (!c || (!depth && is_one_of(c, ",]}:")))
			return false;
		f->at++;
		if (c == '"') {
			for (; f->at < f->end && *f->at != '"'; f->at++)
				f->at += *f->at == '\\';
			if (f->at >= f->end)
				return false;
			f->at++;
		} else if (c == '[' || c == '{') {
			depth++;
		} else if (c == ']' || c == '}') {
			depth--;
		} else if (c != ',' && c != ':') {
			while (f->at < f->end && !is_one_of(*f->at, " \t\r\n,:[]{}\""))
				f->at++;
		}
	} while (depth);
	return true;
}

/* ---- colours ---- */

static const struct {
	const char *name;
	uint32_t rgb;
} colors[] = {
	{"black", 0}, {"white", 0xffffff}, {"gray", 0x808080}, {"grey", 0x808080}, {"silver", 0xc0c0c0},
	{"red", 0xff0000}, {"maroon", 0x800000}, {"orange", 0xffa500}, {"yellow", 0xffff00}, {"olive", 0x808000},
	{"lime", 0xff00}, {"green", 0x8000}, {"teal", 0x8080}, {"cyan", 0xffff}, {"aqua", 0xffff}, {"blue", 0xff},
	{"navy", 0x80}, {"magenta", 0xff00ff}, {"fuchsia", 0xff00ff}, {"purple", 0x800080}, {"rapids", 0x7400ff},
	{"pink", 0xffc0cb}, {"brown", 0xa52a2a},
};

/* An unknown name of a colour does not make the file invalid: the range has no colour then. */
static uint32_t color_of(const char *text)
{
	uint32_t rgb = 0;

	if (text[0] == '#' && hex(text + 1, 6, &rgb))
		return 0xff000000 | rgb;
	if (text[0] == '0' && (text[1] | 0x20) == 'x' && hex(text + 2, 8, &rgb))
		return rgb >> 24 ? rgb : 0xff000000 | rgb;
	for (size_t i = 0; i < sizeof(colors) / sizeof(*colors); i++)
		if (!strcmp(colors[i].name, text))
			return 0xff000000 | colors[i].rgb;
	return 0;
}

/* A name, "#rrggbb", or a number. */
static int take_color(struct functions_parser *f, uint32_t *ret, struct text *why)
{
	const char *text;
	int rc;

	if (next_char(f) == '"') {
		rc = take_string(f, &text, why, "");
		*ret = rc ? 0 : color_of(text);
		return rc;
	}
	text = f->at;
	for (*ret = 0; f->at < f->end && *f->at >= '0' && *f->at <= '9'; f->at++)
		*ret = *ret * 10 + (uint32_t)(*f->at - '0');
	if (f->at == text)
		return refuse(f, why, "\"color\" is a name, \"#rrggbb\" or a number");
	*ret |= *ret >> 24 ? 0 : 0xff000000;
	return 0;
}

/* ---- objects ---- */

/* Takes the comma before the next item, or the end. 1: there is an item; 0: it was the end. */
static int next_item(struct functions_parser *f, bool is_first, char end, struct text *why)
{
	if (take_char(f, end))
		return 0;
	if (is_first)
		return 1;
	return take_char(f, ',') ? 1 : refuse(f, why, end == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
}

static int take_key(struct functions_parser *f, const char **ret, struct text *why)
{
	int rc = take_string(f, ret, why, "expected a key, as \"module\"");

	return rc ? rc : take_char(f, ':') ? 0 : refuse(f, why, "expected ':'");
}

/* An element of "functions": its name, or {"function": its name, "color": ...}. */
static int take_function(struct functions_parser *f, struct functions_entry *e, struct text *why)
{
	const char *key;
	int rc = 0;

	e->name = "";
	if (!take_char(f, '{'))
		rc = take_string(f, &e->name, why, "expected a function's name in quotes");
	else
		for (bool is_first = true; (rc = next_item(f, is_first, '}', why)) > 0; is_first = false) {
			rc = take_key(f, &key, why);
			if (!rc && (!strcmp(key, "function") || !strcmp(key, "name")))
				rc = take_string(f, &e->name, why, "expected a function's name in quotes");
			else if (!rc && !strcmp(key, "color"))
				rc = take_color(f, &e->color, why);
			else if (!rc && !skip_value(f))
				rc = refuse(f, why, "expected a value");
			if (rc)
				return rc;
		}
	return rc ? rc : *e->name ? 0 : refuse(f, why, "a function without a name");
}

/* The keys may come in any order: the list of functions is read after all other keys. */
static int open_object(struct functions_parser *f, struct text *why)
{
	char *functions = NULL;
	const char *key;
	int rc;

	f->now = (struct functions_entry){.domain = "", .module = ""};
	if (!take_char(f, '{'))
		return refuse(f, why, "expected '{', the beginning of {\"module\": ..., \"functions\": [...]}");
	for (bool is_first = true; (rc = next_item(f, is_first, '}', why)) > 0; is_first = false) {
		rc = take_key(f, &key, why);
		if (rc)
			return rc;
		next_char(f);
		if (!strcmp(key, "functions") && *f->at == '[')
			functions = f->at;
		if (!strcmp(key, "domain"))
			rc = take_string(f, &f->now.domain, why, "\"domain\" is a text");
		else if (!strcmp(key, "module"))
			rc = take_string(f, &f->now.module, why, "\"module\" is a text");
		else if (!strcmp(key, "color"))
			rc = take_color(f, &f->now.color, why);
		else if (!skip_value(f))
			rc = refuse(f, why, "expected a value");
		if (rc)
			return rc;
	}
	if (rc)
		return rc;
	if (!*f->now.module || !functions)
		return refuse(f, why, *f->now.module ? "no list of \"functions\" here" : "no \"module\" here");
	f->after = f->at;
	f->at = functions;
	f->is_first = true;
	return 0;
}

void functions_begin(struct functions_parser *f, char *bytes, size_t size)
{
	*f = (struct functions_parser){.start = bytes, .at = bytes, .end = bytes + size, .is_first = true};
	*f->end = '\0';
}

static int next_of_list(struct functions_parser *f, struct text *why)
{
	bool is_first = f->is_first;

	if (is_first && !take_char(f, '['))
		return refuse(f, why, "expected '[', the beginning of a list");
	f->is_first = false;
	return next_item(f, is_first, ']', why);
}

int functions_next(struct functions_parser *f, struct functions_entry *ret, char *why_text, size_t size)
{
	struct text why = text_init(why_text, size);
	int rc;

	for (;;) {
		if (f->after) {
			rc = next_of_list(f, &why);
			if (rc > 0) {
				*ret = f->now;
				rc = take_function(f, ret, &why);
				return rc ? rc : 1;
			}
			if (rc)
				return rc;
			f->at = f->after;
			f->after = NULL;
		}
		rc = next_of_list(f, &why);
		if (!rc && next_char(f))
			return refuse(f, &why, "something after the end of the list");
		if (rc <= 0 || (rc = open_object(f, &why)))
			return rc;
	}
}
