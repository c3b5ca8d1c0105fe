/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/device/cupti_client.h"

#include "runtime/recorder/device/cupti_layout.h"
#include "runtime/recorder/device/cupti_state.h"
#include "runtime/shared/common/clock.h"

/* The subscription is written by the thread that has the claim; buffers of it may be read in any thread. */
static struct {
	void *subscriber; /* NULL: none */
	uint8_t time;	  /* enum tf_device_time */
} shared;

bool cupti_client_can_share(void)
{
	const struct cupti_api *a = &cupti_api;

	return cupti_state.version >= CUPTI_HAS_SEVERAL && a->subscribe && a->unsubscribe && a->register_callbacks_v2 &&
	       a->enable_v2 && a->disable_v2 && a->enable_runtime_call_v2 && a->enable_driver_call_v2 &&
	       a->set_attribute_v2 && a->next_record_v2 && a->get_dropped_v2 && a->get_timestamp_v2;
}

bool cupti_client_is_sharing(void)
{
	return __atomic_load_n(&shared.subscriber, __ATOMIC_ACQUIRE) && cupti_is_open();
}

/* A subscriber needs a callback, although none is enabled. */
static void on_callback(void *data, uint32_t domain, uint32_t id, const void *about)
{
}

static int client_set_attribute(int attribute, size_t size, void *value)
{
	return cupti_api.set_attribute_v2(shared.subscriber, attribute, &size, value);
}

bool cupti_client_subscribe(const char *name, void (*request)(uint8_t **, size_t *, size_t *, void *),
			    void (*complete)(uint8_t *, size_t, size_t, void *))
{
	struct cupti_subscriber_params params = {.size = sizeof(params), .name = name, .allows_several = 1};
	uint64_t (*now)(void) = clock_monotonic_ns;
	void *subscriber = NULL;

	if (cupti_client_is_sharing())
		return true;
	if (!cupti_client_can_share() || cupti_api.subscribe(&subscriber, on_callback, NULL, &params) || !subscriber)
		return false;
	__atomic_store_n(&shared.subscriber, subscriber, __ATOMIC_RELEASE);
	if (cupti_api.register_callbacks_v2(subscriber, request, complete)) {
		cupti_client_unsubscribe(false);
		return false;
	}
	shared.time = client_set_attribute(CUPTI_ATTRIBUTE_TIMESTAMP, sizeof(now), &now) ? TF_DEVICE_TIME_OWN
											  : TF_DEVICE_TIME_MONOTONIC;
	return true;
}

void cupti_client_unsubscribe(bool is_gone)
{
	void *subscriber = __atomic_exchange_n(&shared.subscriber, NULL, __ATOMIC_ACQ_REL);

	if (subscriber && !is_gone)
		cupti_api.unsubscribe(subscriber);
}

int cupti_client_set_kind(uint32_t kind, bool is_on)
{
	if (!shared.subscriber)
		return is_on ? cupti_api.enable(kind) : cupti_api.disable(kind);
	return is_on ? cupti_api.enable_v2(shared.subscriber, kind, NULL)
		     : cupti_api.disable_v2(shared.subscriber, kind, NULL);
}

int cupti_client_set_call(bool is_driver, uint32_t function, bool is_on)
{
	int (*one)(uint32_t, uint8_t) = is_driver ? cupti_api.enable_driver_call : cupti_api.enable_runtime_call;

	if (shared.subscriber)
		return (is_driver ? cupti_api.enable_driver_call_v2
				  : cupti_api.enable_runtime_call_v2)(shared.subscriber, function, is_on);
	return one ? one(function, is_on) : -1;
}

bool cupti_client_name_threads(int how)
{
	if (shared.subscriber)
		return !client_set_attribute(CUPTI_ATTRIBUTE_THREADS, sizeof(how), &how);
	if (cupti_api.name_threads)
		cupti_api.name_threads(how);
	return cupti_api.name_threads;
}

int cupti_client_time(uint64_t *ret)
{
	return shared.subscriber ? cupti_api.get_timestamp_v2(shared.subscriber, ret) : cupti_api.get_timestamp(ret);
}

int cupti_client_next_record(bool is_shared, uint8_t *buffer, size_t size, void **record)
{
	void *subscriber = is_shared ? __atomic_load_n(&shared.subscriber, __ATOMIC_ACQUIRE) : NULL;

	return subscriber ? cupti_api.next_record_v2(subscriber, buffer, size, record)
			  : cupti_api.next_record(buffer, size, record);
}

int cupti_client_dropped(bool is_shared, void *context, uint32_t stream, size_t *ret)
{
	void *subscriber = is_shared ? __atomic_load_n(&shared.subscriber, __ATOMIC_ACQUIRE) : NULL;

	return subscriber ? cupti_api.get_dropped_v2(subscriber, context, stream, ret)
			  : cupti_api.get_dropped(context, stream, ret);
}

uint8_t cupti_client_clock(bool is_shared)
{
	return is_shared ? shared.time : cupti_state.time;
}
