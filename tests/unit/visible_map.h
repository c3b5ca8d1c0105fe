/* SPDX-License-Identifier: Apache-2.0 */
/* Included before all of threads_*: mappings by libc in place of raw system calls. ThreadSanitizer sees these, and
 * so knows that a new chunk at an old one's addresses is new. */
#ifndef PILLION_TEST_VISIBLE_MAP_H
#define PILLION_TEST_VISIBLE_MAP_H

#include "runtime/common/sys.h"

static inline void *visible_mmap(void *at, size_t size, int protection, int flags, int fd, uint64_t offset)
{
	void *result = mmap(at, size, protection, flags, fd, (off_t)offset);

	return result == MAP_FAILED ? NULL : result;
}

#define sys_mmap visible_mmap
#define sys_munmap munmap

#endif
