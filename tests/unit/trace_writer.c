/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of test captures. */
#include "trace_writer.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(const char *what)
{
	fprintf(stderr, "trace_writer: %s: %s\n", what, strerror(errno));
	exit(99);
}

/* Appends zeroed space. */
static size_t take(struct writer *w, size_t size)
{
	size_t at = w->size;

	if (w->size + size > w->capacity) {
		w->capacity = (w->size + size) * 2;
		w->data = realloc(w->data, w->capacity);
		if (!w->data)
			fail("realloc");
	}
	memset(w->data + at, 0, size);
	w->size += size;
	return at;
}

void writer_init(struct writer *w, uint64_t nonce, uint32_t pid, uint32_t parent, uint64_t start)
{
	memset(w, 0, sizeof(*w));
	w->header = (struct tf_header){
		.magic = TF_MAGIC,
		.byte_order = TF_BYTE_ORDER,
		.version_major = TF_VERSION_MAJOR,
		.version_minor = TF_VERSION_MINOR,
		.nonce = nonce,
		.run = 0x77,
		.pid = pid,
		.parent_pid = parent,
		.process_start = 1000 + pid,
		.via = TF_VIA_START,
		.clock = TF_CLOCK_MONOTONIC,
		.clock_hz = 1000000000,
		.first = {start, start, start + 1700000000000000000u, 20},
		.osrt_threshold_ns = 1000,
		.host = "node1",
		.boot = WRITER_BOOT,
	};
}

void writer_done(struct writer *w)
{
	free(w->data);
	w->data = NULL;
}

static void copy_items(char *to, size_t room, const char *from, size_t size)
{
	memset(to, 0, room);
	memcpy(to, from, size < room - 1 ? size : room - 1);
}

void writer_command(struct writer *w, const char *executable, const char *arguments, size_t size)
{
	copy_items(w->header.executable, sizeof(w->header.executable), executable, strlen(executable));
	copy_items(w->header.arguments, sizeof(w->header.arguments), arguments, size);
}

void writer_variables(struct writer *w, const char *variables, size_t size)
{
	copy_items(w->header.variables, sizeof(w->header.variables), variables, size);
}

uint16_t writer_function(struct writer *w, enum tf_group group, const char *name)
{
	size_t length = strlen(name);

	if (w->has_chunks || w->functions_size + length + 2 > sizeof(w->functions)) {
		errno = EINVAL;
		fail("functions come first");
	}
	w->functions[w->functions_size++] = (char)group;
	w->functions[w->functions_size++] = (char)length;
	memcpy(w->functions + w->functions_size, name, length);
	w->functions_size += length;
	return (uint16_t)w->header.function_count++;
}

void writer_end(struct writer *w, enum tf_end end, int status, uint64_t ticks)
{
	w->header.end = end;
	w->header.end_status = status;
	w->header.end_ticks = ticks;
	w->header.last[0] = (struct tf_clock_pair){ticks, ticks, ticks + 1700000000000000000u, 20};
}

static void begin_file(struct writer *w)
{
	if (w->has_chunks)
		return;
	w->has_chunks = true;
	w->header.function_bytes = (uint32_t)w->functions_size;
	take(w, TF_PAGE + (w->functions_size + TF_PAGE - 1) / TF_PAGE * TF_PAGE);
	memcpy(w->data + TF_PAGE, w->functions, w->functions_size);
}

static struct tf_chunk *chunk_at(struct writer *w, size_t offset)
{
	return (struct tf_chunk *)(w->data + offset);
}

static size_t add_chunk(struct writer_thread *t, enum tf_chunk_kind kind, uint32_t size)
{
	size_t at = take(t->writer, size);

	*chunk_at(t->writer, at) = (struct tf_chunk){
		.magic = TF_CHUNK_MAGIC,
		.kind = kind,
		.nonce = t->writer->header.nonce,
		.size_bytes = size,
		.tid = t->tid,
		.thread = t->number,
		.sequence = t->sequence++,
		.base_ticks = t->now,
	};
	return at;
}

void writer_thread(struct writer *w, struct writer_thread *ret, uint32_t tid, const char *name, uint32_t chunk_size)
{
	size_t needed = sizeof(struct tf_thread) + w->header.function_count * sizeof(struct tf_counter);
	struct tf_thread *page;

	begin_file(w);
	*ret = (struct writer_thread){.writer = w,
				      .number = w->threads++,
				      .chunk_size = chunk_size,
				      .tid = tid,
				      .now = w->header.first.ticks};
	ret->page = add_chunk(ret, TF_CHUNK_THREAD, (uint32_t)((needed + TF_PAGE - 1) / TF_PAGE * TF_PAGE));
	page = writer_page(ret);
	page->start_ticks = ret->now;
	page->counter_count = w->header.function_count;
	snprintf(page->name, sizeof(page->name), "%s", name);
}

void writer_thread_first(struct writer *w, struct writer_thread *ret, uint32_t tid, uint32_t counters,
			 uint32_t chunk_size)
{
	struct tf_thread *page;

	begin_file(w);
	*ret = (struct writer_thread){.writer = w,
				      .number = w->threads++,
				      .chunk_size = chunk_size,
				      .tid = tid,
				      .now = w->header.first.ticks};
	ret->page = ret->chunk = add_chunk(ret, TF_CHUNK_FIRST, TF_PAGE);
	page = writer_page(ret);
	page->start_ticks = ret->now;
	page->counter_count = counters;
	page->chunk.slots = (uint32_t)(sizeof(*page) + counters * sizeof(struct tf_counter) +
					(w->header.function_count + 3) / 4 * 8);
}

void writer_counter(struct writer_thread *t, uint16_t function, uint16_t position, struct tf_counter sum)
{
	struct tf_thread *page = writer_page(t);

	page->counters[position] = sum;
	((uint16_t *)&page->counters[page->counter_count])[function] = (uint16_t)(position + 1);
}

struct tf_thread *writer_page(struct writer_thread *t)
{
	return (struct tf_thread *)(t->writer->data + t->page);
}

/* Space taken by one call is within one chunk. */
static void need(struct writer_thread *t, size_t slots)
{
	const struct tf_chunk *w = chunk_at(t->writer, t->chunk);

	if (t->chunk && tf_slots_offset(w) + (t->used + slots) * TF_SLOT <= w->size_bytes)
		return;
	if (t->chunk)
		chunk_at(t->writer, t->chunk)->full = 1;
	t->chunk = add_chunk(t, TF_CHUNK_SLOTS, t->chunk_size);
	t->used = 0;
}

static void put(struct writer_thread *t, uint64_t slot)
{
	struct tf_chunk *chunk = chunk_at(t->writer, t->chunk);
	size_t first = t->chunk + tf_slots_offset(chunk);

	if (chunk->kind == TF_CHUNK_SLOTS && tf_kind(slot) == TF_BLOB)
		chunk->blobs |= 1ull << (tf_blob_kind(slot) & 63);
	memcpy(t->writer->data + first + t->used++ * TF_SLOT, &slot, sizeof(slot));
}

void writer_slot(struct writer_thread *t, uint64_t slot)
{
	need(t, 1);
	put(t, slot);
}

void writer_descriptor(struct writer_thread *t, uint32_t id, uint16_t fd, uint64_t from, enum tf_descriptor_kind kind,
		       const char *text)
{
	writer_descriptor_generation(t, id, fd, from, 0, kind, text);
}

void writer_traffic(struct writer_thread *t, unsigned function, uint16_t fd, uint16_t generation, uint64_t from,
		    struct tf_counter sum, uint64_t result_bytes)
{
	const uint64_t numbers[TF_TRAFFIC_NUMBERS] = {
		[TF_TRAFFIC_KEY] = fd | (uint64_t)generation << 16 | (uint64_t)function << 32,
		[TF_TRAFFIC_FROM] = from,
		[TF_TRAFFIC_CALLS] = sum.calls,
		[TF_TRAFFIC_TICKS] = sum.ticks,
		[TF_TRAFFIC_BYTES] = result_bytes,
	};
	struct tf_traffic traffic;

	for (unsigned i = 0; i < TF_TRAFFIC_NUMBERS; i++)
		memcpy(traffic.numbers[i], &numbers[i], TF_DATA_BYTES);
	writer_blob(t, TF_BLOB_TRAFFIC, t->number, &traffic, sizeof(traffic));
}

void writer_descriptor_generation(struct writer_thread *t, uint32_t id, uint16_t fd, uint64_t from,
				  uint32_t generation, enum tf_descriptor_kind kind, const char *text)
{
	unsigned char bytes[sizeof(struct tf_descriptor) + 256];
	struct tf_descriptor head = {
		.from_ticks = from, .fd = fd, .kind = (uint16_t)kind, .generation = generation};
	size_t size = strlen(text) < 256 ? strlen(text) : 256;

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), text, size);
	writer_blob(t, TF_BLOB_DESCRIPTOR, id, bytes, sizeof(head) + size);
}

void writer_python_code(struct writer_thread *t, uint32_t id, uint32_t line, const char *file, const char *name)
{
	struct tf_python_code head = {.first_line = line,
				      .version = 0x309,
				      .file_bytes = (uint16_t)strlen(file),
				      .name_bytes = (uint16_t)strlen(name)};
	char bytes[256];

	memcpy(bytes, &head, sizeof(head));
	snprintf(bytes + sizeof(head), sizeof(bytes) - sizeof(head), "%s%s", file, name);
	writer_blob(t, TF_BLOB_PYTHON_CODE, id, bytes, sizeof(head) + head.file_bytes + head.name_bytes);
}

void writer_python_stack(struct writer_thread *t, uint32_t id, const uint32_t *codes, size_t count)
{
	struct tf_python_frame frames[8];

	for (size_t i = 0; i < count; i++)
		frames[i] = (struct tf_python_frame){codes[i], TF_PYTHON_ENTRY};
	writer_blob(t, TF_BLOB_PYTHON_STACK, id, frames, count * sizeof(*frames));
}

void writer_torn(struct writer_thread *t, size_t slots)
{
	need(t, slots);
	t->used += slots;
}

/* Writes a TIME slot if 24 bits are not enough. */
static void set_time(struct writer_thread *t, uint64_t time)
{
	if (tf_time_after(t->now, time & TF_TIME_MASK) != time)
		put(t, tf_time_slot(time));
	t->now = time;
}

void writer_event(struct writer_thread *t, enum tf_kind kind, unsigned int id, uint64_t time, uint64_t last)
{
	need(t, 3);
	set_time(t, time);
	put(t, tf_event(kind, id, time, last));
}

void writer_sample(struct writer_thread *t, uint64_t time, uint64_t us, uint32_t stack)
{
	need(t, 4);
	set_time(t, time);
	put(t, tf_event(TF_SAMPLE, 0, time, us));
	put(t, tf_arg(TF_ARG_STACK, 0, stack));
}

static void write_timed(struct writer_thread *t, enum tf_kind kind, unsigned int function, uint64_t end,
			uint64_t duration, const uint64_t *args, size_t count)
{
	bool is_long = duration >= TF_DURATION_LONG;

	need(t, count + 3);
	set_time(t, end);
	put(t, tf_event(kind, function, end, is_long ? TF_DURATION_LONG : duration));
	if (is_long)
		put(t, tf_arg(TF_ARG_LONG, 0, duration));
	for (size_t i = 0; i < count; i++)
		put(t, args[i]);
}

void writer_call(struct writer_thread *t, unsigned int function, uint64_t end, uint64_t duration, const uint64_t *args,
		 size_t count)
{
	write_timed(t, TF_CALL, function, end, duration, args, count);
}

void writer_construct(struct writer_thread *t, unsigned int function, uint64_t end, uint64_t duration,
		      const uint64_t *args, size_t count)
{
	write_timed(t, TF_CONSTRUCT, function, end, duration, args, count);
}

void writer_blob(struct writer_thread *t, enum tf_blob_kind kind, uint32_t id, const void *data, size_t size)
{
	size_t pieces = (size + TF_DATA_BYTES - 1) / TF_DATA_BYTES;

	need(t, pieces + 1);
	put(t, tf_blob(kind, (unsigned int)size, id));
	for (size_t i = 0; i < pieces; i++) {
		size_t length = size - i * TF_DATA_BYTES < TF_DATA_BYTES ? size - i * TF_DATA_BYTES : TF_DATA_BYTES;
		uint64_t slot = TF_DATA;

		memcpy((uint8_t *)&slot + 1, (const uint8_t *)data + i * TF_DATA_BYTES, length);
		put(t, slot);
	}
}

void writer_text(struct writer_thread *t, enum tf_blob_kind kind, uint32_t id, const char *text)
{
	writer_blob(t, kind, id, text, strlen(text));
}

void writer_usage(struct writer_thread *t, const struct tf_usage *usage)
{
	bool is_long = usage->major_faults || usage->block_ms || usage->is_of_living;

	writer_blob(t, TF_BLOB_USAGE, 0, usage,
		    !usage->minor_faults ? TF_USAGE_THREAD_BYTES
		    : is_long		 ? sizeof(*usage)
					 : TF_USAGE_SHORT_BYTES);
}

void writer_module(struct writer_thread *t, uint64_t start, uint64_t end, uint64_t bias, const uint8_t *build_id,
		   size_t length, const char *path)
{
	uint8_t bytes[sizeof(struct tf_module) + 1024];
	struct tf_module m = {.start = start, .end = end, .bias = bias, .build_id_length = (uint8_t)length};
	size_t size = strlen(path) < 1024 ? strlen(path) : 1024;

	if (length)
		memcpy(m.build_id, build_id, length);
	memcpy(bytes, &m, sizeof(m));
	memcpy(bytes + sizeof(m), path, size);
	writer_blob(t, TF_BLOB_MODULE, (uint32_t)start, bytes, sizeof(m) + size);
}

/* Groups of 7 bits, the lowest first. */
static uint8_t *number(uint8_t *at, uint64_t n)
{
	while (n > 0x7f) {
		*at++ = (uint8_t)(n & 0x7f) | 0x80;
		n >>= 7;
	}
	*at++ = (uint8_t)n;
	return at;
}

static uint8_t *distance(uint8_t *at, uint64_t from, uint64_t to)
{
	return number(at, to >= from ? 2 * (to - from) : 2 * (from - to) - 1);
}

static void write_records(struct writer_thread *t, enum tf_blob_kind blob, enum tf_device_time time,
			  const struct writer_device_record *records, size_t count)
{
	uint8_t bytes[2000], *at = bytes + sizeof(struct tf_device_batch);
	struct tf_device_batch head = {.base_ns = records[0].start,
				       .count = (uint32_t)count,
				       .source = TF_SOURCE_CUPTI,
				       .time = (uint8_t)time,
				       .epoch = records[0].epoch};

	memcpy(bytes, &head, sizeof(head));
	for (size_t i = 0; i < count; i++) {
		const struct writer_device_record *r = &records[i], *before = i ? r - 1 : NULL;

		if (at + 60 > bytes + sizeof(bytes)) {
			errno = E2BIG;
			fail("a batch of device records");
		}
		at = number(at, 4 * (uint64_t)r->work + 2 * (r->address > 0) + (r->bytes > 0));
		at = distance(at, before ? before->start : head.base_ns, r->start);
		at = number(at, r->duration);
		at = distance(at, before ? before->correlation : 0, r->correlation);
		if (r->bytes)
			at = number(at, r->bytes);
		if (r->address)
			at = number(at, r->address);
	}
	writer_blob(t, blob, 0, bytes, (size_t)(at - bytes));
}

void writer_device(struct writer_thread *t, enum tf_device_time time, const struct writer_device_record *records,
		   size_t count)
{
	write_records(t, TF_BLOB_DEVICE, time, records, count);
}

void writer_device_more(struct writer_thread *t, enum tf_device_time time, const struct writer_device_record *records,
			size_t count)
{
	write_records(t, TF_BLOB_DEVICE_MORE, time, records, count);
}

void writer_device_calls(struct writer_thread *t, enum tf_device_time time, const struct writer_device_call *calls,
			 size_t count)
{
	uint8_t bytes[8000], *at = bytes + sizeof(struct tf_device_batch);
	struct tf_device_batch head = {
		.base_ns = calls[0].start, .count = (uint32_t)count, .source = TF_SOURCE_CUPTI, .time = (uint8_t)time};

	memcpy(bytes, &head, sizeof(head));
	for (size_t i = 0; i < count; i++) {
		const struct writer_device_call *c = &calls[i], *before = i ? c - 1 : NULL;
		int64_t thread = (int64_t)c->tid - (before ? (int64_t)before->tid : 0);

		if (at + 50 > bytes + sizeof(bytes)) {
			errno = E2BIG;
			fail("a batch of calls");
		}
		at = number(at, ((uint64_t)thread << 1 ^ (uint64_t)(thread >> 63)) << 1 | c->is_driver);
		at = distance(at, before ? before->start : head.base_ns, c->start);
		at = number(at, c->duration);
		at = distance(at, before ? before->correlation : 0, c->correlation);
	}
	writer_blob(t, TF_BLOB_DEVICE_CALLS, 0, bytes, (size_t)(at - bytes));
}

void writer_device_source(struct writer_thread *t, enum tf_device_time time, uint32_t version, const char *library)
{
	uint8_t bytes[sizeof(struct tf_device_source) + 256];
	struct tf_device_source head = {TF_SOURCE_CUPTI, (uint16_t)time, version};
	size_t size = strnlen(library, 256);

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), library, size);
	writer_blob(t, TF_BLOB_DEVICE_SOURCE, 0, bytes, sizeof(head) + size);
}

const uint8_t *writer_bytes(struct writer *w, size_t *ret_size)
{
	begin_file(w);
	memcpy(w->data, &w->header, sizeof(w->header));
	*ret_size = w->size;
	return w->data;
}

void writer_save(struct writer *w, const char *directory)
{
	size_t size;
	const uint8_t *data = writer_bytes(w, &size);
	char name[256];

	snprintf(name, sizeof(name), "%.64s.%u.%016llx.trace", w->header.host, w->header.pid,
		 (unsigned long long)w->header.nonce);
	capture_file(directory, name, data, size);
}

/* ---- the capture around it ---- */

void capture_create(const char *directory)
{
	static const char text[] = "format=1\nkey=test\ncreated_ns=1700000000000000000\n";

	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		fail(directory);
	capture_file(directory, "capture", text, sizeof(text) - 1);
}

static FILE *open_in(const char *directory, const char *name, const char *mode)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, mode);
	if (!f)
		fail(path);
	return f;
}

void capture_file(const char *directory, const char *name, const void *data, size_t size)
{
	FILE *f = open_in(directory, name, "we");
	size_t written = size ? fwrite(data, 1, size, f) : 0;

	if (written != size || fclose(f))
		fail(name);
}

void capture_line(const char *directory, const char *file, const char *format, ...)
{
	FILE *f = open_in(directory, file, "ae");
	va_list list;

	va_start(list, format);
	vfprintf(f, format, list);
	va_end(list);
	fputc('\n', f);
	if (fclose(f))
		fail(file);
}

void capture_remove(const char *directory)
{
	DIR *d = opendir(directory);
	struct dirent *entry;
	char path[4096];

	while (d && (entry = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(directory);
}
