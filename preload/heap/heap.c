/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/heap/heap.h"

#include <errno.h>

#include "preload/hook/call.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/stack/stack.h"
#include "runtime/shared/common/sys.h"

enum { KB = 1024 };

struct heap_settings heap = {.always = SIZE_MAX};
__thread struct heap_thread heap_thread;

static bool has_noted_full;

static void heap_note(const char *text)
{
	struct thread_guard guard;

	thread_guard_enter(&thread_self, &guard);
	process_note(text);
	thread_guard_leave(&thread_self, &guard);
}

/* xorshift64 */
static uint64_t heap_random(struct heap_thread *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

/* A small allocation has exhausted the count. False: this thread's count begins only now, and is not exhausted yet. */
static bool heap_is_due(struct heap_thread *t)
{
	int64_t interval = (int64_t)heap.interval_kb * KB;

	if (!t->random) {
		t->random = ((uintptr_t)t * 0x9e3779b97f4a7c15ull) ^ clock_now() ^ (uint64_t)sys_gettid() << 32;
		t->random |= !t->random;
		t->left += (int64_t)(heap_random(t) % (uint64_t)interval);
		if (t->left >= 0)
			return false;
	}
	t->left += interval / 2 + (int64_t)(heap_random(t) % (uint64_t)interval);
	return true;
}

static void heap_record(const void *block, size_t size, enum tf_allocator allocator, uintptr_t frame)
{
	uint64_t args[] = {tf_arg(TF_ARG_VALUE, 0, (uintptr_t)block), tf_arg(TF_ARG_BYTES, 0, size), 0};
	uint32_t stack;

	if (!heap_table_add(block, size < heap.always ? (uint64_t)heap.interval_kb * KB : size)) {
		if (!__atomic_exchange_n(&has_noted_full, true, __ATOMIC_RELAXED))
			heap_note("allocations were lost: there is no memory for the table of blocks in use");
		thread_lose(&thread_self, 1);
		return;
	}
	stack = stack_take(&thread_self, frame);
	args[2] = tf_arg(TF_ARG_STACK, 0, stack);
	event_instant(TF_ALLOCATION, allocator, size < heap.always ? heap.interval_kb : 0, args, stack ? 3 : 2);
}

void heap_take(const void *block, size_t size, enum tf_allocator allocator)
{
	struct heap_thread *t = &heap_thread;
	int error;

	if ((size < heap.always && !heap_is_due(t)) || !sys_has_errno())
		return;
	error = errno;
	t->inside++;
	if (hook_attached() && process_gate.groups & *process_gate.recording)
		heap_record(block, size, allocator, (uintptr_t)__builtin_frame_address(0));
	t->inside--;
	errno = error;
}

/* Also while nothing else is recorded: the block would seem to be in use for ever. */
void heap_drop(const void *block)
{
	struct heap_thread *t = &heap_thread;
	uint64_t address = tf_arg(TF_ARG_VALUE, 0, (uintptr_t)block);
	int error;

	if (!sys_has_errno())
		return;
	error = errno;
	t->inside++;
	if (heap_table_remove(block) && hook_attached())
		event_instant(TF_RELEASE, 0, 0, &address, 1);
	t->inside--;
	errno = error;
}

/* Why malloc's calls do not reach us, or NULL. */
static const char *heap_hindrance(void)
{
	if (!heap_malloc_resolve)
		return "no native allocations: --memory requires libpillion-memory.so in LD_PRELOAD";
	if (dso_before("malloc"))
		return "native allocations: the program, or a library preloaded before ours, has a malloc of its own, "
		       "whose calls are not recorded";
	/* those of jemalloc and tcmalloc do not call malloc */
	if (dso_beside(heap_malloc_resolve(), "_Znwm"))
		return "native allocations: the library that has malloc has C++'s operator new, too, whose calls are "
		       "not recorded";
	return NULL;
}

void heap_init(void)
{
	const struct options *o = &process_options;
	const char *why;

	if (o->memory == MEMORY_NONE || !hook_attached())
		return;
	heap.interval_kb = o->memory_sampling < 2 * KB ? 0 : (uint32_t)(o->memory_sampling / KB);
	heap.always = heap.interval_kb ? (size_t)heap.interval_kb * KB / 2 : 1;
	heap.is_python = o->memory & MEMORY_PYTHON;
	why = o->memory & MEMORY_NATIVE ? heap_hindrance() : NULL;
	if (o->memory & MEMORY_TORCH && !heap_torch_begin)
		why = "no memory of PyTorch: --memory requires libpillion-memory.so in LD_PRELOAD";
	else if (o->memory & MEMORY_TORCH)
		heap_torch_begin();
	if (why)
		heap_note(why);
	if (o->memory & MEMORY_NATIVE && heap_malloc_resolve) {
		heap_malloc_resolve();
		__atomic_store_n(&heap.is_native, true, __ATOMIC_RELEASE);
	}
}
