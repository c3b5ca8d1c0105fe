/* SPDX-License-Identifier: Apache-2.0 */
/* All events of a model in time order, across threads, processes and hosts. Memory grows with the threads. No filter applies. */
#ifndef PILLION_MERGE_H
#define PILLION_MERGE_H

#include "report/read/model.h"

struct merge_event {
	const struct image *image;
	const struct trace_thread *thread;
	struct event event;
	uint64_t ns; /* CLOCK_REALTIME of event.ticks */
};

struct merge;

/* Only the images of one process, or all with SIZE_MAX; or one image. */
struct merge *merge_new(const struct model *m, size_t process);
struct merge *merge_new_image(const struct model *m, const struct image *image);
void merge_free(struct merge *g);

/* Next event in order of its end, or NULL. Borrowed: valid until the next call. Ties keep the order of images and
 * threads, so output is repeatable. Within a thread the order is that of writing: a signal handler's event may come
 * with a time a little before its predecessor's. */
const struct merge_event *merge_next(struct merge *g);

#endif
