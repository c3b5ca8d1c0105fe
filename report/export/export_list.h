/* SPDX-License-Identifier: Apache-2.0 */
/* The list of exports in output order: X(name, ending, title, flags, needs). `ending` is that of the default path,
 * `needs` a library that a build may lack (export_list.c), or NOTHING. export_<name>() in an export_*.c implements
 * it. */
#pragma once

#define EXPORTS(X)                                                                                               \
	X(sqlite, ".sqlite", "database with the tables of Nsight Systems", EXPORT_FILE, NOTHING)                 \
	X(parquetdir, "_pqtdir", "the same tables as Parquet files in a directory", EXPORT_DIRECTORY, NOTHING)   \
	X(arrow, "_arwdir", "the same tables as Arrow IPC files in a directory", EXPORT_DIRECTORY, NOTHING)      \
	X(chrome, ".json", "timeline for Perfetto, chrome://tracing and HTA; gzipped if the name ends with .gz", \
	  EXPORT_SPLIT | EXPORT_CRITICAL, NOTHING)                                                               \
	X(perfetto, ".perfetto-trace", "timeline for Perfetto in its own format, with flows and counters",       \
	  EXPORT_GZIP | EXPORT_CRITICAL, ZLIB)                                                                  \
	X(speedscope, ".speedscope.json", "flame graphs for speedscope", EXPORT_METRIC, NOTHING)                 \
	X(folded, ".folded", "stacks for flamegraph.pl", EXPORT_METRIC, NOTHING)                                 \
	X(pprof, ".pb.gz", "profile for go tool pprof", EXPORT_METRIC | EXPORT_GZIP, ZLIB)                       \
	X(pstats, ".pstats", "calls of traced Python functions for pstats and snakeviz", 0, NOTHING)            \
	X(html, ".html", "report in one page: timeline, tables, flame graphs; needs only a browser", 0, ZLIB)
