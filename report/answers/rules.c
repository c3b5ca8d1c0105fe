/* SPDX-License-Identifier: Apache-2.0 */
/* Frees what rules share. */
#include <stdlib.h>

#include "report/answers/rule.h"
#include "report/answers/summary/summary_ended.h"

void rules_done(struct rules *rules)
{
	gaps_free(rules->gaps);
	free(rules->steady);
	attribution_done(&rules->attribution);
	map_done(&rules->polls);
	rules_mpi_done(rules);
	rules_os_done(rules);
	ended_free(rules->ended);
	if (rules->time) {
		pressures_done(&rules->time->pressures);
		roles_done(&rules->time->roles);
		partition_done(&rules->time->partition);
		free(rules->time);
	}
	causes_free(rules->causes);
	rules->causes = NULL;
	rules->time = NULL;
	rules->gaps = NULL;
	rules->ended = NULL;
	rules->steady = NULL;
}
