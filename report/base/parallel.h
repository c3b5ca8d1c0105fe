/* SPDX-License-Identifier: Apache-2.0 */
/* The same work in several threads at once. */
#ifndef PILLION_PARALLEL_H
#define PILLION_PARALLEL_H

#include <stddef.h>

enum { PARALLEL_MOST = 16 };

/* One for each CPU that we may use, `most` and PARALLEL_MOST at most. */
size_t parallel_threads(size_t most);

/* Calls work(argument, 0) here and work(argument, 1 ...) in other threads, `threads` in all, fewer where no more can be had; all
 * have returned when this does. So what there is to do has to be taken by whoever comes. */
void parallel_run(size_t threads, void (*work)(void *argument, size_t thread), void *argument);

#endif
