/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of an environment that make a program slower or check what it does, and are easily left set: X(name, what
 * it does). The recorder keeps them, the summary names those that are on. */
#pragma once

#define TF_SWITCHES(X)                                                      \
	X("CUDA_LAUNCH_BLOCKING", "each launch waits for its kernel")       \
	X("CUBLAS_WORKSPACE_CONFIG", "for deterministic algorithms")        \
	X("NCCL_DEBUG", "NCCL writes a log")                                \
	X("NCCL_P2P_DISABLE", "GPUs exchange data through host memory")     \
	X("NCCL_IB_DISABLE", "no InfiniBand")                               \
	X("TORCH_DISTRIBUTED_DEBUG", "collectives are compared")            \
	X("JAX_DISABLE_JIT", "nothing is compiled")                         \
	X("JAX_DEBUG_NANS", "each result is checked")                       \
	X("PYTHONDEVMODE", "Python checks itself")                          \
	X("PYTHONTRACEMALLOC", "Python notes where it allocates")           \
	X("MALLOC_CHECK_", "malloc checks its memory")                      \
	X("MALLOC_PERTURB_", "malloc fills memory")
