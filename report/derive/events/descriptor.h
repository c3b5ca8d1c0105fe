/* SPDX-License-Identifier: Apache-2.0 */
/* What the descriptors of one image were, and when. */
#ifndef PILLION_DESCRIPTOR_H
#define PILLION_DESCRIPTOR_H

#include "report/read/reader.h"

struct descriptor {
	uint64_t from_ticks;
	uint16_t fd, kind;	 /* enum tf_descriptor_kind */
	const struct blob *blob; /* borrowed from the trace */
};

struct descriptors {
	const struct trace *trace;
	struct descriptor *items; /* by number, then by time */
	size_t count, capacity;
};

void descriptors_init(struct descriptors *d, const struct trace *t);
void descriptors_done(struct descriptors *d);

/* What `fd` was at that tick; NULL: the trace does not tell. */
const struct descriptor *descriptors_find(const struct descriptors *d, uint64_t fd, uint64_t ticks);

/* Appends its text: a path, a peer. */
void descriptors_text(const struct descriptors *d, const struct descriptor *item, struct buffer *ret);

#endif
