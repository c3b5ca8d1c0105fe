/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace file: header, function names, chunks, threads. reader_events.c reads all events once. */
#include "report/read/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The heads of the chunks of a larger file are read from the file: a fault maps 64 KiB around each. */
enum { LARGE_BYTES = 16 << 20 };

#define TERMINATE_FIELD(field) t->header.field[sizeof(t->header.field) - 1] = 0

static int read_header(struct trace *t, struct err *err)
{
	const struct tf_header *h = &t->header;

	if (!t->bytes.size)
		return err_set(err, -ENODATA, "%s: empty file", t->path);
	if (t->bytes.size < sizeof(uint64_t) || memcmp(t->bytes.data, &(uint64_t){TF_MAGIC}, sizeof(uint64_t))) {
		if (t->bytes.size >= sizeof(uint64_t) && !memcmp(t->bytes.data, &(uint64_t){0}, sizeof(uint64_t)))
			return err_set(err, -ENODATA, "%s: has no header, its writer was killed immediately", t->path);
		return err_set(err, -EPROTO, "%s: not a trace file", t->path);
	}
	if (t->bytes.size < TF_PAGE)
		return err_set(err, -ENODATA, "%s: truncated within its header", t->path);
	memcpy(&t->header, t->bytes.data, sizeof(t->header));
	if (h->byte_order != TF_BYTE_ORDER)
		return err_set(err, -ENOTSUP, "%s: written in another byte order", t->path);
	if (h->version_major != TF_VERSION_MAJOR)
		return err_set(err, -ENOTSUP, "%s: format version %u.%u, this program reads %u.x", t->path,
			       h->version_major, h->version_minor, TF_VERSION_MAJOR);
	TERMINATE_FIELD(host);
	TERMINATE_FIELD(boot);
	TERMINATE_FIELD(executable);
	TERMINATE_FIELD(arguments);
	TERMINATE_FIELD(variables);
	return 0;
}

static void read_functions(struct trace *t)
{
	size_t size = t->header.function_bytes;

	if (size > t->bytes.size - TF_PAGE) {
		t->missing_bytes += size - (t->bytes.size - TF_PAGE);
		size = t->bytes.size - TF_PAGE;
	}
	t->functions = functions_take(t->bytes.data + TF_PAGE, size, t->header.function_count);
	t->broken += t->functions->count < t->header.function_count;
}

static bool is_zero(const uint8_t *p, size_t size)
{
	return !size || (!p[0] && !memcmp(p, p + 1, size - 1));
}

static bool is_chunk(const struct trace *t, const struct tf_chunk *head)
{
	return head->magic == TF_CHUNK_MAGIC && head->nonce == t->header.nonce && head->size_bytes >= TF_PAGE &&
	       head->size_bytes % TF_PAGE == 0;
}

/* Size of space that was allocated and has no chunk, because its writer was killed before it had written the complete
 * head. 0: damage. */
static uint64_t hole_bytes(const struct trace *t, uint64_t offset, const struct tf_chunk *head, size_t page)
{
	if (!head->magic && head->nonce == t->header.nonce)
		return head->size_bytes >= TF_PAGE && head->size_bytes % TF_PAGE == 0 ? head->size_bytes : page;
	return is_zero(t->bytes.data + offset, page) ? page : 0;
}

static void add_chunk(struct trace *t, uint64_t offset, const struct tf_chunk *head)
{
	uint64_t left = t->bytes.size - offset;

	if (head->size_bytes > left)
		t->missing_bytes += head->size_bytes - left;
	if (head->kind != TF_CHUNK_THREAD && head->kind != TF_CHUNK_SLOTS && head->kind != TF_CHUNK_FIRST)
		return; /* of a later minor version */
	mem_append(t->chunks, t->chunk_count, t->chunk_capacity, (struct chunk){
		.offset = offset,
		.base_ticks = head->base_ticks,
		.size = head->size_bytes < left ? head->size_bytes : (uint32_t)left,
		.thread = head->thread,
		.sequence = head->kind == TF_CHUNK_THREAD ? 0 : head->sequence,
		.tid = head->tid,
		.has_page = head->kind != TF_CHUNK_SLOTS,
		.blobs = head->blobs,
	});
}

static int open_large(const struct trace *t)
{
	const struct mapping *m = &t->bytes;
	bool is_file = m->is_mapped && !m->lazy && !m->is_changed;

	return is_file && m->size > LARGE_BYTES ? open(t->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
}

static void read_head_at(const struct trace *t, int fd, uint64_t offset, struct tf_chunk *ret)
{
	if (fd < 0 || pread(fd, ret, sizeof(*ret), (off_t)offset) != sizeof(*ret)) {
		memcpy(ret, t->bytes.data + offset, sizeof(*ret));
		mapping_drop(&t->bytes, offset, sizeof(*ret));
	}
}

/* A file is extended ahead of its chunks: where it has no data, there are none. */
static uint64_t skip_no_data(int fd, uint64_t offset, uint64_t size)
{
	off_t data = fd < 0 ? (off_t)offset : lseek(fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? size : offset;
	return (uint64_t)data / TF_PAGE * TF_PAGE > offset ? (uint64_t)data / TF_PAGE * TF_PAGE : offset;
}

static void read_chunks(struct trace *t)
{
	uint64_t offset = TF_PAGE + ((uint64_t)t->header.function_bytes + TF_PAGE - 1) / TF_PAGE * TF_PAGE;
	bool in_hole = false;
	int fd = open_large(t);

	for (; offset < t->bytes.size && t->bytes.size - offset >= sizeof(struct tf_chunk);) {
		uint64_t left = t->bytes.size - offset;
		size_t page = left < TF_PAGE ? (size_t)left : TF_PAGE;
		struct tf_chunk head;
		uint64_t hole;

		read_head_at(t, fd, offset, &head);
		if (is_chunk(t, &head)) {
			add_chunk(t, offset, &head);
			offset += head.size_bytes;
			in_hole = false;
			continue;
		}
		hole = skip_no_data(fd, offset, t->bytes.size) - offset;
		if (!hole)
			hole = hole_bytes(t, offset, &head, page);
		if (!hole)
			t->damaged_bytes += page;
		else if (!in_hole)
			t->holes++;
		in_hole = true;
		offset += hole ? hole : page;
	}
	if (fd >= 0)
		close(fd);
}

/* Sorts by thread; the thread's own page first, then in the order of writing. */
COMPARATOR(compare_chunks, struct chunk,
	   order_of(a->thread, b->thread) ?: order_of(a->sequence, b->sequence) ?: order_of(a->offset, b->offset))

static void add_counter(struct trace *t, struct trace_thread *thread, uint32_t function, const uint8_t *bytes)
{
	struct trace_counter counter = {.function = function};

	memcpy(&counter.sum, bytes, sizeof(counter.sum));
	if (!counter.sum.calls)
		return;
	mem_append(t->counters, t->counter_count, t->counter_capacity, counter);
	thread->counter_count++;
}

static void read_counters(struct trace *t, struct trace_thread *thread, const struct tf_thread *head, const uint8_t *at,
			  size_t size)
{
	const uint8_t *places = at + (size_t)head->counter_count * sizeof(struct tf_counter);
	size_t room = size / sizeof(struct tf_counter), count = head->counter_count < room ? head->counter_count : room;

	if (head->chunk.kind == TF_CHUNK_THREAD) {
		for (size_t i = 0; i < count; i++)
			add_counter(t, thread, (uint32_t)i, at + i * sizeof(struct tf_counter));
		return;
	}
	for (uint32_t i = 0; count == head->counter_count && places + sizeof(uint16_t) <= at + size;
	     i++, places += sizeof(uint16_t)) {
		uint16_t place;

		memcpy(&place, places, sizeof(place));
		if (place && place <= count)
			add_counter(t, thread, i, at + (place - 1) * sizeof(struct tf_counter));
	}
}

/* A thread that used many functions has counters in two pages. */
static void read_page(struct trace *t, struct trace_thread *thread, const struct chunk *w)
{
	const uint8_t *at = t->bytes.data + w->offset;
	struct tf_thread head;
	size_t size = w->size;

	if (size < sizeof(head))
		return;
	memcpy(&head, at, sizeof(head));
	if (!thread->page) {
		thread->page = (const struct tf_thread *)at;
		memcpy(thread->name, head.name, sizeof(head.name));
		thread->name[sizeof(head.name) - 1] = 0;
	}
	if (head.chunk.kind == TF_CHUNK_FIRST && head.chunk.slots < size)
		size = head.chunk.slots;
	if (size > sizeof(head))
		read_counters(t, thread, &head, at + sizeof(head), size - sizeof(head));
}

static void read_threads(struct trace *t)
{
	size_t capacity = 0, sorted = 1; /* sorted: so many are, all of them if there is one thread */

	while (sorted < t->chunk_count && compare_chunks(&t->chunks[sorted - 1], &t->chunks[sorted]) < 0)
		sorted++;
	if (sorted < t->chunk_count)
		qsort(t->chunks, t->chunk_count, sizeof(*t->chunks), compare_chunks);
	for (size_t i = 0; i < t->chunk_count; i++) {
		const struct chunk *w = &t->chunks[i];
		struct trace_thread *thread;

		if (!i || w->thread != w[-1].thread) {
			mem_append(t->threads, t->thread_count, capacity,
				   (struct trace_thread){.number = w->thread,
							 .tid = w->tid,
							 .first_chunk = i,
							 .first_counter = t->counter_count});
		}
		thread = &t->threads[t->thread_count - 1];
		thread->chunk_count++;
		if (w->has_page)
			read_page(t, thread, w);
	}
}

/* Applies names that a thread gave to another one: nvtxNameOsThread. Tids are reused; the last thread with that tid
 * gets the name. */
static void name_others(struct trace *t)
{
	blobs_each(b, t, TF_BLOB_NVTX) {
		char bytes[sizeof(struct tf_nvtx) + sizeof(uint16_t) + sizeof(t->threads->name) - 1] = {0};
		size_t size = trace_blob(t, b, bytes, sizeof(bytes));
		const char *name = bytes + sizeof(struct tf_nvtx) + sizeof(uint16_t);
		struct trace_thread *thread = NULL;
		struct tf_nvtx head;

		memcpy(&head, bytes, sizeof(head));
		if (size <= (size_t)(name - bytes) || head.kind != TF_NVTX_RESOURCE || head.type != TF_NVTX_OS_THREAD)
			continue;
		for (size_t k = 0; k < t->thread_count; k++)
			if (t->threads[k].tid == head.id)
				thread = &t->threads[k];
		if (thread)
			snprintf(thread->name, sizeof(thread->name), "%.*s", (int)(size - (size_t)(name - bytes)),
				 name);
	}
}

struct trace_thread *trace_thread(const struct trace *t, uint32_t number)
{
	size_t at = first_place(i, 0, t->thread_count, t->threads[i].number < number);

	return at < t->thread_count && t->threads[at].number == number ? &t->threads[at] : NULL;
}

static void subtract_calls(struct trace *t, struct trace_thread *thread, const struct tf_counted_calls *calls)
{
	for (size_t i = 0; i < thread->counter_count; i++) {
		struct trace_counter *counter = &t->counters[thread->first_counter + i];

		if (counter->function != calls->function || counter->sum.calls < calls->calls)
			continue;
		counter->sum.calls -= calls->calls;
		thread->old += calls->calls;
		counter->sum.ticks -= counter->sum.ticks < calls->ticks ? counter->sum.ticks : calls->ticks;
		return;
	}
}

/* With --ring: counters are of the whole life of a thread. A thread that has two pages has two such blobs. */
static void subtract_counted(struct trace *t)
{
	uint8_t bytes[TF_BLOB_BYTES];

	blobs_each(b, t->header.ring_ticks ? t : NULL, TF_BLOB_COUNTED) {
		struct bytes from = {.at = bytes};
		struct trace_thread *thread;
		struct tf_counted_calls calls;
		struct tf_counted head;

		from.left = trace_blob(t, b, bytes, sizeof(bytes));
		thread = trace_thread(t, b->id);
		bytes_read(&from, &head, sizeof(head));
		if (!thread || head.ticks != t->header.ring_ticks)
			continue;
		thread->before.lost += head.lost;
		thread->before.slow_ticks += head.slow_ticks;
		thread->before.stacks_lost += head.stacks_lost;
		for (uint32_t k = 0; k < head.count && !from.is_short; k++) {
			bytes_read(&from, &calls, sizeof(calls));
			subtract_calls(t, thread, &calls);
		}
	}
}

static void read_all_threads(struct trace *t, size_t workers)
{
	read_threads(t);
	if (reader_since_ns == UINT64_MAX)
		return;
	trace_leave_out_earlier(t);
	mapping_keep(&t->bytes, 2 * (t->thread_count + workers)); /* a chunk may be in two blocks */
	trace_read_events(t, workers);
	name_others(t);
	subtract_counted(t);
}

struct trace *trace_new(const char *path, struct mapping *bytes)
{
	struct trace *t = mem_alloc(sizeof(*t));

	t->path = mem_copy_text(path, strlen(path));
	t->bytes = *bytes;
	*bytes = (struct mapping){0};
	return t;
}

int trace_begin(struct trace *t, struct err *err)
{
	int code = read_header(t, err);

	if (!code)
		read_functions(t);
	return code;
}

int reader_open_mapping(const char *path, struct mapping *bytes, size_t workers, struct trace **ret, struct err *err)
{
	struct trace *t = trace_new(path, bytes);
	int code = trace_begin(t, err);

	*ret = NULL;
	if (code) {
		reader_close(t);
		return code;
	}
	read_chunks(t);
	read_all_threads(t, workers);
	*ret = t;
	return 0;
}

int reader_open(const char *path, struct trace **ret, struct err *err)
{
	struct mapping bytes;
	int code = mapping_open(path, &bytes, err);

	*ret = NULL;
	return code ? code : reader_open_mapping(path, &bytes, 1, ret, err);
}

int reader_open_bytes(const void *data, size_t size, struct trace **ret, struct err *err)
{
	struct mapping bytes;

	mapping_from_bytes(data, size, &bytes);
	return reader_open_mapping("(bytes)", &bytes, 1, ret, err);
}

struct trace *reader_open_chunk(const char *path, const struct tf_header *header, struct functions *functions,
				const void *chunk, size_t size)
{
	struct trace *t = mem_alloc(sizeof(*t));
	struct tf_chunk head;

	memcpy(&head, chunk, sizeof(head));
	t->path = mem_copy_text(path, strlen(path));
	t->bytes = (struct mapping){.data = chunk, .size = size, .is_borrowed = true};
	t->header = *header;
	t->functions = functions;
	add_chunk(t, 0, &head);
	read_all_threads(t, 1);
	return t;
}

struct trace_bits trace_bits(const struct trace *t)
{
	struct trace_bits ret = {0};

	for (size_t i = 0; t && i < t->thread_count; i++) {
		ret.kinds |= t->threads[i].kinds;
		ret.args |= t->threads[i].args;
		ret.groups |= t->threads[i].groups;
	}
	return ret;
}

bool trace_has_first_chunk(const struct trace *t)
{
	return t->chunk_count && !t->chunks[0].thread && !t->chunks[0].sequence;
}

bool trace_has_ended_threads(const struct trace *t)
{
	return array_find(thread, t->threads, t->thread_count, thread->page && thread->page->end_ticks) != NULL;
}

void reader_close(struct trace *t)
{
	if (!t)
		return;
	mapping_close(&t->bytes);
	map_done(&t->definitions);
	free(t->path);
	functions_give(t->functions);
	free(t->chunks);
	free(t->threads);
	free(t->counters);
	free(t->blobs);
	free(t->children);
	attachments_done(&t->attachments);
	free(t);
}
