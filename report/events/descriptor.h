/* SPDX-License-Identifier: Apache-2.0 */
/* What the file descriptors of one image referred to, and when. */
#pragma once

#include "report/base/interner.h"
#include "report/read/reader.h"

struct descriptor {
	uint64_t from_ticks;
	uint16_t fd, kind;	 /* enum tf_descriptor_kind */
	uint32_t generation;	 /* see struct tf_descriptor */
	uint32_t text;		 /* the number of its description in the image: many are of the same path */
	bool is_pipe, is_terminal;
	const struct blob *blob; /* borrowed from the trace */
};

struct descriptors {
	const struct trace *trace;
	struct descriptor *items; /* by fd, then by time */
	size_t count, capacity;
	struct interner texts;
	size_t *last; /* what a search has found last: calls are in order of time, so the next is near */
};

/* Made at the first call, and kept with the trace, so that one thread at a time may call it. NULL has none. */
const struct descriptors *descriptors_of(const struct trace *t);

/* What `fd` referred to at that tick; NULL: not recorded. */
const struct descriptor *descriptors_find(const struct descriptors *d, uint64_t fd, uint64_t ticks);

/* Likewise for a generation of `fd` that was in use at that tick: it may have been described later. */
const struct descriptor *descriptors_find_generation(const struct descriptors *d, uint64_t fd, uint32_t generation,
						     uint64_t ticks);

/* --mode=profile: by the id of the description. */
const struct descriptor *descriptors_find_id(const struct descriptors *d, uint32_t id);
/* The directory with this number: TF_DESCRIPTOR_DIRECTORY. */
const struct descriptor *descriptors_find_directory(const struct descriptors *d, uint32_t number);

/* Appends a description: a path, or the peer of a socket. */
void descriptors_text(const struct descriptors *d, const struct descriptor *item, struct buffer *ret);
/* Appends the own address of a socket that has a peer; nothing if it was not recorded. */
void descriptors_own_address(const struct descriptors *d, const struct descriptor *item, struct buffer *ret);
