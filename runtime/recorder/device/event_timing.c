/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/device/event_timing.h"

#include <errno.h>
#include <string.h>

#include "runtime/recorder/device/batch.h"
#include "runtime/recorder/device/event_pool.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/clock.h"

enum { TAKEN_BEFORE_COLLECTION = 32, BUSY_STREAMS = 16, DEFAULT_STREAMS = 2, CUDA_12 = 12000 };
#define LEGACY_STREAM ((void *)1)
#define PER_THREAD_STREAM ((void *)2)

uint64_t event_timing_on;
static uint64_t last_number;   /* assigned so far */
static uint64_t untimed_count; /* operations for which there were no events */
static uint64_t pending_count;
static uint64_t next_collection_ns; /* end of the current flush interval */
static uint64_t collecting_in;      /* generation of the image in which a thread reads events */

__attribute__((cold)) const char *event_timing_start(void)
{
	const char *missing = NULL;
	int (*get_version)(int *) = dso_library_symbol("libcuda.so", "cuDriverGetVersion"), version;

#define FIND(field, symbol)                                                                                            \
	if (!(event_pool_api.field = dso_library_symbol("libcuda.so", symbol)) && !missing)                            \
		missing = "libcuda lacks " symbol;
	FIND(is_capturing, "cuStreamIsCapturing")
	FIND(stream_context, "cuStreamGetCtx")
	FIND(stream_id, "cuStreamGetId")
	FIND(context_id, "cuCtxGetId")
	FIND(current, "cuCtxGetCurrent")
	FIND(push, "cuCtxPushCurrent_v2")
	FIND(pop, "cuCtxPopCurrent_v2")
	FIND(device, "cuCtxGetDevice")
	FIND(device_name, "cuDeviceGetName")
	FIND(primary_state, "cuDevicePrimaryCtxGetState")
	FIND(exchange_mode, "cuThreadExchangeStreamCaptureMode")
	FIND(stream_create, "cuStreamCreate")
	FIND(create, "cuEventCreate")
	FIND(record, "cuEventRecord")
	FIND(query, "cuEventQuery")
	FIND(elapsed, "cuEventElapsedTime")
#undef FIND
	if (missing)
		return get_version && !get_version(&version) && version < CUDA_12 ? "this driver is older than CUDA 12"
										  : missing;
	event_timing_on = process.generation;
	return NULL;
}

void event_timing_stop(void)
{
	event_timing_on = 0;
}

/* ---- around a call ---- */

static void timing_count_untimed(void)
{
	__atomic_fetch_add(&untimed_count, 1, __ATOMIC_RELAXED);
}

static struct event_pool *timing_pool(void *stream)
{
	void *context = NULL; /* the current one */
	unsigned long long id;

	if ((uintptr_t)stream > DEFAULT_STREAMS && event_pool_api.stream_context(stream, &context))
		return NULL;
	return event_pool_api.context_id(context, &id) ? NULL : event_pool_get(context, id);
}

static bool is_capturing_stream(void *stream)
{
	int state = 0;

	/* An error here means the default stream while another stream is being captured, or an invalid stream. */
	return event_pool_api.is_capturing(stream, &state) || state;
}

static void timing_record_begin(struct event_timing *p)
{
	struct event_pool *pool = timing_pool(p->stream);

	if (!pool) {
		timing_count_untimed();
		return;
	}
	if (__atomic_add_fetch(&pool->taken, 1, __ATOMIC_RELAXED) >= TAKEN_BEFORE_COLLECTION ||
	    clock_monotonic_ns() > __atomic_load_n(&next_collection_ns, __ATOMIC_RELAXED))
		event_timing_collect(false);
	p->pool = pool;
	p->slot = event_pool_take_slot(pool);
	if (p->slot && event_pool_api.record(p->slot->begin, p->stream)) {
		__atomic_store_n(&p->slot->state, EVENT_SLOT_FREE, __ATOMIC_RELEASE);
		p->slot = NULL;
	}
	if (p->slot)
		p->number = p->slot->number = __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED);
	else
		timing_count_untimed();
}

void event_timing_begin(struct event_timing *p, void *stream, bool is_per_thread)
{
	int error = errno;

	p->number = 0;
	p->stream = stream ? stream : is_per_thread ? PER_THREAD_STREAM : LEGACY_STREAM;
	if (thread_attached() && !is_capturing_stream(p->stream))
		timing_record_begin(p);
	errno = error;
}

void event_timing_drop(const struct event_timing *p)
{
	__atomic_store_n(&p->slot->state, EVENT_SLOT_FREE, __ATOMIC_RELEASE);
}

bool event_timing_end(const struct event_timing *p, struct tf_device_operation *operation, uint64_t bytes)
{
	struct event_slot *s = p->slot;
	unsigned long long id = 0;
	int error = errno;

	if (event_pool_api.record(s->end, p->stream)) {
		timing_count_untimed();
		event_timing_drop(p);
		errno = error;
		return false;
	}
	event_pool_api.stream_id(p->stream, &id);
	operation->device = (uint32_t)p->pool->device;
	operation->context = (uint32_t)p->pool->id;
	operation->stream = (uint32_t)id;
	s->operation = event_intern(TF_BLOB_DEVICE_OPERATION, operation, tf_device_operation_size(operation));
	s->bytes = bytes;
	s->stream = p->stream;
	__atomic_fetch_add(&pending_count, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&s->state, EVENT_SLOT_PENDING, __ATOMIC_RELEASE);
	errno = error;
	return true;
}

/* ---- completed operations ---- */

struct collection {
	struct device_batch batch;
	/* streams of this pool with an incomplete operation: their later operations are incomplete, too */
	void *busy[BUSY_STREAMS];
	unsigned busy_count;
	bool is_last, is_patient; /* is_patient: wait longer for the first clock reading */
};

static bool is_busy_stream(const struct collection *c, const void *stream)
{
	for (unsigned i = 0; i < c->busy_count; i++)
		if (c->busy[i] == stream)
			return true;
	return c->busy_count == BUSY_STREAMS;
}

static void timing_write_times(struct collection *c, const struct event_pool *p, const struct event_slot *s)
{
	struct batch_item item = {.bytes = s->bytes, .correlation = (uint32_t)s->number};
	uint16_t epoch = (uint16_t)(s->number >> 32);
	float ms;

	item.start = p->has_clock ? event_pool_time(p, s->begin) : 0;
	if (!item.start || !s->operation || event_pool_api.elapsed(&ms, s->begin, s->end) || ms < 0) {
		c->batch.lost.timeless++;
		return;
	}
	item.end = item.start + (uint64_t)((double)ms * 1e6 + 0.5);
	if (epoch != c->batch.head.epoch)
		batch_end(&c->batch);
	c->batch.head.epoch = epoch;
	batch_put_known(&c->batch, s->operation, &item);
}

/* At the end, incomplete operations are abandoned. So are operations for which the driver returns an error, which it
 * also returns to the program. */
static void timing_collect_slot(struct collection *c, const struct event_pool *p, struct event_slot *s)
{
	enum { NOT_READY = 600 };
	int result = !c->is_last && is_busy_stream(c, s->stream) ? NOT_READY : event_pool_api.query(s->end);

	if (result == NOT_READY && !c->is_last) {
		if (!is_busy_stream(c, s->stream))
			c->busy[c->busy_count++] = s->stream;
		return;
	}
	if (result)
		c->batch.lost.timeless++;
	else
		timing_write_times(c, p, s);
	__atomic_fetch_sub(&pending_count, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&s->state, result ? EVENT_SLOT_BROKEN : EVENT_SLOT_FREE, __ATOMIC_RELEASE);
}

static void timing_collect_pool(struct collection *c, struct event_pool *p)
{
	uint32_t made = __atomic_load_n(&p->made, __ATOMIC_ACQUIRE);
	uint32_t first = __atomic_load_n(&p->next, __ATOMIC_RELAXED);

	__atomic_store_n(&p->taken, 0, __ATOMIC_RELAXED);
	c->busy_count = 0;
	if (!made || (!event_pool_update_clock(p, c->is_patient) && !c->is_last))
		return;
	made = made < EVENT_SLOTS ? made : EVENT_SLOTS;
	for (uint32_t i = 0; i < made; i++) {
		struct event_slot *s = &p->slots[(first + i) % made];

		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == EVENT_SLOT_PENDING)
			timing_collect_slot(c, p, s);
	}
}

static void timing_collect_all(bool is_last, bool is_patient)
{
	struct tf_device_batch head = {.source = TF_SOURCE_EVENTS, .time = TF_DEVICE_TIME_MONOTONIC};
	struct collection c = {.is_last = is_last, .is_patient = is_patient};
	int mode = event_pool_relax();

	__atomic_store_n(&next_collection_ns,
			 clock_monotonic_ns() + process_options.cuda_flush_interval_ms * 1000000ull, __ATOMIC_RELAXED);
	batch_begin(&c.batch, TF_BLOB_DEVICE, &head);
	for (struct event_pool *p = event_pools; p < event_pools + EVENT_POOLS; p++)
		if (__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == EVENT_POOL_READY)
			timing_collect_pool(&c, p);
	batch_end(&c.batch);
	c.batch.lost.dropped += __atomic_exchange_n(&untimed_count, 0, __ATOMIC_RELAXED);
	batch_write_lost(&c.batch.lost);
	event_pool_restore(mode);
}

static void timing_try_collect(bool is_last, bool is_patient)
{
	uint64_t old = __atomic_load_n(&collecting_in, __ATOMIC_RELAXED);
	struct thread_guard guard;

	if (!(__atomic_load_n(&pending_count, __ATOMIC_RELAXED) | __atomic_load_n(&untimed_count, __ATOMIC_RELAXED)))
		return;
	if (old == process.generation || !__atomic_compare_exchange_n(&collecting_in, &old, process.generation, false,
								      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	thread_guard_enter(&thread_self, &guard);
	timing_collect_all(is_last, is_patient);
	thread_guard_leave(&thread_self, &guard);
	__atomic_store_n(&collecting_in, 0, __ATOMIC_RELEASE);
}

void event_timing_collect(bool is_last)
{
	timing_try_collect(is_last, is_last);
}

/* ---- destroyed contexts ---- */

static bool pool_is_ending(const struct event_pool *p, const void *context, int device)
{
	unsigned long long id;

	if (context)
		return p->context == context;
	if (device >= 0)
		return p->device == device;
	return !event_pool_api.context_id(NULL, &id) && p->id == id;
}

static void pool_change_state(struct event_pool *p, uint32_t from, uint32_t to)
{
	__atomic_compare_exchange_n(&p->state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void event_timing_context_ends(void *context, int device)
{
	timing_try_collect(false, true);
	for (struct event_pool *p = event_pools; p < event_pools + EVENT_POOLS; p++)
		if (p->id && pool_is_ending(p, context, device))
			pool_change_state(p, EVENT_POOL_READY, EVENT_POOL_RESTING);
}

static void pool_count_unfinished(const struct event_pool *p)
{
	struct tf_device_lost lost = {0};

	for (uint32_t i = 0; i < p->made && i < EVENT_SLOTS; i++)
		lost.timeless += __atomic_load_n(&p->slots[i].state, __ATOMIC_ACQUIRE) == EVENT_SLOT_PENDING;
	__atomic_fetch_sub(&pending_count, lost.timeless, __ATOMIC_RELAXED);
	batch_write_lost(&lost);
}

/* A primary context survives a release while other users hold it. */
void event_timing_context_ended(int device)
{
	unsigned flags;
	int is_active = 0;

	if (device >= 0 && event_pool_api.primary_state(device, &flags, &is_active))
		is_active = 0;
	for (struct event_pool *p = event_pools; p < event_pools + EVENT_POOLS; p++) {
		if (p->state != EVENT_POOL_RESTING)
			continue;
		if (!is_active)
			pool_count_unfinished(p);
		pool_change_state(p, EVENT_POOL_RESTING, is_active ? EVENT_POOL_READY : EVENT_POOL_DEAD);
	}
}
