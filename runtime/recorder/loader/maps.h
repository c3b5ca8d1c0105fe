/* SPDX-License-Identifier: Apache-2.0 */
/* The files that are mapped into this process, from /proc/self/maps. Any thread, any signal handler; uses 2 KB of the
 * stack, and a descriptor meanwhile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The absolute path of the file that is mapped at `address`; *ret_is_gone: it has been removed or replaced there since.
 * False: none, it cannot be read, or it does not fit. */
bool maps_path(uintptr_t address, char *ret, size_t size, bool *ret_is_gone);
