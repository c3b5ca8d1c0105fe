/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI has one pair of buffer callbacks and one set of kinds for the whole process, so either another profiler uses
 * it or we do. The other profiler has precedence, because its calls are the program's. Our buffer callbacks call its
 * callbacks and pass each buffer to its owner: a buffer may be in use when CUPTI changes hands. */
#include "runtime/device/cupti_foreign.h"

#include <limits.h>
#include <string.h>

#include "runtime/common/clock.h"
#include "runtime/common/dso.h"
#include "runtime/device/cupti_state.h"
#include "runtime/record/event.h"

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

bool cupti_foreign_is_detaching(void)
{
	return cupti_foreign_has_it() && cupti_foreign.detached_ns &&
	       clock_monotonic_ns() < cupti_foreign.detached_ns;
}

bool cupti_foreign_gives_back(void)
{
	if (cupti_foreign.uses)
		return false;
	if (cupti_foreign.request && cupti_api.flush_all)
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
