/* SPDX-License-Identifier: Apache-2.0 */
/* Hands CUPTI over to a profiler inside the program, such as torch.profiler, before the profiler's call is made, and
 * takes it back when the profiler has disabled everything that it had enabled. Our own calls of CUPTI do not use these
 * wrappers. */
#include "runtime/device/cupti_handover.h"
#include "runtime/device/cupti_record.h"
#include "preload/cuda/cuda_call.h"

enum { NOT_INITIALIZED = 15 };

/* A forked child may call this before any recorded call. */
static void hand_over_cupti(struct entry from)
{
	if (hook_attached())
		cupti_handover(from.caller);
}

int wrap_cuptiActivityRegisterCallbacks(void *request, void *complete, struct entry from)
{
	int (*real)(void *, void *) = from.real;

	if (!real)
		return NOT_INITIALIZED;
	if (hook_attached() && cupti_handover_buffers(from.caller, request, complete))
		return real((void *)cupti_buffer_request, (void *)cupti_buffer_complete);
	return real(request, complete);
}

int wrap_cuptiActivityRegisterTimestampCallback(void *now, struct entry from)
{
	int (*real)(void *) = from.real;

	hand_over_cupti(from);
	return real ? real(now) : NOT_INITIALIZED;
}

int wrap_cuptiActivityEnable(uint32_t kind, struct entry from)
{
	int (*real)(uint32_t) = from.real, result;

	if (hook_attached())
		cupti_handover_enables(from.caller, kind);
	result = real ? real(kind) : NOT_INITIALIZED;
	if (result)
		cupti_handover_disabled(kind);
	return result;
}

int wrap_cuptiActivityDisable(uint32_t kind, struct entry from)
{
	int (*real)(uint32_t) = from.real, result;

	result = real ? real(kind) : NOT_INITIALIZED;
	cupti_handover_disabled(kind);
	return result;
}

/* A subscription of this kind is refused while kinds are switched on without one. */
int wrap_cuptiSubscribe_v2(void *ret, void *callback, void *data, void *params, struct entry from)
{
	int (*real)(void *, void *, void *, void *) = from.real, result;

	if (hook_attached())
		cupti_handover_subscribes(from.caller);
	result = real ? real(ret, callback, data, params) : NOT_INITIALIZED;
	if (result)
		cupti_handover_unsubscribed();
	return result;
}

int wrap_cuptiUnsubscribe(void *subscriber, struct entry from)
{
	int (*real)(void *) = from.real, result;

	result = real ? real(subscriber) : NOT_INITIALIZED;
	if (!result)
		cupti_handover_unsubscribed();
	return result;
}

int wrap_cuptiFinalize(struct entry from)
{
	int (*real)(void) = from.real, result;

	hand_over_cupti(from);
	result = real ? real() : NOT_INITIALIZED;
	if (!result)
		cupti_handover_finalized();
	return result;
}
