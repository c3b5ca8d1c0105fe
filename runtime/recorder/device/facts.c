/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's record of a device has neither the clock of its memory nor its place on the bus, and there is none without
 * CUPTI. The driver has all of it, and answers without a context. */
#include "runtime/recorder/device/facts.h"

#include <stdbool.h>
#include <stddef.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/event.h"

/* The driver's own functions, so that no hook sees the calls. */
struct facts_api {
	int (*attribute)(int *ret, int attribute, int device);
	int (*memory)(size_t *ret, int device);
	int (*uuid)(uint8_t *ret, int device);
};

#define ATTRIBUTE_NUMBER(name, number) (number),
static const uint8_t attributes[] = {TF_DEVICE_ATTRIBUTES(ATTRIBUTE_NUMBER)};
enum { ATTRIBUTES = sizeof(attributes) / sizeof(*attributes) };

struct facts_blob {
	struct tf_device_facts facts;
	struct tf_attribute_value values[ATTRIBUTES];
};

void device_facts_note(uint32_t device)
{
	if (device < 64)
		__atomic_fetch_or(&process.devices_noted, 1ull << device, __ATOMIC_RELEASE);
}

static bool facts_find(struct facts_api *ret)
{
	ret->attribute = dso_library_symbol("libcuda.so", "cuDeviceGetAttribute");
	ret->memory = dso_library_symbol("libcuda.so", "cuDeviceTotalMem_v2");
	ret->uuid = dso_library_symbol("libcuda.so", "cuDeviceGetUuid_v2"); /* of a part of a GPU its own */
	if (!ret->uuid)
		ret->uuid = dso_library_symbol("libcuda.so", "cuDeviceGetUuid");
	return ret->attribute;
}

static void facts_write(const struct facts_api *api, int device)
{
	struct facts_blob blob = {0};
	size_t count = 0, bytes;
	int value;

	if (api->memory && !api->memory(&bytes, device))
		blob.facts.memory_bytes = bytes;
	if (api->uuid)
		api->uuid(blob.facts.uuid, device);
	for (size_t i = 0; i < ATTRIBUTES; i++)
		if (!api->attribute(&value, attributes[i], device))
			blob.values[count++] = (struct tf_attribute_value){attributes[i], value};
	if (count)
		event_blob(TF_BLOB_DEVICE_FACTS, (uint32_t)device, &blob,
			   offsetof(struct facts_blob, values) + count * sizeof(blob.values[0]));
}

void device_facts_write(void)
{
	uint64_t wanted = __atomic_load_n(&process.devices_noted, __ATOMIC_ACQUIRE);
	struct facts_api api;

	wanted &= ~__atomic_fetch_or(&process.devices_written, wanted, __ATOMIC_RELAXED);
	if (!wanted || !facts_find(&api))
		return;
	for (int device = 0; device < 64; device++)
		if (wanted & 1ull << device)
			facts_write(&api, device);
}
