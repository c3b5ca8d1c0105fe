/* SPDX-License-Identifier: Apache-2.0 */
/* Text from a traced program, made safe for its destination. */
#pragma once

#include "report/base/util.h"

/* Decodes one code point and advances *at. U+FFFD for each byte that is not valid UTF-8. */
uint32_t text_next(const char **at);

void text_add_code(struct buffer *b, uint32_t code);

/* A code point that a terminal may interpret, or that changes the display order. */
bool text_is_control(uint32_t code);

/* The number of terminal columns that the text takes. */
size_t text_width(const char *text);

/* Appends at most `width` columns of the text. The middle is replaced by an ellipsis, because both ends of a name
 * carry information; the last part of a path, with its line, is kept whole. Returns the number of columns. */
size_t text_shorten(struct buffer *b, const char *text, size_t width);

/* The same, but the end is replaced. */
size_t text_cut(struct buffer *b, const char *text, size_t width);

/* Appends the text as valid UTF-8, with control characters as \xHH or \uHHHH. The control characters in `keep` are
 * not escaped. */
void text_escape(struct buffer *b, const char *text, const char *keep);

/* Appends the text as one word of a shell. */
void text_add_word(struct buffer *b, const char *text);

/* The path from the working directory if it is below that, otherwise the path. */
const char *text_path(const char *path);
/* Where " (file:line)" begins at the end of a text that ends with it; NULL: nowhere. */
const char *text_place(const char *text, size_t length);

/* Appends lines of text, of which none is wider than `width` (0: any width). What is left of a line follows indented;
 * the middle of a word that is too long is cut out. */
void text_wrap(struct buffer *b, const char *text, size_t width, size_t indent);

/* Both, for a name from the program on a line of a terminal; NULL: appends nothing. */
void text_fit(struct buffer *b, const char *name, size_t width);

/* The same of a sentence: first each word that is longer than `word` columns loses its middle, because such words are
 * paths and names, and only then, if it is still too long, the sentence. */
void text_fit_sentence(struct buffer *b, const char *sentence, size_t word, size_t width);
