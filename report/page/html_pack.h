/* SPDX-License-Identifier: Apache-2.0 */
/* Data within a page: deflated and base64-encoded, in a script element that browsers do not execute. Memory does not
 * grow with it. */
#pragma once

#include "report/base/table/sink.h"

struct page_pack;

/* zlib's levels. Most bytes of events are of times, which do not repeat: level 6 takes 1.7 times as long for 0 to 8 %
 * less. The model is text. */
enum pack_level { PACK_FAST = 1, PACK_SMALL = 6 };

/* Begins an element with this id. The sink is borrowed until pack_end, and nothing else must be written to it. NULL
 * if zlib cannot start. */
struct page_pack *pack_begin(struct sink *out, const char *id, enum pack_level level);
void pack_add(struct page_pack *p, const void *data, size_t size);

/* Adds the buffer's bytes and empties it. */
void pack_take(struct page_pack *p, struct buffer *b);

/* Ends the element and frees the pack. */
void pack_end(struct page_pack *p);
