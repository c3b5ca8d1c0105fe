/* SPDX-License-Identifier: Apache-2.0 */
/* CPython's allocators of objects and of its other data that require the GIL (PYMEM_DOMAIN_OBJ and _MEM). They are
 * replaced by functions that call them, as tracemalloc does; blocks allocated before are passed on likewise. What
 * PyMem_RawMalloc allocates is native memory. */
#include "preload/heap/heap.h"
#include "runtime/common/dso.h"
#include "runtime/python/pystack_object.h"

/* PyMemAllocatorEx */
struct python_allocator {
	void *context;
	void *(*malloc)(void *context, size_t size);
	void *(*calloc)(void *context, size_t count, size_t size);
	void *(*realloc)(void *context, void *block, size_t size);
	void (*free)(void *context, void *block);
};

/* PyMemAllocatorDomain */
enum { DOMAIN_RAW, DOMAIN_MEM, DOMAIN_OBJ, DOMAINS };
static struct python_allocator real[DOMAINS];

enum { FREE_THREADED_SINCE = 0x30d };

static void *python_malloc(void *context, size_t size)
{
	const struct python_allocator *a = context;
	void *block;

	heap_thread.inside++;
	block = a->malloc(a->context, size);
	if (!--heap_thread.inside && block)
		heap_allocated(block, size, TF_ALLOCATOR_PYTHON);
	return block;
}

static void *python_calloc(void *context, size_t count, size_t size)
{
	const struct python_allocator *a = context;
	void *block;

	heap_thread.inside++;
	block = a->calloc(a->context, count, size);
	if (!--heap_thread.inside && block)
		heap_allocated(block, count * size, TF_ALLOCATOR_PYTHON);
	return block;
}

static void *python_realloc(void *context, void *block, size_t size)
{
	const struct python_allocator *a = context;
	void *moved;

	if (!heap_thread.inside)
		heap_freed(block);
	heap_thread.inside++;
	moved = a->realloc(a->context, block, size);
	if (!--heap_thread.inside && moved)
		heap_allocated(moved, size, TF_ALLOCATOR_PYTHON);
	return moved;
}

static void python_free(void *context, void *block)
{
	const struct python_allocator *a = context;

	if (!heap_thread.inside)
		heap_freed(block);
	heap_thread.inside++;
	a->free(a->context, block);
	heap_thread.inside--;
}

/* A second interpreter in the process, or one that is initialised again, may still have our allocator, perhaps below
 * another one (tracemalloc's). It is replaced only if it is the one from before. */
static bool may_wrap(const struct python_allocator *now, const struct python_allocator *before)
{
	return now->malloc != python_malloc &&
	       (!before->malloc || (now->malloc == before->malloc && now->context == before->context));
}

const char *heap_python_wrap(uintptr_t base, const void *dynamic)
{
	const uint32_t *version = dso_symbol(base, dynamic, "Py_Version");
	const char *runtime = dso_symbol(base, dynamic, "_PyRuntime");
	void (*get)(int domain, struct python_allocator *ret) = NULL;
	void (*set)(int domain, const struct python_allocator *a) = NULL;

	*(void **)&get = dso_symbol(base, dynamic, "PyMem_GetAllocator");
	*(void **)&set = dso_symbol(base, dynamic, "PyMem_SetAllocator");
	if (!get || !set)
		return "no allocations of Python: this interpreter has no PyMem_SetAllocator";
	if (version && *version >> 16 >= FREE_THREADED_SINCE && runtime && pystack_is_free_threaded(runtime))
		return "no allocations of Python: a free-threaded CPython";
	for (int domain = DOMAIN_MEM; domain < DOMAINS; domain++) {
		struct python_allocator now;

		get(domain, &now);
		if (!may_wrap(&now, &real[domain]))
			continue;
		real[domain] = now;
		set(domain, &(struct python_allocator){&real[domain], python_malloc, python_calloc, python_realloc,
						       python_free});
	}
	return NULL;
}
