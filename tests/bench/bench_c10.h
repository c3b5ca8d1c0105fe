/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libc10 to which PyTorch's allocators report their blocks. */
#ifndef BENCH_C10_H
#define BENCH_C10_H

#include <stddef.h>
#include <stdint.h>

#define C10_NEW "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm"
#define C10_DELETE "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv"
#define C10_REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"

struct c10_device {
	int8_t type, index;
};

void c10_new(void *reporter, void *block, size_t size) __asm__(C10_NEW);
void c10_delete(void *reporter, void *block) __asm__(C10_DELETE);
void c10_report(void *block, int64_t size, size_t allocated, size_t reserved, struct c10_device device)
	__asm__(C10_REPORT);

#endif
