/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/device/cupti_kinds.h"

#include "runtime/recorder/device/cupti_calls.h"
#include "runtime/recorder/device/cupti_client.h"
#include "runtime/recorder/device/cupti_layout.h"
#include "runtime/recorder/device/cupti_state.h"
#include "runtime/recorder/record/process.h"
#include "runtime/shared/base/cuda_hardware.h"
#include "runtime/shared/base/text.h"

enum { BYTES_TO_DEVICE = 1, BYTES_TO_HOST = 2, CPU_PAGE_FAULTS = 3, GPU_PAGE_FAULTS = 4, ALL_DEVICES = 2 };

static bool cupti_configure_managed(void)
{
	struct cupti_managed_config configs[4] = {{.counter = BYTES_TO_DEVICE}, {.counter = BYTES_TO_HOST}};
	uint32_t count = 2;

	if (process_options.cuda_um_cpu_page_faults)
		configs[count++].counter = CPU_PAGE_FAULTS;
	if (process_options.cuda_um_gpu_page_faults)
		configs[count++].counter = GPU_PAGE_FAULTS;
	for (uint32_t i = 0; i < count; i++) {
		configs[i].scope = ALL_DEVICES;
		configs[i].is_on = 1;
	}
	if (count == 2)
		return false;
	if (cupti_api.configure_managed && !cupti_api.configure_managed(configs, count))
		return true;
	process_note("this CUPTI does not record page faults of managed memory");
	return false;
}

static const char *hardware_refusal(bool is_early, int *ret_result)
{
	*ret_result = 0;
	if (!cupti_api.enable_hardware || cupti_state.version < CUPTI_HARDWARE_IS_SAFE)
		return "CUPTI is too old: " CUPTI_HARDWARE_HARM;
	if (!is_early)
		return "they must be enabled before the first context, and the driver had been initialised before";
	*ret_result = cupti_api.enable_hardware(1);
	if (*ret_result == CUPTI_UNSUPPORTED)
		return "the GPU (Blackwell or newer is needed) or its driver does not have them";
	return *ret_result ? "CUPTI refuses them" : NULL;
}

void cupti_kinds_request_hardware(bool is_early)
{
	char bytes[256];
	struct text t = text_init(bytes, sizeof(bytes));
	const char *why;
	int result;

	if (!process_options.cuda_hardware)
		return;
	why = hardware_refusal(is_early, &result);
	cupti_state.has_hardware = !why;
	text_add(&t, why ? "-t cuda-hw: device times are not from hardware events: "
			 : "-t cuda-hw: device times are from hardware events, graphs are recorded by their nodes");
	if (why)
		text_add(&t, why);
	if (result) {
		text_add(&t, " (cuptiActivityEnableHWTrace returned ");
		text_number(&t, (uint64_t)result);
		text_char(&t, ')');
	}
	process_note(bytes);
}

static bool cupti_is_kind_requested(uint32_t kind)
{
	switch (kind) {
	case CUPTI_GRAPH: /* whole graphs or their nodes: CUPTI records one or the other, for all subscribers */
		return !process_options.cuda_graph_nodes && !cupti_client_is_sharing() && !cupti_state.has_hardware;
	case CUPTI_DEVICE:
		return cupti_state.version >= CUPTI_HAS_DEVICE_4;
	case CUPTI_DECOMPRESSION:
		return cupti_state.version >= CUPTI_HAS_DECOMPRESSION;
	case CUPTI_MEMORY:
		return cupti_state.version >= CUPTI_HAS_MEMORY && process_options.cuda_memory_usage;
	case CUPTI_MANAGED: /* CUPTI cannot configure it within cuInit */
		return cupti_phase() != CUPTI_OPENING_EARLY && cupti_configure_managed();
	default:
		return true;
	}
}

int cupti_kinds_enable(void)
{
	/* Kernels first. The ledger reports failures of kinds up to peer copies; this CUPTI may not support later
	 * ones. */
	static const uint32_t kinds[] = {CUPTI_KERNEL,  CUPTI_MEMCPY,   CUPTI_MEMSET, CUPTI_MEMCPY_PEER, CUPTI_GRAPH,
					 CUPTI_DEVICE,  CUPTI_CONTEXT,  CUPTI_STREAM, CUPTI_WAIT,        CUPTI_MEMORY,
					 CUPTI_MANAGED, CUPTI_OVERHEAD, CUPTI_JIT,    CUPTI_DECOMPRESSION};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		int result = cupti_is_kind_requested(kinds[i]) ? cupti_client_set_kind(kinds[i], true) : -1;

		if (!result)
			cupti_state.kinds |= 1ull << kinds[i];
		else if (i == 0)
			return result;
		else if (i < 4)
			process_note("this CUPTI does not record some kinds of copies");
	}
	cupti_calls_set(true);
	return 0;
}

void cupti_kinds_enable_managed(void)
{
	if (cupti_configure_managed() && !cupti_client_set_kind(CUPTI_MANAGED, true))
		cupti_state.kinds |= 1ull << CUPTI_MANAGED;
}

void cupti_kinds_disable(void)
{
	for (uint32_t kind = 0; kind < 64; kind++)
		if (cupti_state.kinds & 1ull << kind)
			cupti_client_set_kind(kind, false);
	cupti_state.kinds = 0;
	cupti_calls_set(false);
}
