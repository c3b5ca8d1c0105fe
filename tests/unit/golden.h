/* SPDX-License-Identifier: Apache-2.0 */
/* Files of tests/golden, which have what a test made when its values were checked. With PILLION_GOLDEN_UPDATE in the
 * environment they are written instead (tests/README.md). */
#ifndef PILLION_TEST_GOLDEN_H
#define PILLION_TEST_GOLDEN_H

#include <criterion/criterion.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opened.h"

/* PILLION_GOLDEN: their directory, where the sources are elsewhere. */
static inline void golden_path(const char *name, char *ret, size_t size)
{
	const char *directory = getenv("PILLION_GOLDEN");
	char here[] = __FILE__;

	if (directory)
		snprintf(ret, size, "%s/%s", directory, name);
	else
		snprintf(ret, size, "%s/../golden/%s", dirname(here), name);
}

static inline void golden_update(const char *path, const void *now, size_t size)
{
	FILE *f;

	if (!getenv("PILLION_GOLDEN_UPDATE"))
		return;
	f = fopen(path, "we");
	cr_assert_not_null(f);
	cr_assert_eq(fwrite(now, 1, size, f), size);
	cr_assert_eq(fclose(f), 0);
}

/* Takes ownership of the text. */
static inline void golden_compare(const char *name, char *now)
{
	char path[4096], *then;

	golden_path(name, path, sizeof(path));
	golden_update(path, now, strlen(now));
	then = read_file(path);
	cr_assert_str_eq(now, then, "%s differs:\n%s", path, now);
	free(then);
	free(now);
}

#endif
