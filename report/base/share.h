/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that srun or mpirun started with the same command, and that divide its work. They find each other by the
 * variables of the job, and exchange files in a directory that all of them see
 * (docs/decisions/report-divided-among-ranks.md). */
#ifndef PILLION_SHARE_H
#define PILLION_SHARE_H

#include "report/base/util.h"

/* Which rank of which job step this process is, by the environment. */
struct rank_job {
	char key[256]; /* the same for all ranks, and for no other job step */
	unsigned int rank, count;
};

/* False: it is not one of several ranks. */
bool rank_job_find(struct rank_job *ret);

struct share; /* NULL where functions take it: there is one process */

/* How this process takes part. */
enum share_role {
	SHARE_ALONE,   /* it does all of the work */
	SHARE_PART,  /* it is one of several: see share_self */
	SHARE_ABSENT,  /* others do all of the work */
};

/* Meets the other ranks in a new directory within `place`. `command`: what all of them were started with. Those that
 * do not come within PILLION_RANKS_TIMEOUT seconds (10) are not waited for: *ret_note then says so, if it is for this
 * process to say. */
enum share_role share_join(const struct rank_job *job, const char *place, const char *command, struct share **ret,
			   struct buffer *ret_note);

size_t share_count(const struct share *r); /* 1 for NULL */
size_t share_self(const struct share *r);  /* 0, the one that prints, for NULL */

/* Each rank but the first sends `mine`; in the first one, `take` is called for each of the others, in their order. */
void share_gather(struct share *r, const struct buffer *mine,
		  void (*take)(void *context, size_t from, struct buffer *theirs), void *context);

/* The first rank sends *b; the others get it. */
void share_broadcast(struct share *r, struct buffer *b);

/* Why an exchange has failed, NULL if none has. All later ones do nothing. */
const char *share_failure(const struct share *r);

/* This process cannot go on: the others will fail, too. */
void share_abandon(struct share *r);

/* Returns when all ranks have called it, or one has failed. No file remains. */
void share_leave(struct share *r);

#endif
