/* SPDX-License-Identifier: Apache-2.0 */
/* Text that came from a traced program, made safe for where it goes. */
#ifndef PILLION_TEXT_H
#define PILLION_TEXT_H

#include "report/base/util.h"

/* One code point of a text; U+FFFD for each byte that is no UTF-8. Moves *at. */
uint32_t text_next(const char **at);

void text_add_code(struct buffer *b, uint32_t code);

/* One that a terminal may obey or that hides the order of what is shown. */
bool text_is_control(uint32_t code);

/* Columns of a terminal that the text takes. */
size_t text_width(const char *text);

/* Appends at most `width` columns of the text, its middle given up for an ellipsis; both ends of a name tell something.
 * Returns the columns taken. */
size_t text_shorten(struct buffer *b, const char *text, size_t width);

/* Appends the text as valid UTF-8 with control characters as \xHH or \uHHHH. `keep` names control characters to leave.
 */
void text_escape(struct buffer *b, const char *text, const char *keep);

/* Appends a JSON string with its quotes. */
void json_add(struct buffer *b, const char *text);

#endif
