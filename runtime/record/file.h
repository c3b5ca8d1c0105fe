/* SPDX-License-Identifier: Apache-2.0 */
/* The image's trace file. No descriptor is kept, and none is needed to grow: the file is lengthened by its path, if that
 * still leads to the file that we made, and mapped by way of what is mapped already. (A descriptor that lives for
 * microseconds is enough for another thread's dup2 to put the program's file in its place: tried.) Mappings are left to forked
 * children: a child of a signal handler may return into the middle of a store. All under a guard (signals blocked). */
#ifndef PILLION_FILE_H
#define PILLION_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format/trace_format.h"

/* Creates process.path and maps its head to process.header, if that has not been done; a failure for good turns recording off.
 * False: there is no file. Under a guard. */
bool file_make(void);

/* The size in whole pages of this machine, which are multiples of TF_PAGE. */
uint64_t file_round(uint64_t size);

/* A new window of `size` bytes (as file_round has them), zeroed, mapped shared; NULL: none. Its head is filled in but
 * for base_ticks and, last of all, magic: both are the caller's. */
void *file_window(uint32_t kind, uint32_t size, uint32_t thread, uint32_t sequence);

/* Lengthens the file by that much, as a hole, for windows to come when its path can no longer be used. */
void file_reserve(uint64_t size);

/* Cuts what the file has been lengthened by and no window has taken, at the image's end. */
void file_trim(void);

/* Unmaps a window that nobody writes to any more. */
void file_release(void *window, uint32_t size);

#endif
