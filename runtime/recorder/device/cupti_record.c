/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's buffers and the conversion of their records. Buffers are returned in a thread of CUPTI, or in a thread of
 * the program that is calling CUDA. They are read at once, into the chunk of that thread. */
#include "runtime/recorder/device/cupti_record.h"

#include <errno.h>
#include <string.h>

#include "runtime/recorder/device/batch.h"
#include "runtime/recorder/device/cupti_calls.h"
#include "runtime/recorder/device/cupti_client.h"
#include "runtime/recorder/device/cupti_foreign.h"
#include "runtime/recorder/device/cupti_layout.h"
#include "runtime/recorder/device/cupti_state.h"
#include "runtime/recorder/device/facts.h"
#include "runtime/recorder/record/event.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

/* A buffer holds some 300 kernels. CUPTI's own flushes return full buffers only, so what a buffer holds is what a kill
 * may lose. CUPTI has one for each thread that calls CUDA. */
enum { BUFFER = 1 << 16, BUFFERS = 1024, KEPT = 128, ARENAS = 64 };

/* ---- buffers ---- */

/* Address space from which buffers are taken, and which identifies our buffers. After the buffers it has a byte for
 * each, which is 0 if the buffer is free. */
static struct arena {
	uint8_t *start;
} arenas[ARENAS];
enum { ARENA_BYTES = BUFFERS * BUFFER + BUFFERS };

/* If there is no memory, a CUPTI that crashes without a buffer gets this one. It is shared by all and never read. NULL:
 * not needed. */
static uint8_t *scrap;

static struct arena *buffer_arena(const uint8_t *buffer)
{
	for (struct arena *a = arenas; a < arenas + ARENAS; a++) {
		const uint8_t *start = __atomic_load_n(&a->start, __ATOMIC_ACQUIRE);

		if (!start)
			break;
		if (buffer >= start && buffer < start + (size_t)BUFFERS * BUFFER)
			return a;
	}
	return NULL;
}

static bool is_our_buffer(const uint8_t *buffer)
{
	return (scrap && buffer == scrap) || buffer_arena(buffer);
}

static uint8_t *buffer_map_arena(struct arena *a)
{
	uint8_t *start = __atomic_load_n(&a->start, __ATOMIC_ACQUIRE), *none = NULL;

	if (start)
		return start;
	start = sys_mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!start || __atomic_compare_exchange_n(&a->start, &none, start, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		return start;
	sys_munmap(start, ARENA_BYTES);
	return none;
}

static uint8_t *arena_taken(uint8_t *start)
{
	return start + (size_t)BUFFERS * BUFFER;
}

/* Has CUPTI a buffer that it has not returned? */
static bool buffers_out(void)
{
	for (struct arena *a = arenas; a < arenas + ARENAS; a++) {
		uint8_t *start = __atomic_load_n(&a->start, __ATOMIC_ACQUIRE);

		for (int i = 0; start && i < BUFFERS; i++)
			if (__atomic_load_n(&arena_taken(start)[i], __ATOMIC_RELAXED))
				return true;
	}
	return false;
}

void cupti_finish_operations(void)
{
	enum { TRIES = 10 };

	for (int i = 0; i < TRIES; i++) {
		struct timespec pause = {0, 100000};

		cupti_api.flush_all(0);
		if (!buffers_out())
			return;
		sys_call(SYS_nanosleep, &pause, NULL, 0, 0);
	}
}

static uint8_t *buffer_take(void)
{
	for (struct arena *a = arenas; a < arenas + ARENAS; a++) {
		uint8_t *start = buffer_map_arena(a);

		for (int i = 0; start && i < BUFFERS; i++)
			if (!__atomic_load_n(&arena_taken(start)[i], __ATOMIC_RELAXED) &&
			    !__atomic_exchange_n(&arena_taken(start)[i], 1, __ATOMIC_ACQUIRE))
				return start + (size_t)i * BUFFER;
		if (!start)
			break;
	}
	return NULL;
}

bool cupti_buffer_prepare(void)
{
	if (!scrap && cupti_state.version < CUPTI_COPES_WITHOUT_BUFFER)
		scrap = sys_mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
				 0);
	return scrap || cupti_state.version >= CUPTI_COPES_WITHOUT_BUFFER;
}

static void buffer_give(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit)
{
	/* Without a buffer CUPTI drops records and counts them, or crashes. */
	*ret_buffer = buffer_take();
	if (!*ret_buffer)
		*ret_buffer = scrap;
	*ret_size = *ret_buffer ? BUFFER : 0;
	*ret_limit = 0;
}

void cupti_buffer_request(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit)
{
	if (!cupti_foreign_request(ret_buffer, ret_size, ret_limit))
		buffer_give(ret_buffer, ret_size, ret_limit);
}

void cupti_buffer_request_shared(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit, void *info)
{
	buffer_give(ret_buffer, ret_size, ret_limit);
}

/* Buffers beyond the first few are rarely needed: their memory is returned to the kernel. */
static void buffer_free(uint8_t *buffer)
{
	struct arena *a = buffer_arena(buffer);
	size_t i = a ? (size_t)(buffer - a->start) / BUFFER : 0;

	if (!a)
		return;
	if (a > arenas || i >= KEPT)
		sys_madvise(buffer, BUFFER, MADV_DONTNEED);
	__atomic_store_n(&arena_taken(a->start)[i], 0, __ATOMIC_RELEASE);
}

/* The output of one buffer. */
struct batches {
	struct device_batch operations, calls, more;
	/* the driver's record of a call, until the runtime's record of the same call could have followed;
	 * correlation 0: none */
	struct cupti_call pending;
};

/* ---- CUPTI's records ---- */

static bool has_graph_ids(void)
{
	return cupti_state.version >= CUPTI_HAS_GRAPH_IDS;
}

static uint32_t record_kernel_name(const char *name)
{
	size_t length = name ? strnlen(name, EVENT_TEXT) : 0;

	return length ? event_intern(TF_BLOB_KERNEL, name, length) : 0;
}

/* A device operation: `count` is its number of bytes, followed by the fields of its kind. */
#define OPERATION(r, count, ...)                                                                                       \
	(&(const struct batch_item){.start = (r)->start,                                                               \
				    .end = (r)->end,                                                                   \
				    .bytes = (count),                                                                  \
				    .correlation = (r)->correlation,                                                   \
				    .operation = {.device = (r)->device,                                               \
						  .context = (r)->context,                                             \
						  .stream = (r)->stream,                                               \
						  .graph = has_graph_ids() ? (r)->graph : 0,                           \
						  __VA_ARGS__}})

/* The fields of an operation that may be the node of a graph. */
#define NODE(r)                                                                                                        \
	.node = has_graph_ids() ? (uint32_t)(r)->graph_node : 0,                                                       \
	.node_graph = has_graph_ids() ? (uint32_t)((r)->graph_node >> 32) : 0

/* Most nodes of executable graphs have their sources' numbers: then the source is known without the record. */
static uint64_t record_source(uint32_t graph, uint64_t node, const uint64_t *source)
{
	if (cupti_state.version < CUPTI_HAS_SOURCES || !graph)
		return 0;
	return node >> 32 != graph || (uint32_t)node != (uint32_t)*source ? *source : 0;
}

/* Likewise of a record that has the source of its node. */
#define SOURCED_NODE(r)                                                                                                \
	.source_node = (uint32_t)record_source((r)->graph, (r)->graph_node, &(r)->source_node),                        \
	.source_graph = (uint32_t)(record_source((r)->graph, (r)->graph_node, &(r)->source_node) >> 32), NODE(r)

static void record_kernel(struct device_batch *b, const struct cupti_kernel *r)
{
	batch_put(b, OPERATION(r, 0, .kind = TF_DEVICE_KERNEL, .kernel = record_kernel_name(r->name),
			       .grid = {r->grid[0], r->grid[1], r->grid[2]},
			       .block = {r->block[0], r->block[1], r->block[2]}, .registers = r->registers,
			       .static_shared_bytes = r->static_shared, .dynamic_shared_bytes = r->dynamic_shared,
			       .local_bytes = r->local_per_thread, SOURCED_NODE(r)));
}

static void record_copy(struct device_batch *b, const struct cupti_memcpy *r)
{
	batch_put(b, OPERATION(r, r->bytes, .kind = TF_DEVICE_COPY, .copy = r->copy, .source = r->source,
			       .target = r->target, SOURCED_NODE(r)));
}

static void record_peer_copy(struct device_batch *b, const struct cupti_memcpy_peer *r)
{
	batch_put(b, OPERATION(r, r->bytes, .kind = TF_DEVICE_COPY, .copy = r->copy, .source = r->source,
			       .target = r->target, .source_device = (uint16_t)r->source_device,
			       .target_device = (uint16_t)r->target_device, NODE(r)));
}

static void record_memset(struct device_batch *b, const struct cupti_memset *r)
{
	batch_put(b, OPERATION(r, r->bytes, .kind = TF_DEVICE_SET, .value = r->value, .target = (uint8_t)r->memory,
			       SOURCED_NODE(r)));
}

static void record_graph(struct device_batch *b, const struct cupti_graph *r)
{
	__atomic_store_n(&cupti_state.whole_launches, 0, __ATOMIC_RELAXED);
	batch_put(b, OPERATION(r, 0, .kind = TF_DEVICE_GRAPH));
}

enum { DEVICE_MEMORY = 3 }; /* CUpti_ActivityMemoryKind */

/* No host call requests it. */
static void record_device_graph(struct device_batch *b, const struct cupti_device_graph *r)
{
	batch_put(b, &(const struct batch_item){.start = r->start,
						.end = r->end,
						.operation = {.kind = TF_DEVICE_GRAPH,
							      .device = r->device,
							      .context = r->context,
							      .stream = (uint32_t)r->stream,
							      .graph = r->graph}});
}

static void record_decompression(struct device_batch *b, const struct cupti_decompression *r)
{
	batch_put(b, &(const struct batch_item){.start = r->start,
						.end = r->end,
						.bytes = r->bytes,
						.correlation = r->correlation,
						.operation = {.kind = TF_DEVICE_COPY,
							      .copy = TF_COPY_DECOMPRESSES,
							      .source = DEVICE_MEMORY,
							      .target = DEVICE_MEMORY,
							      .device = r->device,
							      .context = r->context,
							      .stream = r->stream}});
}

static void record_write_call(struct device_batch *b, const struct cupti_call *r)
{
	int64_t thread;

	if (!r->start || r->end < r->start) {
		b->lost.timeless++;
		return;
	}
	batch_next(b, r->start);
	thread = (int64_t)r->thread - (int64_t)b->thread;
	batch_number(b, ((uint64_t)thread << 1 ^ (uint64_t)(thread >> 63)) << 1 | (r->kind == CUPTI_DRIVER_CALL));
	batch_times(b, r->start, r->end, r->correlation);
	b->thread = r->thread;
}

static void record_write_pending(struct batches *all)
{
	if (all->pending.correlation)
		record_write_call(&all->calls, &all->pending);
	all->pending.correlation = 0;
}

/* The driver's record of a call inside a runtime call comes first and has the same id: one of the two is sufficient. */
static void record_call(struct batches *all, const struct cupti_call *r)
{
	bool is_driver = r->kind == CUPTI_DRIVER_CALL;

	if (!cupti_calls_wanted(is_driver, r->function))
		return;
	if (all->pending.correlation == r->correlation)
		all->pending.correlation = 0;
	record_write_pending(all);
	if (is_driver)
		all->pending = *r;
	else
		record_write_call(&all->calls, r);
}

/* ---- records that are not device operations ---- */

#define FACT(from, to, ...) (&(const struct batch_item){.start = (from), .end = (to), __VA_ARGS__})

static void record_wait(struct device_batch *b, const struct cupti_wait *r)
{
	batch_put(b, FACT(r->start, r->end, .correlation = r->correlation,
			  .operation = {
			      .kind = TF_DEVICE_WAIT, .value = r->type, .context = r->context, .stream = r->stream}));
}

static void record_memory(struct device_batch *b, const struct cupti_memory *r)
{
	batch_put(b, FACT(r->time, r->time, .bytes = r->bytes, .address = r->address, .correlation = r->correlation,
			  .operation = {.kind = r->operation == 1 ? TF_DEVICE_ALLOCATE : TF_DEVICE_FREE,
					.copy = r->pool != 0,
					.target = (uint8_t)r->memory,
					.device = r->device,
					.context = r->context,
					.stream = r->stream}));
}

static void record_overhead(struct device_batch *b, const struct cupti_overhead *r)
{
	batch_put(b, FACT(r->start, r->end, .operation = {.kind = TF_DEVICE_OVERHEAD, .value = r->overhead}));
}

/* Fault counters have no end time. */
static void record_managed(struct device_batch *b, const struct cupti_managed *r)
{
	batch_put(b, FACT(r->start, r->end > r->start ? r->end : r->start, .bytes = r->value, .address = r->address,
			  .operation = {.kind = TF_DEVICE_MANAGED,
					.copy = (uint8_t)r->counter,
					.value = r->flags,
					.source_device = (uint16_t)r->source,
					.target_device = (uint16_t)r->target}));
}

static void record_jit(struct device_batch *b, const struct cupti_jit *r)
{
	batch_put(b, FACT(r->start, r->end, .correlation = r->correlation,
			  .operation = {.kind = TF_DEVICE_COMPILE,
					.copy = (uint8_t)r->entry,
					.value = r->operation,
					.device = r->device}));
}

static void record_context(const struct cupti_context *r)
{
	struct tf_device_operation operation = {
	    .kind = TF_DEVICE_CONTEXT, .device = r->device, .context = r->context, .stream = r->default_stream};

	event_intern(TF_BLOB_DEVICE_OPERATION, &operation, tf_device_operation_size(&operation));
	device_facts_note(r->device);
}

static void record_stream(const struct cupti_stream *r)
{
	struct tf_device_operation operation = {
	    .kind = TF_DEVICE_STREAM, .context = r->context, .stream = r->stream, .value = r->flag};

	event_intern(TF_BLOB_DEVICE_OPERATION, &operation, tf_device_operation_size(&operation));
}

/* False: it is a device operation or a call. */
static bool record_fact(struct device_batch *b, const void *record)
{
	switch (((const struct cupti_record *)record)->kind) {
	case CUPTI_WAIT:
		record_wait(b, record);
		return true;
	case CUPTI_MEMORY:
		record_memory(b, record);
		return true;
	case CUPTI_OVERHEAD:
		record_overhead(b, record);
		return true;
	case CUPTI_MANAGED:
		record_managed(b, record);
		return true;
	case CUPTI_JIT:
		record_jit(b, record);
		return true;
	case CUPTI_CONTEXT:
		record_context(record);
		return true;
	case CUPTI_STREAM:
		record_stream(record);
		return true;
	default:
		return false;
	}
}

static bool is_device_work(uint32_t kind)
{
	return kind == CUPTI_KERNEL || kind == CUPTI_MEMCPY || kind == CUPTI_MEMCPY_PEER || kind == CUPTI_MEMSET ||
	       kind == CUPTI_GRAPH || kind == CUPTI_DEVICE_GRAPH || kind == CUPTI_DECOMPRESSION;
}

static void record_convert(struct batches *all, const void *record)
{
	uint32_t kind = ((const struct cupti_record *)record)->kind;
	const struct cupti_device *device = record;
	struct device_batch *b = &all->operations;

	if (record_fact(&all->more, record))
		return;
	cupti_state.has_operations |= kind != CUPTI_DEVICE;
	if (is_device_work(kind)) {
		cupti_state.has_records = true;
		cupti_state.counts_launches = false;
	}
	switch (kind) {
	case CUPTI_KERNEL:
		record_kernel(b, record);
		break;
	case CUPTI_MEMCPY:
		record_copy(b, record);
		break;
	case CUPTI_MEMCPY_PEER:
		record_peer_copy(b, record);
		break;
	case CUPTI_MEMSET:
		record_memset(b, record);
		break;
	case CUPTI_GRAPH:
		record_graph(b, record);
		break;
	case CUPTI_DEVICE_GRAPH:
		record_device_graph(b, record);
		break;
	case CUPTI_DECOMPRESSION:
		record_decompression(b, record);
		break;
	case CUPTI_RUNTIME_CALL:
	case CUPTI_DRIVER_CALL:
		record_call(all, record);
		break;
	case CUPTI_DEVICE:
		if (device->name)
			event_blob(TF_BLOB_DEVICE_NAME, device->id, device->name, strnlen(device->name, 256));
		break;
	}
}

/* ---- writing ---- */

static uint64_t unwritten_buffers; /* returned in threads that can no longer write, or not read */

static void buffer_read(bool is_shared, uint8_t *buffer, size_t used)
{
	struct tf_device_batch head = {
	    .source = TF_SOURCE_CUPTI, .time = cupti_client_clock(is_shared), .epoch = cupti_state.epoch};
	struct batches b;
	void *record = NULL;
	int result;

	b.pending.correlation = 0;
	batch_begin(&b.operations, TF_BLOB_DEVICE, &head);
	batch_begin(&b.calls, TF_BLOB_DEVICE_CALLS, &head);
	batch_begin(&b.more, TF_BLOB_DEVICE_MORE, &head);
	while (!(result = cupti_client_next_record(is_shared, buffer, used, &record)))
		record_convert(&b, record);
	record_write_pending(&b);
	batch_end(&b.operations);
	batch_end(&b.calls);
	batch_end(&b.more);
	b.operations.lost.unreadable += result != CUPTI_AT_END;
	b.operations.lost.timeless += b.calls.lost.timeless + b.more.lost.timeless;
	b.operations.lost.unreadable += b.more.lost.unreadable;
	batch_write_lost(&b.operations.lost);
}

void cupti_count_dropped(void *context, uint32_t stream)
{
	size_t dropped = 0;
	struct tf_device_lost lost = {.unreadable = __atomic_exchange_n(&unwritten_buffers, 0, __ATOMIC_RELAXED)};

	if (!cupti_client_dropped(cupti_client_is_sharing(), context, stream, &dropped))
		lost.dropped = dropped;
	batch_write_lost(&lost);
}

void cupti_write_clock(void)
{
	struct tf_device_clock best = {.error_ns = UINT64_MAX};

	if (cupti_client_clock(cupti_client_is_sharing()) != TF_DEVICE_TIME_OWN)
		return;
	for (int i = 0; i < 3; i++) {
		uint64_t device = 0, before = clock_monotonic_ns(), after;

		if (cupti_client_time(&device))
			return;
		after = clock_monotonic_ns();
		if (after - before < best.error_ns)
			best = (struct tf_device_clock){device, before + (after - before) / 2, after - before};
	}
	event_blob(TF_BLOB_DEVICE_CLOCK, 0, &best, sizeof(best));
}

/* A thread whose first call into the recorder is this one belongs to CUPTI: its later calls are not the program's. */
static bool thread_can_write(void)
{
	struct thread *t = &thread_self;
	bool is_new = t->generation == THREAD_NEW;

	if (cupti_state.opened_in != process.generation)
		return false; /* in a forked child, where another library cleans up after its parent */
	if (t->generation == THREAD_OURS)
		return t->page && (cupti_is_inside || t->page->chunk.is_tool);
	if (!thread_attached())
		return false;
	if (is_new && t->number) {
		t->page->chunk.is_tool = 1;
		t->generation = THREAD_OURS;
	}
	return true;
}

/* One of our buffers, or none. */
static void buffer_complete(bool is_shared, void *context, uint32_t stream, uint8_t *buffer, size_t used)
{
	int error = errno;

	if (buffer && buffer == scrap)
		__atomic_fetch_add(&unwritten_buffers, used != 0, __ATOMIC_RELAXED);
	if (buffer && thread_can_write()) {
		if (used && buffer != scrap)
			buffer_read(is_shared, buffer, used);
		cupti_count_dropped(context, stream);
		cupti_write_clock();
	} else if (used && buffer != scrap && cupti_state.opened_in == process.generation) {
		__atomic_fetch_add(&unwritten_buffers, 1, __ATOMIC_RELAXED);
	}
	if (buffer)
		buffer_free(buffer);
	errno = error;
}

void cupti_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	if (buffer && !is_our_buffer(buffer)) {
		cupti_foreign_complete(context, stream, buffer, size, used);
		return;
	}
	if (buffer)
		cupti_foreign_copy(context, stream, buffer, used);
	buffer_complete(false, context, stream, buffer, used);
}

void cupti_buffer_complete_shared(uint8_t *buffer, size_t size, size_t used, void *info)
{
	buffer_complete(true, NULL, 0, buffer, used);
}
