/* SPDX-License-Identifier: Apache-2.0 */
/* The name that a Python program gave to a thread: threading.Thread(name=). CPython tells it to the kernel from 3.14
 * on; in 3.8 to 3.13, with a GIL, it is an attribute of the object whose method _bootstrap is the thread's outermost
 * frame. */
#pragma once

#include <stddef.h>

#include "runtime/shared/common/pystack_layout.h"

/* Any object may be changed or freed meanwhile, so that memory is only copied. False: not all of it was. */
struct pystack_memory {
	bool (*copy)(const struct pystack_memory *m, uint64_t from, void *ret, size_t size);
	uint64_t text_type; /* address of PyUnicode_Type */
	uint32_t pid;
};

/* `frame`: the outermost one of a thread. Returns the address of the str, 0: there is none, or Python has made it up
 * itself. */
__attribute__((cold)) uint64_t pystack_thread_name(const struct pystack_layout *l, const struct pystack_memory *m,
						   uint64_t frame);
