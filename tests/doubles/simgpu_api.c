/* SPDX-License-Identifier: Apache-2.0 */
/* Entry and exit of every API call: correlation ids, callbacks of the tool, lines of the log.
 * Work is attributed to the outermost call of its thread, not to calls nested in it. */
#include "simgpu.h"

static uint32_t next_correlation = 1;
static __thread struct { unsigned depth; uint32_t correlation; } call;

uint32_t sim_correlation(void)
{
	return call.depth ? call.correlation : 0;
}

void sim_nest(bool is_begin)
{
	if (is_begin && call.depth == 0)
		call.correlation = 0;
	call.depth += is_begin ? 1u : -1u;
}

CUresult sim_api_enter(struct sim_api *api, enum sim_layer layer, unsigned cbid, const char *name,
		       const void *params, const int *result_address)
{
	*api = (struct sim_api){ .layer = layer, .cbid = cbid, .name = name, .params = params,
				 .result_address = result_address };
	api->is_nested = call.depth++ > 0;
	if (!api->is_nested)
		call.correlation = __atomic_fetch_add(&next_correlation, 1, __ATOMIC_RELAXED);
	api->correlation = call.correlation;
	if (sim_is_forked())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (sim_tool)
		sim_tool->api(api, false);
	api->start_ns = sim_now_ns();
	return CUDA_SUCCESS;
}

void sim_api_leave(struct sim_api *api, int result)
{
	api->end_ns = sim_now_ns();
	api->result = result;
	if (sim_tool && !sim_is_forked())
		sim_tool->api(api, true);
	if (!api->is_nested && sim_log_is_on())
		sim_log("api", ",\"layer\":\"%s\",\"name\":\"%s\",\"corr\":%u,\"start\":%llu,\"end\":%llu,\"ret\":%d",
			api->layer == SIM_DRIVER ? "driver" : "runtime", api->name, api->correlation,
			(unsigned long long)api->start_ns, (unsigned long long)api->end_ns, result);
	call.depth--;
}

const struct sim_interface *sim_interface(void)
{
	static const struct sim_interface table = {
		.now_ns = sim_now_ns,
		.api_enter = sim_api_enter,
		.api_leave = sim_api_leave,
		.log = sim_log,
		.nest = sim_nest,
		.set_tool = sim_set_tool,
		.is_forked = sim_is_forked,
		.is_up = sim_is_up,
		.each_op = sim_each_op,
		.correlation = sim_correlation,
		.first_context = sim_context_first,
		.stream_find = sim_stream_find,
		.device = sim_device,
		.graph_id = sim_graph_id,
		.node_id = sim_node_id,
		.exec_id = sim_exec_id,
	};

	return &table;
}
