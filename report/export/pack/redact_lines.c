/* SPDX-License-Identifier: Apache-2.0 */
/* Decides by the key of a field. A field that is not known is redacted. */
#include <string.h>

#include "report/export/pack/redact_lines.h"

static const char digits[] = "0123456789,", capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789",
		  small[] = "abcdefghijklmnopqrstuvwxyz_";

static bool is_only(const char *text, size_t size, const char *of)
{
	for (size_t i = 0; i < size; i++)
		if (!text[i] || !strchr(of, text[i]))
			return false;
	return true;
}

static bool is_in(const char *word, size_t size, const char *words)
{
	char spaced[24] = " ";

	if (!size || size > sizeof(spaced) - 3)
		return false;
	memcpy(spaced + 1, word, size);
	spaced[size + 1] = ' ';
	return strstr(words, spaced);
}

static void redact_variable(struct redactor *r, char *text, size_t size, bool is_escaped)
{
	const char *equals = memchr(text, '=', size);
	size_t name = equals ? (size_t)(equals - text) : 0;

	if (!name || !is_only(text, name, capitals)) {
		redact_text(r, text, size, REDACT_SECRET, is_escaped);
		return;
	}
	if ((name > 8 && !memcmp(text, "PILLION_", 8)) || !is_only(text + name, size - name, "=0123456789,"))
		redact_text(r, text + name, size - name, REDACT_SECRET, is_escaped);
}

void redact_variables(struct redactor *r, char *text, size_t size, bool is_escaped)
{
	const char *separator = is_escaped ? "\\x00" : "";
	size_t width = is_escaped ? 4 : 1;

	for (size_t at = 0; at < size;) {
		const char *found = memmem(text + at, size - at, separator, width);
		size_t length = found ? (size_t)(found - text) - at : size - at;

		redact_variable(r, text + at, length, is_escaped);
		at += length + width;
	}
}

static void redact_value(struct redactor *r, const char *key, size_t key_size, char *value, size_t size)
{
	static const char kept[] = " nonce run parent via kind short functions usage reason boot version scheduler "
				   "hash build at ",
			  named[] = " host exe args command node text path file ";

	if (is_in(key, key_size, " name ")) /* of a function */
		return;
	if (is_in(key, key_size, kept) && !memchr(value, '/', size))
		return;
	if (is_only(value, size, digits) && !is_in(key, key_size, named))
		return;
	if (is_in(key, key_size, " vars "))
		redact_variables(r, value, size, true);
	else
		redact_text(r, value, size,
			    is_in(key, key_size, " text ")           ? REDACT_KNOWN
			    : is_in(key, key_size, " options file ") ? REDACT_PRIVATE
								     : REDACT_SECRET,
			    true);
}

static void redact_field_of_line(struct redactor *r, char *field, size_t size)
{
	static const char lines[] = " process end child bare launch clock cost note seen module frame source ";
	char *equals = memchr(field, '=', size);
	size_t key = equals ? (size_t)(equals - field) : 0;

	if (key && is_only(field, key, small))
		redact_value(r, field, key, equals + 1, size - key - 1);
	else if (!is_in(field, size, lines))
		redact_text(r, field, size, REDACT_SECRET, true);
}

void redact_lines(struct redactor *r, char *text, size_t size)
{
	for (size_t at = 0, end; at < size; at = end + 1) {
		for (end = at; end < size && text[end] != '\t' && text[end] != '\n'; end++)
			;
		redact_field_of_line(r, text + at, end - at);
	}
}
