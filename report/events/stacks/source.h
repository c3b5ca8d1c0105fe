/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a source file, which is read when it is reported: it may have been removed or changed since the
 * capture. A capture is not trusted: it may name any file. */
#pragma once

#include "report/events/stacks/lines.h"
#include "report/events/stacks/source_record.h"

struct source {
	const char *path; /* the file that was opened. Borrowed; NULL: none */
	struct source_file file;
	size_t at;
};

/* The file of `lines` that context->source names, by its path or the end of its path. Borrowed. -ENODATA: it has no
 * data, or the name is ambiguous; err states which. */
int source_choose(const struct report_context *context, const struct lines *lines, const char **ret_file,
		  struct err *err);

/* Opens the file that context->source names, or `recorded` if that does not exist. -ENODATA with a reason: there is no
 * text to show, because it cannot be read, is not what the run has recorded, or is not below context->source_roots,
 * and then s has no lines; or something is to be said about its lines. The caller frees *s with source_done in either
 * case. */
int source_open(struct source *s, const struct report_context *context, const char *recorded, struct err *err);
void source_done(struct source *s);

/* The next line, with its tabs expanded. False at the end. */
bool source_next(struct source *s, struct buffer *ret);
