/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/common/foreign_profiler.h"

#include <stddef.h>
#include <string.h>

/* Seen in processes under nsys 2022.4 and ncu 2025.3.1. */
static const char *const variables[] = {"NSYS_PROFILING_SESSION_ID=", "NV_COMPUTE_PROFILER_PERFWORKS_DIR="};

bool foreign_profiler_is_named(char *const *environment)
{
	for (; environment && *environment; environment++)
		for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
			if (!strncmp(*environment, variables[i], strlen(variables[i])))
				return true;
	return false;
}
