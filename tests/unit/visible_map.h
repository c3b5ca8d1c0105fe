/* SPDX-License-Identifier: Apache-2.0 */
/* Included first in each threads_* program: maps memory through libc instead of raw system calls. ThreadSanitizer
 * intercepts libc's mmap and so treats a new chunk at reused addresses as new memory. */
#ifndef PILLION_TEST_VISIBLE_MAP_H
#define PILLION_TEST_VISIBLE_MAP_H

#include "runtime/shared/common/sys.h"

static inline void *visible_mmap(void *at, size_t size, int protection, int flags, int fd, uint64_t offset)
{
	void *result = mmap(at, size, protection, flags, fd, (off_t)offset);

	return result == MAP_FAILED ? NULL : result;
}

#define sys_mmap visible_mmap
#define sys_munmap munmap

#endif
