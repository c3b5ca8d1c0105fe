/* SPDX-License-Identifier: Apache-2.0 */
/* A frame's text in its parts. */
#ifndef PILLION_FRAME_H
#define PILLION_FRAME_H

#include "report/derive/symbols/symbol.h"

struct frame {
	char *name; /* valid UTF-8, nothing a terminal would obey */
	char *file; /* NULL: not known */
	uint32_t line;
};

/* "function (file:line)", or only a name. */
void frame_split(const char *text, struct frame *ret);
void frame_done(struct frame *f);

/* Appends the function of a frame; `name` is that of its text. Where a module has no names its addresses say nothing:
 * they count as one, "[module]". */
void frame_function(const struct symbol_frame *f, const char *name, struct buffer *key);

#endif
