/* SPDX-License-Identifier: Apache-2.0 */
/* One file of a capture while it is opened. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/read/job/model_files.h"

void files_add(struct files *l, char *path, const char *name, struct pack_file *packed)
{
	list_add(l, (struct file){.path = path, .name = name, .packed = packed});
}

void files_done(struct files *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->items[i].path);
		free(l->items[i].problem);
		free(l->items[i].over);
		reader_close(l->items[i].trace);
	}
	free(l->items);
}

bool file_is_of_capture(const char *name)
{
	return text_any(text_ends_with, name, ".trace", ".index", ".range", ".usage", ".symbols", ".where", ".energy",
			".sources", ".object");
}

bool file_is_trace(const struct file *f)
{
	return text_ends_with(f->name, ".trace");
}

int file_map(const struct file *f, struct mapping *ret, struct err *err)
{
	if (f->over)
		return mapping_open_over(f->path, f->over, f->is_later, ret, err);
	return f->packed ? pack_map(f->packed, ret, err) : mapping_open(f->path, ret, err);
}

void file_problem(struct file *f, int code, const struct err *err)
{
	f->problem = mem_copy_text(err->text, strlen(err->text));
	f->is_unwritten = code == -ENODATA;
}
