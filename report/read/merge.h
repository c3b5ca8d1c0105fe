/* SPDX-License-Identifier: Apache-2.0 */
/* All events of a model ordered by time, across threads, processes and hosts. Memory grows with the number of
 * threads. No filter applies. */
#pragma once

#include "report/read/job/model.h"

struct merge_event {
	const struct image *image;
	const struct trace_thread *thread;
	struct event event;
	uint64_t ns; /* CLOCK_REALTIME of event.ticks */
};

struct merge;

/* Merges the images of one process, or all with SIZE_MAX; or a single image. */
struct merge *merge_new(const struct model *m, size_t process);
struct merge *merge_new_image(const struct model *m, const struct image *image);
void merge_free(struct merge *g);

/* The next event in the order of ends, or NULL. Borrowed: valid until the next call. Ties are ordered by image and
 * thread, so output is reproducible. Events of a thread keep the order in which they were written: that of a signal
 * handler may have a time slightly before that of its predecessor. */
const struct merge_event *merge_next(struct merge *g);
