/* SPDX-License-Identifier: Apache-2.0 */
/* What small files of /proc/sys say. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "runtime/shared/common/sys.h"

#define SYSTEM_BOOT "/proc/sys/kernel/random/boot_id"

/* The first line, "" if it cannot be read. Returns ret. */
static inline char *system_line(const char *path, char *ret, size_t size)
{
	if (sys_read_file(path, ret, size) < 0)
		*ret = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return ret;
}

/* `otherwise` if there is none. */
static inline long system_number(const char *path, long otherwise)
{
	char line[32], *end;
	long number = strtol(system_line(path, line, sizeof(line)), &end, 10);

	return end == line ? otherwise : number;
}
