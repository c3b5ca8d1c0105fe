/* SPDX-License-Identifier: Apache-2.0 */
/* Several machines placed beside each other by what their ranks did together, where their times of day need not agree.
 *
 * Nobody leaves a meeting before the last one came: for a clock that is ahead by x, x <= its exit - the other's entry, and
 * x >= its entry - the other's exit. All leave at about the same time: that is the estimate; the bounds give its error. Each
 * source (align_mpi.c, align_nccl.c) says who meets and when. Between two machines the one with the smaller error counts; a
 * machine that met none of those placed so far is placed through one that is. All others stay where their time of day puts
 * them. */
#ifndef PILLION_ALIGN_H
#define PILLION_ALIGN_H

#include "report/read/model.h"

/* Right after model_open, before anything is asked of its times or a filter is set. Sets the axes of machines, and what
 * align_method() says. Where all is of one clock it does nothing. */
void align_hosts(struct model *m);

/* How the clock of that machine of the model was placed, in words; NULL: by its time of day. */
const char *align_method(const struct model *m, size_t machine);

/* ---- for align_*.c ---- */

enum align_source { ALIGN_MPI, ALIGN_NCCL, ALIGN_SOURCES };

struct align;

/* A rank that all of its meetings are known of. Those that meet make a team: the n-th meeting of each is the same one. */
struct align_rank {
	const struct image *image;
	uint64_t team;	   /* which of its source's */
	int64_t number;	   /* of the rank in its team or job: two images with the same one are of two jobs; -1: not known */
	uint64_t meetings; /* how many it had */
	uint64_t error_ns; /* that each of its times may be off by */
};

void align_join(struct align *a, enum align_source source, const struct align_rank *r);

/* Is that meeting of a team wanted? Of many only some are, and none of a team that is all of one clock. Once all have joined. */
bool align_wants(const struct align *a, enum align_source source, uint64_t team, uint64_t number);

/* From when to when a rank was in that meeting: ns as its machine's axis has them. Meetings of one number are of one kind. */
struct align_meeting {
	uint64_t number, enter, exit;
	uint32_t kind;
};
void align_meet(struct align *a, enum align_source source, uint64_t team, const struct image *image, const struct align_meeting *m);

/* Each has its ranks join, and returns what it needs to have them meet; which frees that. */
void *align_mpi_join(struct align *a, const struct model *m);
void align_mpi_meet(struct align *a, const struct model *m, void *joined);
void *align_nccl_join(struct align *a, const struct model *m);
void align_nccl_meet(struct align *a, const struct model *m, void *joined);

/* What one meeting says of how far a clock was ahead, in ns; at is ns since the first one. */
struct align_bound {
	double at, ahead, least, most;
};

struct align_fit {
	double offset, drift; /* at 0, and how much of each ns is added */
	double error;	      /* that of the offset, at most */
	double contradiction; /* by how much they exclude each other, whatever the offset */
	size_t count;
};

/* Sorts the bounds, and takes the drift from them. There is at least one. */
struct align_fit align_fit(struct align_bound *bounds, size_t count);

#endif
