/* SPDX-License-Identifier: Apache-2.0 */
/* The image's trace file. No descriptor is kept, and none is needed to grow: the file is lengthened by its path, if
 * that still leads to the file that we made, and mapped by way of what is mapped already. (A descriptor that lives for
 * microseconds is enough for another thread's dup2 to put the program's file in its place: tried.) Mappings are left to
 * forked children: a child of a signal handler may return into the middle of a store. All under a guard (signals
 * blocked). */
#ifndef PILLION_FILE_H
#define PILLION_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format/trace_format.h"

/* Creates process.path and maps its head to process.header, if that has not been done; a failure for good turns
 * recording off. False: there is no file. Under a guard. */
bool file_make(void);

/* The size in whole pages of this machine, which are multiples of TF_PAGE. */
uint64_t file_round(uint64_t size);

/* Takes `size` bytes (as file_round has them) at the file's end and maps them shared; NULL: none. `mine` is a chunk of
 * the calling thread's that is mapped, or NULL: what lies near the file's end is mapped by way of it. Under
 * process.growing. */
void *file_take(const struct tf_chunk *mine, uint64_t size, uint64_t *ret_offset);

/* Fills in the head of a chunk but for base_ticks and, last of all, magic: both are the caller's. */
void file_chunk_head(struct tf_chunk *w, uint32_t kind, uint32_t size, uint32_t thread, uint32_t sequence,
		     uint64_t offset);

/* A new chunk of `size` bytes, zeroed, with its head; NULL: none. */
void *file_chunk(const struct tf_chunk *mine, uint32_t kind, uint32_t size, uint32_t thread, uint32_t sequence);

/* Lengthens the file by that much, as a hole, for chunks to come when its path can no longer be used. */
void file_reserve(uint64_t size);

/* Cuts what lies beyond `size`. Under process.growing. */
void file_cut(uint64_t size);

/* Unmaps a chunk that nobody writes to any more. */
void file_release(void *chunk, uint32_t size);

#endif
