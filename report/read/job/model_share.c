/* SPDX-License-Identifier: Apache-2.0 */
/* Processes share the files of a capture: each opens, and thereby reads, a part of the traces, and sends the others
 * what it has found. Then all of them have the whole model. */
#include <string.h>
#include <sys/stat.h>

#include "report/read/job/model_files.h"

enum found_kind { FOUND_TRACE, FOUND_PROBLEM, FOUND_UNWRITTEN };

/* ---- the list ---- */

static uint64_t file_size(const struct file *f)
{
	struct stat st;

	if (f->packed)
		return f->packed->size;
	return stat(f->path, &st) ? 0 : (uint64_t)st.st_size;
}

static void list_save(const struct files *l, struct buffer *ret)
{
	buffer_number(ret, l->count);
	for (size_t i = 0; i < l->count; i++) {
		buffer_number(ret, l->items[i].size);
		buffer_number(ret, strlen(l->items[i].name));
		buffer_text(ret, l->items[i].name);
	}
}

/* Other processes may create files between the two listings. */
static void list_load(struct files *l, const char *directory, struct bytes *from)
{
	uint64_t count = bytes_number(from);

	files_done(l);
	l->items = NULL;
	l->count = l->capacity = 0;
	for (uint64_t i = 0; i < count && !from->is_short; i++) {
		uint64_t size = bytes_number(from), length = bytes_number(from);
		const char *name = (const char *)bytes_take(from, length);
		struct buffer path = {0};

		if (!name)
			break;
		buffer_print(&path, "%s/%.*s", directory, (int)length, name);
		files_add(l, path.data, path.data + strlen(directory) + 1, NULL);
		l->items[l->count - 1].size = size;
	}
}

/* Consecutive files of about the same number of bytes for each process. */
static void set_owners(struct files *l, size_t processes)
{
	uint64_t all = array_sum(item, l->items, l->count, file_is_trace(item) ? item->size + TF_PAGE : 0), before = 0;

	list_each(struct file, f, l) {
		uint64_t size = file_is_trace(f) ? f->size + TF_PAGE : 0;

		f->owner = all ? (size_t)((unsigned __int128)(before + size / 2) * processes / all) : 0;
		f->owner = f->owner < processes ? f->owner : processes - 1;
		before += size;
	}
}

void files_divide(struct model *m, struct files *l, const char *directory)
{
	SCOPED(buffer) list = {0};
	struct bytes from;

	if (!m->share)
		return;
	for (size_t i = 0; i < l->count; i++)
		l->items[i].size = file_size(&l->items[i]);
	if (directory && !share_self(m->share))
		list_save(l, &list);
	if (directory)
		share_broadcast(m->share, &list);
	from = bytes_of(&list);
	if (directory && share_self(m->share) && !share_failure(m->share))
		list_load(l, directory, &from);
	l->self = share_self(m->share);
	set_owners(l, share_count(m->share));
}

/* ---- what the files contain ---- */

static void file_save(const struct file *f, size_t place, struct buffer *ret)
{
	SCOPED(buffer) text = {0};

	if (f->trace)
		trace_save(f->trace, &text);
	else
		buffer_text(&text, f->problem ? f->problem : "");
	buffer_number(ret, place);
	buffer_number(ret, f->trace ? FOUND_TRACE : f->is_unwritten ? FOUND_UNWRITTEN : FOUND_PROBLEM);
	buffer_number(ret, f->packed ? f->packed->lost_bytes : 0);
	buffer_number(ret, text.size);
	buffer_array(ret, text.data, text.size, 1);
}

/* Maps the file after its owner has read it, so that it is not shorter here. */
static void file_load(struct file *f, enum found_kind found, struct bytes *from)
{
	struct mapping bytes;
	struct err err;
	int code;

	if (found != FOUND_TRACE) {
		f->problem = mem_copy_text((const char *)from->at, from->left);
		f->is_unwritten = found == FOUND_UNWRITTEN;
		return;
	}
	code = file_map(f, &bytes, &err);
	if (!code)
		code = reader_open_saved(f->path, &bytes, from, &f->trace, &err);
	if (code)
		file_problem(f, code, &err);
}

static void files_load(struct files *l, struct bytes *from)
{
	while (from->left && !from->is_short) {
		uint64_t place = bytes_number(from), found = bytes_number(from), lost = bytes_number(from),
			 size = bytes_number(from);
		const uint8_t *at = bytes_take(from, size);
		struct file *f = place < l->count ? &l->items[place] : NULL;

		if (from->is_short || !f || f->owner == l->self || f->trace || f->problem)
			continue;
		if (f->packed)
			f->packed->lost_bytes = lost;
		file_load(f, (enum found_kind)found,
			  &(struct bytes){.at = at ? at : (const uint8_t *)"", .left = size});
		if (f->trace)
			f->trace->owner = f->owner;
	}
}

static void add_theirs(void *context, size_t from, struct buffer *theirs)
{
	(void)from;
	buffer_array(context, theirs->data, theirs->size, 1);
}

void files_exchange(struct model *m, struct files *l)
{
	SCOPED(buffer) all = {0};
	struct bytes from;

	if (!m->share)
		return;
	for (size_t i = 0; i < l->count; i++) {
		struct file *f = &l->items[i];

		if (f->owner != l->self || !file_is_trace(f))
			continue;
		if (f->trace)
			f->trace->owner = f->owner;
		file_save(f, i, &all);
	}
	share_gather(m->share, &all, add_theirs, &all);
	share_broadcast(m->share, &all);
	from = bytes_of(&all);
	if (!share_failure(m->share))
		files_load(l, &from);
}
