/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples: the CPU time that each represents, whether there are any, and what took them. */
#pragma once

#include "report/events/scan.h"

/* A sample, or a row of samples of --mode=profile: how many samples, and the time that they stand for. */
bool samples_are(const struct event *e);
uint64_t samples_count(const struct event *e);
uint64_t samples_ns(const struct event *e);
bool samples_any(const struct model *m);
/* The number of samples that signals, or perf_event_open(2), took of an image. */
uint64_t samples_by_signals(const struct image *image);
uint64_t samples_by_perf(const struct image *image);

/* Why processes have no samples, or none from some time on: each reason once. Processes of which perf took samples do
 * not count. */
struct unsampled_reason {
	char *text;
	size_t processes;
	const struct image *first; /* NULL: it has no image */
	uint64_t last_ns;	   /* of their last sample, since the run's start; 0: they have none */
};

struct unsampled {
	struct unsampled_reason *items;
	size_t count, capacity;
};
void unsampled_find(const struct model *m, struct unsampled *ret);
void unsampled_done(struct unsampled *u);

/* Appends "mpirun uses CPU timers: no CPU samples of it after 1.2 s". */
void unsampled_words(const struct unsampled_reason *r, struct buffer *ret);
