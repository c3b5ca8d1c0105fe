/* SPDX-License-Identifier: Apache-2.0 */
/* Aligns the clocks of several machines by the collective operations of their ranks, because their CLOCK_REALTIME may
 * disagree.
 *
 * No rank leaves a collective before the last rank has entered it. If the clock of rank A is ahead of the clock of
 * rank B by x, then entry(A) - exit(B) <= x <= exit(A) - entry(B). All ranks leave at about the same time: the estimate
 * is exit(A) - exit(B), and the bounds give its error. Each source (align_mpi.c, align_nccl.c) determines which ranks
 * meet and when. If both sources connect two machines, the smaller error wins; a machine that did not meet a placed one
 * directly is placed through one that did. All other machines keep their CLOCK_REALTIME. */
#pragma once

#include "report/read/job/model.h"

/* To be called right after model_open, before any time is read or a filter is set. Sets the offsets of the clock
 * maps and what align_method() returns. No effect if all machines share one clock. */
void align_hosts(struct model *m);

/* How the clock of that machine of the model was placed, in words; NULL: by its CLOCK_REALTIME. */
const char *align_method(const struct model *m, size_t machine);

/* ---- for align_*.c ---- */

enum align_source { ALIGN_MPI, ALIGN_NCCL, ALIGN_SOURCES };

struct align;

/* A rank of which all meetings are known. The ranks that meet form a team: the n-th meeting is the same one for each
 * of them. */
struct align_rank {
	const struct image *image;
	uint64_t team;	   /* id of the team within its source */
	/* number of the rank in its team or job; two images with the same number belong to two jobs; -1: not known */
	int64_t number;
	uint64_t meetings; /* number of meetings */
	uint64_t error_ns; /* bound on the error of each of its times */
};

void align_join(struct align *a, enum align_source source, const struct align_rank *r);

/* Whether the source shall report that meeting of a team. Of many meetings only some are needed, and none of a team
 * whose ranks share one clock. Valid once all ranks have joined. */
bool align_wants(const struct align *a, enum align_source source, uint64_t team, uint64_t number);

/* When a rank entered and left that meeting, in ns of its machine's clock map. Meetings of the same number must have
 * the same kind. */
struct align_meeting {
	uint64_t number, enter, exit;
	uint32_t kind;
};
void align_meet(struct align *a, enum align_source source, uint64_t team, const struct image *image,
		const struct align_meeting *m);

/* For align_hosts(), in this order; align_choose_meetings() after all ranks have joined, align_place() after all have
 * reported their meetings. */
struct align *align_begin(struct model *m);
bool align_is_needed(const struct align *a); /* several clocks */
void align_choose_meetings(struct align *a);
void align_place(struct align *a);
void align_end(struct align *a);

/* _join makes the ranks of a source join and returns what _meet needs to report their meetings; _meet frees it. */
void *align_mpi_join(struct align *a, const struct model *m);
void align_mpi_meet(struct align *a, const struct model *m, void *joined);
void *align_nccl_join(struct align *a, const struct model *m);
void align_nccl_meet(struct align *a, const struct model *m, void *joined);

/* What one meeting implies for how far a clock was ahead, in ns; `at` is in ns since the first meeting. */
struct align_bound {
	double at, ahead, least, most;
};

struct align_fit {
	double offset, drift; /* offset at 0, and what each ns adds */
	double error;	      /* bound on the error of the offset */
	double contradiction; /* by how much the bounds exclude each other, whatever the offset */
	size_t count;
};

/* Sorts the bounds and removes the drift from them. There must be at least one. */
struct align_fit align_fit(struct align_bound *bounds, size_t count);
