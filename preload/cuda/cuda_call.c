/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda_call.h"

#include <string.h>

/* Copies to the host also wait. An asynchronous one does not, but a flush after it does no harm. */
static bool has_waited(unsigned about, const uint64_t *words, unsigned count)
{
	return about == CUDA_SYNC || (about == CUDA_COPY && count && tf_arg_kind(words[0]) == TF_ARG_COPY &&
				      tf_arg_small(words[0]) == cudaMemcpyDeviceToHost);
}

/* What becomes a node of a graph needs a stack however short the call is, as every launch does: a replay has none. */
static uint64_t stack_threshold(unsigned about, const uint64_t *words, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (tf_arg_kind(words[i]) == TF_ARG_GRAPH_NODE)
			return process_cuda_backtrace[CUDA_KERNEL];
	return process_cuda_backtrace[about];
}

void cuda_record(const struct call *e, unsigned function, unsigned about, unsigned result, uint64_t *words,
		 unsigned count)
{
	if (result)
		words[count++] = tf_arg(TF_ARG_RESULT, 0, result);
	call_record(e, function,
		    graph_is_capturing() ? stack_threshold(about, words, count) : process_cuda_backtrace[about], words,
		    count);
	if (!result)
		cupti_succeeded(about == CUDA_KERNEL || about == CUDA_MEMORY || about == CUDA_COPY);
	if (event_timing_is_on()) {
		if (about == CUDA_SYNC)
			event_timing_collect(false); /* the device operations that the call waited for are complete */
	} else if (!result && has_waited(about, words, count)) {
		cupti_waited();
	}
}

/* A call in progress whose frame is deeper in the stack than this one was left by longjmp or cancellation. */
bool cuda_is_nested(unsigned function, uint64_t current, uintptr_t frame)
{
	unsigned outer = (unsigned)(current >> TF_CURRENT_SHIFT) - 1;

	if (thread_self.current_frame <= frame || outer >= HOOK_COUNT)
		return false;
	return outer == function ||
	       (hook_functions.list[outer].group == TF_GROUP_CUDA &&
		hook_functions.list[function].group == TF_GROUP_CUDA_DRIVER);
}

bool cuda_is_per_thread_variant(unsigned function)
{
	const char *name = function_text(&hook_functions, function);
	size_t length = strlen(name);

	return length > 5 && (!memcmp(name + length - 5, "_ptsz", 5) || !memcmp(name + length - 5, "_ptds", 5));
}

/* The legacy default stream cannot capture. */
unsigned cuda_captured(uint64_t *words, unsigned count, void *stream, void *exec, unsigned function)
{
	bool is_per_thread = !stream && cuda_is_per_thread_variant(function);

	if ((!stream && !is_per_thread) || stream == (void *)CUDA_STREAM_LEGACY)
		return count;
	return graph_captured(words, count, stream, is_per_thread, exec);
}

unsigned cuda_memory(uint64_t *words, unsigned memory, uintptr_t address, size_t bytes)
{
	bool is_free = memory & TF_MEMORY_FREE;

	if (!process_options.cuda_memory_usage || (is_free && !address))
		return 0; /* programs call cudaFree(NULL) to initialise CUDA */
	words[0] = tf_arg(TF_ARG_MEMORY, memory, address);
	words[1] = tf_arg(TF_ARG_BYTES, 0, bytes);
	return is_free ? 1 : 2;
}

/* Bytes of an array's elements, for copies that count elements. Kept across a fork, like the arrays' addresses. */
static struct intern_table element_bytes;

unsigned cuda_array(uint64_t *words, uintptr_t array, size_t element, size_t width, size_t height, size_t depth,
		    unsigned levels)
{
	size_t bytes = 0;

	intern_set(&element_bytes, array, element);
	for (unsigned i = 0; i < levels && i < 32; i++) {
		size_t w = width >> i, h = height >> i, z = depth >> i;

		bytes += element * (w ? w : 1) * (h ? h : 1) * (z ? z : 1);
	}
	return cuda_memory(words, TF_MEMORY_DEVICE, array, bytes);
}

size_t cuda_element(const void *array)
{
	uint64_t element = array ? intern_get(&element_bytes, (uintptr_t)array) : 1;

	return element ? element : 1;
}

size_t cuda_total(const size_t *sizes, size_t count)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += sizes[i];
	return total;
}

void cuda_move_range(void (*move)(struct tf_range_page *page, uint32_t pid, uint64_t ticks))
{
	int error = errno;

	if (process_gate.groups && hook_attached() && process_range && process_range->mode == TF_RANGE_PROFILER_API) {
		struct thread_guard guard;

		if (move == range_stop)
			cupti_range_ends();
		thread_guard_enter(&thread_self, &guard);
		move(process_range, process.pid, clock_now());
		thread_guard_leave(&thread_self, &guard);
		if (move == range_stop)
			range_await_kill(process_range);
	}
	cupti_follow(event_enabled(TF_GROUP_CUDA));
	errno = error;
}
