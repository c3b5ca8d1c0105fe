/* SPDX-License-Identifier: Apache-2.0 */
/* The way into a Python program: annotate.py is run once in its interpreter, at a moment of the interpreter's own choice
 * (Py_AddPendingCall), and puts ranges around imports, PyTorch's operators and chosen functions. Neither the script nor the
 * environment is changed. CPython 3.8 and newer, static or libpython, by its public functions alone. */
#ifndef PILLION_ANNOTATE_H
#define PILLION_ANNOTATE_H

#include <stdbool.h>

/* The options ask for it, and no interpreter of this process has been met yet. */
extern bool annotate_is_wanted;

/* Reads the options; at the constructor, after process_start(). */
void annotate_init(void);

/* Out of line: is the calling thread one of an interpreter? */
void annotate_meet(void);

/* Stands in hooks that an import goes through: those that open files. Any thread, with or without the GIL; errno is left alone. */
static inline void annotate_here(void)
{
	if (__builtin_expect(annotate_is_wanted, 0))
		annotate_meet();
}

/* annotate.py's text, see embed.py. */
extern const char annotate_source[];

#endif
