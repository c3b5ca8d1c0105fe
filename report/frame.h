/* SPDX-License-Identifier: Apache-2.0 */
/* A frame's text in its parts. */
#ifndef PILLION_FRAME_H
#define PILLION_FRAME_H

#include "util.h"

struct frame {
	char *name; /* valid UTF-8, nothing a terminal would obey */
	char *file; /* NULL: not known */
	uint32_t line;
};

/* "function (file:line)", or only a name. */
void frame_split(const char *text, struct frame *ret);
void frame_done(struct frame *f);

#endif
