/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the device records of calls that request a device operation, if device times come from CUDA
 * events. */
#include <string.h>

#include "runtime/recorder/record/event.h"
#include "preload/cuda/cuda_call.h"

/* Graphs are numbered in the order of their first launch: CUPTI's number of a graph is not known here. */
static uint32_t graph_number(uintptr_t graph)
{
	static struct intern_table numbers; /* kept across a fork */
	static uint32_t count;
	uint64_t number = intern_get(&numbers, graph);

	if (!number) {
		number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
		intern_set(&numbers, graph, number);
	}
	return (uint32_t)number;
}

void cuda_operation_launch(struct cuda_operation *w, uintptr_t f, const dim3 *grid, const dim3 *block, size_t shared,
		      void *stream, unsigned function)
{
	event_timing_begin(&w->timing, stream, !stream && cuda_is_per_thread_variant(function));
	if (!w->timing.number)
		return;
	w->function = f;
	w->work = (struct tf_device_operation){.kind = grid ? TF_DEVICE_KERNEL : TF_DEVICE_GRAPH,
				   .dynamic_shared_bytes = (uint32_t)shared};
	if (grid && block) {
		memcpy(w->work.grid, &(uint32_t[]){grid->x, grid->y, grid->z}, sizeof(w->work.grid));
		memcpy(w->work.block, &(uint32_t[]){block->x, block->y, block->z}, sizeof(w->work.block));
	}
}

void cuda_operation_copy(struct cuda_operation *w, void *stream, unsigned function)
{
	event_timing_begin(&w->timing, stream, !stream && cuda_is_per_thread_variant(function));
	w->work = (struct tf_device_operation){.kind = TF_DEVICE_COPY};
}

/* CUpti_ActivityMemcpyKind of a cudaMemcpyKind; 0: unknown, it depends on the addresses. */
static void describe_copy(struct tf_device_operation *work, unsigned kind)
{
	enum { SET = 63 };
	static const uint8_t kinds[] = {9, 1, 2, 8};

	if (kind == SET)
		work->kind = TF_DEVICE_SET;
	else
		work->copy = kind < sizeof(kinds) ? kinds[kind] : 0;
}

unsigned cuda_operation_end(struct cuda_operation *w, unsigned result, uint64_t *words, unsigned count)
{
	uint64_t bytes = 0;

	if (result || !count) {
		event_timing_drop(&w->timing);
		return count;
	}
	if (w->work.kind == TF_DEVICE_KERNEL) {
		w->work.kernel = cuda_name_id(w->function);
	} else if (w->work.kind == TF_DEVICE_GRAPH) {
		w->work.graph = graph_number(w->function);
	} else {
		describe_copy(&w->work, tf_arg_small(words[0]));
		bytes = tf_arg_value(words[0]);
	}
	if (event_timing_end(&w->timing, &w->work, bytes))
		words[count++] = tf_arg(TF_ARG_DEVICE_OPERATION, 0, w->timing.number);
	return count;
}
