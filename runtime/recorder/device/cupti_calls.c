/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI provides correlation ids only in records of calls and to callbacks; callbacks would occupy the only
 * subscription of the process. The records identify threads by kernel thread ids, as our own records do. */
#include "runtime/recorder/device/cupti_calls.h"

#include "runtime/recorder/device/cupti_client.h"
#include "runtime/recorder/device/cupti_layout.h"

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
static void cupti_set_call_ranges(bool is_driver, const struct call_range *s, size_t count, bool is_on)
{
	if (cupti_client_set_call(is_driver, s->first, is_on)) {
		cupti_client_set_kind(is_driver ? CUPTI_DRIVER_CALL : CUPTI_RUNTIME_CALL, is_on);
		return;
	}
	for (; count--; s++)
		for (uint32_t function = s->first; function <= s->last; function++)
			cupti_client_set_call(is_driver, function, is_on);
}

void cupti_calls_set(bool is_on)
{
	if (!cupti_client_name_threads(is_on ? CUPTI_THREADS_SYSTEM : CUPTI_THREADS_DEFAULT))
		return;
	cupti_set_call_ranges(false, runtime_calls, RUNTIME_COUNT, is_on);
	cupti_set_call_ranges(true, driver_calls, DRIVER_COUNT, is_on);
}

bool cupti_calls_wanted(bool is_driver, uint32_t function)
{
	const struct call_range *s = is_driver ? driver_calls : runtime_calls;
	const struct call_range *end = s + (is_driver ? DRIVER_COUNT : RUNTIME_COUNT);

	while (s < end && function > s->last)
		s++;
	return s < end && function >= s->first;
}
