/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/device/cupti_driver.h"

#include "runtime/recorder/loader/dso.h"

static void *driver_function(void **place, const char *symbol)
{
	if (!*place)
		*place = dso_library_symbol("libcuda.so", symbol);
	return *place;
}

static void *get_context_place;

bool cupti_driver_is_found(void)
{
	return get_context_place;
}

bool cupti_driver_is_initialized(void)
{
	int (*get_context)(void **) = driver_function(&get_context_place, "cuCtxGetCurrent");
	void *context;

	return get_context && !get_context(&context);
}

bool cupti_driver_is_capturing(void *stream)
{
	static void *place;
	int (*query)(void *, int *) = driver_function(&place, "cuStreamIsCapturing"), state = 0;

	return query && (query(stream, &state) || state);
}
