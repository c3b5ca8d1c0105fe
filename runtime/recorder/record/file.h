/* SPDX-License-Identifier: Apache-2.0 */
/* The image's trace file. No descriptor is kept, and none is needed to extend the file: it is extended by its path,
 * if the path still refers to the file that we created, and mapped by means of existing mappings. (A descriptor that
 * is open for microseconds is long enough for another thread's dup2 to replace it by the program's file; this was
 * observed in a test.) Forked children keep the mappings, because a child that a signal handler forked may return
 * into the middle of a store. All functions run under a guard (signals blocked). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

/* Creates process.path and maps its head to process.header, unless this has been done. False: there is no file. If
 * there was no room for it, a later call retries, and what cannot be stored is counted meanwhile; any other permanent
 * failure turns recording off. Under a guard. */
bool file_make(void);

/* When to retry after so many earlier failures in succession: at first some 10 ms later, at most some seconds. */
uint64_t file_retry_ticks(uint32_t failures);

/* The size rounded up to pages of this machine, which are multiples of TF_PAGE. */
uint64_t file_round(uint64_t size);

/* Allocates `size` bytes (a multiple of file_round(1)) at the file's end and maps them shared; NULL: failed. `mine`
 * is a mapped chunk of the calling thread or NULL: with it, space near the file's end can be mapped. Under
 * process.growing. */
void *file_take(const struct tf_chunk *mine, uint64_t size, uint64_t *ret_offset);

/* Fills in the head of a chunk except base_ticks and magic, which the caller stores, magic last. */
void file_chunk_head(struct tf_chunk *chunk, uint32_t kind, uint32_t size, uint32_t thread, uint32_t sequence,
		     uint64_t offset);

/* Allocates a zeroed chunk of `size` bytes and fills in its head; NULL: failed. */
void *file_chunk(const struct tf_chunk *mine, uint32_t kind, uint32_t size, uint32_t thread, uint32_t sequence);

/* With --ring: begins the next turn if it is due. True: it has. */
bool file_turn(void);

/* Extends the file by `size` bytes, as a hole, for chunks that are needed when its path can no longer be used. */
void file_reserve(uint64_t size);

/* Truncates the file to `size`. Under process.growing. */
void file_cut(uint64_t size);

/* Marks a chunk as full and unmaps it. No thread may write to it any more. */
void file_release(void *chunk, uint32_t size);
