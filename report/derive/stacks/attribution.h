/* SPDX-License-Identifier: Apache-2.0 */
/* Which frame of a stack its time is charged to: the innermost Python frame of the user's code, which is what lies neither in an
 * interpreter's lib/pythonX.Y nor in site-packages or dist-packages nor in a frozen module; if there is none the innermost Python
 * frame; if there are no Python frames the innermost native one with a source line whose module is neither the system's nor the
 * interpreter nor in such a place, or the innermost one.
 *
 * No symbol table is read for that, and of files only those of the user's own modules are opened, where a stack has no Python. */
#ifndef PILLION_ATTRIBUTION_H
#define PILLION_ATTRIBUTION_H

#include "report/derive/symbols/symbol.h"

struct attribution {
	struct symbols *symbols; /* borrowed */
	bool is_innermost;	 /* the innermost frame is charged, whoever wrote it */
	struct symbol_frame *frames;
	struct map users; /* place of a frame -> 1 + whether it is of the user's code */
};

/* False: the stack is empty, lost, or 0 (not taken). The frame has no text yet (symbols_name) unless is_innermost. */
bool attribution_stack(struct attribution *c, const struct image *image, uint32_t stack, struct symbol_frame *ret, bool *ret_is_users);
void attribution_done(struct attribution *c);

/* Of a file of Python code, or of a module: whether it was installed, rather than written by the user. */
bool attribution_is_library(const char *path);

#endif
