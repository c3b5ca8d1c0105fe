/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/where/wait.h"

#include <stdlib.h>

/* Each thread waits for at most one: following the owners either ends, or comes to a cycle. `seen` has for each thread
 * the walk that first came to it. */
size_t where_cycles(const size_t *owners, size_t count, uint32_t *ret)
{
	size_t *seen = mem_alloc((count + 1) * sizeof(*seen)), cycles = 0;

	for (size_t i = 0; i < count; i++)
		ret[i] = 0;
	for (size_t i = 0; i < count; i++) {
		size_t at = i;

		while (at < count && !seen[at]) {
			seen[at] = i + 1;
			at = owners[at];
		}
		if (at >= count || seen[at] != i + 1)
			continue;
		cycles++;
		for (; !ret[at]; at = owners[at])
			ret[at] = (uint32_t)cycles;
	}
	free(seen);
	return cycles;
}
