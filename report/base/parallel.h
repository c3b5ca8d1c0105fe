/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a function in several threads. */
#pragma once

#include <stddef.h>

enum { PARALLEL_MOST = 16 };

/* One thread for each CPU that the process may use, at most `most` and PARALLEL_MOST. */
size_t parallel_threads(size_t most);

/* Calls work(argument, 0) in this thread and work(argument, 1 ...) in others, `threads` in all, or fewer if no more
 * threads can be created. Returns when all have returned. The threads must therefore take their tasks from a shared
 * list. */
void parallel_run(size_t threads, void (*work)(void *argument, size_t thread), void *argument);
