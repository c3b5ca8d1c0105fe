/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: captures in the formats of other tools. export_list.h has the list; each export has a file. */
#pragma once

#include "report/base/table/sink.h"
#include "report/export/export_list.h"
#include "report/time/profile.h"

enum {
	EXPORT_METRIC = 1, /* takes --metric */
	EXPORT_GZIP = 2,   /* always gzipped; other streams are gzipped if the name ends with .gz */
	EXPORT_FILE = 4,   /* writes a file by path instead of a stream */
	EXPORT_SPLIT = 8,  /* takes --split-time and --split-size */
	EXPORT_DIRECTORY = 16, /* writes files into a directory by path */
	EXPORT_CRITICAL = 32,  /* takes --critical-path */
};

struct export
{
	const struct report_context *context;
	enum metric metric;
	bool is_metric_given;
	bool has_critical_path; /* of the whole run */
	struct sink *out;     /* NULL with EXPORT_FILE */
	const char *path;     /* with EXPORT_FILE or EXPORT_DIRECTORY: an empty one to write to */
	struct texts written; /* files written, by export_split.h */
	struct texts left;    /* files of an earlier export with more parts */
	struct texts remarks; /* what else could have been written */
};

struct export_type {
	const char *name, *ending, *title; /* ending: of the default path */
	unsigned int flags;
	const char *missing; /* a library that this build lacks; NULL: none is missing */
	/* 0; -ENODATA: there is nothing to export, as err states; any other value: failed. */
	int (*run)(struct export *x, struct err *err);
};

#define EXPORT_PLACE(name, ...) EXPORT_##name,
enum { EXPORTS(EXPORT_PLACE) EXPORT_COUNT };
extern const struct export_type export_list[EXPORT_COUNT];

/* By name; NULL: there is no such export. */
const struct export_type *export_find(const char *name);

#define EXPORT_DECLARE(name, ...) int export_##name(struct export *x, struct err *err);
EXPORTS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

/* The default path of an export of this capture: report1.sqlite for report1.pillion, report1_pqtdir as of nsys. */
void export_name(const char *capture, const struct export_type *type, struct buffer *ret);

/* The profiles of an export that takes --metric: the one asked for, else all that have data. The caller frees them in
 * either case. */
int export_profiles(const struct export *x, struct profile ret[METRIC_COUNT], size_t *ret_count, struct err *err);

/* Whether an export to `path` is gzipped. */
bool export_is_gzip(const struct export_type *type, const char *path);

/* Writes the export to `path`; "-" is standard output. The file or directory is created complete or not at all, and
 * replaces an existing one only if is_forced; a directory only if an export has made all that is in it. Returns the
 * result of run(); -EEXIST: the file exists. */
int export_write(struct export *x, const struct export_type *type, const char *path, bool is_forced, struct err *err);
