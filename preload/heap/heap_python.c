/* SPDX-License-Identifier: Apache-2.0 */
/* CPython's allocators of objects and of its other data that require the GIL (PYMEM_DOMAIN_OBJ and _MEM). They are
 * replaced by functions that call them, as tracemalloc does; blocks allocated before are passed on likewise. What
 * PyMem_RawMalloc allocates is native memory. */
#include "preload/heap/heap.h"
#include "runtime/recorder/loader/dso.h"

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

static inline void *python_malloc(const struct python_allocator *a, size_t size)
{
	void *block;

	heap_thread.inside++;
	block = a->malloc(a->context, size);
	if (!--heap_thread.inside && block)
		heap_allocated(block, size, TF_ALLOCATOR_PYTHON);
	return block;
}

static inline void *python_calloc(const struct python_allocator *a, size_t count, size_t size)
{
	void *block;

	heap_thread.inside++;
	block = a->calloc(a->context, count, size);
	if (!--heap_thread.inside && block)
		heap_allocated(block, count * size, TF_ALLOCATOR_PYTHON);
	return block;
}

static inline void *python_realloc(const struct python_allocator *a, void *block, size_t size)
{
	void *moved;

	if (!heap_thread.inside)
		heap_freed(block);
	heap_thread.inside++;
	moved = a->realloc(a->context, block, size);
	if (!--heap_thread.inside && moved)
		heap_allocated(moved, size, TF_ALLOCATOR_PYTHON);
	return moved;
}

static inline void python_free(const struct python_allocator *a, void *block)
{
	if (!heap_thread.inside)
		heap_freed(block);
	heap_thread.inside++;
	a->free(a->context, block);
	heap_thread.inside--;
}

/* Without a GIL other threads allocate while the functions are replaced, one after the other. So the context remains
 * that of the real ones, and ours do not use it. */
#define WRAPPERS(domain)                                                                                               \
	static void *domain##_malloc(void *context, size_t size)                                                       \
	{                                                                                                              \
		return python_malloc(&real[domain], size);                                                             \
	}                                                                                                              \
	static void *domain##_calloc(void *context, size_t count, size_t size)                                         \
	{                                                                                                              \
		return python_calloc(&real[domain], count, size);                                                      \
	}                                                                                                              \
	static void *domain##_realloc(void *context, void *block, size_t size)                                         \
	{                                                                                                              \
		return python_realloc(&real[domain], block, size);                                                     \
	}                                                                                                              \
	static void domain##_free(void *context, void *block)                                                          \
	{                                                                                                              \
		python_free(&real[domain], block);                                                                     \
	}
WRAPPERS(DOMAIN_MEM)
WRAPPERS(DOMAIN_OBJ)
static const struct python_allocator ours[] = {
	[DOMAIN_MEM] = {NULL, DOMAIN_MEM_malloc, DOMAIN_MEM_calloc, DOMAIN_MEM_realloc, DOMAIN_MEM_free},
	[DOMAIN_OBJ] = {NULL, DOMAIN_OBJ_malloc, DOMAIN_OBJ_calloc, DOMAIN_OBJ_realloc, DOMAIN_OBJ_free},
};

/* A second interpreter in the process, or one that is initialised again, may still have our allocator, perhaps below
 * another one (tracemalloc's). It is replaced only if it is the one from before. */
static bool may_wrap(int domain, const struct python_allocator *now)
{
	const struct python_allocator *before = &real[domain];

	return now->malloc != ours[domain].malloc &&
	       (!before->malloc || (now->malloc == before->malloc && now->context == before->context));
}

const char *heap_python_wrap(uintptr_t base, const void *dynamic)
{
	void (*get)(int domain, struct python_allocator *ret) = NULL;
	void (*set)(int domain, const struct python_allocator *a) = NULL;

	*(void **)&get = dso_symbol(base, dynamic, "PyMem_GetAllocator");
	*(void **)&set = dso_symbol(base, dynamic, "PyMem_SetAllocator");
	if (!get || !set)
		return "no allocations of Python: this interpreter has no PyMem_SetAllocator";
	for (int domain = DOMAIN_MEM; domain < DOMAINS; domain++) {
		struct python_allocator now, wrapper = ours[domain];

		get(domain, &now);
		if (!may_wrap(domain, &now))
			continue;
		real[domain] = now;
		wrapper.context = now.context;
		set(domain, &wrapper);
	}
	return NULL;
}
