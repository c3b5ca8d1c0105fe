/* SPDX-License-Identifier: Apache-2.0 */
/* Size, time and hash of each source file at the end of a run, so that a report shows a source file only if it is still
 * the one that was executed. The summary at the end of a run writes the file names.sources. Its lines have the form of
 * index lines; NAME is the name that the traces have:
 *   source  file=NAME size=N mtime_ns=N hash=0xN */
#pragma once

#include "report/read/job/model.h"

struct source_record {
	uint64_t size, mtime_ns, hash; /* hash_bytes of the content */
};

/* A file that may be a source: a regular one whose name, after links, ends like one. */
struct source_file {
	char *path;  /* after links */
	char *bytes; /* with a NUL behind them */
	struct source_record is;
};

/* Reads a file of at most `largest` bytes. -errno; -ENODATA with the reason. The caller frees *ret with
 * source_file_done in either case. */
int source_file_read(const char *path, size_t largest, struct source_file *ret, struct err *err);
void source_file_done(struct source_file *f);

/* False: the capture has no record of a file that its traces name so. */
bool source_record_find(const struct model *m, const char *file, struct source_record *ret);

/* Whether the content is what was recorded. */
bool source_record_is(const struct source_record *record, const struct source_file *file);

/* Appends a line for each of the files that can be read, up to 300 files and 8 MB. Relative names are those of the
 * working directory. */
void source_records_write(const struct texts *files, struct buffer *ret);
