/* SPDX-License-Identifier: Apache-2.0 */
/* A profiler inside the program, as torch.profiler, that uses CUPTI for itself: it gets all of it, before its own call goes
 * on, and we come back when it has switched off what it had switched on. Our own calls do not come through here. */
#include "../runtime/cupti.h"
#include "caller.h"
#include "hook.h"

enum { NOT_INITIALIZED = 15 };

#define REAL(symbol) caller_real(&place, HOOK_##symbol, #symbol, caller)

HOOK_EXPORT int cuptiActivityRegisterCallbacks(void *request, void *complete)
{
	static struct caller_place place;
	void *caller = __builtin_return_address(0);
	int (*real)(void *, void *) = REAL(cuptiActivityRegisterCallbacks);

	if (!real)
		return NOT_INITIALIZED;
	if (cupti_foreign_buffers(caller, request, complete))
		return real((void *)cupti_buffer_request, (void *)cupti_buffer_complete);
	return real(request, complete);
}

HOOK_EXPORT int cuptiActivityRegisterTimestampCallback(void *now)
{
	static struct caller_place place;
	void *caller = __builtin_return_address(0);
	int (*real)(void *) = REAL(cuptiActivityRegisterTimestampCallback);

	cupti_step_aside(caller);
	return real ? real(now) : NOT_INITIALIZED;
}

HOOK_EXPORT int cuptiActivityEnable(uint32_t kind)
{
	static struct caller_place place;
	void *caller = __builtin_return_address(0);
	int (*real)(uint32_t) = REAL(cuptiActivityEnable), result;

	cupti_foreign_enables(caller, kind);
	result = real ? real(kind) : NOT_INITIALIZED;
	if (result)
		cupti_foreign_disabled(kind);
	return result;
}

HOOK_EXPORT int cuptiActivityDisable(uint32_t kind)
{
	static struct caller_place place;
	void *caller = __builtin_return_address(0);
	int (*real)(uint32_t) = REAL(cuptiActivityDisable), result;

	result = real ? real(kind) : NOT_INITIALIZED;
	cupti_foreign_disabled(kind);
	return result;
}

HOOK_EXPORT int cuptiFinalize(void)
{
	static struct caller_place place;
	void *caller = __builtin_return_address(0);
	int (*real)(void) = REAL(cuptiFinalize), result;

	cupti_step_aside(caller);
	result = real ? real() : NOT_INITIALIZED;
	if (!result)
		cupti_foreign_end();
	return result;
}
