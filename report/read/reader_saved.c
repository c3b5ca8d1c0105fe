/* SPDX-License-Identifier: Apache-2.0 */
/* What was found in a trace, for another process that has the file, too, and need not read its events then. */
#include <errno.h>

#include "report/read/reader.h"

/* In one place, so that both directions have the same order. */
struct counts {
	uint64_t chunks, threads, counters, blobs, children;
	uint64_t written_bytes, torn, orphans, broken, holes, damaged_bytes, missing_bytes;
};

void trace_save(const struct trace *t, struct buffer *ret)
{
	struct counts counts = {
		t->chunk_count, t->thread_count, t->counter_count, t->blob_count,    t->child_count,   t->written_bytes,
		t->torn,	t->orphans,	 t->broken,	   t->holes,	     t->damaged_bytes, t->missing_bytes,
	};

	buffer_add(ret, &counts, sizeof(counts));
	buffer_array(ret, t->chunks, t->chunk_count, sizeof(*t->chunks));
	for (size_t i = 0; i < t->thread_count; i++) {
		struct trace_thread thread = t->threads[i];

		buffer_number(ret, thread.page ? (uint64_t)((const uint8_t *)thread.page - t->bytes.data) + 1 : 0);
		thread.page = NULL;
		buffer_add(ret, &thread, sizeof(thread));
	}
	buffer_array(ret, t->counters, t->counter_count, sizeof(*t->counters));
	buffer_array(ret, t->blobs, t->blob_count, sizeof(*t->blobs));
	buffer_array(ret, t->children, t->child_count, sizeof(*t->children));
}

/* Is everything within the file and within the arrays? */
static bool is_within(const struct trace *t)
{
	for (size_t i = 0; i < t->chunk_count; i++)
		if (t->chunks[i].size > t->bytes.size || t->chunks[i].offset > t->bytes.size - t->chunks[i].size)
			return false;
	array_each(const struct trace_thread, h, t->threads, t->thread_count) {
		if (h->chunk_count > t->chunk_count || h->first_chunk > t->chunk_count - h->chunk_count ||
		    h->counter_count > t->counter_count || h->first_counter > t->counter_count - h->counter_count)
			return false;
	}
	for (size_t i = 0; i < t->blob_count; i++)
		if (t->blobs[i].offset >= t->bytes.size ||
		    t->bytes.size - t->blobs[i].offset <
			    (t->blobs[i].length + TF_DATA_BYTES - 1ul) / TF_DATA_BYTES * TF_SLOT)
			return false;
	return true;
}

static void load_threads(struct trace *t, uint64_t count, struct bytes *from)
{
	t->threads = mem_alloc((count <= from->left ? count + 1 : 1) * sizeof(*t->threads));
	for (t->thread_count = 0; t->thread_count < count && !from->is_short; t->thread_count++) {
		struct trace_thread *h = &t->threads[t->thread_count];
		uint64_t page = bytes_number(from);

		bytes_read(from, h, sizeof(*h));
		h->name[sizeof(h->name) - 1] = '\0';
		h->page = NULL;
		if (page && page - 1 < t->bytes.size && t->bytes.size - (page - 1) >= sizeof(*h->page))
			h->page = (const struct tf_thread *)(t->bytes.data + page - 1);
	}
}

static bool trace_load(struct trace *t, struct bytes *from)
{
	struct counts counts;

	bytes_read(from, &counts, sizeof(counts));
	t->written_bytes = counts.written_bytes;
	t->torn = counts.torn;
	t->orphans = counts.orphans;
	t->broken = counts.broken;
	t->holes = counts.holes;
	t->damaged_bytes = counts.damaged_bytes;
	t->missing_bytes = counts.missing_bytes;
	t->chunks = bytes_array(from, counts.chunks, sizeof(*t->chunks));
	t->chunk_count = t->chunks ? counts.chunks : 0;
	load_threads(t, counts.threads, from);
	t->counters = bytes_array(from, counts.counters, sizeof(*t->counters));
	t->counter_count = t->counters ? counts.counters : 0;
	t->blobs = bytes_array(from, counts.blobs, sizeof(*t->blobs));
	t->blob_count = t->blobs ? counts.blobs : 0;
	t->children = bytes_array(from, counts.children, sizeof(*t->children));
	t->child_count = t->children ? counts.children : 0;
	trace_find_definitions(t);
	return !from->is_short && is_within(t);
}

int reader_open_saved(const char *path, struct mapping *bytes, struct bytes *saved, struct trace **ret, struct err *err)
{
	struct trace *t = trace_new(path, bytes);
	int code = trace_begin(t, err);

	*ret = NULL;
	if (!code && !trace_load(t, saved))
		code = err_set(err, -EPROTO, "%s: is not what another process has read", path);
	if (code) {
		reader_close(t);
		return code;
	}
	mapping_keep(&t->bytes, 2 * (t->thread_count + 1));
	*ret = t;
	return 0;
}
