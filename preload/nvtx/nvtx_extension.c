/* SPDX-License-Identifier: Apache-2.0 */
/* The injection entry point of NVTX's extensions, and the table of the payload extension. */
#include "preload/hook/hook.h"
#include "preload/nvtx/nvtx_schema.h"

static uint8_t domain_is_enabled(struct nvtx_domain *d)
{
	return !(d ? d->is_off : nvtx_default_is_off);
}

static int64_t timestamp(void)
{
	return (int64_t)clock_now();
}

static void note_deferred(void)
{
	static uint64_t noted;

	nvtx_note_once(&noted, "NVTX's deferred events (nvtxEventSubmit, nvtxEventBatchSubmit) are not recorded");
}

static void event_submit(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	note_deferred();
}

static void event_batch_submit(struct nvtx_domain *d, const void *batch)
{
	note_deferred();
}

/* All functions about times, whatever their arguments. They serve only deferred events, which are not recorded. 0:
 * the time domain is not registered. */
static uint64_t time_domain(struct nvtx_domain *d)
{
	static uint64_t noted;

	nvtx_note_once(&noted,
		       "NVTX's time domains (nvtxTimeDomainRegister, nvtxTimerSource, nvtxTimeSyncPoint ...) are "
			       "not recorded");
	return 0;
}

#define SLOT(slot, function) [NVTX_##slot] = (intptr_t)(function)
static void fill_payload_slots(struct nvtx_extension_module *module)
{
	const intptr_t functions[] = {
		SLOT(SCHEMA_REGISTER, nvtx_schema_register),
		SLOT(ENUM_REGISTER, nvtx_schema_register_enum),
		SLOT(PAYLOAD_MARK, nvtx_event_mark),
		SLOT(PAYLOAD_PUSH, nvtx_event_push),
		SLOT(PAYLOAD_POP, nvtx_event_pop),
		SLOT(PAYLOAD_START, nvtx_event_start),
		SLOT(PAYLOAD_END, nvtx_event_end),
		SLOT(DOMAIN_IS_ENABLED, domain_is_enabled),
		SLOT(TIMESTAMP_GET, timestamp),
		SLOT(TIME_DOMAIN_REGISTER, time_domain),
		SLOT(TIMER_SOURCE, time_domain),
		SLOT(TIMER_SOURCE_DATA, time_domain),
		SLOT(SCOPE_REGISTER, nvtx_schema_register_scope),
		SLOT(TIME_SYNC_POINT, time_domain),
		SLOT(TIME_SYNC_TABLE, time_domain),
		SLOT(TIME_CONVERSION, time_domain),
		SLOT(EVENT_SUBMIT, event_submit),
		SLOT(EVENT_BATCH_SUBMIT, event_batch_submit),
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions) && i < module->segments[0].count; i++)
		if (functions[i])
			module->segments[0].slots[i] = functions[i];
}

/* An extension that we do not support (memory, for example) gets no tool: its calls then do nothing. */
static int note_unknown_extension(void)
{
	static uint64_t noted;

	nvtx_note_once(&noted, "an extension of NVTX other than payloads and counters is not recorded");
	return 0;
}

HOOK_EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension_module *module)
{
	if (!nvtx_is_tool() || !module || module->size < sizeof(*module) || !module->segment_count)
		return 0;
	if (module->module == NVTX_EXTENSION_PAYLOAD)
		fill_payload_slots(module);
	else if (module->module == NVTX_EXTENSION_COUNTER)
		nvtx_counter_fill(module);
	else
		return note_unknown_extension();
	return 1;
}
