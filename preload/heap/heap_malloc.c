/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and its relatives, exported by libpillion-memory.so only. libc's other functions (reallocarray, strdup, ...)
 * call these. The first calls come from the loader, before any constructor: they are passed on. */
#include <errno.h>
#include <stdlib.h>

#include "preload/heap/heap.h"
#include "runtime/recorder/loader/dso.h"

#define HEAP_EXPORT __attribute__((visibility("default"))) ALIGNS_STACK

/* X(returns, name, parameters, arguments, result if this libc does not have it) */
#define HEAP_FUNCTIONS(X)                                                                                              \
	X(void *, malloc, (size_t size), (size), NULL)                                                                 \
	X(void *, calloc, (size_t count, size_t size), (count, size), NULL)                                            \
	X(void *, realloc, (void *block, size_t size), (block, size), NULL)                                            \
	X(int, posix_memalign, (void **ret, size_t alignment, size_t size), (ret, alignment, size), ENOMEM)            \
	X(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), NULL)                             \
	X(void *, memalign, (size_t alignment, size_t size), (alignment, size), NULL)                                  \
	X(void *, valloc, (size_t size), (size), NULL)                                                                 \
	X(void *, pvalloc, (size_t size), (size), NULL)                                                                \
	X(void, free, (void *block), (block), )

/* Until they are known, the real functions are these, which find them. */
#define DECLARE(returns, name, parameters, ...)                                                                        \
	returns name parameters;                                                                                       \
	static returns resolve_##name parameters;                                                                      \
	static returns(*real_##name) parameters = resolve_##name;
HEAP_FUNCTIONS(DECLARE)

static void *find_next(const char *name)
{
	void *found = dso_next_unlocked(name);

	return found ? found : dso_next(name);
}

void *heap_malloc_resolve(void)
{
	void *found;

#define FIND(returns, name, ...)                                                                                       \
	if (__atomic_load_n(&real_##name, __ATOMIC_RELAXED) == resolve_##name && (found = find_next(#name)))           \
		__atomic_store_n((void **)(void *)&real_##name, found, __ATOMIC_RELAXED);
	HEAP_FUNCTIONS(FIND)
	return *(void **)(void *)&real_malloc;
}

#define RESOLVE(returns, name, parameters, arguments, failure)                                                         \
	static returns resolve_##name parameters                                                                       \
	{                                                                                                              \
		heap_malloc_resolve();                                                                                 \
		if (real_##name != resolve_##name)                                                                     \
			return real_##name arguments;                                                                  \
		errno = ENOMEM;                                                                                        \
		return failure;                                                                                        \
	}
HEAP_FUNCTIONS(RESOLVE)

static inline bool is_recorded(void)
{
	return __builtin_expect(heap.is_native && !heap_thread.inside, 1);
}

static inline void *allocated(void *block, size_t size)
{
	if (is_recorded() && block)
		heap_allocated(block, size, TF_ALLOCATOR_MALLOC);
	return block;
}

HEAP_EXPORT void *malloc(size_t size)
{
	return allocated(real_malloc(size), size);
}

HEAP_EXPORT void *calloc(size_t count, size_t size)
{
	return allocated(real_calloc(count, size), count * size);
}

HEAP_EXPORT void *realloc(void *block, size_t size)
{
	if (is_recorded())
		heap_freed(block);
	return allocated(real_realloc(block, size), size);
}

HEAP_EXPORT int posix_memalign(void **ret, size_t alignment, size_t size)
{
	int error = real_posix_memalign(ret, alignment, size);

	if (!error)
		allocated(*ret, size);
	return error;
}

HEAP_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return allocated(real_aligned_alloc(alignment, size), size);
}

HEAP_EXPORT void *memalign(size_t alignment, size_t size)
{
	return allocated(real_memalign(alignment, size), size);
}

HEAP_EXPORT void *valloc(size_t size)
{
	return allocated(real_valloc(size), size);
}

HEAP_EXPORT void *pvalloc(size_t size)
{
	return allocated(real_pvalloc(size), size);
}

HEAP_EXPORT void free(void *block)
{
	if (is_recorded())
		heap_freed(block);
	real_free(block);
}
