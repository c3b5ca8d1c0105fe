/* SPDX-License-Identifier: Apache-2.0 */
/* May memory of this process be read? The kernel is asked, one system call for each page; false where no system call is
 * allowed. Async-signal-safe; errno is left alone. */
#ifndef PILLION_READABLE_H
#define PILLION_READABLE_H

#include <stdbool.h>
#include <stdint.h>

bool readable_address(uintptr_t address);

/* All of [from, to), which has 8 MiB at most. */
bool readable_between(uintptr_t from, uintptr_t to);

static inline bool readable_bytes(const void *from, uint64_t size)
{
	return readable_between((uintptr_t)from, (uintptr_t)from + size);
}

#endif
