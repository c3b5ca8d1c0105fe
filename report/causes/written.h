/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread wrote to files since it opened them last. An open that truncates a file frees what had been written to
 * it, which may take longer than writing it: without the writes, such an open takes no time. It is long enough for a
 * stack, and this thread has written much to the file since its last such open. Traces of older versions do not tell
 * which opens truncate: there each of these is taken for one. Decision: docs/decisions/replay.md. */
#pragma once

#include "report/events/descriptor.h"
#include "report/events/traffic.h"
#include "report/read/reader.h"

enum { WRITTEN_DESCRIPTORS = 1024, WRITTEN_NOTHING = UINT32_MAX };

struct written_file {
	uint64_t bytes;
	uint32_t by, most; /* what wrote the most in one call */
};

struct written {
	struct descriptor_search descriptors; /* of the image */
	struct map known; /* the number of a path -> place + 1 */
	struct written_file *files;
	size_t count, capacity;
	uint32_t file_of[WRITTEN_DESCRIPTORS]; /* place + 1 */
};

/* Begins another thread, of that image. */
void written_begin(struct written *w, const struct trace *t);
void written_done(struct written *w);

/* A call that writes. */
void written_write(struct written *w, const struct event *e, uint32_t what);
/* A call that opens. Returns what had written the file that this call truncates; WRITTEN_NOTHING: it truncates none. */
uint32_t written_open(struct written *w, const struct event *e, bool has_stack);
