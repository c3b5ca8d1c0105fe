/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a source file, read when it is reported: it may be gone, or another one by now. */
#ifndef PILLION_SOURCE_H
#define PILLION_SOURCE_H

#include "report/derive/stacks/lines.h"

struct source {
	const char *path; /* that was opened. Borrowed; NULL: none */
	char *bytes;
	size_t size, at;
};

/* The file of `lines` that context->source names: whole, or the end of its path. Borrowed. -ENODATA: none has anything, or
 * several are meant; err says which. */
int source_choose(const struct report_context *context, const struct lines *lines, const char **ret_file, struct err *err);

/* Opens `named`, or where there is no such file `recorded`. -ENODATA and why: it cannot be read, then it has no lines; or it was
 * changed after `since_ns` (CLOCK_REALTIME), then it has. To be freed with source_done in either case. */
int source_open(struct source *s, const char *named, const char *recorded, uint64_t since_ns, struct err *err);
void source_done(struct source *s);

/* The next line, its tabs as spaces. False at the end. */
bool source_next(struct source *s, struct buffer *ret);

#endif
