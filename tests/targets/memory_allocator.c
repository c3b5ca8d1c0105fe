/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator to be preloaded. Like jemalloc and tcmalloc, it has C++'s operator new beside malloc. */
#include <stddef.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);
void *_Znwm(size_t size);

void *malloc(size_t size)
{
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	return __libc_realloc(block, size);
}

void free(void *block)
{
	__libc_free(block);
}

void *_Znwm(size_t size)
{
	return __libc_malloc(size);
}
