/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges and allocations in Python programs. annotate.py is run once in the program's interpreter, when the interpreter
 * chooses to (Py_AddPendingCall), and adds ranges to imports, PyTorch's operators and chosen functions. Neither the
 * script nor the environment is changed. CPython 3.8 and newer, static or libpython, through its public functions
 * only. */
#pragma once

#include <stdbool.h>

/* The options request ranges or allocations, and no interpreter has been found in this process yet. */
extern bool annotate_is_wanted;

/* Reads the options. Called by the constructor, after the recorder has been started. */
void annotate_init(void);

/* Out of line: has annotate.py run if the calling thread belongs to an interpreter and `caller` is in its code. */
void annotate_meet(const void *caller);

/* Called by wrappers that every import goes through: those that open files. `caller`: the wrapper's return address.
 * Any thread, with or without the GIL; any signal handler; errno is preserved. */
static inline void annotate_here(const void *caller)
{
	if (__builtin_expect(annotate_is_wanted, 0))
		annotate_meet(caller);
}

/* The text of annotate_jax.py and annotate.py, packed by embed.py. annotate_pairs: the two bytes for which a byte
 * stands, which are likewise; {0, 0}: it is itself. */
extern const unsigned annotate_text_size, annotate_packed_size;
extern const unsigned char annotate_pairs[][2], annotate_packed[];
