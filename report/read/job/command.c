/* SPDX-License-Identifier: Apache-2.0 */
#include "report/read/job/command.h"

#include <ctype.h>
#include <string.h>

#include "report/base/text.h"
#include "runtime/shared/base/text.h"

#define MASK "[masked]"

enum { NAME_MOST = 64 };

bool command_masks_secrets = true;

/* ---- names ---- */

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* "--hf-token", "PGPASSWORD". Not the tokens of a language model, nor the name of a file that has the secret. */
static bool is_secret_name(const char *text, size_t length)
{
	static const char *const parts[] = {"password", "passwd",	"passphrase", "secret",	     "credential",
					    "apikey",	"api_key",	"access_key", "private_key", "auth_token",
					    "authorization"};
	static const char *const ends[] = {"token", "pwd", "_pass", "_pw"};
	static const char *const others[] = {"bos_token", "cls_token", "eos_token",   "mask_token", "pad_token",
					     "sep_token", "unk_token", "image_token", "_file",	    "_path",
					     "_dir"};
	char name[NAME_MOST] = "";
	bool is_secret = false;

	while (length && *text == '-') {
		text++;
		length--;
	}
	if (length >= sizeof(name))
		return false;
	for (size_t i = 0; i < length; i++)
		name[i] = text[i] == '-' || text[i] == '.' ? '_' : (char)tolower((unsigned char)text[i]);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		is_secret |= strstr(name, parts[i]) != NULL;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		is_secret |= !strcmp(name, ends[i]) || text_ends_with(name, ends[i]);
	is_secret |= !strcmp(name, "pass");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		is_secret &= strcmp(name, others[i]) && !text_ends_with(name, others[i]);
	return is_secret;
}

/* ---- one argument ---- */

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

/* The quote that is open at a place of a script of a shell; 0: none. */
static char quote_at(const char *script, const char *place)
{
	char quote = 0;

	for (const char *at = script; at < place; at++)
		if (*at == '\\' && quote != '\'')
			at++;
		else if (quote ? *at == quote : is_quote(*at))
			quote = quote ? 0 : *at;
		else if (!quote && *at == '#' && (at == script || isspace((unsigned char)at[-1])))
			at += strcspn(at, "\n"); /* a comment */
	return quote;
}

/* Whether the next one of a list of variables such as "A=1,B=2" follows. */
static bool is_list_comma(const char *at)
{
	const char *name = at + 1;

	if (*at != ',')
		return false;
	while (is_name_byte(*name))
		name++;
	return name > at + 1 && *name == '=';
}

/* The end of a value within an argument that has several words, such as a script of sh -c: that of the shell's word,
 * which has bytes, escaped bytes and quoted ones. That of a header has several words, too. `outer`: the quote around a
 * script within the script, which ends the value, unless the word goes on behind it. */
static const char *value_end(const char *at, char outer, bool is_header)
{
	bool is_escaped = false, is_raw = false; /* raw: nothing is escaped within '', but within $'' */
	char quote = 0;

	for (outer = is_quote(*at) ? 0 : outer; *at; at++) {
		if (outer && *at == outer) {
			if (!at[1] || strchr(" \t\n&;|,)", at[1]))
				break;
			is_escaped = is_raw = false;
			outer = quote = 0;
			continue;
		}
		if (outer == '"' && *at == '\\' && at[1] && strchr("\"\\$`", at[1]))
			at++; /* to what the inner script has */
		if (is_escaped) {
			is_escaped = false;
		} else if (*at == '\\' && !is_raw) {
			is_escaped = true;
		} else if (quote ? *at == quote : is_quote(*at)) {
			is_raw = !quote && *at == '\'' && at[-1] != '$';
			quote = quote ? 0 : *at;
		} else if (is_header ? *at == '\n' : !quote && (strchr(" \t\n&;|", *at) || is_list_comma(at))) {
			break;
		}
	}
	return at;
}

/* The value that follows a secret name up to `at`: "=X", ": X", or " X" after the name of an option. NULL: none. */
static const char *value_after(const char *at, bool is_option)
{
	const char *value = at;

	if (*at == '=')
		return at[1] ? at + 1 : NULL;
	value += *at == ':';
	value += strspn(value, " \t");
	return value > at && (*at == ':' ? value > at + 1 : is_option) && *value && *value != '-' ? value : NULL;
}

/* The password of "scheme://user:password@host", `at`: behind "://". Returns its end, NULL: there is none. */
static const char *url_password(const char *at, const char **ret_begin)
{
	size_t length = strcspn(at, "/?# \t\n\"'");
	const char *end = memrchr(at, '@', length), *colon = end ? memchr(at, ':', (size_t)(end - at)) : NULL;

	*ret_begin = colon ? colon + 1 : NULL;
	return colon && end > colon + 1 ? end : NULL;
}

/* Appends an argument without its secrets. */
static void add_masked(struct buffer *ret, const char *text)
{
	const char *at = text;

	while (*at) {
		const char *from = at, *value, *end = NULL;

		while (is_name_byte(*at))
			at++;
		value = at > from && is_secret_name(from, (size_t)(at - from)) ? value_after(at, *from == '-') : NULL;
		if (value)
			/* an argument that begins with the name has nothing but its value */
			end = from == text && *at == '='
				      ? value + strlen(value)
				      : value_end(value, quote_at(text, from), *at == ':');
		else if (text_begins_with(at, "://"))
			end = url_password(at + 3, &value);
		if (end) {
			buffer_add(ret, from, (size_t)(value - from));
			buffer_text(ret, MASK);
			at = end;
		} else {
			at += at == from;
			buffer_add(ret, from, (size_t)(at - from));
		}
	}
}

/* Whether the argument is an option whose value is the next one. */
static bool has_secret_next(const char *text, const char *next)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!is_name_byte(text[i]))
			return false;
	return *text == '-' && *next != '-' && is_secret_name(text, length);
}

/* A mask needs no quotes. */
static bool is_plain(const char *text)
{
	const char *mask;

	for (; (mask = strstr(text, MASK)); text = mask + strlen(MASK))
		if (!text_is_plain(text, (size_t)(mask - text)))
			return false;
	return text_is_plain(text, strlen(text));
}

char *command_join(const char *arguments, const char *end)
{
	bool is_value = false;
	struct buffer b = {0}, masked = {0};

	for (const char *at = arguments; at < end; at += strlen(at) + 1) {
		buffer_clear(&masked);
		if (!command_masks_secrets)
			buffer_text(&masked, at);
		else if (is_value)
			buffer_text(&masked, MASK);
		else
			add_masked(&masked, at);
		buffer_text(&b, b.size ? " " : "");
		if (*at && is_plain(buffer_string(&masked)))
			buffer_text(&b, buffer_string(&masked));
		else
			text_add_word(&b, buffer_string(&masked));
		is_value = !is_value && at + strlen(at) + 1 < end && has_secret_next(at, at + strlen(at) + 1);
	}
	buffer_done(&masked);
	return b.data ? b.data : mem_copy_text("", 0);
}

char *command_mask(const char *text)
{
	struct buffer b = {0};

	if (command_masks_secrets)
		add_masked(&b, text);
	else
		buffer_text(&b, text);
	return b.data ? b.data : mem_copy_text("", 0);
}
