/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets by which each version of CPython lays out frames and code objects. */
#ifndef PILLION_PYSTACK_LAYOUT_H
#define PILLION_PYSTACK_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum { PYSTACK_NONE = 0xffff };
/* Bytes that are read of a frame and of a code object, at most. */
enum { PYSTACK_FRAME_BYTES = 128, PYSTACK_CODE_BYTES = 200 };

/* Offsets in bytes, PYSTACK_NONE: this version has none. */
struct pystack_layout {
	uint16_t version;		  /* major << 8 | minor */
	uint16_t state_cframe, state_frame; /* from the thread state, by way of `state_cframe` in 3.11 and 3.12 */
	uint16_t previous, code, instruction, owner, is_entry;
	uint16_t file, name, first_line, lines, start, traceable;
	uint16_t ascii, compact; /* where a str's characters begin */
	uint16_t known;		 /* of the code: a str that always knows its hash, co_name */
	uint16_t tags;		 /* bits of the pointer to the code object that are not part of it */
};

/* Those of 3.8 to 3.13, as offsetof() gives them with each version's own headers (Include/internal/pycore_frame.h,
 * pycore_code.h, cpython/pystate.h); 3.14 publishes its own. */
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

/* From 3.13 on: whether the interpreter runs without a GIL, or does not tell. `runtime`: its _PyRuntime. */
bool pystack_is_free_threaded(const char *runtime);

/* False: an unknown version, or (3.14) an interpreter that does not publish what that version does. */
bool pystack_layout_find(unsigned version, const char *runtime, struct pystack_layout *ret);

#endif
