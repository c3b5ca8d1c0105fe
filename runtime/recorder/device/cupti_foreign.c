/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI has one pair of buffer callbacks and one set of kinds for the whole process, so either another profiler uses
 * it or we do. The other profiler has precedence, because its calls are the program's. Our buffer callbacks call its
 * callbacks and pass each buffer to its owner: a buffer may be in use when CUPTI changes hands. */
#include "runtime/recorder/device/cupti_foreign.h"

#include <limits.h>
#include <string.h>

#include "runtime/recorder/device/cupti_state.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/event.h"
#include "runtime/shared/common/clock.h"

struct cupti_foreign cupti_foreign;

void cupti_foreign_write_gap(bool is_end, const void *caller)
{
	char bytes[sizeof(struct tf_device_gap) + PATH_MAX];
	struct tf_device_gap gap = {.ticks = clock_now(), .is_end = is_end};
	char *path = bytes + sizeof(gap);

	memcpy(bytes, &gap, sizeof(gap));
	if (!caller || !dso_path(caller, path, PATH_MAX))
		path[0] = 0;
	event_blob(TF_BLOB_DEVICE_GAP, 0, bytes, sizeof(gap) + strlen(path));
}

bool cupti_foreign_has_it(void)
{
	return cupti_foreign.generation && cupti_foreign.generation == process.generation;
}

/* ---- subscriptions beside which we may subscribe ---- */

enum { SUBSCRIBERS = 16 };
static void *subscribers[SUBSCRIBERS]; /* NULL: free */

static bool subscriber_replace(void *old, void *new)
{
	for (int i = 0; i < SUBSCRIBERS; i++) {
		void *expected = old;

		if (__atomic_compare_exchange_n(&subscribers[i], &expected, new, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool cupti_foreign_add_subscriber(void *subscriber)
{
	return subscriber && subscriber_replace(NULL, subscriber);
}

bool cupti_foreign_remove_subscriber(void *subscriber)
{
	return subscriber && subscriber_replace(subscriber, NULL);
}

void cupti_foreign_forget_subscribers(void)
{
	for (int i = 0; i < SUBSCRIBERS; i++)
		__atomic_store_n(&subscribers[i], NULL, __ATOMIC_RELEASE);
}

bool cupti_foreign_has_subscribers(void)
{
	for (int i = 0; i < SUBSCRIBERS; i++)
		if (__atomic_load_n(&subscribers[i], __ATOMIC_ACQUIRE))
			return true;
	return false;
}

/* ---- the end of its use ---- */

bool cupti_foreign_is_detaching(void)
{
	struct cupti_foreign *f = &cupti_foreign;

	if (!cupti_foreign_has_it())
		return false;
	/* CUPTI may detach at the end of the call in which it was asked to: wait for this thread's next call. */
	if (f->detaching_thread) {
		if (f->detaching_thread != &thread_self || thread_self.page->current)
			return true;
		f->detaching_thread = NULL;
		f->detached_ns = clock_monotonic_ns() + CUPTI_DETACH_NS;
	}
	return f->detached_ns && clock_monotonic_ns() < f->detached_ns;
}

bool cupti_foreign_gives_back(void)
{
	if (cupti_foreign.uses)
		return false;
	if (cupti_foreign.request && cupti_api.flush_all && !cupti_foreign_has_subscribers())
		cupti_api.flush_all(1); /* records that it has not fetched are delivered to it, not to us */
	cupti_foreign.generation = 0;
	cupti_foreign.detached_ns = 0;
	cupti_foreign_write_gap(true, NULL);
	return true;
}

bool cupti_foreign_request(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit)
{
	if (!cupti_foreign.request || !cupti_foreign_has_it())
		return false;
	cupti_foreign.request(ret_buffer, ret_size, ret_limit);
	return true;
}

/* CUPTI may have requested a buffer from us for a record that was in progress when CUPTI changed hands, and then
 * filled the buffer with the other profiler's records: it receives a copy. */
void cupti_foreign_copy(void *context, uint32_t stream, const uint8_t *buffer, size_t used)
{
	uint8_t *copy = NULL;
	size_t size = 0, limit = 0;

	if (!used || !cupti_foreign.complete || !cupti_foreign_request(&copy, &size, &limit) || !copy)
		return;
	if (used > size)
		used = 0;
	memcpy(copy, buffer, used);
	cupti_foreign.complete(context, stream, copy, size, used);
}

void cupti_foreign_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	if (cupti_foreign.complete)
		cupti_foreign.complete(context, stream, buffer, size, used);
}
