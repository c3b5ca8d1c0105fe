/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of the fields of frames and code objects in each version of CPython. */
#ifndef PILLION_PYSTACK_LAYOUT_H
#define PILLION_PYSTACK_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum { PYSTACK_NONE = 0xffff };
/* Maximum number of bytes that are read of a frame and of a code object. */
enum { PYSTACK_FRAME_BYTES = 128, PYSTACK_CODE_BYTES = 200 };

/* Offsets in bytes; PYSTACK_NONE: absent in this version. */
struct pystack_layout {
	uint16_t version;		  /* major << 8 | minor */
	uint16_t state_cframe, state_frame; /* from the thread state; in 3.11 and 3.12 through `state_cframe` */
	uint16_t previous, code, instruction, owner, is_entry;
	uint16_t file, name, first_line, lines, start, traceable;
	uint16_t ascii, compact; /* offset of the characters of a str */
	uint16_t known;		 /* in the code object: a str whose hash is always computed, co_name */
	uint16_t tags;		 /* bits of the pointer to the code object that are flags */
};

/* The layouts of 3.8 to 3.13, as offsetof() yields with the headers of each version
 * (Include/internal/pycore_frame.h, pycore_code.h, cpython/pystate.h); 3.14 publishes its offsets at run time. */
#define PYSTACK_LAYOUTS(X) \
	X(0x308, PYSTACK_NONE, 24, 24, 32, 104, PYSTACK_NONE, PYSTACK_NONE, \
	  104, 112, 40, 120, PYSTACK_NONE, PYSTACK_NONE, 48, 72, 112) \
	X(0x309, PYSTACK_NONE, 24, 24, 32, 104, PYSTACK_NONE, PYSTACK_NONE, \
	  104, 112, 40, 120, PYSTACK_NONE, PYSTACK_NONE, 48, 72, 112) \
	X(0x30a, PYSTACK_NONE, 24, 24, 32, 96, PYSTACK_NONE, PYSTACK_NONE, \
	  104, 112, 40, 120, PYSTACK_NONE, PYSTACK_NONE, 48, 72, 112) \
	X(0x30b, 56, 8, 48, 32, 56, 69, 68, \
	  112, 128, 72, 136, 184, 168, 48, 72, 120) \
	X(0x30c, 56, 0, 8, 0, 56, 70, PYSTACK_NONE, \
	  112, 128, 68, 136, 192, 176, 40, 56, 120) \
	X(0x30d, PYSTACK_NONE, 72, 8, 0, 56, 70, PYSTACK_NONE, \
	  112, 128, 68, 136, 200, 184, 40, 56, 120)

/* From 3.13 on: does the interpreter run without a GIL, or not say so? `runtime`: its _PyRuntime. */
bool pystack_is_free_threaded(const char *runtime);

/* False: an unknown version, or a 3.14 that does not publish its offsets. */
bool pystack_layout_find(unsigned version, const char *runtime, struct pystack_layout *ret);

#endif
