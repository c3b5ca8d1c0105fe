/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/device/pair.h"

#include <errno.h>
#include <string.h>

#include "runtime/device/batch.h"
#include "runtime/common/clock.h"
#include "runtime/record/event.h"
#include "runtime/common/loaded.h"
#include "runtime/device/pair_pool.h"

enum { TAKEN_BEFORE_LOOK = 32, BUSY_STREAMS = 16, DEFAULT_STREAMS = 2 };
#define LEGACY_STREAM ((void *)1)
#define PER_THREAD_STREAM ((void *)2)

uint64_t pair_on;
static uint64_t numbers;	/* given out so far */
static uint64_t without_pair;	/* pieces of work that asked for one */
static uint64_t pending;
static uint64_t next_look_ns;	/* when a flush interval will have gone by */
static uint64_t collecting;	/* generation of the image one of whose threads is at it */

const char *pair_start(void)
{
	void *unknown = NULL;

#define FIND(field, symbol)                                                                                            \
	if (!(pair_api.field = loaded_in("libcuda.so", symbol)))                                                       \
		unknown = &pair_api;
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
	if (unknown)
		return "this driver is older than CUDA 12";
	pair_on = process.generation;
	return NULL;
}

/* ---- around a call ---- */

static void no_pair(void)
{
	__atomic_fetch_add(&without_pair, 1, __ATOMIC_RELAXED);
}

static struct pair_pool *pool_of(void *stream)
{
	void *context = NULL; /* the current one */
	unsigned long long id;

	if ((uintptr_t)stream > DEFAULT_STREAMS && pair_api.stream_context(stream, &context))
		return NULL;
	return pair_api.context_id(context, &id) ? NULL : pair_pool_of(context, id);
}

static bool is_capturing(void *stream)
{
	int state = 0;

	/* An error here: of the default stream while another one is being captured, or no stream at all. */
	return pair_api.is_capturing(stream, &state) || state;
}

static void take(struct pair *p)
{
	struct pair_pool *pool = pool_of(p->stream);

	if (!pool) {
		no_pair();
		return;
	}
	if (__atomic_add_fetch(&pool->taken, 1, __ATOMIC_RELAXED) >= TAKEN_BEFORE_LOOK ||
	    clock_monotonic_ns() > __atomic_load_n(&next_look_ns, __ATOMIC_RELAXED))
		pair_collect(false);
	p->pool = pool;
	p->slot = pair_pool_take(pool);
	if (p->slot && pair_api.record(p->slot->begin, p->stream)) {
		__atomic_store_n(&p->slot->state, PAIR_FREE, __ATOMIC_RELEASE);
		p->slot = NULL;
	}
	if (p->slot)
		p->number = p->slot->number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
	else
		no_pair();
}

void pair_begin(struct pair *p, void *stream, bool is_per_thread)
{
	int error = errno;

	p->number = 0;
	p->stream = stream ? stream : is_per_thread ? PER_THREAD_STREAM : LEGACY_STREAM;
	if (thread_attached() && !is_capturing(p->stream))
		take(p);
	errno = error;
}

void pair_drop(const struct pair *p)
{
	__atomic_store_n(&p->slot->state, PAIR_FREE, __ATOMIC_RELEASE);
}

bool pair_end(const struct pair *p, struct tf_work *work, uint64_t bytes)
{
	struct pair_slot *s = p->slot;
	unsigned long long id = 0;
	int error = errno;

	if (pair_api.record(s->end, p->stream)) {
		no_pair();
		pair_drop(p);
		errno = error;
		return false;
	}
	pair_api.stream_id(p->stream, &id);
	work->device = (uint32_t)p->pool->device;
	work->context = (uint32_t)p->pool->id;
	work->stream = (uint32_t)id;
	s->work = event_intern(TF_BLOB_WORK, work, sizeof(*work));
	s->bytes = bytes;
	s->stream = p->stream;
	__atomic_fetch_add(&pending, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&s->state, PAIR_PENDING, __ATOMIC_RELEASE);
	errno = error;
	return true;
}

/* ---- what the devices have done ---- */

struct collecting {
	struct batch batch;
	void *busy[BUSY_STREAMS]; /* streams of this pool that have not come to some pair of theirs: nor to a later one */
	unsigned busy_count;
	bool is_last, is_patient; /* is_patient: about the clock, if there is none yet */
};

static bool is_busy(const struct collecting *c, const void *stream)
{
	for (unsigned i = 0; i < c->busy_count; i++)
		if (c->busy[i] == stream)
			return true;
	return c->busy_count == BUSY_STREAMS;
}

static void keep(struct collecting *c, const struct pair_pool *p, const struct pair_slot *s)
{
	struct batch_item item = {.bytes = s->bytes, .correlation = (uint32_t)s->number};
	uint16_t epoch = (uint16_t)(s->number >> 32);
	float ms;

	item.start = p->has_clock ? pair_pool_time(p, s->begin) : 0;
	if (!item.start || !s->work || pair_api.elapsed(&ms, s->begin, s->end) || ms < 0) {
		c->batch.lost.timeless++;
		return;
	}
	item.end = item.start + (uint64_t)((double)ms * 1e6 + 0.5);
	if (epoch != c->batch.head.epoch)
		batch_end(&c->batch);
	c->batch.head.epoch = epoch;
	batch_put_known(&c->batch, s->work, &item);
}

/* What is not ready at the end is given up. So is what the driver has no answer for: then it has none to the program either. */
static void look(struct collecting *c, const struct pair_pool *p, struct pair_slot *s)
{
	enum { NOT_READY = 600 };
	int result = !c->is_last && is_busy(c, s->stream) ? NOT_READY : pair_api.query(s->end);

	if (result == NOT_READY && !c->is_last) {
		if (!is_busy(c, s->stream))
			c->busy[c->busy_count++] = s->stream;
		return;
	}
	if (result)
		c->batch.lost.timeless++;
	else
		keep(c, p, s);
	__atomic_fetch_sub(&pending, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&s->state, result ? PAIR_BROKEN : PAIR_FREE, __ATOMIC_RELEASE);
}

static void collect_pool(struct collecting *c, struct pair_pool *p)
{
	uint32_t made = __atomic_load_n(&p->made, __ATOMIC_ACQUIRE), first = __atomic_load_n(&p->next, __ATOMIC_RELAXED);

	__atomic_store_n(&p->taken, 0, __ATOMIC_RELAXED);
	c->busy_count = 0;
	if (!made || (!pair_pool_clock(p, c->is_patient) && !c->is_last))
		return;
	made = made < PAIR_SLOTS ? made : PAIR_SLOTS;
	for (uint32_t i = 0; i < made; i++) {
		struct pair_slot *s = &p->slots[(first + i) % made];

		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == PAIR_PENDING)
			look(c, p, s);
	}
}

static void collect(bool is_last, bool is_patient)
{
	struct tf_device_batch head = {.source = TF_SOURCE_EVENTS, .time = TF_DEVICE_TIME_MONOTONIC};
	struct collecting c = {.is_last = is_last, .is_patient = is_patient};
	int mode = pair_relax();

	__atomic_store_n(&next_look_ns, clock_monotonic_ns() + process_options.cuda_flush_interval_ms * 1000000ull, __ATOMIC_RELAXED);
	batch_begin(&c.batch, TF_BLOB_DEVICE, &head);
	for (struct pair_pool *p = pair_pools; p < pair_pools + PAIR_POOLS; p++)
		if (__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == POOL_READY)
			collect_pool(&c, p);
	batch_end(&c.batch);
	c.batch.lost.dropped += __atomic_exchange_n(&without_pair, 0, __ATOMIC_RELAXED);
	batch_tell_lost(&c.batch.lost);
	pair_restore(mode);
}

static void try_collect(bool is_last, bool is_patient)
{
	uint64_t old = __atomic_load_n(&collecting, __ATOMIC_RELAXED);
	struct thread_guard guard;

	if (!(__atomic_load_n(&pending, __ATOMIC_RELAXED) | __atomic_load_n(&without_pair, __ATOMIC_RELAXED)))
		return;
	if (old == process.generation ||
	    !__atomic_compare_exchange_n(&collecting, &old, process.generation, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	thread_guard_enter(&thread_self, &guard);
	collect(is_last, is_patient);
	thread_guard_leave(&thread_self, &guard);
	__atomic_store_n(&collecting, 0, __ATOMIC_RELEASE);
}

void pair_collect(bool is_last)
{
	try_collect(is_last, is_last);
}

/* ---- contexts that end ---- */

static bool is_meant(const struct pair_pool *p, const void *context, int device)
{
	unsigned long long id;

	if (context)
		return p->context == context;
	if (device >= 0)
		return p->device == device;
	return !pair_api.context_id(NULL, &id) && p->id == id;
}

static void move(struct pair_pool *p, uint32_t from, uint32_t to)
{
	__atomic_compare_exchange_n(&p->state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void pair_context_ends(void *context, int device)
{
	try_collect(false, true);
	for (struct pair_pool *p = pair_pools; p < pair_pools + PAIR_POOLS; p++)
		if (p->id && is_meant(p, context, device))
			move(p, POOL_READY, POOL_RESTING);
}

static void count_unfinished(const struct pair_pool *p)
{
	struct tf_device_lost lost = {0};

	for (uint32_t i = 0; i < p->made && i < PAIR_SLOTS; i++)
		lost.timeless += __atomic_load_n(&p->slots[i].state, __ATOMIC_ACQUIRE) == PAIR_PENDING;
	__atomic_fetch_sub(&pending, lost.timeless, __ATOMIC_RELAXED);
	batch_tell_lost(&lost);
}

/* A primary context outlives a release while others hold it. */
void pair_context_ended(int device)
{
	unsigned flags;
	int is_active = 0;

	if (device >= 0 && pair_api.primary_state(device, &flags, &is_active))
		is_active = 0;
	for (struct pair_pool *p = pair_pools; p < pair_pools + PAIR_POOLS; p++) {
		if (p->state != POOL_RESTING)
			continue;
		if (!is_active)
			count_unfinished(p);
		move(p, POOL_RESTING, is_active ? POOL_READY : POOL_DEAD);
	}
}
