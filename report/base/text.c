/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, control characters, display widths. */
#include "report/base/text.h"

/* What text_shorten leaves of the beginning of a path at least. */
enum { LEAST_HEAD = 4 };

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "runtime/shared/base/text.h"
#include "runtime/shared/base/utf8.h"

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

uint32_t text_next(const char **at)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)*at;
	unsigned int length = *p < 0x80		    ? 1
			      : (*p & 0xe0) == 0xc0 ? 2
			      : (*p & 0xf0) == 0xe0 ? 3
			      : (*p & 0xf8) == 0xf0 ? 4
						    : 0;
	uint32_t code;

	++*at;
	if (length < 2)
		return length ? *p : 0xfffd;
	code = *p & (0x7fu >> length);
	for (unsigned int i = 1; i < length; i++) {
		if (!is_tail(p[i])) /* NUL is not one of them */
			return 0xfffd;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0xfffd;
	*at += length - 1;
	return code;
}

void text_add_code(struct buffer *b, uint32_t code)
{
	char bytes[UTF8_BYTES];

	buffer_add(b, bytes, utf8_write(bytes, code));
}

bool text_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 || code == 0x200e ||
	       code == 0x200f || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* Characters of width 0: combining marks, joiners, variation selectors, and the later parts of a Korean syllable. */
static bool is_mark(uint32_t code)
{
	static const uint32_t ranges[][2] = {
		{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x5bf, 0x5bf},   {0x5c1, 0x5c2},
		{0x5c4, 0x5c5},   {0x5c7, 0x5c7},   {0x610, 0x61a},   {0x64b, 0x65f},   {0x670, 0x670},
		{0x6d6, 0x6dc},   {0x6df, 0x6e4},   {0x6e7, 0x6e8},   {0x6ea, 0x6ed},   {0x900, 0x902},
		{0x93a, 0x93a},   {0x93c, 0x93c},   {0x941, 0x948},   {0x94d, 0x94d},   {0x951, 0x957},
		{0xe31, 0xe31},   {0xe34, 0xe3a},   {0xe47, 0xe4e},   {0x1160, 0x11ff}, {0x1ab0, 0x1ace},
		{0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x2060, 0x2064}, {0x20d0, 0x20f0}, {0x302a, 0x302d},
		{0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
	};
	size_t at = first_place(i, 0, sizeof(ranges) / sizeof(*ranges), ranges[i][1] < code);

	return at < sizeof(ranges) / sizeof(*ranges) && code >= ranges[at][0];
}

static size_t code_width(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (is_mark(code))
		return 0;
	return (code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xa4d0 && code != 0x303f) ||
			       (code >= 0xac00 && code < 0xd7a4) || (code >= 0xf900 && code < 0xfb00) ||
			       (code >= 0xfe30 && code < 0xfe70) || (code >= 0xff00 && code < 0xff61) ||
			       (code >= 0xffe0 && code < 0xffe7) || (code >= 0x1f300 && code < 0x1fb00) ||
			       (code >= 0x20000 && code < 0x3fffe)
		       ? 2
		       : 1;
}

size_t text_width(const char *text)
{
	size_t width = 0;

	while (*text)
		width += code_width(text_next(&text));
	return width;
}

size_t text_cut(struct buffer *b, const char *text, size_t width)
{
	size_t whole = text_width(text), at = 0;

	if (whole <= width) {
		buffer_text(b, text);
		return whole;
	}
	while (*text) {
		const char *before = text;
		size_t wide = code_width(text_next(&text));

		if (at + wide >= width)
			break;
		buffer_add(b, before, (size_t)(text - before));
		at += wide;
	}
	buffer_text(b, "…");
	return at + 1;
}

size_t text_shorten(struct buffer *b, const char *text, size_t width)
{
	size_t whole = text_width(text), head = width / 2, tail = width - head - 1, at = 0, taken = 1;
	const char *last = strrchr(text, '/');
	bool is_cut = false;

	if (whole <= width) {
		buffer_text(b, text);
		return whole;
	}
	if (last && text_width(last) > tail && text_width(last) + LEAST_HEAD < width) {
		tail = text_width(last);
		head = width - tail - 1;
	}
	while (*text) {
		uint32_t code = text_next(&text);
		size_t wide = code_width(code);
		bool is_head = at + wide <= head, is_tail = at >= whole - tail;

		at += wide;
		if (is_head || is_tail) {
			text_add_code(b, code);
			taken += wide;
		} else if (!is_cut) {
			buffer_text(b, "…");
			is_cut = true;
		}
	}
	return taken;
}

void text_escape(struct buffer *b, const char *text, const char *keep)
{
	while (*text) {
		uint32_t code = text_next(&text);

		if (!text_is_control(code) || (code < 0x80 && strchr(keep, (int)code)))
			text_add_code(b, code);
		else
			buffer_print(b, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
	}
}

void text_add_word(struct buffer *b, const char *text)
{
	size_t size = 4 * strlen(text) + 3;
	SCOPED_MEMORY char *word = mem_alloc(size);
	struct text t = text_init(word, size);

	text_word(&t, text);
	buffer_text(b, word);
}

void text_fit(struct buffer *b, const char *name, size_t width)
{
	SCOPED(buffer) safe = {0};

	text_escape(&safe, name ? name : "", "");
	text_shorten(b, buffer_string(&safe), width);
}

void text_fit_sentence(struct buffer *b, const char *sentence, size_t word, size_t width)
{
	SCOPED(buffer) safe = {0}, words = {0};

	text_escape(&safe, sentence, "");
	for (const char *at = buffer_string(&safe); *at;) {
		size_t spaces = strspn(at, " "), length = strcspn(at + spaces, " ");
		SCOPED(buffer) one = {0};

		buffer_add(&one, at + spaces, length);
		buffer_add(&words, at, spaces);
		text_shorten(&words, buffer_string(&one), word);
		at += spaces + length;
	}
	text_shorten(b, buffer_string(&words), width);
}

const char *text_path(const char *path)
{
	static char directory[PATH_MAX];
	static size_t length = SIZE_MAX;

	if (length == SIZE_MAX)
		length = getcwd(directory, sizeof(directory)) ? strlen(directory) : 0;
	return length > 1 && !strncmp(path, directory, length) && path[length] == '/' ? path + length + 1 : path;
}

/* The parentheses of names and of paths come in pairs. Of a path in which they do not: the last that follow a blank. */
const char *text_place(const char *text, size_t length)
{
	const char *last = NULL;
	int open = 0;

	for (const char *at = text + length - 1; length && at > text; at--) {
		open += (*at == ')') - (*at == '(');
		if (*at != '(' || at[-1] != ' ')
			continue;
		if (!open)
			return at - 1;
		last = last ? last : at - 1;
	}
	return last;
}

/* The length of a word, with the unit behind it if it is a figure: "1.20 s". */
static size_t word_length(const char *word)
{
	static const char *const units[] = {"ns", "us", "ms", "s", "%", "x", "kB", "KB", "MB", "GB",
					   "KiB", "MiB", "GiB"};
	size_t length = strcspn(word, " \n"), unit;

	if (!length || word[length] != ' ' || word[length - 1] < '0' || word[length - 1] > '9')
		return length;
	unit = strcspn(word + length + 1, " \n,.;:)");
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (unit == strlen(units[i]) && !strncmp(word + length + 1, units[i], unit))
			return length + 1 + strcspn(word + length + 1, " \n");
	return length;
}

/* Of one line; returns its end. */
static const char *wrap_line(struct buffer *b, const char *line, size_t width, size_t indent)
{
	size_t at = 0;

	while (*line && *line != '\n') {
		size_t spaces = strspn(line, " "), length = word_length(line + spaces), wide;
		SCOPED(buffer) word = {0};

		buffer_add(&word, line + spaces, length);
		wide = text_width(buffer_string(&word));
		if (width && at > indent && at + spaces + wide > width) {
			buffer_print(b, "\n%*s", (int)indent, "");
			at = indent;
			spaces = 0;
		}
		buffer_print(b, "%*s", (int)spaces, "");
		line += strspn(line, " ") + length;
		at += spaces;
		at += text_shorten(b, buffer_string(&word), width && at + wide > width ? width - at : wide);
	}
	return line;
}

void text_wrap(struct buffer *b, const char *text, size_t width, size_t indent)
{
	while (*text) {
		text = wrap_line(b, text, width, indent);
		if (*text++)
			buffer_text(b, "\n");
		else
			return;
	}
}
