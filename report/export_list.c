/* SPDX-License-Identifier: Apache-2.0 */
/* The list of exports. */
#include <string.h>

#include "export.h"

#ifdef HAVE_SQLITE
#define SQLITE NULL, export_sqlite
#else
#define SQLITE "sqlite", NULL
#endif
#ifdef HAVE_ZLIB
#define HTML NULL, export_html
#define PPROF NULL, export_pprof
#else
#define HTML "zlib", NULL
#define PPROF "zlib", NULL
#endif

const struct export_type export_list[] = {
	{"sqlite", "sqlite", "database with the tables of Nsight Systems", EXPORT_FILE, SQLITE},
	{"chrome", "json", "timeline for Perfetto, chrome://tracing and HTA; gzipped if the name ends with .gz", EXPORT_SPLIT, NULL,
     export_chrome},
	{"speedscope", "speedscope.json", "flame graphs for speedscope", EXPORT_METRIC, NULL, export_speedscope},
	{"folded", "folded", "stacks for flamegraph.pl", EXPORT_METRIC, NULL, export_folded},
	{"pprof", "pb.gz", "profile for go tool pprof", EXPORT_METRIC | EXPORT_GZIP, PPROF},
	{"html", "html", "report in one page: timeline, tables, flame graphs; needs nothing but a browser", 0, HTML},
};

const size_t export_count = sizeof(export_list) / sizeof(*export_list);

const struct export_type *export_find(const char *name)
{
	for (size_t i = 0; i < export_count; i++)
		if (!strcmp(export_list[i].name, name))
			return &export_list[i];
	return NULL;
}
