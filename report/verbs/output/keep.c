/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/output/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/events/stacks/lines.h"
#include "report/events/stacks/source_record.h"
#include "report/names/symbol.h"

/* A reader sees the old file or the new one. */
static int write_file(const char *directory, const char *name, const struct buffer *text, struct err *err)
{
	SCOPED(buffer) made = {0}, path = {0};
	FILE *file = NULL;
	int fd, code = 0;

	buffer_print(&made, "%s/.names.XXXXXX", directory); /* such a name is no file of a capture */
	buffer_print(&path, "%s/%s", directory, name);
	fd = mkostemp(made.data, O_CLOEXEC);
	if (fd >= 0)
		file = fdopen(fd, "w");
	if (!file) {
		code = -errno;
		if (fd >= 0)
			close(fd);
	} else if (fwrite(buffer_string(text), 1, text->size, file) != text->size) {
		code = -errno;
	}
	if (file && fclose(file) && !code)
		code = -errno;
	if (!code && rename(made.data, path.data))
		code = -errno;
	if (code && fd >= 0)
		unlink(made.data);
	if (code)
		err_set(err, code, "%s: %s", path.data, strerror(-code));
	return code;
}

int keep_symbols(const char *directory, struct err *err)
{
	char *paths[] = {mem_copy_text(directory, strlen(directory))};
	struct symbols *symbols;
	SCOPED(buffer) text = {0};
	SCOPED(model) model = {0};
	int code = model_open(&model, paths, 1, err);

	if (!code) {
		symbols = symbols_new(&model, true);
		symbols_keep(symbols, &text);
		code = write_file(directory, "names.symbols", &text, err);
		symbols_free(symbols);
	}
	free(paths[0]);
	return code;
}

int keep_sources(const char *directory, const struct report_context *context, struct err *err)
{
	SCOPED(buffer) text = {0};

	source_records_write(lines_files(context), &text);
	return text.size ? write_file(directory, "names.sources", &text, err) : 0;
}
