/* SPDX-License-Identifier: Apache-2.0 */
/* Hands CUPTI over to a profiler inside the program, such as torch.profiler, before the profiler's call is made, and
 * takes it back when the profiler has disabled everything that it had enabled. Our own calls of CUPTI do not use these
 * wrappers. */
#include <string.h>

#include "runtime/recorder/device/cupti_foreign.h"
#include "runtime/recorder/device/cupti_handover.h"
#include "runtime/recorder/device/cupti_layout.h"
#include "runtime/recorder/device/cupti_record.h"
#include "preload/cuda/cuda_call.h"

enum { NOT_INITIALIZED = 15 };

int wrap_cuptiActivityRegisterCallbacks(void *request, void *complete, struct hook_entry from)
{
	int (*real)(void *, void *) = from.real;

	if (!real)
		return NOT_INITIALIZED;
	if (hook_attached() && cupti_handover_buffers(from.caller, request, complete))
		return real((void *)cupti_buffer_request, (void *)cupti_buffer_complete);
	return real(request, complete);
}

int wrap_cuptiActivityRegisterTimestampCallback(void *now, struct hook_entry from)
{
	int (*real)(void *) = from.real;

	if (hook_attached()) /* a forked child may call this before any recorded call */
		cupti_handover(from.caller);
	return real ? real(now) : NOT_INITIALIZED;
}

int wrap_cuptiActivityEnable(uint32_t kind, struct hook_entry from)
{
	int (*real)(uint32_t) = from.real, result;

	if (hook_attached())
		cupti_handover_enables(from.caller, kind);
	result = real ? real(kind) : NOT_INITIALIZED;
	if (result)
		cupti_handover_disabled(kind);
	return result;
}

int wrap_cuptiActivityDisable(uint32_t kind, struct hook_entry from)
{
	int (*real)(uint32_t) = from.real, result;

	result = real ? real(kind) : NOT_INITIALIZED;
	cupti_handover_disabled(kind);
	return result;
}

int wrap_cuptiActivityEnableAndDump(uint32_t kind, struct hook_entry from)
{
	return wrap_cuptiActivityEnable(kind, from);
}

/* A subscription of this kind is refused while kinds are enabled without one. If we have subscribed first, CUPTI must
 * not tell the program of an earlier subscriber. */
int wrap_cuptiSubscribe_v2(void *ret, void *callback, void *data, void *params, struct hook_entry from)
{
	int (*real)(void *, void *, void *, void *) = from.real, result;
	const struct cupti_subscriber_params *p = params;
	struct cupti_subscriber_params changed = {0};
	bool is_first = !cupti_foreign_has_subscribers();
	bool is_several = p && p->size > offsetof(struct cupti_subscriber_params, allows_several) && p->allows_several;

	if (!real)
		return NOT_INITIALIZED;
	if (hook_attached() && cupti_handover_subscribes(from.caller, p ? p->name : NULL, is_several) && is_first &&
	    p->size <= sizeof(changed)) {
		memcpy(&changed, p, p->size);
		changed.old_name = NULL;
		params = &changed;
	}
	result = real(ret, callback, data, params);
	if (result)
		cupti_handover_unsubscribed(NULL);
	else
		cupti_handover_subscribed(ret ? *(void **)ret : NULL, is_several);
	return result;
}

/* Some attributes are accepted only while no kind is enabled. */
int wrap_cuptiActivitySetAttribute_v2(void *subscriber, uint32_t attribute, size_t *size, void *value,
				      struct hook_entry from)
{
	int (*real)(void *, uint32_t, size_t *, void *) = from.real, result;

	if (!real)
		return NOT_INITIALIZED;
	if (hook_attached())
		cupti_handover_begins(from.caller, CUPTI_FOREIGN_SETS);
	result = real(subscriber, attribute, size, value);
	cupti_handover_ends(CUPTI_FOREIGN_SETS);
	return result;
}

int wrap_cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value, struct hook_entry from)
{
	int (*real)(uint32_t, size_t *, void *) = from.real, result;
	bool is_definition = attribute == CUPTI_ATTRIBUTE_USER_DEFINED_RECORDS && size && *size && value;
	bool is_on = is_definition && *(const uint8_t *)value;

	if (is_on && hook_attached())
		cupti_handover_begins(from.caller, CUPTI_FOREIGN_DEFINES_RECORDS);
	result = real ? real(attribute, size, value) : NOT_INITIALIZED;
	if (is_definition && is_on == (result != 0))
		cupti_handover_ends(CUPTI_FOREIGN_DEFINES_RECORDS);
	return result;
}

int wrap_cuptiUnsubscribe(void *subscriber, struct hook_entry from)
{
	int (*real)(void *) = from.real, result;

	result = real ? real(subscriber) : NOT_INITIALIZED;
	if (!result)
		cupti_handover_unsubscribed(subscriber);
	return result;
}

int wrap_cuptiFinalize(struct hook_entry from)
{
	int (*real)(void) = from.real, result;

	if (hook_attached())
		cupti_handover_begins(from.caller, CUPTI_FOREIGN_FINALIZES);
	result = real ? real() : NOT_INITIALIZED;
	cupti_handover_finalized(!result);
	return result;
}
