/* SPDX-License-Identifier: Apache-2.0 */
/* What an edit would save: by a replay, with an interval. */
#pragma once

#include "report/causes/causes.h"
#include "report/causes/replay.h"

struct saving {
	uint64_t before_ns, after_ns;
	uint64_t cost_ns; /* what the edit removes, in all threads together; the saving is no more than that */
	/* low and high: by the errors of the shares that follow from samples, by how long threads on the critical path
	 * waited for a CPU, which differs from run to run, as all of their time does (SAVING_PERCENT of what is saved,
	 * and SAVING_NS), by consequences: low if they stay, by the waits whose end has no known cause: low if they
	 * stay, high if what ended them came earlier, too; by waits that are removed: low if they lie beside each other
	 * instead; and by what waits are only assumed to be for: as if they are and as if they are not */
	uint64_t saved_ns, low_ns, high_ns;
};

/* docs/decisions/replay.md */
enum { SAVING_PERCENT = 5, SAVING_NS = 5000000 };

/* An edit without any change. The caller frees it with edit_done. */
void edit_init(struct edit *e, const struct causality *s);
void edit_done(struct edit *e);

/* Multiplies the time of one editable. */
void edit_scale(struct edit *e, uint32_t what, double factor);
/* Waits of this editable do not wait. */
void edit_no_wait(struct edit *e, const struct causality *s, uint32_t what, enum replay_no_wait how);
/* Multiplies the work of one actor. */
void edit_scale_actor(struct edit *e, const struct causality *s, uint32_t actor, double factor);

/* Each call takes longer by `ns`: of those that are marked by what, in actors that are marked (NULL: all). Takes
 * `actors`. */
void edit_delay(struct edit *e, const struct causality *s, const uint8_t *calls, uint8_t *actors, double ns);

/* In ns that the run would be shorter. */
double saving_only(const struct causality *s, struct edit *e);
/* Two standard deviations of what these shares of the editables' samples are of all samples, as a part of it; 0:
 * nothing of them follows from samples. */
double saving_sampling_error(const struct causality *s, const float *shares);
void saving_find(struct causality *s, struct edit *e, struct saving *ret);

/* So many processes of one kind at a time. -ENODATA: it cannot be computed. */
int edit_workers(struct causality *s, uint32_t count, struct edit *ret, struct err *err);

/* ---- edits as people write them ---- */

/* "line~job.py:12=0", "call~fsync=0.5x", "kernel~gemm=0.5x", "kernel~gemm@job.py:12=0.5x", "no-sync~train.py:61",
 * "rank~5=median", ... -EINVAL: it is none; -ENODATA: it cannot be computed; err says why. */
int edit_parse(struct causality *s, const char *text, struct edit *ret, struct err *err);
