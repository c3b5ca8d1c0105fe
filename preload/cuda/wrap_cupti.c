/* SPDX-License-Identifier: Apache-2.0 */
/* A profiler inside the program, as torch.profiler, that uses CUPTI for itself: it gets all of it, before its own call goes
 * on, and we come back when it has switched off what it had switched on. Our own calls do not come through here. */
#include "runtime/device/cupti.h"
#include "preload/hook/entry.h"

enum { NOT_INITIALIZED = 15 };

int wrap_cuptiActivityRegisterCallbacks(void *request, void *complete, struct entry from)
{
	int (*real)(void *, void *) = from.real;

	if (!real)
		return NOT_INITIALIZED;
	if (cupti_foreign_buffers(from.caller, request, complete))
		return real((void *)cupti_buffer_request, (void *)cupti_buffer_complete);
	return real(request, complete);
}

int wrap_cuptiActivityRegisterTimestampCallback(void *now, struct entry from)
{
	int (*real)(void *) = from.real;

	cupti_step_aside(from.caller);
	return real ? real(now) : NOT_INITIALIZED;
}

int wrap_cuptiActivityEnable(uint32_t kind, struct entry from)
{
	int (*real)(uint32_t) = from.real, result;

	cupti_foreign_enables(from.caller, kind);
	result = real ? real(kind) : NOT_INITIALIZED;
	if (result)
		cupti_foreign_disabled(kind);
	return result;
}

int wrap_cuptiActivityDisable(uint32_t kind, struct entry from)
{
	int (*real)(uint32_t) = from.real, result;

	result = real ? real(kind) : NOT_INITIALIZED;
	cupti_foreign_disabled(kind);
	return result;
}

int wrap_cuptiFinalize(struct entry from)
{
	int (*real)(void) = from.real, result;

	cupti_step_aside(from.caller);
	result = real ? real() : NOT_INITIALIZED;
	if (!result)
		cupti_foreign_end();
	return result;
}
