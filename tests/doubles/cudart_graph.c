/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime double: graphs. */
#include "cudart.h"

#include <string.h>

void simrt_plan_3d(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *ret_plan);

RT(cudaGraphCreate, v10000, (pGraph, flags), cudaGraph_t *pGraph, unsigned int flags)
{
	return RT_ERROR(DRV(cuGraphCreate)(pGraph, flags));
}

RT(cudaGraphDestroy, v10000, (graph), cudaGraph_t graph)
{
	return RT_ERROR(DRV(cuGraphDestroy)(graph));
}

RT(cudaGraphClone, v10000, (pGraphClone, originalGraph), cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
	return RT_ERROR(DRV(cuGraphClone)(pGraphClone, originalGraph));
}

static bool kernel_plan(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *ret_plan)
{
	*ret_plan = (CUDA_KERNEL_NODE_PARAMS){
		.func = p ? simrt_function(p->func) : NULL,
		.gridDimX = p ? p->gridDim.x : 0, .gridDimY = p ? p->gridDim.y : 0, .gridDimZ = p ? p->gridDim.z : 0,
		.blockDimX = p ? p->blockDim.x : 0, .blockDimY = p ? p->blockDim.y : 0,
		.blockDimZ = p ? p->blockDim.z : 0, .sharedMemBytes = p ? p->sharedMemBytes : 0,
		.kernelParams = p ? p->kernelParams : NULL, .extra = p ? p->extra : NULL,
	};
	return ret_plan->func != NULL;
}

RT(cudaGraphAddKernelNode, v10000, (pGraphNode, graph, pDependencies, numDependencies, pNodeParams),
	    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
	    size_t numDependencies, const struct cudaKernelNodeParams *pNodeParams)
{
	CUDA_KERNEL_NODE_PARAMS plan;

	if (!kernel_plan(pNodeParams, &plan))
		return cudaErrorInvalidDeviceFunction;
	return RT_ERROR(DRV(cuGraphAddKernelNode_v2)(pGraphNode, graph, pDependencies, numDependencies, &plan));
}

RT(cudaGraphKernelNodeSetParams, v10000, (node, pNodeParams), cudaGraphNode_t node,
	    const struct cudaKernelNodeParams *pNodeParams)
{
	CUDA_KERNEL_NODE_PARAMS plan;

	if (!kernel_plan(pNodeParams, &plan))
		return cudaErrorInvalidDeviceFunction;
	return RT_ERROR(DRV(cuGraphKernelNodeSetParams_v2)(node, &plan));
}

RT(cudaGraphExecKernelNodeSetParams, v10010, (hGraphExec, node, pNodeParams), cudaGraphExec_t hGraphExec,
	    cudaGraphNode_t node, const struct cudaKernelNodeParams *pNodeParams)
{
	CUDA_KERNEL_NODE_PARAMS plan;

	if (!kernel_plan(pNodeParams, &plan))
		return cudaErrorInvalidDeviceFunction;
	return RT_ERROR(DRV(cuGraphExecKernelNodeSetParams_v2)(hGraphExec, node, &plan));
}

RT(cudaGraphAddMemcpyNode, v10000, (pGraphNode, graph, pDependencies, numDependencies, pCopyParams),
	    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
	    size_t numDependencies, const struct cudaMemcpy3DParms *pCopyParams)
{
	CUDA_MEMCPY3D plan;

	if (!pCopyParams)
		return cudaErrorInvalidValue;
	simrt_plan_3d(pCopyParams, &plan);
	return RT_ERROR(DRV(cuGraphAddMemcpyNode)(pGraphNode, graph, pDependencies, numDependencies, &plan,
						 simrt_primary(0)));
}

RT(cudaGraphAddMemcpyNode1D, v11010, (pGraphNode, graph, pDependencies, numDependencies, dst, src, count, kind),
	    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
	    size_t numDependencies, void* dst, const void* src, size_t count, enum cudaMemcpyKind kind)
{
	struct cudaMemcpy3DParms line = { .srcPtr = { (void *)(uintptr_t)src, count, count, 1 },
					  .dstPtr = { dst, count, count, 1 }, .extent = { count, 1, 1 } };
	CUDA_MEMCPY3D plan;

	(void)kind;
	simrt_plan_3d(&line, &plan);
	return RT_ERROR(DRV(cuGraphAddMemcpyNode)(pGraphNode, graph, pDependencies, numDependencies, &plan,
						 simrt_primary(0)));
}

RT(cudaGraphAddMemsetNode, v10000, (pGraphNode, graph, pDependencies, numDependencies, pMemsetParams),
	    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
	    size_t numDependencies, const struct cudaMemsetParams *pMemsetParams)
{
	CUDA_MEMSET_NODE_PARAMS plan;

	if (!pMemsetParams)
		return cudaErrorInvalidValue;
	plan = (CUDA_MEMSET_NODE_PARAMS){
		.dst = (CUdeviceptr)(uintptr_t)pMemsetParams->dst, .pitch = pMemsetParams->pitch,
		.value = pMemsetParams->value, .elementSize = pMemsetParams->elementSize,
		.width = pMemsetParams->width, .height = pMemsetParams->height,
	};
	return RT_ERROR(DRV(cuGraphAddMemsetNode)(pGraphNode, graph, pDependencies, numDependencies, &plan,
						 simrt_primary(0)));
}

RT(cudaGraphAddHostNode, v10000, (pGraphNode, graph, pDependencies, numDependencies, pNodeParams),
	    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
	    size_t numDependencies, const struct cudaHostNodeParams *pNodeParams)
{
	CUDA_HOST_NODE_PARAMS plan;

	if (!pNodeParams)
		return cudaErrorInvalidValue;
	plan = (CUDA_HOST_NODE_PARAMS){ .fn = pNodeParams->fn, .userData = pNodeParams->userData };
	return RT_ERROR(DRV(cuGraphAddHostNode)(pGraphNode, graph, pDependencies, numDependencies, &plan));
}

RT(cudaGraphAddEmptyNode, v10000, (pGraphNode, graph, pDependencies, numDependencies), cudaGraphNode_t *pGraphNode,
	    cudaGraph_t graph, const cudaGraphNode_t *pDependencies, size_t numDependencies)
{
	return RT_ERROR(DRV(cuGraphAddEmptyNode)(pGraphNode, graph, pDependencies, numDependencies));
}

RT(cudaGraphAddChildGraphNode, v10000, (pGraphNode, graph, pDependencies, numDependencies, childGraph),
	    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
	    size_t numDependencies, cudaGraph_t childGraph)
{
	return RT_ERROR(DRV(cuGraphAddChildGraphNode)(pGraphNode, graph, pDependencies, numDependencies, childGraph));
}

RT(cudaGraphConditionalHandleCreate, v12030, (pHandle_out, graph, defaultLaunchValue, flags),
	    cudaGraphConditionalHandle *pHandle_out, cudaGraph_t graph, unsigned int defaultLaunchValue,
	    unsigned int flags)
{
	return RT_ERROR(DRV(cuGraphConditionalHandleCreate)((CUgraphConditionalHandle *)pHandle_out, graph,
							    simrt_primary(0), defaultLaunchValue, flags));
}

RT(cudaGraphNodeGetType, v10000, (node, pType), cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
	return RT_ERROR(DRV(cuGraphNodeGetType)(node, (CUgraphNodeType *)pType));
}

RT(cudaGraphGetNodes, v10000, (graph, nodes, numNodes), cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
	return RT_ERROR(DRV(cuGraphGetNodes)(graph, nodes, numNodes));
}

RT(cudaGraphGetRootNodes, v10000, (graph, pRootNodes, pNumRootNodes), cudaGraph_t graph,
	    cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes)
{
	return RT_ERROR(DRV(cuGraphGetRootNodes)(graph, pRootNodes, pNumRootNodes));
}

/* ---- executable graphs ---- */

RT(cudaGraphInstantiate, v12000, (pGraphExec, graph, flags), cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
	    unsigned long long flags)
{
	return RT_ERROR(DRV(cuGraphInstantiateWithFlags)(pGraphExec, graph, flags));
}

RT(cudaGraphInstantiateWithFlags, v11040, (pGraphExec, graph, flags), cudaGraphExec_t *pGraphExec,
	    cudaGraph_t graph, unsigned long long flags)
{
	return RT_ERROR(DRV(cuGraphInstantiateWithFlags)(pGraphExec, graph, flags));
}

RT(cudaGraphExecUpdate, v10020, (hGraphExec, hGraph, resultInfo), cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
	    cudaGraphExecUpdateResultInfo *resultInfo)
{
	return RT_ERROR(DRV(cuGraphExecUpdate_v2)(hGraphExec, hGraph, (CUgraphExecUpdateResultInfo *)resultInfo));
}

RT(cudaGraphExecDestroy, v10000, (graphExec), cudaGraphExec_t graphExec)
{
	return RT_ERROR(DRV(cuGraphExecDestroy)(graphExec));
}

RT_STREAM(cudaGraphUpload, v10000, _ptsz, v10000, (graphExec, stream), cudaGraphExec_t graphExec,
	    cudaStream_t stream)
{
	return RT_ERROR(DRV_OF(cuGraphUpload, _ptsz)(graphExec, stream));
}

RT_STREAM(cudaGraphLaunch, v10000, _ptsz, v10000, (graphExec, stream), cudaGraphExec_t graphExec,
	    cudaStream_t stream)
{
	return RT_ERROR(DRV_OF(cuGraphLaunch, _ptsz)(graphExec, stream));
}
