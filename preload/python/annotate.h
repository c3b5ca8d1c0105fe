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

/* A range of an NVTX domain, NULL being the default one; as any program makes them. Any thread, once install() has run. */
void annotate_push(void *domain, const char *text);
void annotate_pop(void *domain);

/* A PyTorch without NVTX (annotate_torch.c). offer() gives it ours, on trial; false: there is none, or it is not one that we know.
 * settle(), when one operator has run under emit_nvtx, makes it so; false: it is as it was before. emit_nvtx then works on a thread
 * while it is open there. With the GIL. */
bool annotate_torch_offer(void);
bool annotate_torch_settle(void);
void annotate_torch_open(bool is_open);

/* annotate.py's text, see embed.py. */
extern const char annotate_source[];

#endif
