/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the text of a frame into its parts. */
#ifndef PILLION_FRAME_H
#define PILLION_FRAME_H

#include "report/names/symbol.h"

struct frame {
	char *name; /* valid UTF-8 without characters that a terminal interprets */
	char *file; /* NULL: not known */
	uint32_t line;
};

/* "function (file:line)", or only a name. */
void frame_split(const char *text, struct frame *ret);
void frame_done(struct frame *f);

/* Where " (file:line)" begins in the text of a frame; NULL: it has none. */
const char *frame_place(const char *text);

/* Whether the text of a frame is of this "file:line", the file by its name or the end of its path. */
bool frame_is_at(const char *text, const char *place);

/* The file as lines in sentences name it: from the working directory, without directories outside of it. */
const char *frame_file(const char *file);

/* Appends "job.py:42 store" for the text of a frame; without a file only the name. */
void frame_short(const char *text, struct buffer *ret);

/* What has no module: code that was compiled at run time. The second one for sentences. */
#define FRAME_UNKNOWN "[unknown]"
#define FRAME_NO_NAMES "code compiled at run time, which has no names"

/* Appends the function of a frame whose text is `name`. Addresses of a module without names are not distinguished:
 * they all become "[module]". */
void frame_function(const struct symbol_frame *f, const char *name, struct buffer *key);

#endif
