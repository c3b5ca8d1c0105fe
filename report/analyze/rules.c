/* SPDX-License-Identifier: Apache-2.0 */
/* Runs all rules, and frees what they share. */
#include <stdlib.h>
#include <string.h>

#include "report/analyze/rule.h"

void rules_done(struct rules *rules)
{
	gaps_free(rules->gaps);
	free(rules->steady);
	attribution_done(&rules->attribution);
	map_done(&rules->polls);
	rules_mpi_done(rules);
	rules_os_done(rules);
	if (rules->time) {
		pressures_done(&rules->time->pressures);
		roles_done(&rules->time->roles);
		partition_done(&rules->time->partition);
		free(rules->time);
	}
	rules->time = NULL;
	rules->gaps = NULL;
	rules->steady = NULL;
}

size_t rules_worst(struct rules *rules, struct finding *ret, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < rule_count; i++) {
		struct finding f;
		size_t at = count;

		if (rule_list[i].flags & RULE_NSYS)
			continue;
		rule_run(rules, &rule_list[i], &f);
		while (at && ret[at - 1].cost_ns < f.cost_ns)
			at--;
		if (f.verdict != VERDICT_FOUND || at == size) {
			finding_done(&f);
			continue;
		}
		if (count == size)
			finding_done(&ret[--count]);
		memmove(ret + at + 1, ret + at, (count - at) * sizeof(*ret));
		ret[at] = f;
		count++;
	}
	return count;
}
