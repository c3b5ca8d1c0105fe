/* SPDX-License-Identifier: Apache-2.0 */
/* One block of a packed file: any bytes in, fewer bytes out, the very same bytes back. The bytes are taken as slots of
 * trace_format.h, whatever they are: fields that resemble each other are put together, times as the pause since what
 * came before, addresses and ids as the distance from the last one of their kind; then zstd. Nothing is believed: what
 * is no slot comes back as well, it only packs less. One struct block_coder serves one thread at a time. */
#ifndef PILLION_PACK_BLOCK_H
#define PILLION_PACK_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK_BYTES = 1 << 18 }; /* the most that one takes */

struct block_coder;

bool block_coder_exists(void); /* false: built without zstd, then there are none */

struct block_coder *block_coder_new(void);
void block_coder_free(struct block_coder *c);

/* Borrowed until the next call. Never fails. */
const uint8_t *block_encode(struct block_coder *c, const uint8_t *bytes, size_t size, size_t *ret_size);

/* Exactly `size` bytes, checked against the checksum within; false: these are not in there, ret may hold anything. Neither
 * allocates nor locks: safe in a signal handler. */
bool block_decode(struct block_coder *c, const uint8_t *packed, size_t packed_size, uint8_t *ret, size_t size);

#endif
