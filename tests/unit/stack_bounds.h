/* SPDX-License-Identifier: Apache-2.0 */
/* Gets the bounds of the calling thread's stack, for tests of the stack walker. */
#ifndef STACK_BOUNDS_H
#define STACK_BOUNDS_H

#include <pthread.h>
#include <stdint.h>

static inline void stack_bounds(uintptr_t *ret_low, uintptr_t *ret_high)
{
	pthread_attr_t attributes;
	size_t size;
	void *bottom;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &bottom, &size);
	pthread_attr_destroy(&attributes);
	*ret_low = (uintptr_t)bottom;
	*ret_high = *ret_low + size;
}

#endif
