/* SPDX-License-Identifier: Apache-2.0 */
/* The image's trace file. No descriptor is kept. A thread's first windows grow without one: the file is lengthened by its
 * path, if that still leads to the file that we made, and mapped by way of what is mapped already. Later ones are moved
 * behind themselves by a write, with a descriptor that lives for microseconds. All of it under a guard (signals blocked). */
#ifndef PILLION_FILE_H
#define PILLION_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace_format.h"

/* The functions that events may name, by id. Defined by whoever links the recorder: the hook table, or a test. */
struct file_function {
	const char *name;
	uint8_t group; /* enum tf_group */
};
extern const struct file_function *const file_functions;
extern const uint32_t file_function_count;
extern const uint32_t file_counter_count; /* the first so many have a threshold, so a counter */

/* Creates process.path and maps its head to process.header, if that has not been done. 0 or -errno. Under
 * process.starting. */
int file_create(void);

/* A new window of `size` bytes (a multiple of TF_PAGE), zeroed, mapped shared; NULL: none. Its head is filled in but
 * for base_ticks and, last of all, magic: both are the caller's. */
void *file_window(uint32_t kind, uint32_t size, uint32_t thread, uint32_t sequence);

/* Lengthens the file by that much, as a hole, for windows to come when its path can no longer be used. */
void file_reserve(uint64_t size);

/* Moves what a full window holds to the end of the file, as a window marked full; the window itself then is none (its magic
 * is 0), for the caller to clear and use again. The copy shows all at once. A process killed between the two leaves both,
 * with the same thread and sequence: readers take one. */
bool file_move(struct tf_window *window);

/* Unmaps a window that nobody writes to any more, and starts its way to the disk. */
void file_release(void *window, uint32_t size);

#endif
