/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles the names that compilers generate. */
#include "report/names/demangle.h"

#include <stdlib.h>
#include <string.h>

/* Declared here because the C++ header cannot be included in C. */
char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status);

/* ---- Rust's legacy scheme: that of C++, with a last component of "h" and 16 digits, and escaped punctuation ---- */

enum { HASH = 17 };

static bool is_hash(const char *part, size_t length)
{
	return length == HASH && *part == 'h' && strspn(part + 1, "0123456789abcdef") >= HASH - 1;
}

/* Iterates over the components of "_ZN4core3fmt17h0123456789abcdefE"; false at the end. */
static bool next_part(const char **at, const char **ret_part, size_t *ret_length)
{
	char *end;
	size_t length = strtoul(*at, &end, 10);

	if (**at < '1' || **at > '9' || length > strlen(end))
		return false;
	*ret_part = end;
	*ret_length = length;
	*at = end + length;
	return true;
}

static bool is_rust(const char *name)
{
	const char *at = name + 3, *part = "";
	size_t length = 0, count = 0;

	if (!text_begins_with(name, "_ZN"))
		return false;
	while (next_part(&at, &part, &length))
		count++;
	return count > 1 && is_hash(part, length) && !strcmp(at, "E");
}

/* Appends the character for an escape such as "$LT$"; returns its length, 0: it is not an escape. */
static size_t rust_sign(struct buffer *ret, const char *at)
{
	static const struct {
		char name[5], sign;
	} signs[] = {{"$SP$", '@'}, {"$BP$", '*'}, {"$RF$", '&'}, {"$LT$", '<'},
		     {"$GT$", '>'}, {"$LP$", '('}, {"$RP$", ')'}, {"$C$", ','}};
	char *end = NULL;
	long code;

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (!strncmp(at, signs[i].name, strlen(signs[i].name))) {
			buffer_add(ret, &signs[i].sign, 1);
			return strlen(signs[i].name);
		}
	code = at[1] == 'u' ? strtol(at + 2, &end, 16) : 0;
	if (code < ' ' || code > '~' || *end != '$')
		return 0;
	buffer_add(ret, &(char){(char)code}, 1);
	return (size_t)(end + 1 - at);
}

static void rust_part(struct buffer *ret, const char *part, size_t length)
{
	size_t i = length > 1 && part[0] == '_' && part[1] == '$', step;

	for (; i < length; i += step) {
		step = part[i] == '$' ? rust_sign(ret, part + i) : 0;
		if (!step && text_begins_with(part + i, "..")) {
			buffer_text(ret, "::");
			step = 2;
		} else if (!step) {
			buffer_add(ret, part + i, 1);
			step = 1;
		}
	}
}

static void demangle_rust(struct buffer *ret, const char *name)
{
	const char *at = name + 3, *part;
	size_t length;

	for (bool has_any = false; next_part(&at, &part, &length); has_any = true) {
		if (has_any)
			buffer_text(ret, "::");
		rust_part(ret, part, length);
	}
}

/* The function's name is the component before the last one. */
static void rust_base(struct buffer *ret, const char *name)
{
	const char *at = name + 3, *part = "", *before = "";
	size_t length = 0, before_length = 0;

	while (*at != 'E') {
		before = part;
		before_length = length;
		next_part(&at, &part, &length);
	}
	rust_part(ret, before, before_length);
}

/* ---- Fortran, as gfortran has it: "__module_MOD_procedure" ---- */

static bool demangle_fortran(struct buffer *ret, const char *name)
{
	static const char mark[] = "_MOD_";
	const char *found = text_begins_with(name, "__") ? strstr(name + 2, mark) : NULL;

	if (!found || found == name + 2 || !found[strlen(mark)])
		return false;
	buffer_print(ret, "%.*s::%s", (int)(found - name - 2), name + 2, found + strlen(mark));
	return true;
}

/* ---- each language ---- */

/* Appends the demangled name. False: the name is not mangled. */
static bool demangle_readable(struct buffer *ret, const char *name)
{
	int status = -1;
	char *text;

	if (is_rust(name)) {
		demangle_rust(ret, name);
		return true;
	}
	if (demangle_rust_v0(ret, name) || demangle_fortran(ret, name))
		return true;
	text = text_begins_with(name, "_Z") ? __cxa_demangle(name, NULL, NULL, &status) : NULL;
	if (text && !status)
		buffer_text(ret, text);
	free(text);
	return text && !status;
}

void demangle(struct buffer *ret, const char *name)
{
	if (!demangle_readable(ret, name))
		buffer_text(ret, name);
}

/* ---- the base name of a function ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

/* The length of "operator<<" and the like, which contain characters with another meaning elsewhere; 0: there is no
 * operator here. */
static size_t operator_length(const char *name, size_t at)
{
	static const char word[] = "operator";
	const char *sign = name + at + strlen(word);

	if ((at && is_letter(name[at - 1])) || strncmp(name + at, word, strlen(word)) || is_letter(*sign))
		return 0;
	if (text_begins_with(sign, "()") || text_begins_with(sign, "[]"))
		return strlen(word) + 2;
	return strlen(word) + strspn(sign, "<>=+-*/%^&|~!,");
}

/* Skips a bracketed part. Within parentheses '>' is a comparison and closes nothing. */
static size_t skip_template(const char *name, size_t at)
{
	size_t angles = 0, rounds = 0, length;

	do {
		length = operator_length(name, at);
		if (length) {
			at += length;
			continue;
		}
		rounds += name[at] == '(';
		rounds -= name[at] == ')' && rounds;
		if (!rounds) {
			angles += name[at] == '<';
			angles -= name[at] == '>' && angles;
		}
		at++;
	} while (name[at] && (angles || rounds));
	return at;
}

static size_t skip_brackets(const char *name, size_t at)
{
	size_t depth = 0;

	do {
		depth += name[at] == '{';
		depth -= name[at] == '}';
		at++;
	} while (name[at] && depth);
	return at;
}

/* Skips the parameters of an enclosing function, as in "outer(int) const::inner(float)"; 0: they are the function's
 * own. */
static size_t skip_enclosing_function(const char *name, size_t at)
{
	at = skip_template(name, at);
	if (text_begins_with(name + at, " const"))
		at += 6;
	return text_begins_with(name + at, "::") ? at : 0;
}

static bool is_decltype(const char *name, size_t at)
{
	while (at && name[at - 1] == ' ')
		at--;
	return at >= 8 && text_begins_with(name + at - 8, "decltype");
}

/* Finds the base name: from the last blank or "::" outside of brackets up to the parameters. */
static void find_base(const char *name, size_t *ret_start, size_t *ret_end)
{
	size_t at = 0, start = 0, end = 0, next;
	bool is_cast = false; /* "operator unsigned int" */

	while (name[at]) {
		next = is_cast ? 0 : operator_length(name, at);
		if (next) {
			start = at;
			end = at += next;
			is_cast = name[at] == '"' || (name[at] == ' ' && name[at + 1] != '<');
			at += !is_cast && name[at] == ' ';
		} else if (name[at] == '<') {
			at = skip_template(name, at);
			end = is_cast ? at : end;
		} else if (name[at] == '(' && !strchr("*&", name[at + 1])) {
			next = is_decltype(name, at) ? skip_template(name, at) : skip_enclosing_function(name, at);
			if (!next)
				break;
			at = next;
		} else if (name[at] == '(' || name[at] == ' ' || name[at] == ':' || name[at] == '*' ||
			   name[at] == '&') {
			if (name[at] == ' ' && name[at + 1] == '[')
				break; /* "[clone .part.0]" */
			at++;
			start = is_cast ? start : at;
			end = is_cast ? at : end;
		} else {
			end = at = name[at] == '{'   ? skip_brackets(name, at)
				   : name[at] == '[' ? at + strcspn(name + at, "]")
						     : at + 1;
		}
	}
	*ret_start = start;
	*ret_end = end;
}

void demangle_symbol(struct buffer *ret, const char *name)
{
	SCOPED_MEMORY char *plain = mem_copy_text(name, strcspn(name, "@"));

	demangle(ret, *plain ? plain : name);
}

const char *demangle_libc(const char *name)
{
	name += strspn(name, "_");
	return name + (text_begins_with(name, "libc_") ? strlen("libc_") : 0);
}

void demangle_base(struct buffer *ret, const char *name)
{
	SCOPED(buffer) text = {0};
	size_t start = 0, end = 0;

	if (demangle_readable(&text, name) && text.data)
		find_base(text.data, &start, &end);
	if (is_rust(name))
		rust_base(ret, name);
	else if (start < end)
		buffer_add(ret, text.data + start, end - start);
	else
		buffer_text(ret, name);
}
