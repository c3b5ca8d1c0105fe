/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the samples of one process image as a trace file (runtime/shared/format/trace_format.h) with via =
 * TF_VIA_OBSERVED. Each thread fills one chunk in memory, which is written again at each flush until it is full. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/launch/perf/perf.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

enum {
	CHUNK_BYTES = TF_PAGE,
	NAME_BYTES = sizeof(((struct tf_thread *)0)->name),
	STACK_MOST = 256,
	STACKS_LEAST = 256,
	PATH_MOST = 1024
};

struct perf_thread {
	uint32_t tid, number, sequence;
	char name[NAME_BYTES];
	uint64_t start, now; /* ticks */
	uint64_t offset;     /* of its chunk in the file, 0: no chunk yet */
	size_t used;	     /* bytes of the chunk */
	bool is_dirty;
	uint64_t chunk[CHUNK_BYTES / TF_SLOT];
};

struct perf_trace {
	char path[PATH_MAX + 128];
	struct tf_header header;
	struct perf_thread **threads;
	size_t thread_count;
	uint64_t size; /* of the file */
	uint32_t last_blob;
	bool is_written; /* the header is in the file */
	bool is_lost;	 /* it could not be written */
	/* hashes of the stacks that are defined, with their ids: open addressing, 0: free */
	struct {
		uint64_t hash;
		uint32_t id;
	} *stacks;
	size_t stack_count, stack_room;
};

/* ---- time ---- */

/* Two instants on both clocks: the one before the records were read, and the one before that. */
static struct tf_clock_pair before, latest;

void perf_trace_clock(void)
{
	if (!before.ticks)
		clock_pair(&before);
	else if (latest.ticks && latest.monotonic_ns - before.monotonic_ns > 60000000000u)
		before = latest; /* keeps the distance long enough for an exact rate, and the rate current */
	clock_pair(&latest);
}

uint64_t perf_trace_ticks(uint64_t time_ns)
{
	int64_t ns = (int64_t)(time_ns - latest.monotonic_ns);
	uint64_t apart = latest.monotonic_ns - before.monotonic_ns, hz = clock_hz();

	if (apart > 1000000000)
		return latest.ticks + (uint64_t)(int64_t)((__int128)ns * (int64_t)(latest.ticks - before.ticks) /
							  (int64_t)apart);
	if (!hz)
		hz = clock_ticks(1000000000);
	return latest.ticks + (uint64_t)(int64_t)((__int128)ns * (int64_t)hz / 1000000000);
}

/* ---- the file ---- */

static void trace_write(struct perf_trace *t, const void *bytes, size_t size, uint64_t offset)
{
	int fd = t->is_lost ? -1 : open(t->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	bool is_stored = true;

	if (fd < 0 || pwrite(fd, bytes, size, (off_t)offset) != (ssize_t)size)
		is_stored = false;
	if (fd >= 0)
		close(fd);
	perf_counts.unwritten += !is_stored && !t->is_lost;
	t->is_lost |= !is_stored;
}

static void trace_write_header(struct perf_trace *t)
{
	static uint8_t page[TF_PAGE];

	memcpy(page, &t->header, sizeof(t->header));
	trace_write(t, page, sizeof(page), 0);
}

static void thread_write(struct perf_trace *t, struct perf_thread *thread)
{
	if (thread->is_dirty)
		trace_write(t, thread->chunk, CHUNK_BYTES, thread->offset);
	thread->is_dirty = false;
}

static void header_fill(struct tf_header *h, const struct run *run, const struct perf_image *image)
{
	size_t size = image->arguments_size;

	*h = (struct tf_header){
		.magic = TF_MAGIC,
		.byte_order = TF_BYTE_ORDER,
		.version_major = TF_VERSION_MAJOR,
		.version_minor = TF_VERSION_MINOR,
		.run = run->id,
		.pid = image->pid,
		.parent_pid = image->parent_pid,
		.process_start = image->process_start,
		.via = TF_VIA_OBSERVED,
		.clock = clock_kind,
		.clock_hz = clock_hz(),
		.first.ticks = perf_trace_ticks(image->begin_ns),
		.osrt_threshold_ns = run->options.osrt_threshold_ns,
	};
	while (!h->nonce && sys_getrandom(&h->nonce, sizeof(h->nonce)) < 0)
		h->nonce = clock_monotonic_ns() * 0x9e3779b97f4a7c15u ^ image->pid;
	snprintf(h->host, sizeof(h->host), "%s", run->host);
	snprintf(h->boot, sizeof(h->boot), "%s", run->boot);
	snprintf(h->executable, sizeof(h->executable), "%s", image->executable);
	memcpy(h->arguments, image->arguments, size < sizeof(h->arguments) - 2 ? size : sizeof(h->arguments) - 2);
}

struct perf_trace *perf_trace_begin(const struct run *run, const struct perf_image *image)
{
	struct perf_trace *t = calloc(1, sizeof(*t));
	int fd;

	if (!t)
		return NULL;
	header_fill(&t->header, run, image);
	snprintf(t->path, sizeof(t->path), "%s/%s.%u.%016llx.trace", run->directory, run->host, image->pid,
		 (unsigned long long)t->header.nonce);
	t->size = TF_PAGE;
	fd = open(t->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		perf_counts.unwritten++;
		free(t);
		return NULL;
	}
	fchmod(fd, 0600);
	close(fd);
	trace_write_header(t);
	return t;
}

/* ---- chunks ---- */

static struct tf_chunk *thread_chunk(struct perf_thread *thread)
{
	return (struct tf_chunk *)thread->chunk;
}

/* Begins the thread's next chunk. The first one has the thread's head, without counters. */
static void thread_next_chunk(struct perf_trace *t, struct perf_thread *thread)
{
	struct tf_chunk *chunk = thread_chunk(thread);

	if (thread->offset) {
		chunk->full = 1;
		thread->is_dirty = true;
		thread_write(t, thread);
	}
	memset(thread->chunk, 0, sizeof(thread->chunk));
	thread->offset = t->size;
	t->size += CHUNK_BYTES;
	*chunk = (struct tf_chunk){
		.magic = TF_CHUNK_MAGIC,
		.kind = thread->sequence ? TF_CHUNK_SLOTS : TF_CHUNK_FIRST,
		.nonce = t->header.nonce,
		.size_bytes = CHUNK_BYTES,
		.tid = thread->tid,
		.thread = thread->number,
		.sequence = thread->sequence,
		.base_ticks = thread->now,
		.offset = thread->offset,
	};
	if (!thread->sequence) {
		struct tf_thread *head = (struct tf_thread *)thread->chunk;

		head->start_ticks = thread->start;
		memcpy(head->name, thread->name, sizeof(head->name));
		chunk->slots = sizeof(*head);
	}
	thread->used = tf_slots_offset(chunk);
	thread->sequence++;
}

/* Room for slots that belong together. */
static uint64_t *thread_slots(struct perf_trace *t, struct perf_thread *thread, size_t count)
{
	uint64_t *at;

	if (!thread->offset || thread->used + count * TF_SLOT > CHUNK_BYTES)
		thread_next_chunk(t, thread);
	at = thread->chunk + thread->used / TF_SLOT;
	thread->used += count * TF_SLOT;
	thread->is_dirty = true;
	return at;
}

static void thread_blob(struct perf_trace *t, struct perf_thread *thread, enum tf_blob_kind kind, uint32_t id,
			const void *bytes, size_t size)
{
	size_t pieces = (size + TF_DATA_BYTES - 1) / TF_DATA_BYTES;
	uint64_t *slots = thread_slots(t, thread, 1 + pieces);

	if (thread_chunk(thread)->kind == TF_CHUNK_SLOTS)
		thread_chunk(thread)->blobs |= 1ull << kind;
	slots[0] = tf_blob(kind, (unsigned)size, id);
	for (size_t i = 0; i < pieces; i++) {
		size_t left = size - i * TF_DATA_BYTES;
		uint64_t word = 0;

		memcpy(&word, (const uint8_t *)bytes + i * TF_DATA_BYTES, left < TF_DATA_BYTES ? left : TF_DATA_BYTES);
		slots[1 + i] = TF_DATA | word << 8;
	}
}

bool perf_trace_has_thread(const struct perf_trace *t, uint32_t tid)
{
	for (size_t i = t->thread_count; i-- > 0;)
		if (t->threads[i]->tid == tid)
			return true;
	return false;
}

static struct perf_thread *trace_thread(struct perf_trace *t, uint32_t tid, uint64_t time_ns)
{
	struct perf_thread **more, *thread;

	for (size_t i = t->thread_count; i-- > 0;)
		if (t->threads[i]->tid == tid)
			return t->threads[i];
	more = realloc(t->threads, (t->thread_count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	t->threads = more;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->number = (uint32_t)t->thread_count;
	thread->start = thread->now = perf_trace_ticks(time_ns);
	t->threads[t->thread_count++] = thread;
	return thread;
}

/* ---- what it contains ---- */

void perf_trace_name(struct perf_trace *t, uint32_t tid, uint64_t time_ns, const char *name)
{
	struct perf_thread *thread = trace_thread(t, tid, time_ns);

	if (!thread || !strncmp(thread->name, name, NAME_BYTES - 1))
		return;
	snprintf(thread->name, NAME_BYTES, "%s", name);
	if (thread->offset)
		thread_blob(t, thread, TF_BLOB_THREAD_NAME, ++t->last_blob, name, strlen(name));
}

void perf_trace_module(struct perf_trace *t, uint32_t tid, uint64_t time_ns, const struct tf_module *module,
		       const char *path, const struct tf_module_file *file)
{
	struct perf_thread *thread = trace_thread(t, tid, time_ns);
	uint8_t bytes[sizeof(*module) + PATH_MOST + 1 + sizeof(*file)];
	size_t size = sizeof(*module) + strnlen(path, PATH_MOST);

	memcpy(bytes, module, sizeof(*module));
	memcpy(bytes + sizeof(*module), path, size - sizeof(*module));
	if (file->size) {
		bytes[size++] = '\0';
		memcpy(bytes + size, file, sizeof(*file));
		size += sizeof(*file);
	}
	if (thread)
		thread_blob(t, thread, TF_BLOB_MODULE, ++t->last_blob, bytes, size);
}

static uint64_t stack_hash(const uint64_t *stack, size_t count)
{
	uint64_t hash = count + 1;

	for (size_t i = 0; i < count; i++) {
		hash = (hash ^ stack[i]) * 0x9fb21c651e98df25;
		hash ^= hash >> 32;
	}
	return hash ? hash : 1;
}

static bool stacks_grow(struct perf_trace *t)
{
	size_t room = t->stack_room ? t->stack_room * 2 : STACKS_LEAST;
	typeof(t->stacks) old = t->stacks, new = calloc(room, sizeof(*new));

	if (!new)
		return false;
	for (size_t i = 0; i < t->stack_room; i++) {
		size_t at = old[i].hash % room;

		while (old[i].hash && new[at].hash)
			at = (at + 1) % room;
		if (old[i].hash)
			new[at] = old[i];
	}
	free(old);
	t->stacks = new;
	t->stack_room = room;
	return true;
}

/* The id of the stack, which is defined if it is new. 0: no memory. */
static uint32_t trace_stack(struct perf_trace *t, struct perf_thread *thread, const uint64_t *stack, size_t count)
{
	uint64_t hash = stack_hash(stack, count);
	size_t at;

	if (t->stack_count * 2 >= t->stack_room && !stacks_grow(t))
		return 0;
	for (at = hash % t->stack_room; t->stacks[at].hash; at = (at + 1) % t->stack_room)
		if (t->stacks[at].hash == hash)
			return t->stacks[at].id;
	t->stacks[at].hash = hash;
	t->stacks[at].id = ++t->last_blob;
	t->stack_count++;
	thread_blob(t, thread, TF_BLOB_STACK, t->last_blob, stack, count * sizeof(*stack));
	return t->last_blob;
}

void perf_trace_sample(struct perf_trace *t, uint32_t tid, uint64_t time_ns, uint64_t cpu_ns, const uint64_t *stack,
		       size_t count)
{
	struct perf_thread *thread = trace_thread(t, tid, time_ns);
	uint64_t ticks = perf_trace_ticks(time_ns), us = cpu_ns / 1000, *slots;
	uint32_t id;

	if (!thread)
		return;
	id = count ? trace_stack(t, thread, stack, count < STACK_MOST ? count : STACK_MOST) : 0;
	slots = thread_slots(t, thread, 3);
	slots[0] = tf_time_slot(ticks);
	slots[1] = tf_event(TF_SAMPLE, 0, ticks, us < TF_TIME_MASK ? us : TF_TIME_MASK);
	slots[2] = id ? tf_arg(TF_ARG_STACK, 0, id) : 0;
	if (!id)
		thread->used -= TF_SLOT;
	thread->now = ticks;
}

void perf_trace_flush(struct perf_trace *t)
{
	for (size_t i = 0; i < t->thread_count; i++)
		thread_write(t, t->threads[i]);
}

void perf_trace_end(struct perf_trace *t, enum tf_end end, uint64_t time_ns)
{
	t->header.end = end;
	t->header.end_ticks = time_ns ? perf_trace_ticks(time_ns) : 0;
	perf_trace_flush(t);
	trace_write_header(t);
	for (size_t i = 0; i < t->thread_count; i++)
		free(t->threads[i]);
	free(t->threads);
	free(t->stacks);
	free(t);
}
