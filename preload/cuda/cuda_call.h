/* SPDX-License-Identifier: Apache-2.0 */
/* How calls of CUDA's runtime and driver are recorded. Every call is recorded, however short, with the same arguments
 * for both layers. A file that uses CUDA_TIME must define CUDA_LAYER, the group of its functions. */
#pragma once

#include "preload/cuda/cuda_abi.h"
#include "runtime/recorder/device/cupti.h"
#include "runtime/recorder/device/event_timing.h"
#include "runtime/recorder/device/graph.h"
#include "preload/hook/entry.h"

/* wrap_<symbol>: the bodies of the OWN rows. */
#define CUDA_DECLARE(kind, returns, symbol, parameters, arguments, ...)                                                \
	HOOK_SECOND(CUDA_DECLARE_##kind, HOOK_NOT, )(returns, symbol, parameters, arguments)
#define CUDA_DECLARE_OWN , CUDA_DECLARE_WRAP
#define CUDA_DECLARE_WRAP(returns, symbol, parameters, arguments)                                                      \
	returns wrap_##symbol ENTRY_APPEND(parameters, arguments, struct hook_entry);
HOOK_CUDART(CUDA_DECLARE)
HOOK_CUDA(CUDA_DECLARE)
#undef CUDA_DECLARE

/* Whether the call is only forwarded: it is not selected, or it is outside of the capture range and CUPTI is paused. */
static inline bool cuda_is_off(unsigned layer)
{
	return __builtin_expect(!event_enabled(layer), 0) && !cupti_may_record();
}

/* The executable graph that a row launches. Of all other rows it is NULL. */
#define CUDA_EXEC_GRAPH(g, stream) , (void *)(g)

/* Executes `real_call`, stores its result in `result` and records it as the row's `record` requires. HOOK_CURRENT is
 * the row's id. */
#define CUDA_TIME(real_call, about, record)                                                                            \
	do {                                                                                                           \
		struct cuda_operation work_;                                                                           \
		struct call event_;                                                                                    \
                                                                                                                       \
		work_.timing.number = 0;                                                                               \
		cupti_follow(event_enabled(CUDA_LAYER));                                                               \
		if (!event_enabled(CUDA_LAYER) || cuda_is_inside(HOOK_CURRENT) || ({                                   \
			    if (event_timing_is_on())                                                                  \
				    HOOK_SECOND(CUDA_OPERATION_##record, (void)0, );                                   \
			    !call_begin(&event_, HOOK_CURRENT);                                                        \
		    })) {                                                                                              \
			result = real_call;                                                                            \
		} else {                                                                                               \
			void *exec_ = HOOK_SECOND(CUDA_EXEC_##record, NULL, );                                         \
			bool by_nodes_ = exec_ && graph_launch_by_nodes(exec_);                                        \
                                                                                                                       \
			result = real_call;                                                                            \
			if (by_nodes_)                                                                                 \
				graph_launched_by_nodes();                                                             \
			if (call_end(&event_, HOOK_CURRENT, 0)) {                                                      \
				uint64_t words_[EVENT_ARGS];                                                           \
				unsigned count_ = 0;                                                                   \
                                                                                                                       \
				CUDA_RECORD_##record;                                                                  \
				if (__builtin_expect(work_.timing.number != 0, 0))                                     \
					count_ = cuda_operation_end(&work_, (unsigned)result, words_, count_);         \
				cuda_record(&event_, HOOK_CURRENT, CUDA_##about, (unsigned)result, words_, count_);    \
			}                                                                                              \
		}                                                                                                      \
	} while (0)

/* The wrapper of a row. CUDA_NONE is the result of a call that no library defines. */
#define CUDA_ROW(kind, returns, symbol, parameters, arguments, about, record, ...)                                     \
	CUDA_ROW_##kind(returns, symbol, parameters, arguments, about, record)
#define CUDA_ROW_TIMED(returns, symbol, parameters, arguments, about, record)                                          \
	ENTRY_TIMED(returns, symbol, parameters, arguments, CUDA_NONE, cuda_is_off(CUDA_LAYER),                        \
		    CUDA_BODY(returns, arguments, about, record))
#define CUDA_ROW_WORDS CUDA_ROW_TIMED
#define CUDA_ROW_OWN(returns, symbol, parameters, arguments, about, record)                                            \
	ENTRY_OWN(returns, symbol, parameters, arguments)
#define CUDA_BODY(returns, arguments, about, record)                                                                   \
	returns result;                                                                                                \
                                                                                                                       \
	CUDA_TIME(real arguments, about, record);                                                                      \
	return result;

/* A failed launch is recorded with its kernel and a failed allocation with the requested size; failed copies and frees
 * are recorded without arguments. */
#define CUDA_RECORD_NOTHING (void)0
#define CUDA_RECORD_STREAM(stream) words_[count_++] = tf_arg(TF_ARG_STREAM, 0, (uintptr_t)(stream))
#define CUDA_RECORD_BYTES(bytes) words_[count_++] = tf_arg(TF_ARG_BYTES, 0, (bytes))
#define CUDA_RECORD_LAUNCH(f, grid, block, shared, stream)                                                             \
	count_ = cuda_launch(words_, (uintptr_t)(f), (const dim3[]){grid}, (const dim3[]){block}, (shared),            \
			     (uintptr_t)(stream), result ? NULL : (void *)real, CUDA_LAYER);                           \
	CUDA_CAPTURED(stream, NULL)
/* Adds the node of a graph that the call became, if the stream is capturing. */
#define CUDA_CAPTURED(stream, exec)                                                                                    \
	if (graph_is_capturing() && !result)                                                                           \
	count_ = cuda_captured(words_, count_, (void *)(stream), (exec), HOOK_CURRENT)
#define CUDA_RECORD_CONFIGURED(c, f)                                                                                   \
	if (c) {                                                                                                       \
		CUDA_RECORD_LAUNCH(f, CUDA_GRID(c), CUDA_BLOCK(c), CUDA_SHARED(c), CUDA_STREAM(c));                    \
	}
#define CUDA_RECORD_HANDED(f, stream)                                                                                  \
	count_ = cuda_launch(words_, (uintptr_t)(f), NULL, NULL, 0, (uintptr_t)(stream), NULL, CUDA_LAYER)
#define CUDA_RECORD_HOST(f, stream) CUDA_RECORD_HANDED(f, stream)
#define CUDA_RECORD_GRAPH(g, stream)                                                                                   \
	CUDA_RECORD_HANDED(g, stream);                                                                                 \
	CUDA_CAPTURED(stream, g)
#define CUDA_RECORD_CAPTURE_BEGINS(stream)                                                                             \
	CUDA_RECORD_STREAM(stream);                                                                                    \
	if (!result)                                                                                                   \
	graph_capture_begins()
#define CUDA_RECORD_CAPTURE_ENDS(stream)                                                                               \
	CUDA_RECORD_STREAM(stream);                                                                                    \
	graph_capture_ends((unsigned)result)
#define CUDA_RECORD_NODE(graph, node)                                                                                  \
	if (!result && (node))                                                                                         \
	count_ = graph_added(words_, count_, (graph), *(void **)(node), NULL, 0)
#define CUDA_RECORD_CHILD(graph, node, child)                                                                          \
	if (!result && (node))                                                                                         \
	count_ = graph_added(words_, count_, (graph), *(void **)(node), (void *[]){child}, 1)
#define CUDA_RECORD_ANY_NODE(graph, node, params)                                                                      \
	if (!result && (node))                                                                                         \
	count_ = graph_added_any(words_, count_, (graph), *(void **)(node), (params))
#define CUDA_RECORD_INSTANTIATED(exec, graph)                                                                          \
	if (!result && (exec))                                                                                         \
	count_ = graph_instantiated(words_, count_, *(void **)(exec), (void *)(graph))
#define CUDA_RECORD_INSTANTIATED_WITH(exec, graph, flags)                                                              \
	if (!result)                                                                                                   \
		graph_note_flags(flags);                                                                               \
	CUDA_RECORD_INSTANTIATED(exec, graph)
#define CUDA_RECORD_UPDATED(exec, graph)                                                                               \
	if (!result)                                                                                                   \
	count_ = graph_instantiated(words_, count_, (void *)(exec), (void *)(graph))
#define CUDA_RECORD_CLONED(clone, original)                                                                            \
	if (!result && (clone))                                                                                        \
	count_ = graph_cloned(words_, count_, *(void **)(clone), (original))
#define CUDA_RECORD_BATCH(kind, bytes) CUDA_RECORD_COPY(kind, bytes)
#define CUDA_RECORD_COPY(kind, bytes)                                                                                  \
	if (!result)                                                                                                   \
	words_[count_++] = tf_arg(TF_ARG_COPY, (unsigned)(kind), (bytes))
#define CUDA_RECORD_COPY_ASYNC(kind, bytes, stream)                                                                    \
	if (!result) {                                                                                                 \
		words_[count_++] = tf_arg(TF_ARG_COPY, (unsigned)(kind), (bytes));                                     \
		words_[count_++] = tf_arg(TF_ARG_STREAM, 0, (uintptr_t)(stream));                                      \
		CUDA_CAPTURED(stream, NULL);                                                                           \
	}
#define CUDA_RECORD_ALLOC(memory, address, bytes)                                                                      \
	count_ = cuda_memory(words_, TF_MEMORY_##memory, result ? 0 : (uintptr_t)(address), (bytes))
#define CUDA_RECORD_FREE(memory, address)                                                                              \
	if (!result)                                                                                                   \
	count_ = cuda_memory(words_, TF_MEMORY_FREE | TF_MEMORY_##memory, (uintptr_t)(address), 0)
#define CUDA_RECORD_ARRAY(array, element, width, height, depth, levels)                                                \
	if (!result)                                                                                                   \
	count_ = cuda_array(words_, (uintptr_t)(array), (element), (width), (height), (depth), (levels))
#define CUDA_RECORD_DEVICE(device)                                                                                     \
	if (!result)                                                                                                   \
	words_[count_++] = tf_arg(TF_ARG_DEVICE, 0, (unsigned)(device))
#define CUDA_RECORD_LEFT(left, total)                                                                                  \
	if (!result && (left) <= (total)) {                                                                            \
		words_[count_++] = tf_arg(TF_ARG_LEFT, 0, (left));                                                     \
		words_[count_++] = tf_arg(TF_ARG_BYTES, 0, (total));                                                   \
	}

/* Which rows request a device operation, and on which stream; used if device times come from CUDA events. Variants for
 * per-thread default streams are recognised by their names. A BATCH has none, because the position of its stream
 * depends on the version. */
#define CUDA_OPERATION_LAUNCH(f, grid, block, shared, stream)                                                          \
	, cuda_operation_launch(&work_, (uintptr_t)(f), (const dim3[]){grid}, (const dim3[]){block}, (shared),         \
				(void *)(stream), HOOK_CURRENT)
#define CUDA_OPERATION_CONFIGURED(c, f)                                                                                \
	, if (c)                                                                                                       \
	cuda_operation_launch(&work_, (uintptr_t)(f), (const dim3[]){CUDA_GRID(c)}, (const dim3[]){CUDA_BLOCK(c)},     \
			      CUDA_SHARED(c), (void *)(CUDA_STREAM(c)), HOOK_CURRENT)
#define CUDA_OPERATION_GRAPH(g, stream)                                                                                \
	, cuda_operation_launch(&work_, (uintptr_t)(g), NULL, NULL, 0, (void *)(stream), HOOK_CURRENT)
#define CUDA_OPERATION_COPY(kind, bytes) , cuda_operation_copy(&work_, NULL, HOOK_CURRENT)
#define CUDA_OPERATION_COPY_ASYNC(kind, bytes, stream) , cuda_operation_copy(&work_, (void *)(stream), HOOK_CURRENT)

struct cuda_operation {
	struct event_timing timing;
	struct tf_device_operation work; /* of a launch; a copy is described by its record */
	uintptr_t function;
};

/* Called before the real function. grid NULL: `f` is a graph. */
void cuda_operation_launch(struct cuda_operation *w, uintptr_t f, const dim3 *grid, const dim3 *block, size_t shared,
			   void *stream, unsigned function);
void cuda_operation_copy(struct cuda_operation *w, void *stream, unsigned function);

/* Called after the real function: adds the number of its device record to the arguments of the call. */
unsigned cuda_operation_end(struct cuda_operation *w, unsigned result, uint64_t *words, unsigned count);

/* Whether this call is made by another call that is being recorded: by a runtime whose calls we record, or by a stub of
 * the same name. No call is recorded twice. */
bool cuda_is_nested(unsigned function, uint64_t current, uintptr_t frame);
static inline __attribute__((always_inline)) bool cuda_is_inside(unsigned function)
{
	const struct thread *t = &thread_self;

	return __builtin_expect(t->generation == process.generation && t->page->current, 0) &&
	       cuda_is_nested(function, t->page->current, (uintptr_t)__builtin_frame_address(0));
}

/* These store the arguments of a call in `words` and return how many. `namer`: the real launch function, whose library
 * is queried for the kernel's name if the program has not registered it; NULL: the launch failed, so the handle may be
 * invalid. layer: the group of the launch. element: size of one element in bytes. */
unsigned cuda_launch(uint64_t *words, uintptr_t function, const dim3 *grid, const dim3 *block, size_t shared,
		     uintptr_t stream, void *namer, unsigned layer);
unsigned cuda_memory(uint64_t *words, unsigned memory, uintptr_t address, size_t bytes);
unsigned cuda_array(uint64_t *words, uintptr_t array, size_t element, size_t width, size_t height, size_t depth,
		    unsigned levels);

/* Adds the node of a graph that the call became. exec: see graph_captured(). */
__attribute__((noinline, cold)) unsigned cuda_captured(uint64_t *words, unsigned count, void *stream, void *exec,
						       unsigned function);

/* Whether `function` is a variant for per-thread default streams, in which NULL means another stream. */
bool cuda_is_per_thread_variant(unsigned function);

/* The size of an array's element in bytes; 1: unknown, or not an array. */
size_t cuda_element(const void *array);
size_t cuda_total(const size_t *sizes, size_t count);

/* Adds the error, if there is one, and records the call. */
void cuda_record(const struct call *e, unsigned function, unsigned about, unsigned result, uint64_t *words,
		 unsigned count);

/* cudaProfilerStart and cudaProfilerStop. They take effect also while recording is off, and without CUDA. */
void cuda_move_range(void (*move)(struct tf_range_page *page, uint32_t pid, uint64_t ticks));

/* The bodies of the wrappers of cudaProfilerStart and cudaProfilerStop. */
#define CUDA_MOVES_RANGE(returns, symbol, none, move)                                                                  \
	returns wrap_##symbol(struct hook_entry from)                                                                  \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		returns (*real)(void) = from.real, result = none;                                                      \
                                                                                                                       \
		if (real)                                                                                              \
			CUDA_TIME(real(), OTHER, NOTHING);                                                             \
		cuda_move_range(move);                                                                                 \
		return result;                                                                                         \
	}

/* ---- cuda_name.c: names of kernels, by function or handle ---- */

/* `name` is in a library, so it is not copied. */
void cuda_name_know(uintptr_t function, const char *name);
void cuda_name_know_copy(uintptr_t handle, const char *name);
void cuda_name_know_as(uintptr_t handle, uintptr_t function);

/* The id of its TF_BLOB_KERNEL; 0: no name. */
uint32_t cuda_name_id(uintptr_t function);
