/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX: the doors by which it finds us. Each copy of NVTX in a process (every library may hold one) has its tables filled
 * with the same functions, so all of them share domains, strings and depths. */
#include "preload/nvtx/nvtx_tool.h"

#include "preload/hook/hook.h"

static void fill_slots(void (***table)(void), unsigned size, int module, const struct nvtx_slot *slots, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct nvtx_slot *s = &slots[i];

		if (s->module == module && s->slot < size && table[s->slot])
			*table[s->slot] = s->function;
	}
}

/* A table of an older NVTX has fewer slots, or is not there at all. */
static void fill(const struct nvtx_callbacks *callbacks, int module)
{
	void (***table)(void) = NULL;
	unsigned size = 0;

	if (!callbacks->module_table(module, &table, &size) || !table)
		return;
	fill_slots(table, size, module, nvtx_event_slots, nvtx_event_slot_count);
	fill_slots(table, size, module, nvtx_name_slots, nvtx_name_slot_count);
}

/* With nobody to record for, NVTX shall find no tool: its calls then tell the program so. */
static bool is_tool(void)
{
	int error = errno;

	hook_attached();
	errno = error;
	return process_gate.groups;
}

HOOK_EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id))
{
	const struct nvtx_callbacks *callbacks = export_table ? export_table(NVTX_EXPORT_CALLBACKS) : NULL;

	if (!is_tool() || !callbacks || callbacks->size < sizeof(*callbacks))
		return 0;
	for (int module = NVTX_CORE; module < NVTX_MODULES; module++)
		fill(callbacks, module);
	return 1;
}

/* An extension that we do not know (of memory, say) is told so: its calls then do nothing. */
static int is_unknown(void)
{
	static uint64_t noted;

	nvtx_note_once(&noted, "an extension of NVTX other than payloads and counters is not recorded");
	return 0;
}

HOOK_EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension_module *module)
{
	if (!is_tool() || !module || module->size < sizeof(*module) || !module->segment_count)
		return 0;
	if (module->module == NVTX_EXTENSION_PAYLOAD)
		nvtx_payload_fill(module);
	else if (module->module == NVTX_EXTENSION_COUNTER)
		nvtx_counter_fill(module);
	else
		return is_unknown();
	return 1;
}
