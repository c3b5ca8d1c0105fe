/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary by subject. summary.c puts them in order; rules and `pillion analyze` use some. */
#pragma once

#include "report/answers/answer.h"
#include "report/answers/summary/summary_died.h"
#include "report/time/resident.h"

/* ---- summary_findings.c: FIX FIRST, and findings beside it ---- */

enum { SUMMARY_FINDINGS = 4, SUMMARY_FINDINGS_SHOWN = 2 }; /* the costliest; shown beside the first */

void summary_first(const struct fix_first *first, struct buffer *out);

/* What is outside of the program: a note under the partition of time, never what to fix first. */
void summary_outside(const struct answer *a, struct buffer *out);

/* Findings beside the first one, if they cost as much as would be worth a first line. */
void summary_findings(const struct answer *a, struct buffer *out);

/* ---- summary_ends.c: processes that did not exit with status 0 ---- */

/* Not the first process, which is in the first line, the one that died first and those of start-up; ranks that ended
 * because of that death are only counted. Processes of one program that ended in the same way are one line. */
void summary_ends(const struct report_context *c, const struct roles *roles, const struct died *died,
		  struct buffer *out);

/* ---- summary_ranks.c: the ranks of a job; nothing if there are fewer than two ---- */

/* The range of the ranks' durations. */
void summary_ranks(const struct model *m, struct buffer *out);

/* The share of the ranks' time in calls of MPI or NCCL, its range over the ranks, and the function and line that take
 * most of it, other than the start and the end of MPI. */
void summary_messages(struct rules *r, enum blocked_kind kind, const char *title, struct buffer *out);

/* POP's efficiencies of ranks of MPI or NCCL, in one line. */
void summary_efficiency(const struct report_context *c, struct buffer *out);

/* ---- summary_memory.c: peaks of memory ---- */

/* The largest peak of a GPU's memory and, with --memory, of the host's: how much, where, and the line that held most of
 * it. */
void summary_memory(struct rules *r, struct buffer *ret);

/* The largest peak of resident memory of a process, and whether it grew steadily; in the last line of those that
 * summary_memory() has appended, if the text was `before` bytes long before them. */
void summary_resident(struct rules *r, size_t before, struct buffer *ret);

/* rule_memory.c: whether the memory of the process of these samples grows steadily after its start. */
struct memory_growth {
	uint64_t from_kb, to_kb, ns;
	size_t samples;
};
bool memory_grows(struct rules *r, const struct resident_point *points, size_t count, struct memory_growth *ret);

/* ---- summary_jax.c ---- */

/* What was compiled for longest, against its runs. Appends nothing if nothing was compiled. */
void summary_jax(const struct report_context *context, struct buffer *out);

/* ---- summary_profile.c ---- */

/* Of a capture of --mode=profile: what there is instead of events. */
void summary_profile(const struct report_context *c, struct buffer *ret);

/* ---- summary_switches.c ---- */

/* What was switched on that makes programs slower: variables of the environment, options of Python and of the compiler,
 * PyTorch's anomaly mode, libraries that check what a program does. */
void summary_switches(const struct report_context *c, const struct roles *roles, struct buffer *ret);

/* ---- summary_next.c: the options with which to run the job again ---- */

/* Appends a line that names the options: -s cpu where threads compute (`computes`: that is what to fix first), -t with
 * mpi where ranks may wait for messages. is_large: events are not read. False: nothing is missing. */
bool summary_next(struct rules *r, bool computes, bool is_large, struct buffer *ret);

/* Appends a line that says what has a program write names of the code that it compiles, where it computes in such code
 * and has written none. */
void summary_names(const struct report_context *c, const struct roles *roles, const struct fix_first *first,
		   struct buffer *ret);
