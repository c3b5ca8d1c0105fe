/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of export_list.h, with the library that each export needs. */
#include <string.h>

#include "report/export/export.h"

#define NOTHING(run) NULL, run
#ifdef HAVE_ZLIB
#define ZLIB(run) NULL, run
#else
#define ZLIB(run) "zlib", NULL
#endif

#define EXPORT_ROW(name, ending, title, flags, needs) {#name, ending, title, flags, needs(export_##name)},
const struct export_type export_list[] = {EXPORTS(EXPORT_ROW)};
#undef EXPORT_ROW

const size_t export_count = sizeof(export_list) / sizeof(*export_list);

const struct export_type *export_find(const char *name)
{
	for (size_t i = 0; i < export_count; i++)
		if (!strcmp(export_list[i].name, name))
			return &export_list[i];
	return NULL;
}
