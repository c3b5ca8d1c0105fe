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
const struct export_type export_list[EXPORT_COUNT] = {EXPORTS(EXPORT_ROW)};
#undef EXPORT_ROW

const struct export_type *export_find(const char *name)
{
	return array_find(type, export_list, EXPORT_COUNT, !strcmp(type->name, name));
}
