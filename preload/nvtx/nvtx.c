/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX's injection entry point. Each copy of NVTX in a process (every library may contain one) has its tables filled
 * with the same functions, so all of them share domains, strings and depths. */
#include "preload/nvtx/nvtx_tool.h"

#include "preload/hook/hook.h"

static void fill_module_slots(void (***table)(void), unsigned size, int module, const struct nvtx_slot *slots,
			      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct nvtx_slot *s = &slots[i];

		if (s->module == module && s->slot < size && table[s->slot])
			*table[s->slot] = s->function;
	}
}

/* A table of an older NVTX has fewer slots, or does not exist. */
static void fill_slots(const struct nvtx_callbacks *callbacks, int module)
{
	void (***table)(void) = NULL;
	unsigned size = 0;

	if (!callbacks->module_table(module, &table, &size) || !table)
		return;
	fill_module_slots(table, size, module, nvtx_event_slots, nvtx_event_slot_count);
	fill_module_slots(table, size, module, nvtx_name_slots, nvtx_name_slot_count);
}

bool nvtx_is_tool(void)
{
	int error = errno;

	hook_attached();
	errno = error;
	return process_gate.groups;
}

HOOK_EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id))
{
	const struct nvtx_callbacks *callbacks = export_table ? export_table(NVTX_EXPORT_CALLBACKS) : NULL;

	if (!nvtx_is_tool() || !callbacks || callbacks->size < sizeof(*callbacks))
		return 0;
	for (int module = NVTX_CORE; module < NVTX_MODULES; module++)
		fill_slots(callbacks, module);
	return 1;
}
