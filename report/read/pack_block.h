/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses one block of a packed file without loss. The bytes are interpreted as slots of trace_format.h: similar
 * fields are stored together, times as the pause since the previous event, addresses and ids as the difference from
 * the last one of their kind; the result is compressed by zstd. Bytes that are not slots are also restored exactly,
 * but compress less. A struct block_coder is used by one thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK_BYTES = 1 << 18 }; /* the maximum size of a block */

struct block_coder;

bool block_coder_exists(void); /* false: built without zstd */

struct block_coder *block_coder_new(void);
void block_coder_free(struct block_coder *c);

/* Borrowed until the next call. Never fails. */
const uint8_t *block_encode(struct block_coder *c, const uint8_t *bytes, size_t size, size_t *ret_size);

/* Restores exactly `size` bytes, verified by the checksum in the frame. False: the block is damaged, and ret may
 * contain anything. Neither allocates nor locks: safe in a signal handler. */
bool block_decode(struct block_coder *c, const uint8_t *packed, size_t packed_size, uint8_t *ret, size_t size);
