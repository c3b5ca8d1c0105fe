/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a source file, which is read when it is reported: it may have been removed or changed since the
 * capture. */
#ifndef PILLION_SOURCE_H
#define PILLION_SOURCE_H

#include "report/derive/stacks/lines.h"

struct source {
	const char *path; /* the file that was opened. Borrowed; NULL: none */
	char *bytes;
	size_t size, at;
};

/* The file of `lines` that context->source names, by its path or the end of its path. Borrowed. -ENODATA: it has no
 * data, or the name is ambiguous; err states which. */
int source_choose(const struct report_context *context, const struct lines *lines, const char **ret_file,
		  struct err *err);

/* Opens `named`, or `recorded` if that does not exist. -ENODATA with a reason: it cannot be read, and has no lines;
 * or it was changed after `since_ns` (CLOCK_REALTIME), and has lines. The caller frees *s with source_done in either
 * case. */
int source_open(struct source *s, const char *named, const char *recorded, uint64_t since_ns, struct err *err);
void source_done(struct source *s);

/* The next line, with its tabs expanded. False at the end. */
bool source_next(struct source *s, struct buffer *ret);

#endif
