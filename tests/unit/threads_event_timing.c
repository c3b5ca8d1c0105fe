/* SPDX-License-Identifier: Apache-2.0 */
/* Threads begin, end and collect the event pairs of one context concurrently. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/recorder/device/event_timing.h"
#include "runtime/recorder/device/event_pool.h"
#include "recorder.h"
#include "threads.h"

enum { WORK = 20000 };

RECORDER_FUNCTIONS({"cudaLaunchKernel", TF_GROUP_CUDA});

/* A driver without a clock: recording an event assigns it the next number. */
static uint64_t created, answered, pairs, refused;

static int fake_state(void *stream, int *ret)
{
	return *ret = 0;
}

static int fake_context(void *stream, void **ret)
{
	*ret = (void *)1;
	return 0;
}

static int fake_id(void *of, unsigned long long *ret)
{
	*ret = 1;
	return 0;
}

static int fake_get(void **ret)
{
	*ret = (void *)1;
	return 0;
}

static int fake_push(void *context)
{
	return 0;
}

static int fake_device(int *ret)
{
	return *ret = 0;
}

static int fake_name(char *ret, int size, int device)
{
	*ret = 0;
	return 0;
}

static int fake_primary(int device, unsigned *flags, int *ret)
{
	return *ret = 0;
}

static int fake_mode(int *mode)
{
	return *mode = 0;
}

static int fake_create(void **ret, unsigned flags)
{
	*ret = calloc(1, sizeof(uint64_t));
	__atomic_fetch_add(&created, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Not atomic: only one thread at a time owns a slot, which ThreadSanitizer verifies. */
static int fake_record(void *event, void *stream)
{
	++*(uint64_t *)event;
	return 0;
}

static int fake_query(void *event)
{
	return !*(uint64_t *)event;
}

static int fake_elapsed(float *ret_ms, void *start, void *end)
{
	*ret_ms = 1;
	__atomic_fetch_add(&answered, *(uint64_t *)start && *(uint64_t *)end, __ATOMIC_RELAXED);
	return 0;
}

static void *work(void *number)
{
	(void)number;
	for (unsigned i = 0; i < WORK; i++) {
		struct tf_device_operation w = {.kind = TF_DEVICE_SET};
		struct event_timing p;

		/* All slots may be pending while another thread collects: retry until it is done or this thread can
		 * collect. */
		for (event_timing_begin(&p, NULL, false); !p.number; event_timing_begin(&p, NULL, false)) {
			__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
			sched_yield();
			event_timing_collect(false);
		}
		__atomic_fetch_add(&pairs, event_timing_end(&p, &w, i), __ATOMIC_RELAXED);
		if (i % 16 == 0)
			event_timing_collect(false);
	}
	return NULL;
}

int main(void)
{
	unsigned pending = 0, taken = 0;

	ok(recording_begin(), "a directory");
	ok(hook_attached(), "the recorder starts");
	event_pool_api = (struct event_pool_api){
		fake_state, fake_context, fake_id,   fake_id,	  fake_get,    fake_push,   fake_get,	fake_device,
		fake_name,  fake_primary, fake_mode, fake_create, fake_create, fake_record, fake_query, fake_elapsed,
	};
	event_timing_on = process.generation;
	ok(in_threads(work), "threads at work");
	event_timing_collect(true);
	for (uint32_t i = 0; i < event_pools[0].made && i < EVENT_SLOTS; i++) {
		pending += event_pools[0].slots[i].state == EVENT_SLOT_PENDING;
		taken += event_pools[0].slots[i].state == EVENT_SLOT_TAKEN;
	}
	ok(pairs == (uint64_t)THREADS * WORK, "%llu pairs, %llu retries", (unsigned long long)pairs,
	   (unsigned long long)refused);
	ok(created <= 2 + 1 + 2 * EVENT_SLOTS, "%llu events", (unsigned long long)created);
	ok(!pending && !taken, "%u pending, %u taken at the end", pending, taken);
	ok(answered >= 2 * pairs, "the times of each pair were queried");
	ok(event_pools[0].state == EVENT_POOL_READY && !event_pools[1].id, "one pool");
	ok(recording_end(), "tidied up");
	return done();
}
