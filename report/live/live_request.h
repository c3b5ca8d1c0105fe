/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the launchers of live runs to start or stop recording: the other side of runtime/launch/session.c. */
#pragma once

#include "report/live/live_runs.h"

struct live_wish {
	const char *action; /* start, stop or cancel */
	uint64_t opens_ns;  /* start: CLOCK_REALTIME, 0: now */
	uint64_t for_ns;    /* start: 0: until it is stopped */
};

struct live_answer {
	bool has_answered;
	bool was_planned; /* stop, cancel: `range` was to start at a later time, and does not */
	int error;	  /* 0, or -errno as runtime/shared/common/range.h has them */
	uint32_t range;
	uint32_t processes; /* as far as the launcher knows them */
	uint32_t elsewhere; /* processes on other hosts, in the answer of the first run of each capture */
};

/* `answers`: one for each run. Those without a launcher are not asked. What could not be reached is added to `missing`,
 * one line each. -errno if the launchers of a capture cannot be asked at all. */
int live_ask(const struct live_runs *runs, const struct live_wish *wish, struct live_answer *answers,
	     struct texts *missing, struct err *err);
