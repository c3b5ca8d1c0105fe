/* SPDX-License-Identifier: Apache-2.0 */
/* Whether memory of this process can be read. The kernel checks it, by one system call for each page; false if no
 * system call is allowed. Async-signal-safe; errno is preserved. */
#ifndef PILLION_READABLE_H
#define PILLION_READABLE_H

#include <stdbool.h>
#include <stdint.h>

bool readable_address(uintptr_t address);

/* All of [from, to), at most 8 MiB. */
bool readable_between(uintptr_t from, uintptr_t to);

static inline bool readable_bytes(const void *from, uint64_t size)
{
	return readable_between((uintptr_t)from, (uintptr_t)from + size);
}

#endif
