/* SPDX-License-Identifier: Apache-2.0 */
/* A libc10.so whose bookkeeping of blocks does nothing, so that only the cost of reporting to it is measured. */
#include <stddef.h>
#include <stdint.h>

#include "bench_c10.h"

void c10_new(void *reporter, void *block, size_t size)
{
	(void)reporter, (void)block, (void)size;
}

void c10_delete(void *reporter, void *block)
{
	(void)reporter, (void)block;
}

void c10_report(void *block, int64_t size, size_t allocated, size_t reserved, struct c10_device device)
{
	(void)block, (void)size, (void)allocated, (void)reserved, (void)device;
}
