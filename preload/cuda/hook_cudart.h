/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA runtime's rows of the hook table: libcudart.so.12 and .13, shared.
 *
 * X(kind, returns, symbol, parameters, arguments, about, record)
 *   TIMED  the wrapper is generated; its prototype is that of all releases from 11.8 on (tests/abi)
 *   WORDS  generated too, for functions that not every header has, or whose prototype differs between versions: each
 *          parameter is a register wide, and those past what a version takes are passed on as they came
 *   OWN    the body is wrap_<symbol>() in wrap_cudart.c, CUPTI's in wrap_cupti.c
 * about: which threshold for stacks applies, enum cuda_kind, or COPY.
 * record: what is recorded besides the times and an error code, see cuda_call.h.
 * CUDA_PTDS, CUDA_PTSZ: a row and its variant for programs built with per-thread default streams. CUDA_NODE: a call
 *   that adds a node to a graph.
 *
 * Functions that are cheap and of little interest (cudaGetLastError, cudaGetDevice, __cudaPushCallConfiguration) have
 * no row. */
#pragma once

#define CUDA_PTDS(X, symbol, parameters, arguments, about, record)                                                     \
	X(TIMED, cudaError_t, symbol, parameters, arguments, about, record)                                            \
	X(TIMED, cudaError_t, symbol##_ptds, parameters, arguments, about, record)
#define CUDA_PTSZ(X, kind, symbol, parameters, arguments, about, record)                                               \
	X(kind, cudaError_t, symbol, parameters, arguments, about, record)                                             \
	X(kind, cudaError_t, symbol##_ptsz, parameters, arguments, about, record)

#define CUDA_NODE(X, symbol)                                                                                           \
	X(WORDS, cudaError_t, symbol, (void *node, void *graph, void *c, size_t d, void *e),                           \
		(node, graph, c, d, e), KERNEL, NODE(graph, node))

#define HOOK_CUDART(X)                                                                                                 \
	HOOK_CUDART_LAUNCH(X)                                                                                          \
	HOOK_CUDART_MEMORY(X)                                                                                          \
	HOOK_CUDART_COPY(X)                                                                                            \
	HOOK_CUDART_SET(X)                                                                                             \
	HOOK_CUDART_STREAM(X)                                                                                          \
	HOOK_CUDART_GRAPH(X)                                                                                           \
	HOOK_CUDART_OTHER(X)

/* nvcc compiles <<<>>> to cudaLaunchKernel up to CUDA 12, to __cudaLaunchKernel from 13 on. */
#define HOOK_CUDART_LAUNCH(X)                                                                                          \
	CUDA_PTSZ(X, TIMED, cudaLaunchKernel,                                                                          \
		(const void *f, dim3 g, dim3 b, void **a, size_t shared, cudaStream_t s), (f, g, b, a, shared, s),     \
		KERNEL, LAUNCH(f, g, b, shared, s))                                                                    \
	CUDA_PTSZ(X, TIMED, cudaLaunchCooperativeKernel,                                                               \
		(const void *f, dim3 g, dim3 b, void **a, size_t shared, cudaStream_t s), (f, g, b, a, shared, s),     \
		KERNEL, LAUNCH(f, g, b, shared, s))                                                                    \
	CUDA_PTSZ(X, WORDS, __cudaLaunchKernel,                                                                        \
		(const void *f, dim3 g, dim3 b, void **a, size_t shared, cudaStream_t s), (f, g, b, a, shared, s),     \
		KERNEL, LAUNCH(f, g, b, shared, s))                                                                    \
	CUDA_PTSZ(X, TIMED, cudaLaunchKernelExC, (const cudaLaunchConfig_t *c, const void *f, void **a), (c, f, a),    \
		KERNEL, CONFIGURED(c, f))                                                                              \
	X(WORDS, cudaError_t, cudaLaunchCooperativeKernelMultiDevice, (void *list, size_t n, size_t flags),            \
		(list, n, flags), KERNEL, NOTHING)                                                                     \
	CUDA_PTSZ(X, TIMED, cudaGraphLaunch, (cudaGraphExec_t g, cudaStream_t s), (g, s), KERNEL, GRAPH(g, s))         \
	CUDA_PTSZ(X, TIMED, cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void *data), (s, f, data), KERNEL,    \
		HOST(f, s))                                                                                            \
	CUDA_PTSZ(X, WORDS, cudaLaunchHostFunc_v2, (void *s, void *f, void *data, size_t mode), (s, f, data, mode),    \
		KERNEL, HOST(f, s))                                                                                    \
	/* registration and lookup of kernels, and launches */                                                         \
	X(OWN, void, __cudaRegisterFunction,                                                                           \
		(void **binary, const char *f, char *device, const char *name, int limit, void *tid, void *bid,        \
		  void *block, void *grid, int *warp), (binary, f, device, name, limit, tid, bid, block, grid, warp),  \
		OTHER, NOTHING)                                                                                        \
	X(OWN, cudaError_t, __cudaGetKernel, (void **kernel, const void *function), (kernel, function), OTHER,         \
		NOTHING)                                                                                               \
	X(OWN, cudaError_t, cudaGetKernel, (void **kernel, const void *function), (kernel, function), OTHER, NOTHING)  \
	X(OWN, cudaError_t, cudaGetFuncBySymbol, (void **function, const void *symbol), (function, symbol), OTHER,     \
		NOTHING)                                                                                               \
	X(OWN, cudaError_t, cudaLibraryGetKernel, (void **kernel, void *library, const char *name),                    \
		(kernel, library, name), OTHER, NOTHING)

#define HOOK_CUDART_MEMORY(X)                                                                                          \
	X(TIMED, cudaError_t, cudaMalloc, (void **p, size_t n), (p, n), MEMORY, ALLOC(DEVICE, *p, n))                  \
	X(TIMED, cudaError_t, cudaMallocManaged, (void **p, size_t n, unsigned flags), (p, n, flags), MEMORY,          \
		ALLOC(MANAGED, *p, n))                                                                                 \
	X(TIMED, cudaError_t, cudaMallocHost, (void **p, size_t n), (p, n), MEMORY, ALLOC(HOST, *p, n))                \
	X(TIMED, cudaError_t, cudaHostAlloc, (void **p, size_t n, unsigned flags), (p, n, flags), MEMORY,              \
		ALLOC(HOST, *p, n))                                                                                    \
	X(TIMED, cudaError_t, cudaHostRegister, (void *p, size_t n, unsigned flags), (p, n, flags), MEMORY,            \
		ALLOC(HOST, p, n))                                                                                     \
	X(TIMED, cudaError_t, cudaHostUnregister, (void *p), (p), MEMORY, FREE(HOST, p))                               \
	X(TIMED, cudaError_t, cudaMallocPitch, (void **p, size_t *pitch, size_t width, size_t height),                 \
		(p, pitch, width, height), MEMORY, ALLOC(DEVICE, *p, (result ? width : *pitch) * height))              \
	X(TIMED, cudaError_t, cudaMalloc3D, (struct cudaPitchedPtr *p, struct cudaExtent e), (p, e), MEMORY,           \
		ALLOC(DEVICE, p->ptr, (result ? e.width : p->pitch) * e.height * e.depth))                             \
	X(TIMED, cudaError_t, cudaMallocArray,                                                                         \
		(cudaArray_t *p, const struct cudaChannelFormatDesc *d, size_t width, size_t height, unsigned flags),  \
		(p, d, width, height, flags), MEMORY, ARRAY(*p, element_of(d), width, height, 0, 1))                   \
	X(TIMED, cudaError_t, cudaMalloc3DArray,                                                                       \
		(cudaArray_t *p, const struct cudaChannelFormatDesc *d, struct cudaExtent e, unsigned flags),          \
		(p, d, e, flags), MEMORY, ARRAY(*p, element_of(d), e.width, e.height, e.depth, 1))                     \
	X(TIMED, cudaError_t, cudaMallocMipmappedArray,                                                                \
		(cudaMipmappedArray_t *p, const struct cudaChannelFormatDesc *d, struct cudaExtent e,                  \
		  unsigned levels, unsigned flags), (p, d, e, levels, flags), MEMORY,                                  \
		ARRAY(*p, element_of(d), e.width, e.height, e.depth, levels))                                          \
	CUDA_PTSZ(X, TIMED, cudaMallocAsync, (void **p, size_t n, cudaStream_t s), (p, n, s), MEMORY,                  \
		ALLOC(POOL, *p, n))                                                                                    \
	CUDA_PTSZ(X, TIMED, cudaMallocFromPoolAsync, (void **p, size_t n, cudaMemPool_t pool, cudaStream_t s),         \
		(p, n, pool, s), MEMORY, ALLOC(POOL, *p, n))                                                           \
	X(TIMED, cudaError_t, cudaFree, (void *p), (p), MEMORY, FREE(DEVICE, p))                                       \
	X(TIMED, cudaError_t, cudaFreeHost, (void *p), (p), MEMORY, FREE(HOST, p))                                     \
	X(TIMED, cudaError_t, cudaFreeArray, (cudaArray_t p), (p), MEMORY, FREE(DEVICE, p))                            \
	X(TIMED, cudaError_t, cudaFreeMipmappedArray, (cudaMipmappedArray_t p), (p), MEMORY, FREE(DEVICE, p))          \
	CUDA_PTSZ(X, TIMED, cudaFreeAsync, (void *p, cudaStream_t s), (p, s), MEMORY, FREE(POOL, p))                   \
	X(TIMED, cudaError_t, cudaMemPoolCreate, (cudaMemPool_t * pool, const struct cudaMemPoolProps *p), (pool, p),  \
		MEMORY, NOTHING)                                                                                       \
	X(TIMED, cudaError_t, cudaMemPoolDestroy, (cudaMemPool_t pool), (pool), MEMORY, NOTHING)                       \
	X(TIMED, cudaError_t, cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t n), (pool, n), MEMORY, NOTHING)           \
	X(TIMED, cudaError_t, cudaIpcGetMemHandle, (cudaIpcMemHandle_t * h, void *p), (h, p), MEMORY, NOTHING)         \
	X(TIMED, cudaError_t, cudaIpcOpenMemHandle, (void **p, cudaIpcMemHandle_t h, unsigned flags), (p, h, flags),   \
		MEMORY, NOTHING)                                                                                       \
	X(TIMED, cudaError_t, cudaIpcCloseMemHandle, (void *p), (p), MEMORY, NOTHING)                                  \
	X(TIMED, cudaError_t, cudaMemGetInfo, (size_t *left, size_t *total), (left, total), MEMORY,                    \
		LEFT(*left, *total))                                                                                   \
	X(WORDS, cudaError_t, cudaMemAdvise, (const void *p, size_t n, size_t advice, size_t where),                   \
		(p, n, advice, where), MEMORY, BYTES(n))                                                               \
	X(WORDS, cudaError_t, cudaMemAdvise_v2, (const void *p, size_t n, size_t advice, size_t where),                \
		(p, n, advice, where), MEMORY, BYTES(n))                                                               \
	CUDA_PTSZ(X, WORDS, cudaMemPrefetchAsync, (const void *p, size_t n, size_t c, size_t d, size_t e),             \
		(p, n, c, d, e), MEMORY, BYTES(n))                                                                     \
	CUDA_PTSZ(X, WORDS, cudaMemPrefetchAsync_v2, (const void *p, size_t n, size_t c, size_t d, size_t e),          \
		(p, n, c, d, e), MEMORY, BYTES(n))                                                                     \
	CUDA_PTSZ(X, WORDS, cudaMemPrefetchBatchAsync,                                                                 \
		(void **p, size_t *sizes, size_t n, size_t d, size_t e, size_t f, size_t g, size_t h),                 \
		(p, sizes, n, d, e, f, g, h), MEMORY, BYTES(cuda_total(sizes, n)))                                     \
	CUDA_PTSZ(X, WORDS, cudaMemDiscardBatchAsync, (void **p, size_t *sizes, size_t n, size_t d, size_t e),         \
		(p, sizes, n, d, e), MEMORY, BYTES(cuda_total(sizes, n)))                                              \
	CUDA_PTSZ(X, WORDS, cudaMemDiscardAndPrefetchBatchAsync,                                                       \
		(void **p, size_t *sizes, size_t n, size_t d, size_t e, size_t f, size_t g, size_t h),                 \
		(p, sizes, n, d, e, f, g, h), MEMORY, BYTES(cuda_total(sizes, n)))

#define HOOK_CUDART_COPY(X)                                                                                            \
	CUDA_PTDS(X, cudaMemcpy, (void *to, const void *from, size_t n, enum cudaMemcpyKind k), (to, from, n, k),      \
		COPY, COPY(k, n))                                                                                      \
	CUDA_PTDS(X, cudaMemcpy2D,                                                                                     \
		(void *to, size_t tp, const void *from, size_t fp, size_t width, size_t height,                        \
		  enum cudaMemcpyKind k), (to, tp, from, fp, width, height, k), COPY, COPY(k, width * height))         \
	CUDA_PTDS(X, cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), (p), COPY,                                     \
		COPY(p->kind, extent(p->extent, p->srcArray, p->dstArray)))                                            \
	CUDA_PTDS(X, cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p), (p), COPY,                             \
		COPY(cudaMemcpyDeviceToDevice, extent(p->extent, p->srcArray, p->dstArray)))                           \
	X(TIMED, cudaError_t, cudaMemcpyPeer, (void *to, int td, const void *from, int fd, size_t n),                  \
		(to, td, from, fd, n), COPY, COPY(cudaMemcpyDeviceToDevice, n))                                        \
	CUDA_PTDS(X, cudaMemcpyToSymbol,                                                                               \
		(const void *to, const void *from, size_t n, size_t at, enum cudaMemcpyKind k), (to, from, n, at, k),  \
		COPY, COPY(k, n))                                                                                      \
	CUDA_PTDS(X, cudaMemcpyFromSymbol, (void *to, const void *from, size_t n, size_t at, enum cudaMemcpyKind k),   \
		(to, from, n, at, k), COPY, COPY(k, n))                                                                \
	CUDA_PTDS(X, cudaMemcpyToArray,                                                                                \
		(cudaArray_t to, size_t x, size_t y, const void *from, size_t n, enum cudaMemcpyKind k),               \
		(to, x, y, from, n, k), COPY, COPY(k, n))                                                              \
	CUDA_PTDS(X, cudaMemcpyFromArray,                                                                              \
		(void *to, cudaArray_const_t from, size_t x, size_t y, size_t n, enum cudaMemcpyKind k),               \
		(to, from, x, y, n, k), COPY, COPY(k, n))                                                              \
	CUDA_PTDS(X, cudaMemcpyArrayToArray,                                                                           \
		(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from, size_t fx, size_t fy, size_t n,           \
		  enum cudaMemcpyKind k), (to, x, y, from, fx, fy, n, k), COPY, COPY(k, n))                            \
	CUDA_PTDS(X, cudaMemcpy2DToArray,                                                                              \
		(cudaArray_t to, size_t x, size_t y, const void *from, size_t fp, size_t width, size_t height,         \
		  enum cudaMemcpyKind k), (to, x, y, from, fp, width, height, k), COPY, COPY(k, width * height))       \
	CUDA_PTDS(X, cudaMemcpy2DFromArray,                                                                            \
		(void *to, size_t tp, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,         \
		  enum cudaMemcpyKind k), (to, tp, from, x, y, width, height, k), COPY, COPY(k, width * height))       \
	CUDA_PTDS(X, cudaMemcpy2DArrayToArray,                                                                         \
		(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from, size_t fx, size_t fy, size_t width,       \
		  size_t height, enum cudaMemcpyKind k), (to, x, y, from, fx, fy, width, height, k), COPY,             \
		COPY(k, width * height))                                                                               \
	CUDA_PTSZ(X, TIMED, cudaMemcpyAsync,                                                                           \
		(void *to, const void *from, size_t n, enum cudaMemcpyKind k, cudaStream_t s), (to, from, n, k, s),    \
		COPY, COPY_ASYNC(k, n, s))                                                                             \
	CUDA_PTSZ(X, TIMED, cudaMemcpy2DAsync,                                                                         \
		(void *to, size_t tp, const void *from, size_t fp, size_t width, size_t height,                        \
		  enum cudaMemcpyKind k, cudaStream_t s), (to, tp, from, fp, width, height, k, s), COPY,               \
		COPY_ASYNC(k, width * height, s))                                                                      \
	CUDA_PTSZ(X, TIMED, cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t s), (p, s), COPY,      \
		COPY_ASYNC(p->kind, extent(p->extent, p->srcArray, p->dstArray), s))                                   \
	CUDA_PTSZ(X, TIMED, cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t s), (p, s),    \
		COPY, COPY_ASYNC(cudaMemcpyDeviceToDevice, extent(p->extent, p->srcArray, p->dstArray), s))            \
	X(TIMED, cudaError_t, cudaMemcpyPeerAsync,                                                                     \
		(void *to, int td, const void *from, int fd, size_t n, cudaStream_t s), (to, td, from, fd, n, s),      \
		COPY, COPY_ASYNC(cudaMemcpyDeviceToDevice, n, s))                                                      \
	CUDA_PTSZ(X, TIMED, cudaMemcpyToSymbolAsync,                                                                   \
		(const void *to, const void *from, size_t n, size_t at, enum cudaMemcpyKind k, cudaStream_t s),        \
		(to, from, n, at, k, s), COPY, COPY_ASYNC(k, n, s))                                                    \
	CUDA_PTSZ(X, TIMED, cudaMemcpyFromSymbolAsync,                                                                 \
		(void *to, const void *from, size_t n, size_t at, enum cudaMemcpyKind k, cudaStream_t s),              \
		(to, from, n, at, k, s), COPY, COPY_ASYNC(k, n, s))                                                    \
	CUDA_PTSZ(X, TIMED, cudaMemcpyToArrayAsync,                                                                    \
		(cudaArray_t to, size_t x, size_t y, const void *from, size_t n, enum cudaMemcpyKind k,                \
		  cudaStream_t s), (to, x, y, from, n, k, s), COPY, COPY_ASYNC(k, n, s))                               \
	CUDA_PTSZ(X, TIMED, cudaMemcpyFromArrayAsync,                                                                  \
		(void *to, cudaArray_const_t from, size_t x, size_t y, size_t n, enum cudaMemcpyKind k,                \
		  cudaStream_t s), (to, from, x, y, n, k, s), COPY, COPY_ASYNC(k, n, s))                               \
	CUDA_PTSZ(X, TIMED, cudaMemcpy2DToArrayAsync,                                                                  \
		(cudaArray_t to, size_t x, size_t y, const void *from, size_t fp, size_t width, size_t height,         \
		  enum cudaMemcpyKind k, cudaStream_t s), (to, x, y, from, fp, width, height, k, s), COPY,             \
		COPY_ASYNC(k, width * height, s))                                                                      \
	CUDA_PTSZ(X, TIMED, cudaMemcpy2DFromArrayAsync,                                                                \
		(void *to, size_t tp, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,         \
		  enum cudaMemcpyKind k, cudaStream_t s), (to, tp, from, x, y, width, height, k, s), COPY,             \
		COPY_ASYNC(k, width * height, s))                                                                      \
	/* the eighth word is the stream in 13, the ninth in 12 */                                                     \
	CUDA_PTSZ(X, WORDS, cudaMemcpyBatchAsync,                                                                      \
		(void **to, void **from, size_t *sizes, size_t n, size_t e, size_t f, size_t g, size_t h, size_t i),   \
		(to, from, sizes, n, e, f, g, h, i), COPY, BATCH(cudaMemcpyDefault, cuda_total(sizes, n)))             \
	CUDA_PTSZ(X, WORDS, cudaMemcpy3DBatchAsync, (size_t n, void *list, size_t c, size_t d, size_t e),              \
		(n, list, c, d, e), COPY, NOTHING)                                                                     \
	CUDA_PTSZ(X, WORDS, cudaMemcpyWithAttributesAsync,                                                             \
		(void *to, const void *from, size_t n, void *attributes, cudaStream_t s),                              \
		(to, from, n, attributes, s), COPY, COPY_ASYNC(cudaMemcpyDefault, n, s))                               \
	CUDA_PTSZ(X, WORDS, cudaMemcpy3DWithAttributesAsync, (void *op, size_t flags, cudaStream_t s),                 \
		(op, flags, s), COPY, STREAM(s))

#define HOOK_CUDART_SET(X)                                                                                             \
	CUDA_PTDS(X, cudaMemset, (void *p, int v, size_t n), (p, v, n), COPY, COPY(63, n))                             \
	CUDA_PTDS(X, cudaMemset2D, (void *p, size_t pitch, int v, size_t width, size_t height),                        \
		(p, pitch, v, width, height), COPY, COPY(63, width * height))                                          \
	CUDA_PTDS(X, cudaMemset3D, (struct cudaPitchedPtr p, int v, struct cudaExtent e), (p, v, e), COPY,             \
		COPY(63, e.width * e.height * e.depth))                                                                \
	CUDA_PTSZ(X, TIMED, cudaMemsetAsync, (void *p, int v, size_t n, cudaStream_t s), (p, v, n, s), COPY,           \
		COPY_ASYNC(63, n, s))                                                                                  \
	CUDA_PTSZ(X, TIMED, cudaMemset2DAsync,                                                                         \
		(void *p, size_t pitch, int v, size_t width, size_t height, cudaStream_t s),                           \
		(p, pitch, v, width, height, s), COPY, COPY_ASYNC(63, width * height, s))                              \
	CUDA_PTSZ(X, TIMED, cudaMemset3DAsync, (struct cudaPitchedPtr p, int v, struct cudaExtent e, cudaStream_t s),  \
		(p, v, e, s), COPY, COPY_ASYNC(63, e.width * e.height * e.depth, s))

#define HOOK_CUDART_STREAM(X)                                                                                          \
	X(TIMED, cudaError_t, cudaStreamCreate, (cudaStream_t * s), (s), OTHER, NOTHING)                               \
	X(TIMED, cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t * s, unsigned flags), (s, flags), OTHER,        \
		NOTHING)                                                                                               \
	X(TIMED, cudaError_t, cudaStreamCreateWithPriority, (cudaStream_t * s, unsigned flags, int priority),          \
		(s, flags, priority), OTHER, NOTHING)                                                                  \
	X(TIMED, cudaError_t, cudaStreamDestroy, (cudaStream_t s), (s), OTHER, NOTHING)                                \
	CUDA_PTSZ(X, TIMED, cudaStreamQuery, (cudaStream_t s), (s), OTHER, NOTHING)                                    \
	CUDA_PTSZ(X, TIMED, cudaStreamSynchronize, (cudaStream_t s), (s), SYNC, STREAM(s))                             \
	CUDA_PTSZ(X, TIMED, cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned flags), (s, e, flags),       \
		OTHER, STREAM(s))                                                                                      \
	CUDA_PTSZ(X, TIMED, cudaStreamAttachMemAsync, (cudaStream_t s, void *p, size_t n, unsigned flags),             \
		(s, p, n, flags), OTHER, STREAM(s))                                                                    \
	CUDA_PTSZ(X, TIMED, cudaStreamAddCallback,                                                                     \
		(cudaStream_t s, cudaStreamCallback_t f, void *data, unsigned flags), (s, f, data, flags), OTHER,      \
		STREAM(s))                                                                                             \
	CUDA_PTSZ(X, TIMED, cudaStreamBeginCapture, (cudaStream_t s, enum cudaStreamCaptureMode m), (s, m), OTHER,     \
		CAPTURE_BEGINS(s))                                                                                     \
	CUDA_PTSZ(X, WORDS, cudaStreamBeginCaptureToGraph, (void *s, void *g, void *c, void *d, size_t n, size_t m),   \
		(s, g, c, d, n, m), OTHER, CAPTURE_BEGINS(s))                                                          \
	CUDA_PTSZ(X, TIMED, cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t *g), (s, g), OTHER, CAPTURE_ENDS(s))    \
	CUDA_PTSZ(X, WORDS, cudaSignalExternalSemaphoresAsync, (void *a, void *b, size_t n, void *s), (a, b, n, s),    \
		OTHER, STREAM(s))                                                                                      \
	CUDA_PTSZ(X, WORDS, cudaSignalExternalSemaphoresAsync_v2, (void *a, void *b, size_t n, void *s),               \
		(a, b, n, s), OTHER, STREAM(s))                                                                        \
	CUDA_PTSZ(X, WORDS, cudaWaitExternalSemaphoresAsync, (void *a, void *b, size_t n, void *s), (a, b, n, s),      \
		OTHER, STREAM(s))                                                                                      \
	CUDA_PTSZ(X, WORDS, cudaWaitExternalSemaphoresAsync_v2, (void *a, void *b, size_t n, void *s), (a, b, n, s),   \
		OTHER, STREAM(s))                                                                                      \
	X(TIMED, cudaError_t, cudaEventCreate, (cudaEvent_t * e), (e), OTHER, NOTHING)                                 \
	X(TIMED, cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * e, unsigned flags), (e, flags), OTHER,          \
		NOTHING)                                                                                               \
	CUDA_PTSZ(X, TIMED, cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, s), OTHER, STREAM(s))                \
	CUDA_PTSZ(X, TIMED, cudaEventRecordWithFlags, (cudaEvent_t e, cudaStream_t s, unsigned flags), (e, s, flags),  \
		OTHER, STREAM(s))                                                                                      \
	X(TIMED, cudaError_t, cudaEventQuery, (cudaEvent_t e), (e), OTHER, NOTHING)                                    \
	X(TIMED, cudaError_t, cudaEventSynchronize, (cudaEvent_t e), (e), SYNC, NOTHING)                               \
	X(TIMED, cudaError_t, cudaEventElapsedTime, (float *ms, cudaEvent_t from, cudaEvent_t to), (ms, from, to),     \
		OTHER, NOTHING)                                                                                        \
	X(WORDS, cudaError_t, cudaEventElapsedTime_v2, (float *ms, void *from, void *to), (ms, from, to), OTHER,       \
		NOTHING)                                                                                               \
	X(TIMED, cudaError_t, cudaEventDestroy, (cudaEvent_t e), (e), OTHER, NOTHING)                                  \
	X(TIMED, cudaError_t, cudaDeviceSynchronize, (void), (), SYNC, NOTHING)                                        \
	X(WORDS, cudaError_t, cudaExecutionCtxSynchronize, (void *context), (context), SYNC, NOTHING)                  \
	X(WORDS, cudaError_t, cudaThreadSynchronize, (void), (), SYNC, NOTHING)

#define HOOK_CUDART_GRAPH(X)                                                                                           \
	/* the third is flags from CUDA 12 on, a pointer before */                                                     \
	X(WORDS, cudaError_t, cudaGraphInstantiate, (void **exec, void *g, size_t c, size_t d, size_t e),              \
		(exec, g, c, d, e), OTHER, INSTANTIATED_WITH(exec, g, c < 4096 ? c : 0))                               \
	X(WORDS, cudaError_t, cudaGraphInstantiateWithFlags, (void **exec, void *g, size_t flags), (exec, g, flags),   \
		OTHER, INSTANTIATED_WITH(exec, g, flags))                                                              \
	CUDA_PTSZ(X, WORDS, cudaGraphInstantiateWithParams, (void **exec, void *g, void *p), (exec, g, p), OTHER,      \
		INSTANTIATED_WITH(exec, g, *(uint64_t *)p))                                                            \
	CUDA_PTSZ(X, TIMED, cudaGraphUpload, (cudaGraphExec_t g, cudaStream_t s), (g, s), OTHER, STREAM(s))            \
	X(WORDS, cudaError_t, cudaGraphExecUpdate, (void *exec, void *g, void *c, void *d), (exec, g, c, d), OTHER,    \
		UPDATED(exec, g))                                                                                      \
	X(TIMED, cudaError_t, cudaGraphExecDestroy, (cudaGraphExec_t g), (g), OTHER, NOTHING)                          \
	X(TIMED, cudaError_t, cudaGraphDestroy, (cudaGraph_t g), (g), OTHER, NOTHING)                                  \
	X(WORDS, cudaError_t, cudaGraphClone, (void *clone, void *g), (clone, g), OTHER, CLONED(clone, g))             \
	/* nodes of a graph, which are launched with it: stacks as for launches */                                     \
	CUDA_NODE(X, cudaGraphAddKernelNode)                                                                           \
	CUDA_NODE(X, cudaGraphAddMemcpyNode)                                                                           \
	CUDA_NODE(X, cudaGraphAddMemsetNode)                                                                           \
	CUDA_NODE(X, cudaGraphAddHostNode)                                                                             \
	X(WORDS, cudaError_t, cudaGraphAddMemcpyNode1D,                                                                \
		(void *node, void *graph, void *c, size_t d, void *to, void *from, size_t n, size_t kind),             \
		(node, graph, c, d, to, from, n, kind), KERNEL, NODE(graph, node))                                     \
	X(WORDS, cudaError_t, cudaGraphAddMemcpyNodeToSymbol,                                                          \
		(void *node, void *graph, void *c, size_t d, void *to, void *from, size_t n, size_t at, size_t kind),  \
		(node, graph, c, d, to, from, n, at, kind), KERNEL, NODE(graph, node))                                 \
	X(WORDS, cudaError_t, cudaGraphAddMemcpyNodeFromSymbol,                                                        \
		(void *node, void *graph, void *c, size_t d, void *to, void *from, size_t n, size_t at, size_t kind),  \
		(node, graph, c, d, to, from, n, at, kind), KERNEL, NODE(graph, node))                                 \
	X(WORDS, cudaError_t, cudaGraphAddChildGraphNode,                                                              \
		(void *node, void *graph, void *dependencies, size_t count, void *child),                              \
		(node, graph, dependencies, count, child), KERNEL, CHILD(graph, node, child))                          \
	/* up to 12.x the parameters of the node are its fifth argument, from 13.0 on its sixth, as of _v2 */          \
	X(WORDS, cudaError_t, cudaGraphAddNode, (void *node, void *graph, void *c, void *d, void *e, void *f),         \
		(node, graph, c, d, e, f), KERNEL, ANY_NODE(graph, node, runtime_major((void *)real) < 13 ? e : f))    \
	X(WORDS, cudaError_t, cudaGraphAddNode_v2, (void *node, void *graph, void *c, void *d, size_t e, void *f),     \
		(node, graph, c, d, e, f), KERNEL, ANY_NODE(graph, node, f))

#define HOOK_CUDART_OTHER(X)                                                                                           \
	X(TIMED, cudaError_t, cudaSetDevice, (int device), (device), OTHER, DEVICE(device))                            \
	X(WORDS, cudaError_t, cudaInitDevice, (size_t device, size_t flags, size_t more), (device, flags, more),       \
		OTHER, NOTHING)                                                                                        \
	X(TIMED, cudaError_t, cudaSetDeviceFlags, (unsigned flags), (flags), OTHER, NOTHING)                           \
	X(OWN, cudaError_t, cudaDeviceReset, (void), (), OTHER, NOTHING)                                               \
	X(TIMED, cudaError_t, cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), (limit, value), OTHER,         \
		NOTHING)                                                                                               \
	X(TIMED, cudaError_t, cudaDeviceEnablePeerAccess, (int device, unsigned flags), (device, flags), OTHER,        \
		NOTHING)                                                                                               \
	X(TIMED, cudaError_t, cudaDeviceDisablePeerAccess, (int device), (device), OTHER, NOTHING)                     \
	X(TIMED, cudaError_t, cudaFuncGetAttributes, (struct cudaFuncAttributes * a, const void *f), (a, f), OTHER,    \
		NOTHING)                                                                                               \
	X(TIMED, cudaError_t, cudaFuncSetAttribute, (const void *f, enum cudaFuncAttribute a, int value),              \
		(f, a, value), OTHER, NOTHING)                                                                         \
	X(WORDS, cudaError_t, cudaLibraryLoadData,                                                                     \
		(void *a, void *b, void *c, void *d, size_t e, void *f, void *g, size_t h), (a, b, c, d, e, f, g, h),  \
		OTHER, NOTHING)                                                                                        \
	X(WORDS, cudaError_t, cudaLibraryLoadFromFile,                                                                 \
		(void *a, void *b, void *c, void *d, size_t e, void *f, void *g, size_t h), (a, b, c, d, e, f, g, h),  \
		OTHER, NOTHING)                                                                                        \
	X(WORDS, cudaError_t, cudaLibraryUnload, (void *library), (library), OTHER, NOTHING)                           \
	CUDA_PTSZ(X, OWN, cudaGetDriverEntryPoint, (const char *name, void **ret, uint64_t flags, void *status),       \
		(name, ret, flags, status), OTHER, NOTHING)                                                            \
	CUDA_PTSZ(X, OWN, cudaGetDriverEntryPointByVersion,                                                            \
		(const char *name, void **ret, unsigned version, uint64_t flags, void *status),                        \
		(name, ret, version, flags, status), OTHER, NOTHING)                                                   \
	X(OWN, int, cuptiActivityRegisterCallbacks, (void *request, void *complete), (request, complete), OTHER,       \
		NOTHING)                                                                                               \
	X(OWN, int, cuptiActivityRegisterTimestampCallback, (void *now), (now), OTHER, NOTHING)                        \
	X(OWN, int, cuptiActivityEnable, (uint32_t kind), (kind), OTHER, NOTHING)                                      \
	X(OWN, int, cuptiActivityDisable, (uint32_t kind), (kind), OTHER, NOTHING)                                     \
	/* the other functions of the _v2 family need a subscription, before which CUPTI has been handed over */       \
	X(OWN, int, cuptiSubscribe_v2, (void *ret, void *callback, void *data, void *params),                          \
		(ret, callback, data, params), OTHER, NOTHING)                                                         \
	X(OWN, int, cuptiUnsubscribe, (void *subscriber), (subscriber), OTHER, NOTHING)                                \
	X(OWN, int, cuptiActivityEnableAndDump, (uint32_t kind), (kind), OTHER, NOTHING)                               \
	X(OWN, int, cuptiActivitySetAttribute, (uint32_t attribute, size_t *size, void *value),                        \
		(attribute, size, value), OTHER, NOTHING)                                                              \
	X(OWN, int, cuptiActivitySetAttribute_v2, (void *subscriber, uint32_t attribute, size_t *size, void *value),   \
		(subscriber, attribute, size, value), OTHER, NOTHING)                                                  \
	X(OWN, int, cuptiFinalize, (void), (), OTHER, NOTHING)                                                         \
	X(OWN, cudaError_t, cudaProfilerStart, (void), (), OTHER, NOTHING)                                             \
	X(OWN, cudaError_t, cudaProfilerStop, (void), (), OTHER, NOTHING)
