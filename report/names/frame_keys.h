/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of stacks that are at one line, and the keys by which the recorder knows them in another run
 * (runtime/shared/base/slowed.h). */
#pragma once

#include "report/names/symbol.h"

struct frame_keys {
	struct symbols *symbols; /* borrowed */
	const char *place;	 /* FILE:LINE, the file by its name or the end of its path. Borrowed */
	uint64_t *keys;
	size_t count, capacity;
	struct map stacks; /* (image, stack) -> 1 + whether a frame is at the line */
};

/* Whether a frame of the stack, or a function inlined in it, is at the line. Its key is then among the keys. */
bool frame_keys_take(struct frame_keys *k, const struct image *image, uint32_t stack);
void frame_keys_done(struct frame_keys *k);
