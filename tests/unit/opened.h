/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the trace that a test wrote with the report's code. */
#ifndef PILLION_TEST_OPENED_H
#define PILLION_TEST_OPENED_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "report/names/code_line.h"
#include "report/read/job/model.h"
#include "trace_writer.h"

/* Borrows the writer's bytes: the writer must not be freed before model_done. */
static inline void open_written(struct model *ret, struct writer *w)
{
	struct err err;
	size_t size;
	const uint8_t *bytes = writer_bytes(w, &size);

	cr_assert_eq(model_open_bytes(ret, bytes, size, &err), 0, "%s", err.text);
}

static inline void open_capture(struct model *ret, const char *path)
{
	char *paths[] = {(char *)path};
	struct err err;

	cr_assert_eq(model_open(ret, paths, 1, &err), 0, "%s", err.text);
}

/* Returns the contents of a file of less than 1 MiB; the caller frees them. */
static inline char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	cr_assert_not_null(f, "%s is missing", path);
	if (fread(text, 1, (1 << 20) - 1, f) == 0)
		text[0] = 0;
	fclose(f);
	return text;
}

/* "" if it is not known; valid until the next call. */
static inline const char *line_text(const struct code_line *l)
{
	static struct buffer text;

	buffer_clear(&text);
	code_line_text(l, &text);
	return buffer_string(&text);
}

#endif
