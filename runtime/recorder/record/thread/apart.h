/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of threads for which the trace file has no room. They are mapped many together: the kernel allows 65,530
 * mappings, of which each thread has two for its stack, so that one more would be a third fewer threads. */
#pragma once

#include <stdint.h>

/* Zeroed. NULL: no memory. `size` is the same for all of a process. */
void *apart_take(uint32_t size);
/* It is kept for another thread. */
void apart_give(void *page, uint32_t size);
