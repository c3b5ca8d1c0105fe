/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of host memory, sampled by bytes (--memory). An allocation of at least half the sampling interval is
 * always recorded, with its size. The smaller ones of a thread are counted down by bytes, and the one that exhausts the
 * count is recorded and represents one interval; the distance to the next one is random, so that a periodic program is
 * not sampled at one of its places only. The address of a recorded block is kept in a table until the block is freed.
 *
 * Called in the middle of an allocation of the program: nothing here allocates or waits for a lock, and errno is
 * preserved. Allocations made while the recorder works for this thread are not recorded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/common/hot.h"
#include "runtime/shared/format/trace_format.h"
#include "preload/heap/heap_table.h"

struct heap_thread {
	int64_t left;	 /* bytes of small allocations until the next one that is recorded */
	uint64_t random; /* 0: not initialised */
	uint32_t inside; /* not 0: the caller of malloc is Python's allocator, or the recorder */
};
extern __thread struct heap_thread heap_thread __attribute__((tls_model("initial-exec"))) HIDDEN;

/* What is recorded; allocations of `always` bytes or more are always recorded. */
struct heap_settings {
	bool is_native, is_python;
	uint32_t interval_kb; /* 0: all allocations are recorded */
	size_t always;
};
extern struct heap_settings heap HIDDEN;

/* Reads the options. Called by the constructor, after the recorder has been started: before that, nothing is
 * recorded. */
void heap_init(void);

/* Records the allocation unless it is a small one and not due. */
__attribute__((noinline)) void heap_take(const void *block, size_t size, enum tf_allocator allocator);

/* Removes the block from the table and records that it was freed. */
__attribute__((noinline)) void heap_drop(const void *block);

/* After an allocation that succeeded. */
static inline void heap_allocated(const void *block, size_t size, enum tf_allocator allocator)
{
	if (__builtin_expect(size >= heap.always || (heap_thread.left -= (int64_t)size) < 0, 0))
		heap_take(block, size, allocator);
}

/* Before the block is freed: afterwards, another thread may be given the same address. */
static inline void heap_freed(const void *block)
{
	if (__builtin_expect(heap_table_may_have(block), 0))
		heap_drop(block);
}

/* Wraps the allocators of CPython's objects in the interpreter whose load bias and dynamic section these are. With the
 * GIL held. Returns NULL, or why it is not done. */
const char *heap_python_wrap(uintptr_t base, const void *dynamic);

/* In libpillion-memory.so: PyTorch's blocks are recorded from now on. */
void heap_torch_begin(void) __attribute__((weak)) HIDDEN;

/* In libpillion-memory.so: called by the first allocation of the process, and by heap_init(). Returns the real
 * malloc. */
void *heap_malloc_resolve(void) __attribute__((weak)) HIDDEN;
