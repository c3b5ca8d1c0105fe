/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/device/event_pool.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/hot.h"

#include <string.h>

#include "runtime/recorder/device/facts.h"
#include "runtime/recorder/record/event.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

enum { MODE_RELAXED = 2, STREAM_NON_BLOCKING = 1, LOOKS = 16, PROBES = 3 };
#define PROBE_NS 200000ull /* maximum wait for one of our events; on an idle stream it takes some 10000 */
#define FIRST_PROBE_NS 2000000ull
#define LAST_PROBE_NS 200000000ull /* at the end, when all records would be lost without it */
#define START_NS 1000000000ull     /* maximum wait for another thread that creates the pool, on a busy machine */

struct event_pool_api event_pool_api;
LARGE struct event_pool event_pools[EVENT_POOLS];

int event_pool_relax(void)
{
	int mode = MODE_RELAXED;

	return event_pool_api.exchange_mode(&mode) ? -1 : mode;
}

void event_pool_restore(int mode)
{
	if (mode >= 0)
		event_pool_api.exchange_mode(&mode);
}

/* ---- pools ---- */

/* Streams and events are created in the current context, which usually is the right one already. */
static bool pool_push_context(const struct event_pool *p, bool *ret_is_pushed)
{
	unsigned long long id;

	*ret_is_pushed = false;
	if (!event_pool_api.context_id(NULL, &id) && id == p->id)
		return true;
	*ret_is_pushed = !event_pool_api.push(p->context);
	return *ret_is_pushed;
}

static void pool_pop_context(bool is_pushed)
{
	void *context;

	if (is_pushed)
		event_pool_api.pop(&context);
}

static void pool_define_device(const struct event_pool *p)
{
	struct tf_device_operation fact = {
	    .kind = TF_DEVICE_CONTEXT, .device = (uint32_t)p->device, .context = (uint32_t)p->id};
	char name[256] = "";

	event_intern(TF_BLOB_DEVICE_OPERATION, &fact, tf_device_operation_size(&fact));
	if (!event_pool_api.device_name(name, sizeof(name), p->device))
		event_blob(TF_BLOB_DEVICE_NAME, (uint32_t)p->device, name, strnlen(name, sizeof(name)));
	device_facts_note((uint32_t)p->device);
	device_facts_write();
}

static bool pool_init(struct event_pool *p)
{
	size_t size = EVENT_SLOTS * sizeof(*p->slots);

	if (event_pool_api.device(&p->device) || event_pool_api.stream_create(&p->probe_stream, STREAM_NON_BLOCKING) ||
	    event_pool_api.create(&p->base, 0) || event_pool_api.create(&p->probe, 0))
		return false;
	p->slots = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!p->slots)
		return false;
	pool_define_device(p);
	return true;
}

static void pool_create(struct event_pool *p)
{
	struct thread_guard guard;
	bool is_ready, is_pushed;
	int mode;

	thread_guard_enter(&thread_self, &guard);
	mode = event_pool_relax();
	p->rate = 1;
	is_ready = pool_push_context(p, &is_pushed) && pool_init(p);
	pool_pop_context(is_pushed);
	event_pool_restore(mode);
	__atomic_store_n(&p->state, is_ready ? EVENT_POOL_READY : EVENT_POOL_DEAD, __ATOMIC_RELEASE);
	if (!is_ready)
		process_note("no device times of a context: the driver created no events for it");
	thread_guard_leave(&thread_self, &guard);
}

/* The other thread needs about 100 us of CPU time to create a pool, once per context. */
static bool pool_wait(const struct event_pool *p)
{
	static uint64_t given_up_in; /* generation of the image in which a wait timed out */
	struct timespec pause = {.tv_nsec = 20000};
	uint64_t until = clock_monotonic_ns() + START_NS;

	while (__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) < EVENT_POOL_READY && given_up_in != process.generation) {
		if (clock_monotonic_ns() > until)
			given_up_in = process.generation;
		sys_call(SYS_nanosleep, &pause, NULL, 0, 0);
	}
	return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == EVENT_POOL_READY;
}

/* Is this the context's pool? The first unused pool is assigned to the context. */
static bool pool_is_for(struct event_pool *p, void *context, uint64_t id)
{
	/* read once: another thread may write it at any time */
	uint64_t seen = __atomic_load_n(&p->id, __ATOMIC_ACQUIRE);
	void *current = NULL;

	if (seen == id)
		return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE) != EVENT_POOL_DEAD;
	if (seen || (!context && (event_pool_api.current(&current) || !current)))
		return false;
	if (!__atomic_compare_exchange_n(&p->id, &seen, id, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return seen == id;
	p->context = context ? context : current;
	__atomic_store_n(&p->state, EVENT_POOL_STARTING, __ATOMIC_RELEASE);
	pool_create(p);
	return true;
}

struct event_pool *event_pool_get(void *context, uint64_t id)
{
	for (struct event_pool *p = event_pools; p < event_pools + EVENT_POOLS; p++) {
		uint32_t state;

		if (!pool_is_for(p, context, id))
			continue;
		state = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
		if (state == EVENT_POOL_READY || (state < EVENT_POOL_READY && pool_wait(p)))
			return p;
		return NULL;
	}
	return NULL;
}

/* ---- slots ---- */

static bool slot_init(const struct event_pool *p, struct event_slot *s)
{
	int mode = event_pool_relax();
	bool is_pushed, is_done;

	is_done = pool_push_context(p, &is_pushed) && !event_pool_api.create(&s->begin, 0) &&
		  !event_pool_api.create(&s->end, 0);
	pool_pop_context(is_pushed);
	event_pool_restore(mode);
	__atomic_store_n(&s->state, is_done ? EVENT_SLOT_TAKEN : EVENT_SLOT_BROKEN, __ATOMIC_RELEASE);
	return is_done;
}

static struct event_slot *slot_create(struct event_pool *p)
{
	struct thread_guard guard;
	struct event_slot *s = NULL;
	uint32_t i;

	if (__atomic_load_n(&p->made, __ATOMIC_RELAXED) >= EVENT_SLOTS)
		return NULL;
	thread_guard_enter(&thread_self, &guard);
	i = __atomic_fetch_add(&p->made, 1, __ATOMIC_RELAXED);
	if (i < EVENT_SLOTS && slot_init(p, &p->slots[i]))
		s = &p->slots[i];
	thread_guard_leave(&thread_self, &guard);
	return s;
}

/* Slots are allocated in turn, so the next one is that of the oldest operation. */
struct event_slot *event_pool_take_slot(struct event_pool *p)
{
	uint32_t made = __atomic_load_n(&p->made, __ATOMIC_ACQUIRE);

	if (made > EVENT_SLOTS)
		made = EVENT_SLOTS;
	for (uint32_t i = 0; made && i < LOOKS; i++) {
		struct event_slot *s = &p->slots[__atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED) % made];
		uint32_t is_free = EVENT_SLOT_FREE;

		if (__atomic_load_n(&s->state, __ATOMIC_RELAXED) == EVENT_SLOT_FREE &&
		    __atomic_compare_exchange_n(&s->state, &is_free, EVENT_SLOT_TAKEN, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return s;
	}
	return slot_create(p);
}

/* ---- the clock ---- */

struct clock_reading {
	uint64_t host_ns, error_ns;
};

/* The device reached the probe between two readings of our clock. False: not within patience_ns; it is still
 * pending. */
static bool clock_read_probe(struct event_pool *p, uint64_t patience_ns, struct clock_reading *ret)
{
	static const struct timespec pause = {.tv_nsec = 20000};
	uint64_t before = clock_monotonic_ns(), after;
	int result;

	if (event_pool_api.record(p->probe, p->probe_stream))
		return false;
	do {
		result = event_pool_api.query(p->probe);
		after = clock_monotonic_ns();
		if (result && after - before > PROBE_NS)
			sys_call(SYS_nanosleep, &pause, NULL, 0, 0); /* the driver's own thread may need this CPU */
	} while (result && after - before < patience_ns);
	*ret = (struct clock_reading){before + (after - before) / 2, after - before};
	return !result;
}

/* The probe becomes the base: its time is known, however far the two clocks have drifted apart. */
static void clock_rebase(struct event_pool *p, const struct clock_reading *r)
{
	struct tf_device_clock reading = {.monotonic_ns = r->host_ns, .error_ns = r->error_ns};
	void *old = p->base;
	float ms = 0;

	if (!p->has_clock)
		p->first_host_ns = r->host_ns;
	else if (!event_pool_api.elapsed(&ms, p->base, p->probe) && ms > 0)
		p->device_ns += (double)ms * 1e6;
	if (p->device_ns > 1e8)
		p->rate = (double)(r->host_ns - p->first_host_ns) / p->device_ns;
	if (p->rate < 0.999 || p->rate > 1.001)
		p->rate = 1; /* the machine was suspended, which the two clocks count differently */
	p->base = p->probe;
	p->probe = old;
	p->host_ns = r->host_ns;
	p->has_clock = true;
	reading.device_ns = (uint64_t)p->device_ns;
	event_blob(TF_BLOB_DEVICE_CLOCK, 0, &reading, sizeof(reading));
}

bool event_pool_update_clock(struct event_pool *p, bool is_patient)
{
	uint64_t now = clock_monotonic_ns();
	uint64_t patience = p->has_clock ? PROBE_NS : is_patient ? LAST_PROBE_NS : FIRST_PROBE_NS;
	struct clock_reading r;
	bool is_read = false;

	if (p->has_clock && now - p->taken_ns < process_options.cuda_flush_interval_ms * 1000000ull)
		return true;
	p->taken_ns = now;
	/* A slow reading is repeated. The last reading is used, because it belongs to the event. */
	for (int i = 0; i < PROBES; i++) {
		is_read = clock_read_probe(p, patience, &r);
		if (!is_read || r.error_ns < PROBE_NS / 8)
			break;
	}
	if (is_read)
		clock_rebase(p, &r);
	return p->has_clock;
}

/* The driver returns floats of milliseconds: the error is 60 ns at a distance of one second. */
uint64_t event_pool_time(const struct event_pool *p, void *event)
{
	float ms;

	if (!event_pool_api.elapsed(&ms, p->base, event))
		return p->host_ns + (uint64_t)(int64_t)((double)ms * 1e6 * p->rate);
	if (!event_pool_api.elapsed(&ms, event, p->base))
		return p->host_ns - (uint64_t)(int64_t)((double)ms * 1e6 * p->rate);
	return 0;
}
