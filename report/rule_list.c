/* SPDX-License-Identifier: Apache-2.0 */
/* The list of rules, in the order in which they are shown. */
#include <string.h>

#include "rule.h"

const struct rule rule_list[] = {
	{"cuda_memcpy_async", "cuda-async-memcpy", "CUDA Async Memcpy with Pageable Memory",
	 "Copies of pageable memory block the host whatever they are called: allocate the host's side with cudaMallocHost, or pin_memory().",
	 RULE_NSYS, rule_cuda_memcpy_async},
	{"cuda_memcpy_sync", "cuda-sync-memcpy", "CUDA Synchronous Memcpy",
	 "Use cudaMemcpyAsync on a stream, with pinned memory, and wait only where the result is needed.", RULE_NSYS, rule_cuda_memcpy_sync},
	{"cuda_memset_sync", "cuda-sync-memset", "CUDA Synchronous Memset", "Use cudaMemsetAsync, or memset() for host memory.", RULE_NSYS,
	 rule_cuda_memset_sync},
	{"cuda_api_sync", "cuda-sync-api", "CUDA Synchronization APIs",
	 "Let streams wait for each other with cudaStreamWaitEvent; let the host wait once, where it needs a result.", RULE_NSYS,
	 rule_cuda_api_sync},
	{"gpu_gaps", "gpu-starv", "GPU Gaps", "gpu_idle tells what each device waited for.", RULE_NSYS, rule_gpu_gaps},
	{"gpu_time_util", "gpu-low-util", "GPU Time Utilization", "gpu_idle tells what each device waited for.", RULE_NSYS,
	 rule_gpu_time_util},
	{"input_bound", NULL, "Steps That Wait for Input",
	 "Load ahead of the step: more loader workers, prefetching, less decoding, or data nearer to the machine.", 0, rule_input_bound},
	{"launch_bound", NULL, "Kernels Shorter Than Their Launch",
	 "Fuse small kernels or record them in a CUDA graph; torch.compile does both, larger batches make kernels longer.", 0,
	 rule_launch_bound},
	{"gpu_idle", NULL, "GPU Idle Time by Cause", "Begin with the largest cause; its line gave the device its next work, or held it up.",
	 0, rule_gpu_idle},
	{"implicit_sync", NULL, "Implicit Synchronization",
	 "Copy asynchronously, keep results on the device until the step's end (no .item(), .cpu() or print within it), and allocate before it.",
	 0, rule_implicit_sync},
	{"alloc_churn", NULL, "Allocator Churn", "Allocate once and reuse, or take memory from a pool: cudaMallocAsync, or the framework's allocator.",
	 0, rule_alloc_churn},
	{"pageable_copies", NULL, "Pageable Copies", "Pin the host's side: cudaMallocHost, cudaHostRegister, or pin_memory().", 0,
	 rule_pageable_copies},
	{"unpinned_loader", NULL, "Unpinned Loader", "DataLoader(pin_memory=True), and .to(device, non_blocking=True).", 0,
	 rule_unpinned_loader},
	{"tensor_dims", NULL, "Sizes Off the Tensor Cores", "Pad the sizes (vocabulary, hidden size, batch) to the multiple.", 0, rule_tensor_dims},
	{"cpu_oversubscribed", NULL, "CPU Oversubscription",
	 "Fewer threads: OMP_NUM_THREADS, torch.set_num_threads, fewer loader workers, or more cores for the job.", 0, rule_cpu_oversubscribed},
};

const size_t rule_count = sizeof(rule_list) / sizeof(*rule_list);

const struct rule *rule_find(const char *name)
{
	for (size_t i = 0; i < rule_count; i++)
		if (!strcmp(rule_list[i].name, name) || (rule_list[i].alias && !strcmp(rule_list[i].alias, name)))
			return &rule_list[i];
	return NULL;
}
