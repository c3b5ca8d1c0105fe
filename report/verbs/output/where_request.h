/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the launchers of a capture what their threads do: the other side of runtime/launch/where.c. */
#pragma once

#include "report/read/job/model.h"

/* The capture of a process: the directory that its launcher gave it. `pid` may also be the launcher's. -ENODATA if it
 * does not run under pillion, -errno if it is not ours. */
int where_capture_of(uint32_t pid, struct buffer *ret, struct err *err);

struct where_answers {
	uint64_t request;	/* 0: no launcher runs, nobody was asked */
	size_t asked, answered; /* launchers */
	struct texts missing;	/* launchers that did not answer, one line each */
};

/* Asks the launchers of the runs that have not ended, and waits for their answers. -errno if they cannot be asked. */
int where_request(const char *capture, struct where_answers *ret, struct err *err);
