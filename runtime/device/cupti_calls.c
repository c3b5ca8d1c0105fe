/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI provides correlation ids only in records of calls and to callbacks; callbacks would occupy the only
 * subscription of the process. The records identify threads by kernel thread ids, as our own records do. */
#include "runtime/device/cupti_calls.h"

#include "runtime/device/cupti_layout.h"
#include "runtime/device/cupti_state.h"

struct call_range {
	uint16_t first, last;
};

#define CALL_RANGE(first_name, first, last_name, last) {first, last},
static const struct call_range runtime_calls[] = {CUPTI_RUNTIME_CALLS(CALL_RANGE)};
static const struct call_range driver_calls[] = {CUPTI_DRIVER_CALLS(CALL_RANGE)};
enum {
	RUNTIME_COUNT = sizeof(runtime_calls) / sizeof(*runtime_calls),
	DRIVER_COUNT = sizeof(driver_calls) / sizeof(*driver_calls),
};

/* Older releases record either all calls or none. */
static void cupti_set_call_ranges(int (*one)(uint32_t, uint8_t), uint32_t kind, const struct call_range *s,
				  size_t count, bool is_on)
{
	if (!one || one(s->first, is_on)) {
		if (is_on)
			cupti_api.enable(kind);
		else
			cupti_api.disable(kind);
		return;
	}
	for (; count--; s++)
		for (uint32_t function = s->first; function <= s->last; function++)
			one(function, is_on);
}

void cupti_calls_set(bool is_on)
{
	if (!cupti_api.name_threads)
		return;
	cupti_api.name_threads(is_on ? CUPTI_THREADS_SYSTEM : CUPTI_THREADS_DEFAULT);
	cupti_set_call_ranges(cupti_api.enable_runtime_call, CUPTI_RUNTIME_CALL, runtime_calls, RUNTIME_COUNT, is_on);
	cupti_set_call_ranges(cupti_api.enable_driver_call, CUPTI_DRIVER_CALL, driver_calls, DRIVER_COUNT, is_on);
}

bool cupti_calls_wanted(bool is_driver, uint32_t function)
{
	const struct call_range *s = is_driver ? driver_calls : runtime_calls;
	const struct call_range *end = s + (is_driver ? DRIVER_COUNT : RUNTIME_COUNT);

	while (s < end && function > s->last)
		s++;
	return s < end && function >= s->first;
}
