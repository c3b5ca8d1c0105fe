/* SPDX-License-Identifier: Apache-2.0 */
/* Whether memory of this process can be read. The kernel checks it, by one system call for each page; false if no
 * system call is allowed. Async-signal-safe; errno is preserved. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool readable_address(uintptr_t address);

/* All of [from, to), at most 8 MiB. */
bool readable_between(uintptr_t from, uintptr_t to);

/* A string; an array of strings that NULL ends, as exec takes it, with the strings. NULL itself is none, and
 * readable. */
bool readable_string(const char *string);
bool readable_strings(char *const *strings);

/* Before the next: finds libc's mark that no thread was created (glibc 2.32). */
void readable_init(void);

/* No other thread can unmap what was found readable, so it may be loaded. Not known of threads of a raw clone(2). */
bool readable_is_alone(void);

static inline bool readable_bytes(const void *from, uint64_t size)
{
	return readable_between((uintptr_t)from, (uintptr_t)from + size);
}
