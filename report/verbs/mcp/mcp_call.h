/* SPDX-License-Identifier: Apache-2.0 */
/* A tool of `pillion mcp` that is being executed, in a process of its own, while the server goes on reading. */
#pragma once

#include <sys/types.h>

#include "report/base/util.h"

struct mcp_call {
	struct mcp_call *next;
	struct buffer id; /* of the request, as JSON */
	bool is_modern;	  /* the answer's revision */
	const char *help; /* of the tool; borrowed */
	struct texts words;
	pid_t pid;	 /* 0: it waits for others to end */
	int output;	 /* a pipe from the process */
	uint64_t end_ns; /* CLOCK_MONOTONIC: when it is ended; UINT64_MAX: never */
	struct buffer answer;
	size_t size; /* of what it has written, of which `answer` may lack the end */
};

/* Starts this program with the words. It ends with the server. */
int mcp_call_start(struct mcp_call *c, uint32_t seconds, struct err *err);

/* Reads what is there. False: the process has closed its output. */
bool mcp_call_read(struct mcp_call *c);

/* Waits for the process, which may have to be killed. Not 0: it has no answer. */
int mcp_call_end(struct mcp_call *c, bool is_killed, struct err *err);

void mcp_call_free(struct mcp_call *c); /* of a call that has no process */

uint64_t mcp_now_ns(void);
