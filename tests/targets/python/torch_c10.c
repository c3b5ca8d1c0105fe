/* SPDX-License-Identifier: Apache-2.0 */
/* A libc10.so of a few functions: its allocators report blocks as PyTorch's do, through the procedure linkage table,
 * and count what arrives at PyTorch's own functions. Built by tests/e2e/pytorch_memory.sh. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct device {
	int8_t type, index;
};

static long news, deletes, reports;
static int64_t balance;

void own_new(void *reporter, void *block, size_t size) __asm__("_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm");
void own_delete(void *reporter, void *block) __asm__("_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv");
void own_report(void *block, int64_t size, size_t allocated, size_t reserved, struct device device)
	__asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");

void own_new(void *reporter, void *block, size_t size)
{
	news += reporter == &news && block && size;
}

void own_delete(void *reporter, void *block)
{
	deletes += reporter == &news && block;
}

void own_report(void *block, int64_t size, size_t allocated, size_t reserved, struct device device)
{
	reports += block && allocated == 1 && reserved == 2 && device.type == 1;
	balance += size * (device.index + 1);
}

void *host_take(size_t size)
{
	void *block = malloc(size);

	own_new(&news, block, size);
	return block;
}

void host_give(void *block)
{
	own_delete(&news, block);
	free(block);
}

void device_use(uintptr_t address, int64_t size, int index)
{
	own_report((void *)address, size, 1, 2, (struct device){1, (int8_t)index});
}

void say_counts(void)
{
	printf("%ld %ld %ld %lld\n", news, deletes, reports, (long long)balance);
	fflush(stdout);
}
