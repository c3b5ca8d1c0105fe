/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/written.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/util.h"
#include "runtime/shared/format/trace_flags.h"

/* So few bytes are freed in less time than a call takes that has a stack. */
#define LEAST_BYTES (64ull << 10)

void written_begin(struct written *w, const struct trace *t)
{
	w->descriptors = descriptor_search(t);
	map_done(&w->known);
	w->count = 0;
	memset(w->file_of, 0, sizeof(w->file_of));
}

void written_done(struct written *w)
{
	map_done(&w->known);
	free(w->files);
}

/* The place + 1 of the file that the descriptor refers to; 0: it is none. */
static uint32_t file_at(struct written *w, uint64_t fd, uint64_t ticks)
{
	const struct descriptor *d = descriptors_find(&w->descriptors, fd, ticks);
	uint64_t *known;

	if (!d || d->kind != TF_DESCRIPTOR_FILE)
		return 0;
	known = map_put(&w->known, d->text, 0, NULL);
	if (!*known) {
		mem_append(w->files, w->count, w->capacity, (struct written_file){.by = WRITTEN_NOTHING});
		*known = w->count;
	}
	return (uint32_t)*known;
}

/* Of the event of a call; false: it failed. */
static bool read_result(const struct event *e, uint64_t *ret_fd, uint32_t *ret_result)
{
	uint64_t arg = e->args_count ? event_arg(e, TF_ARG_FD) : 0;

	*ret_fd = tf_arg_value(arg) & 0xffff;
	*ret_result = (uint32_t)(tf_arg_value(arg) >> 16);
	return arg && (int32_t)*ret_result >= 0;
}

void written_write(struct written *w, const struct event *e, uint32_t what)
{
	uint64_t fd;
	uint32_t bytes;
	struct written_file *file;

	if (!read_result(e, &fd, &bytes) || fd >= WRITTEN_DESCRIPTORS || !w->file_of[fd])
		return;
	file = &w->files[w->file_of[fd] - 1];
	file->bytes += bytes;
	if (bytes < file->most)
		return;
	file->most = bytes;
	file->by = what;
}

uint32_t written_open(struct written *w, const struct event *e, bool has_stack)
{
	struct written_file *file;
	uint64_t unused;
	uint32_t fd;

	if (!read_result(e, &unused, &fd) || fd >= WRITTEN_DESCRIPTORS)
		return WRITTEN_NOTHING;
	w->file_of[fd] = file_at(w, fd, e->ticks);
	file = has_stack && w->file_of[fd] ? &w->files[w->file_of[fd] - 1] : NULL;
	if (!file || file->bytes < LEAST_BYTES || tf_arg_small(event_arg(e, TF_ARG_FD)) == TF_OPENED_KEPT)
		return WRITTEN_NOTHING;
	file->bytes = file->most = 0;
	return file->by;
}
