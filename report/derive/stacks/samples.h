/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples: the CPU time that each represents, whether there are any, and what took them. */
#ifndef PILLION_SAMPLES_H
#define PILLION_SAMPLES_H

#include "report/derive/events/scan.h"

/* The CPU time that a sample represents. */
/* A sample, or a row of samples of --mode=profile: how many samples, and the time that they stand for. */
bool samples_are(const struct event *e);
uint64_t samples_count(const struct event *e);
uint64_t samples_ns(const struct event *e);
bool samples_any(const struct model *m);
/* The number of samples that signals, or perf_event_open(2), took of an image. */
uint64_t samples_by_signals(const struct image *image);
uint64_t samples_by_perf(const struct image *image);
/* Whether perf took samples of a process of this pid. */
bool samples_any_by_perf(const struct model *m, size_t machine, uint32_t pid);


/* Why processes have no samples, or none from some time on: each reason once. Processes of which perf took samples do
 * not count. */
struct unsampled {
	struct texts reasons;
	size_t *processes; /* how many, by reason */
	size_t capacity;
};
void unsampled_find(const struct model *m, struct unsampled *ret);
void unsampled_done(struct unsampled *u);

#endif
