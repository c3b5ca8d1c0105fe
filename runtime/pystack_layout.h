/* SPDX-License-Identifier: Apache-2.0 */
/* Where CPython's versions keep what a Python stack is read from. */
#ifndef PILLION_PYSTACK_LAYOUT_H
#define PILLION_PYSTACK_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum { PYSTACK_NONE = 0xffff };
/* All that is looked at of a frame and of a code object is within that many bytes. */
enum { PYSTACK_FRAME_BYTES = 128, PYSTACK_CODE_BYTES = 192 };

/* Offsets in bytes, PYSTACK_NONE: this version has none. Of 3.8 to 3.13 as offsetof() gives them with each version's own headers
 * (Include/internal/pycore_frame.h, pycore_code.h, cpython/pystate.h); 3.14 tells them itself. */
struct pystack_layout {
	uint16_t version;		  /* major << 8 | minor */
	uint16_t state_cframe, state_frame; /* from the thread state, by way of `state_cframe` in 3.11 and 3.12 */
	uint16_t previous, code, instruction, owner, is_entry;
	uint16_t file, name, first_line, lines, start, traceable;
	uint16_t ascii, compact; /* where a str's characters begin */
	uint16_t known;		 /* of the code: a str that always knows its hash, co_name */
	uint16_t tags;		 /* bits of the pointer to the code object that are not part of it */
};

/* From 3.13 on: does it run without a GIL, or not say? `runtime`: its _PyRuntime. */
bool pystack_is_free_threaded(const char *runtime);

/* False: a version that is not known, or (3.14) an interpreter that does not tell of itself what that version tells. */
bool pystack_layout_find(unsigned version, const char *runtime, struct pystack_layout *ret);

#endif
