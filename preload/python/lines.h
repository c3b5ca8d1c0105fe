/* SPDX-License-Identifier: Apache-2.0 */
/* --lines-of: hits and time of each line of chosen Python functions, as line_profiler counts them. From CPython 3.12
 * on, by sys.monitoring; before, see lines_frames.h. Only the objects that the launcher preloads for this option have
 * it. */
#pragma once

#include <stdint.h>

/* Weak: NULL in libpillion.so. By the constructor, after the recorder has been started. */
void lines_init(void) __attribute__((weak, visibility("hidden")));
/* Called by the interpreter, with the GIL, once `python` is filled in. Returns NULL, or why lines are not recorded. */
const char *lines_begin(void) __attribute__((weak, visibility("hidden")));

/* For the Python package, which calls it with the GIL: the lines of this function, or of the one in this method or
 * property, are counted from now on, under --lines-of=@profile. False: they cannot be counted. */
int pillion_lines_of(void *function);
