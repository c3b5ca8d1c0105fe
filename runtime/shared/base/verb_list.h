/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs: what `pillion VERB` does besides running a command. This list serves the launcher, which hands a verb over
 * to pillion-report, and pillion-report, which implements them in report/verb_<name>.c. */
#pragma once

enum verb_use {
	VERB_ALWAYS,	 /* the word is the verb; `pillion -- WORD` runs a program of that name */
	/* a common program has that name: it is the verb without operands or with a capture; OF_RUNS: also with a PID
	 * or slurm:JOBID */
	VERB_OF_CAPTURES,
	VERB_OF_RUNS
};

/* X(NAME, name, use) in the order of --help. */
#define VERBS(X)                         \
	X(STATS, stats, VERB_ALWAYS)     \
	X(INFO, info, VERB_ALWAYS)       \
	X(VIEW, view, VERB_OF_CAPTURES)  \
	X(WHERE, where, VERB_ALWAYS)     \
	X(TOP, top, VERB_OF_RUNS)        \
	X(EXPORT, export, VERB_ALWAYS)   \
	X(QUERY, query, VERB_ALWAYS)     \
	X(OPS, ops, VERB_ALWAYS)         \
	X(PACK, pack, VERB_ALWAYS)       \
	X(UNPACK, unpack, VERB_ALWAYS)   \
	X(RECOVER, recover, VERB_ALWAYS) \
	X(ANALYZE, analyze, VERB_ALWAYS) \
	X(CRITICAL, critical, VERB_ALWAYS) \
	X(WHATIF, whatif, VERB_ALWAYS)   \
	X(DIFF, diff, VERB_OF_CAPTURES)  \
	X(TRY, try, VERB_ALWAYS)         \
	X(MCP, mcp, VERB_ALWAYS)         \
	X(SKILL, skill, VERB_ALWAYS)     \
	X(DOCTOR, doctor, VERB_ALWAYS)   \
	X(START, start, VERB_ALWAYS)     \
	X(STOP, stop, VERB_ALWAYS)       \
	X(CANCEL, cancel, VERB_ALWAYS)   \
	X(DUMP, dump, VERB_ALWAYS)       \
	X(STATUS, status, VERB_ALWAYS)   \
	X(CAPTURES, captures, VERB_ALWAYS)
