/* SPDX-License-Identifier: Apache-2.0 */
/* Tests timing by pairs of CUDA events with a driver implemented here, whose clock runs at another rate than the
 * host's. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/shared/common/clock.h"
#include "runtime/recorder/device/event_timing.h"
#include "runtime/recorder/device/event_pool.h"
#include "recorder.h"

RECORDER_FUNCTIONS({"cudaLaunchKernel", TF_GROUP_CUDA});

/* ---- the driver ---- */

struct fake_event {
	double device_ns;
	void *stream;
};

enum { ROOM = 40000, NOT_READY = 600, BUSY = 100, IDLE = 101, CAPTURED = 102, REFUSING = 103 };
#define STREAM(n) ((void *)(uintptr_t)(n))

static struct fake_event events[ROOM];
static int created, recorded, queries, mode, pushes;
static bool is_released;
static unsigned long long context = 1;

static double device_now(void)
{
	static uint64_t begin;
	uint64_t now = clock_monotonic_ns();

	begin = begin ? begin : now;
	return 1e12 + (double)(now - begin) * 1.00002;
}

static int fake_is_capturing(void *stream, int *ret)
{
	*ret = stream == STREAM(CAPTURED);
	return 0;
}

static int fake_stream_context(void *stream, void **ret)
{
	*ret = STREAM(context);
	return 0;
}

static int fake_stream_id(void *stream, unsigned long long *ret)
{
	*ret = (uintptr_t)stream;
	return 0;
}

static int fake_context_id(void *of, unsigned long long *ret)
{
	*ret = of ? (uintptr_t)of : context;
	return 0;
}

static int fake_current(void **ret)
{
	*ret = STREAM(context);
	return 0;
}

static int fake_push(void *of)
{
	pushes++;
	return 0;
}

static int fake_pop(void **ret)
{
	pushes--;
	return 0;
}

static int fake_device(int *ret)
{
	*ret = 3;
	return 0;
}

static int fake_device_name(char *ret, int size, int device)
{
	return snprintf(ret, (size_t)size, "fake") < 0;
}

static int fake_primary_state(int device, unsigned *flags, int *ret_is_active)
{
	*ret_is_active = device == 4;
	return 0;
}

static int fake_exchange_mode(int *in_out)
{
	int old = mode;

	mode = *in_out;
	*in_out = old;
	return 0;
}

static int fake_stream_create(void **ret, unsigned flags)
{
	*ret = STREAM(IDLE);
	return 0;
}

static int fake_create(void **ret, unsigned flags)
{
	cr_assert_eq(mode, 2, "events are made in the relaxed mode");
	cr_assert_lt(created, ROOM);
	*ret = &events[created++];
	return 0;
}

static int fake_record(void *event, void *stream)
{
	recorded++;
	if (stream == STREAM(REFUSING))
		return 700;
	*(struct fake_event *)event = (struct fake_event){device_now(), stream};
	return 0;
}

static int fake_query(void *event)
{
	struct fake_event *e = event;

	cr_assert_eq(mode, 2, "events are asked in the relaxed mode");
	queries++;
	return e->stream == STREAM(BUSY) && !is_released ? NOT_READY : 0;
}

static int fake_elapsed(float *ret_ms, void *start, void *end)
{
	*ret_ms = (float)((((struct fake_event *)end)->device_ns - ((struct fake_event *)start)->device_ns) / 1e6);
	return 0;
}

/* ---- contents of the chunk ---- */

static void setup(void)
{
	cr_assert(recording_begin());
	cr_assert(hook_attached());
	event_pool_api = (struct event_pool_api){
		fake_is_capturing, fake_stream_context, fake_stream_id, fake_context_id,
		fake_current,	   fake_push,		fake_pop,	fake_device,
		fake_device_name,  fake_primary_state,	fake_exchange_mode, fake_stream_create,
		fake_create,	   fake_record,		fake_query,	fake_elapsed,
	};
	event_timing_on = process.generation;
}

static void clean(void)
{
	cr_assert(recording_end());
}

TestSuite(event_timing, .init = setup, .fini = clean);

/* Calls visit with each blob of this kind in the thread's chunk. */
static void each_blob(unsigned kind, void (*visit)(void *, const uint8_t *, size_t), void *arg)
{
	static uint8_t bytes[TF_BLOB_BYTES + TF_DATA_BYTES];

	if (!thread_self.chunk)
		return;
	const char *chunk = (const char *)thread_self.chunk;

	for (const uint64_t *at = (const uint64_t *)(chunk + tf_slots_offset(thread_self.chunk));
	     at < (uint64_t *)thread_self.next; at++) {
		unsigned length = tf_blob_length(*at);

		if (tf_kind(*at) != TF_BLOB || tf_blob_kind(*at) != kind)
			continue;
		for (unsigned i = 0; i * TF_DATA_BYTES < length; i++)
			memcpy(bytes + i * TF_DATA_BYTES, &(uint64_t){at[1 + i] >> 8}, TF_DATA_BYTES);
		visit(arg, bytes, length);
	}
}

static void count_records(void *arg, const uint8_t *bytes, size_t size)
{
	struct tf_device_batch head;

	memcpy(&head, bytes, sizeof(head));
	cr_assert_eq(head.source, TF_SOURCE_EVENTS);
	*(unsigned *)arg += head.count;
}

static unsigned records(void)
{
	unsigned n = 0;

	each_blob(TF_BLOB_DEVICE, count_records, &n);
	return n;
}

static void add_lost(void *arg, const uint8_t *bytes, size_t size)
{
	struct tf_device_lost *sum = arg, one;

	memcpy(&one, bytes, sizeof(one));
	sum->dropped += one.dropped;
	sum->timeless += one.timeless;
}

static struct tf_device_lost lost(void)
{
	struct tf_device_lost sum = {0};

	each_blob(TF_BLOB_DEVICE_LOST, add_lost, &sum);
	return sum;
}

struct first {
	uint64_t start, duration;
};

static uint64_t number(const uint8_t **at)
{
	uint64_t n = 0;

	for (unsigned shift = 0;; shift += 7) {
		n |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return n;
	}
}

static void take_first(void *arg, const uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes + sizeof(struct tf_device_batch);
	struct first *f = arg;

	memcpy(&f->start, bytes, sizeof(f->start));
	number(&at); /* work */
	number(&at); /* no distance to the base */
	f->duration = number(&at);
}

static void add_error(void *sum, const uint8_t *bytes, size_t size)
{
	struct tf_device_clock clock;

	memcpy(&clock, bytes, sizeof(clock));
	*(uint64_t *)sum += clock.error_ns;
}

static bool one(void *stream)
{
	struct tf_device_operation work = {.kind = TF_DEVICE_KERNEL};
	struct event_timing p;

	event_timing_begin(&p, stream, false);
	return p.number && event_timing_end(&p, &work, 0);
}

/* ---- */

Test(event_timing, the_function_that_is_missing_is_named)
{
	event_timing_on = 0;
	cr_assert_str_eq(event_timing_start(), "libcuda lacks cuStreamIsCapturing");
	cr_assert_not(event_timing_is_on());
}

Test(event_timing, a_record_lies_where_its_work_did_on_our_clock)
{
	struct tf_device_operation work = {.kind = TF_DEVICE_KERNEL};
	struct first first = {0};
	uint64_t before, after, error = 1000;
	struct event_timing p;

	cr_assert(one(STREAM(IDLE))); /* creates what is created only once */
	before = clock_monotonic_ns();
	event_timing_begin(&p, NULL, false);
	nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
	errno = 77;
	cr_assert(event_timing_end(&p, &work, 0));
	cr_assert_eq(errno, 77);
	after = clock_monotonic_ns();
	cr_assert_eq(work.device, 3);
	cr_assert_eq(work.stream, 1, "the legacy stream");
	event_timing_collect(false);
	cr_assert_eq(records(), 2);
	each_blob(TF_BLOB_DEVICE, take_first, &first);
	/* Tolerance: the interval between the readings of the two clocks, and their different rates. */
	each_blob(TF_BLOB_DEVICE_CLOCK, add_error, &error);
	error += (after - before) / 10000;
	cr_assert_geq(first.start + error, before);
	cr_assert_leq(first.start + first.duration, after + error);
	cr_assert_geq(first.duration, 3000000);
	cr_assert_eq(mode, 0, "the capture mode is the program's again");
}

Test(event_timing, events_are_used_again)
{
	enum { ROUNDS = 50 }; /* the first chunk has room for the records of these, however long the work took */

	for (int i = 0; i < ROUNDS; i++) {
		cr_assert(one(STREAM(IDLE)));
		event_timing_collect(false);
	}
	cr_assert_eq(records(), ROUNDS);
	cr_assert_leq(created, 8);
}

Test(event_timing, a_stream_that_is_not_ready_is_asked_once_and_keeps_no_other)
{
	for (int i = 0; i < 10; i++)
		cr_assert(one(STREAM(BUSY)) && one(STREAM(IDLE)));
	queries = recorded = 0;
	event_timing_collect(false);
	cr_assert_eq(records(), 10);
	cr_assert_leq(queries, 10 + 1 + recorded, "one query per stream, and those of the clock");
	is_released = true;
	event_timing_collect(false);
	cr_assert_eq(records(), 20);
	cr_assert_eq(lost().timeless, 0);
}

Test(event_timing, nothing_is_recorded_into_a_capture)
{
	cr_assert_not(one(STREAM(CAPTURED)));
	cr_assert_eq(recorded + created, 0);
	event_timing_collect(true);
	cr_assert_eq(lost().dropped, 0, "it has no device time of its own");
}

Test(event_timing, what_the_driver_refuses_is_counted_and_costs_no_event)
{
	for (int i = 0; i < 100; i++)
		cr_assert_not(one(STREAM(REFUSING)));
	event_timing_collect(false);
	cr_assert_eq(lost().dropped, 100);
	cr_assert_leq(created, 8);
}

Test(event_timing, what_is_not_done_at_the_end_is_counted_once_and_not_waited_for)
{
	for (int i = 0; i < 5; i++)
		cr_assert(one(STREAM(BUSY)) && one(STREAM(IDLE)));
	event_timing_collect(true);
	event_timing_collect(true);
	cr_assert_eq(records(), 5);
	cr_assert_eq(lost().timeless, 5);
}

Test(event_timing, a_context_that_has_ended_is_not_asked_again)
{
	cr_assert(one(STREAM(BUSY)) && one(STREAM(IDLE)));
	event_timing_context_ends(STREAM(1), -1);
	event_timing_context_ended(-1);
	cr_assert_eq(records(), 1);
	cr_assert_eq(lost().timeless, 1);
	queries = created = 0;
	event_timing_collect(true);
	cr_assert_eq(queries, 0);
	cr_assert(one(STREAM(IDLE)), "another context at the same place");
	cr_assert_gt(created, 2);
}

Test(event_timing, a_device_that_others_still_hold_goes_on)
{
	cr_assert(one(STREAM(IDLE)));
	created = 0;
	event_pools[0].device = 4;
	event_timing_context_ends(NULL, 4);
	cr_assert_not(one(STREAM(IDLE)), "not while it may end");
	event_timing_context_ended(4);
	cr_assert(one(STREAM(IDLE)));
	event_timing_collect(true);
	cr_assert_eq(records(), 2);
	cr_assert_eq(created, 0);
}

Test(event_timing, each_context_has_its_own_and_is_current_while_they_are_made)
{
	cr_assert(one(STREAM(IDLE)));
	context = 2;
	cr_assert(one(STREAM(IDLE)));
	context = 1;
	cr_assert(one(STREAM(IDLE)));
	event_timing_collect(true);
	cr_assert_eq(records(), 3);
	cr_assert_eq(pushes, 0);
	cr_assert_eq(event_pools[0].id + event_pools[1].id, 3);
}

Test(event_timing, no_more_than_there_is_room_for)
{
	unsigned had = 0;

	for (int i = 0; i < EVENT_SLOTS + 20; i++)
		had += one(STREAM(BUSY));
	cr_assert_eq(had, EVENT_SLOTS);
	cr_assert_eq(created, 2 + 2 * EVENT_SLOTS);
	is_released = true;
	event_timing_collect(false);
	cr_assert_gt(lost().dropped, 0);
	cr_assert(one(STREAM(BUSY)), "all are free again");
}
