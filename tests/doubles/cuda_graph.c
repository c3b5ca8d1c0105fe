/* SPDX-License-Identifier: Apache-2.0 */
/* The driver double: graphs built by hand, instantiated, launched. Dependencies are accepted and ignored: nodes run in
 * the order in which they were added, which is one of the orders that the dependencies allow. */
#include "cuda_entry.h"

#include <stdlib.h>
#include <string.h>

#define GRAPH(handle) ((struct sim_graph *)(handle))
#define NODE(handle) ((struct sim_node *)(handle))
#define EXEC(handle) ((struct sim_exec *)(handle))

static CUresult add(CUgraphNode *ret_node, CUgraph graph, struct sim_work *work)
{
	if (!ret_node || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_graph_add(GRAPH(graph), work, (struct sim_node **)ret_node);
}

ENTRY(cuGraphCreate, 10000, (phGraph, flags), CUgraph *phGraph, unsigned int flags)
{
	if (!phGraph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraph = (CUgraph)sim_graph_new();
	return *phGraph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

ENTRY(cuGraphDestroy, 10000, (hGraph), CUgraph hGraph)
{
	if (!hGraph)
		return CUDA_ERROR_INVALID_VALUE;
	sim_graph_free(GRAPH(hGraph));
	return CUDA_SUCCESS;
}

ENTRY(cuGraphClone, 10000, (phGraphClone, originalGraph), CUgraph *phGraphClone, CUgraph originalGraph)
{
	if (!phGraphClone || !originalGraph)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraphClone = (CUgraph)sim_graph_copy(GRAPH(originalGraph));
	return *phGraphClone ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- nodes ---- */

static CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS *params, struct sim_work *ret_work)
{
	const CUfunction function = params && params->func ? params->func : params ? (CUfunction)params->kern : NULL;
	struct sim_work work = { .kind = SIM_KERNEL };

	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	work.kernel.function = (struct sim_function *)function;
	memcpy(work.kernel.grid, &params->gridDimX, sizeof(work.kernel.grid));
	memcpy(work.kernel.block, &params->blockDimX, sizeof(work.kernel.block));
	work.kernel.shared_bytes = params->sharedMemBytes;
	*ret_work = work;
	return sim_kernel_prepare(ret_work, params->kernelParams, params->extra);
}

ENTRY(cuGraphAddKernelNode_v2, 12000, (phGraphNode, hGraph, dependencies, numDependencies, nodeParams),
	    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
	    const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	struct sim_work work;
	CUresult result = kernel_work(nodeParams, &work);

	UNUSED(dependencies, &numDependencies);
	if (result != CUDA_SUCCESS)
		return result;
	result = add(phGraphNode, hGraph, &work);
	sim_work_done(&work);
	return result;
}

ENTRY(cuGraphKernelNodeGetParams_v2, 12000, (hNode, nodeParams), CUgraphNode hNode,
	    CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	const struct sim_node *node = NODE(hNode);

	if (!node || !nodeParams || node->work.kind != SIM_KERNEL)
		return CUDA_ERROR_INVALID_VALUE;
	memset(nodeParams, 0, sizeof(*nodeParams));
	nodeParams->func = (CUfunction)node->work.kernel.function;
	memcpy(&nodeParams->gridDimX, node->work.kernel.grid, sizeof(node->work.kernel.grid));
	memcpy(&nodeParams->blockDimX, node->work.kernel.block, sizeof(node->work.kernel.block));
	nodeParams->sharedMemBytes = node->work.kernel.shared_bytes;
	return CUDA_SUCCESS;
}

static CUresult kernel_change(struct sim_node *node, const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct sim_work work;
	CUresult result;

	if (!node || node->work.kind != SIM_KERNEL)
		return CUDA_ERROR_INVALID_VALUE;
	result = kernel_work(params, &work);
	work.origin = node->work.origin;
	work.source = node->work.source;
	if (result == CUDA_SUCCESS) {
		sim_work_done(&node->work);
		node->work = work;
	}
	return result;
}

ENTRY(cuGraphKernelNodeSetParams_v2, 12000, (hNode, nodeParams), CUgraphNode hNode,
	    const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	return kernel_change(NODE(hNode), nodeParams);
}

ENTRY(cuGraphExecKernelNodeSetParams_v2, 12000, (hGraphExec, hNode, nodeParams), CUgraphExec hGraphExec,
	    CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
	if (!hGraphExec || !hNode)
		return CUDA_ERROR_INVALID_VALUE;
	return kernel_change(sim_graph_twin(EXEC(hGraphExec)->graph, NODE(hNode)), nodeParams);
}

ENTRY(cuGraphAddMemcpyNode, 10000, (phGraphNode, hGraph, dependencies, numDependencies, copyParams, ctx),
	    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
	    const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
	struct sim_work work = { .kind = SIM_COPY };

	UNUSED(dependencies, &numDependencies, ctx);
	if (!copyParams)
		return CUDA_ERROR_INVALID_VALUE;
	cuda_copy_3d(copyParams, &work.copy);
	if (!work.copy.dst || !work.copy.src)
		return CUDA_ERROR_INVALID_VALUE;
	sim_copy_places(&work.copy);
	return add(phGraphNode, hGraph, &work);
}

ENTRY(cuGraphAddMemsetNode, 10000, (phGraphNode, hGraph, dependencies, numDependencies, memsetParams, ctx),
	    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
	    const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
	struct sim_work work = { .kind = SIM_SET };
	struct sim_allocation found;

	UNUSED(dependencies, &numDependencies, ctx);
	if (!memsetParams || !sim_find(memsetParams->dst, &found))
		return CUDA_ERROR_INVALID_VALUE;
	work.set.dst = memsetParams->dst;
	work.set.width = memsetParams->width;
	work.set.height = memsetParams->height ? memsetParams->height : 1;
	work.set.pitch = memsetParams->pitch;
	work.set.value = memsetParams->value;
	work.set.element_bytes = memsetParams->elementSize;
	work.set.is_async = true;
	work.set.place = found.place;
	return add(phGraphNode, hGraph, &work);
}

ENTRY(cuGraphAddHostNode, 10000, (phGraphNode, hGraph, dependencies, numDependencies, nodeParams),
	    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
	    const CUDA_HOST_NODE_PARAMS *nodeParams)
{
	struct sim_work work = { .kind = SIM_HOST };

	UNUSED(dependencies, &numDependencies);
	if (!nodeParams || !nodeParams->fn)
		return CUDA_ERROR_INVALID_VALUE;
	work.host.call = nodeParams->fn;
	work.host.data = nodeParams->userData;
	return add(phGraphNode, hGraph, &work);
}

ENTRY(cuGraphAddEmptyNode, 10000, (phGraphNode, hGraph, dependencies, numDependencies), CUgraphNode *phGraphNode,
	    CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies)
{
	struct sim_work work = { .kind = SIM_EMPTY };

	UNUSED(dependencies, &numDependencies);
	return add(phGraphNode, hGraph, &work);
}

ENTRY(cuGraphAddChildGraphNode, 10000, (phGraphNode, hGraph, dependencies, numDependencies, childGraph),
	    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
	    CUgraph childGraph)
{
	struct sim_work work = { .kind = SIM_CHILD };

	UNUSED(dependencies, &numDependencies);
	if (!childGraph)
		return CUDA_ERROR_INVALID_VALUE;
	work.child.graph = GRAPH(childGraph);
	return add(phGraphNode, hGraph, &work);
}

ENTRY(cuGraphConditionalHandleCreate, 12030, (pHandle_out, hGraph, ctx, defaultLaunchValue, flags),
	    CUgraphConditionalHandle *pHandle_out, CUgraph hGraph, CUcontext ctx, unsigned int defaultLaunchValue,
	    unsigned int flags)
{
	UNUSED(ctx, &flags);
	if (!pHandle_out || !hGraph)
		return CUDA_ERROR_INVALID_VALUE;
	*pHandle_out = (CUgraphConditionalHandle)defaultLaunchValue << 1 | 1;
	return CUDA_SUCCESS;
}

/* An IF node: its bodies are owned by it and empty at first. */
static CUresult add_conditional(CUgraphNode *ret_node, CUgraph graph, CUDA_CONDITIONAL_NODE_PARAMS *params)
{
	struct sim_work work = { .kind = SIM_CONDITIONAL };
	CUresult result;

	if (params->type != CU_GRAPH_COND_TYPE_IF || params->size < 1 || params->size > 2 || !params->handle)
		return CUDA_ERROR_NOT_SUPPORTED;
	work.conditional.is_met = params->handle >> 1;
	for (unsigned i = 0; i < params->size; i++)
		work.conditional.bodies[i] = sim_graph_new();
	result = add(ret_node, graph, &work);
	if (result == CUDA_SUCCESS)
		params->phGraph_out = (CUgraph *)NODE(*ret_node)->work.conditional.bodies;
	return result;
}

ENTRY(cuGraphAddNode_v2, 12030, (phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams),
	    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
	    const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams)
{
	struct sim_work work = { .kind = SIM_CHILD };

	UNUSED(dependencies, dependencyData, &numDependencies);
	if (!nodeParams || !phGraphNode || !hGraph)
		return CUDA_ERROR_INVALID_VALUE;
	switch (nodeParams->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL: {
		const CUDA_KERNEL_NODE_PARAMS_v3 *k = &nodeParams->kernel;
		const CUDA_KERNEL_NODE_PARAMS plain = {
			.func = k->func, .gridDimX = k->gridDimX, .gridDimY = k->gridDimY, .gridDimZ = k->gridDimZ,
			.blockDimX = k->blockDimX, .blockDimY = k->blockDimY, .blockDimZ = k->blockDimZ,
			.sharedMemBytes = k->sharedMemBytes, .kernelParams = k->kernelParams, .extra = k->extra };
		CUresult result = kernel_work(&plain, &work);

		if (result == CUDA_SUCCESS)
			result = add(phGraphNode, hGraph, &work);
		sim_work_done(&work);
		return result;
	}
	case CU_GRAPH_NODE_TYPE_GRAPH:
		work.child.graph = GRAPH(nodeParams->graph.graph);
		return work.child.graph ? add(phGraphNode, hGraph, &work) : CUDA_ERROR_INVALID_VALUE;
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return add_conditional(phGraphNode, hGraph, &nodeParams->conditional);
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

ENTRY(cuGraphAddEventRecordNode, 11010, (phGraphNode, hGraph, dependencies, numDependencies, event),
	    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
	    CUevent event)
{
	struct sim_work work = { .kind = SIM_RECORD };

	UNUSED(dependencies, &numDependencies);
	work.event.event = (struct sim_event *)event;
	return event ? add(phGraphNode, hGraph, &work) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuGraphAddEventWaitNode, 11010, (phGraphNode, hGraph, dependencies, numDependencies, event),
	    CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies,
	    CUevent event)
{
	struct sim_work work = { .kind = SIM_WAIT };

	UNUSED(dependencies, &numDependencies);
	work.event.event = (struct sim_event *)event;
	return event ? add(phGraphNode, hGraph, &work) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuGraphAddDependencies_v2, 12030, (hGraph, from, to, edgeData, numDependencies), CUgraph hGraph,
	    const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edgeData, size_t numDependencies)
{
	UNUSED(from, to, edgeData, &numDependencies);
	return hGraph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY_QUIET(cuGraphChildGraphNodeGetGraph, 10000, (hNode, phGraph), CUgraphNode hNode, CUgraph *phGraph)
{
	if (!hNode || !phGraph || NODE(hNode)->work.kind != SIM_CHILD)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraph = (CUgraph)NODE(hNode)->work.child.graph;
	return CUDA_SUCCESS;
}

ENTRY(cuGraphNodeGetType, 10000, (hNode, type), CUgraphNode hNode, CUgraphNodeType *type)
{
	static const CUgraphNodeType types[] = {
		[SIM_KERNEL] = CU_GRAPH_NODE_TYPE_KERNEL, [SIM_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,
		[SIM_SET] = CU_GRAPH_NODE_TYPE_MEMSET, [SIM_HOST] = CU_GRAPH_NODE_TYPE_HOST,
		[SIM_RECORD] = CU_GRAPH_NODE_TYPE_EVENT_RECORD, [SIM_WAIT] = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
		[SIM_FREE] = CU_GRAPH_NODE_TYPE_MEM_FREE, [SIM_STORE] = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
		[SIM_GRAPH_END] = CU_GRAPH_NODE_TYPE_EMPTY, [SIM_EMPTY] = CU_GRAPH_NODE_TYPE_EMPTY,
		[SIM_CHILD] = CU_GRAPH_NODE_TYPE_GRAPH, [SIM_CONDITIONAL] = CU_GRAPH_NODE_TYPE_CONDITIONAL,
	};

	if (!hNode || !type)
		return CUDA_ERROR_INVALID_VALUE;
	*type = types[NODE(hNode)->work.kind];
	return CUDA_SUCCESS;
}

ENTRY(cuGraphGetNodes, 10000, (hGraph, nodes, numNodes), CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
	size_t room, count = 0;

	if (!hGraph || !numNodes)
		return CUDA_ERROR_INVALID_VALUE;
	room = *numNodes;
	for (struct sim_node *node = GRAPH(hGraph)->first; node; node = node->next, count++) {
		if (nodes && count < room)
			nodes[count] = (CUgraphNode)node;
	}
	*numNodes = nodes && room < count ? room : count;
	return CUDA_SUCCESS;
}

ENTRY(cuGraphGetRootNodes, 10000, (hGraph, rootNodes, numRootNodes), CUgraph hGraph, CUgraphNode *rootNodes,
	    size_t *numRootNodes)
{
	if (!hGraph || !numRootNodes)
		return CUDA_ERROR_INVALID_VALUE;
	if (rootNodes && *numRootNodes && GRAPH(hGraph)->first)
		rootNodes[0] = (CUgraphNode)GRAPH(hGraph)->first;
	*numRootNodes = GRAPH(hGraph)->first != NULL;
	return CUDA_SUCCESS;
}

ENTRY(cuGraphNodeSetEnabled, 11060, (hGraphExec, hNode, isEnabled), CUgraphExec hGraphExec, CUgraphNode hNode,
	    unsigned int isEnabled)
{
	struct sim_node *node = hGraphExec && hNode ? sim_graph_twin(EXEC(hGraphExec)->graph, NODE(hNode)) : NULL;

	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	node->is_disabled = !isEnabled;
	return CUDA_SUCCESS;
}

/* ---- the ids of CUDA 13.1: with PILLION_SIMGPU_IDS, else an older driver is simulated ---- */

CUresult CUDAAPI cuGraphNodeGetToolsId(CUgraphNode node, unsigned long long *ret_id);
CUresult CUDAAPI cuGraphGetId(CUgraph graph, unsigned int *ret_id);
CUresult CUDAAPI cuGraphExecGetId(CUgraphExec exec, unsigned int *ret_id);

static CUresult id_status(const void *handle, const void *ret_id)
{
	if (!getenv("PILLION_SIMGPU_IDS"))
		return CUDA_ERROR_NOT_SUPPORTED;
	return handle && ret_id ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY_QUIET(cuGraphNodeGetToolsId, 13010, (node, ret_id), CUgraphNode node, unsigned long long *ret_id)
{
	CUresult result = id_status(node, ret_id);

	if (result == CUDA_SUCCESS)
		*ret_id = sim_node_id(node);
	return result;
}

ENTRY_QUIET(cuGraphGetId, 13010, (graph, ret_id), CUgraph graph, unsigned int *ret_id)
{
	CUresult result = id_status(graph, ret_id);

	if (result == CUDA_SUCCESS)
		*ret_id = sim_graph_id(graph);
	return result;
}

ENTRY_QUIET(cuGraphExecGetId, 13010, (exec, ret_id), CUgraphExec exec, unsigned int *ret_id)
{
	CUresult result = id_status(exec, ret_id);

	if (result == CUDA_SUCCESS)
		*ret_id = sim_exec_id(exec);
	return result;
}

/* ---- executable graphs ---- */

static CUresult instantiate(CUgraphExec *ret_exec, CUgraph graph, unsigned long long flags)
{
	struct sim_exec *exec;

	if (!ret_exec || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	exec = calloc(1, sizeof(*exec));
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->flags = flags;
	exec->tool_epoch = sim_tool && sim_tool->epoch ? sim_tool->epoch() : 0;
	exec->graph = sim_graph_copy(GRAPH(graph));
	*ret_exec = (CUgraphExec)exec;
	if (!exec->graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	sim_graph_renumber(exec->graph);
	return CUDA_SUCCESS;
}

ENTRY(cuGraphInstantiateWithFlags, 11040, (phGraphExec, hGraph, flags), CUgraphExec *phGraphExec, CUgraph hGraph,
	    unsigned long long flags)
{
	return instantiate(phGraphExec, hGraph, flags);
}

ENTRY_STREAM(cuGraphInstantiateWithParams, 12000, _ptsz, 12000, (phGraphExec, hGraph, instantiateParams),
	    CUgraphExec *phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	UNUSED(&is_per_thread);
	return instantiateParams ? instantiate(phGraphExec, hGraph, instantiateParams->flags) :
				   CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuGraphExecGetFlags, 12000, (hGraphExec, flags), CUgraphExec hGraphExec, cuuint64_t *flags)
{
	if (!hGraphExec || !flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = EXEC(hGraphExec)->flags;
	return CUDA_SUCCESS;
}

ENTRY(cuGraphExecUpdate_v2, 12000, (hGraphExec, hGraph, resultInfo), CUgraphExec hGraphExec, CUgraph hGraph,
	    CUgraphExecUpdateResultInfo *resultInfo)
{
	if (!hGraphExec || !hGraph)
		return CUDA_ERROR_INVALID_VALUE;
	if (resultInfo)
		memset(resultInfo, 0, sizeof(*resultInfo));
	if (sim_graph_update(EXEC(hGraphExec)->graph, GRAPH(hGraph)))
		return CUDA_SUCCESS;
	if (resultInfo)
		resultInfo->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

ENTRY(cuGraphExecDestroy, 10000, (hGraphExec), CUgraphExec hGraphExec)
{
	if (!hGraphExec)
		return CUDA_ERROR_INVALID_VALUE;
	sim_graph_free(EXEC(hGraphExec)->graph);
	free(hGraphExec);
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuGraphUpload, 11010, _ptsz, 11010, (hGraph, hStream), CUgraphExec hGraph, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return hGraph && stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY_STREAM(cuGraphLaunch, 10000, _ptsz, 10000, (hGraph, hStream), CUgraphExec hGraph, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return hGraph ? sim_graph_launch(EXEC(hGraph), stream) : CUDA_ERROR_INVALID_VALUE;
}
