/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of the fields of frames and code objects in each version of CPython, and in builds without a GIL. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PYSTACK_NONE = 0xffff };
/* Maximum number of bytes that are read of a frame and of a code object. */
enum { PYSTACK_FRAME_BYTES = 128, PYSTACK_CODE_BYTES = 232 };
/* Offsets in objects of a build with a GIL: in any, in those of variable size, and in a str: its hash (-1: not computed
 * yet) and state. Without a GIL, an object begins with `head` more bytes. */
enum { PYSTACK_TYPE = 8, PYSTACK_LENGTH = 16, PYSTACK_HASH = 24, PYSTACK_STATE = 32, PYSTACK_BYTES_DATA = 32 };
/* In a type, an int, a traceback, a frame object from 3.11 on, and an exception, from 3.11 on one word later: its
 * traceback, and SystemExit's code. */
enum { PYSTACK_TYPE_SIZE = 32, PYSTACK_TYPE_FLAGS = 168, PYSTACK_TYPE_BASE = 256, PYSTACK_TYPE_BYTES = 264,
       PYSTACK_INT_SIZE = 16, PYSTACK_INT_DIGIT = 24, PYSTACK_INT_BYTES = 28, PYSTACK_OBJECT_FRAME = 24,
       PYSTACK_TRACEBACK_NEXT = 16, PYSTACK_TRACEBACK_FRAME = 24, PYSTACK_TRACEBACK_INSTRUCTION = 32,
       PYSTACK_TRACEBACK_BYTES = 40, PYSTACK_EXCEPTION_TRACEBACK = 32, PYSTACK_EXCEPTION_CODE = 64,
       PYSTACK_EXCEPTION_BYTES = 80 };

/* Offsets in bytes; PYSTACK_NONE: absent in this version. */
struct pystack_layout {
	uint16_t version;		  /* major << 8 | minor */
	uint16_t state_cframe, state_frame; /* from the thread state; in 3.11 and 3.12 through `state_cframe` */
	uint16_t previous, code, instruction, owner, is_entry;
	uint16_t file, name, first_line, lines, start, traceable;
	uint16_t ascii, compact; /* offset of the characters of a str */
	uint16_t known;		 /* in the code object: a str whose hash is always computed, co_name */
	uint16_t locals;	 /* in the frame: its local variables; 0: not known */
	uint16_t tags;		 /* bits of the pointer to the code object that are flags */
	uint16_t head;		 /* see above; 0 in a build with a GIL */
	uint16_t shift;		 /* of the bits in the state of a str */
	/* Without a GIL, from 3.14 on, each thread executes a copy of the bytecode: in the code object, the pointer to
	 * the array of copies; in the frame, the int32_t index of the one that it executes. 0: there are none. */
	uint16_t copies, copy;
	uint16_t has_base; /* the outermost frame of a thread is no invocation of the interpreter */
};

/* The layouts of 3.8 to 3.13, as offsetof() yields with the headers of each version
 * (Include/internal/pycore_frame.h, pycore_code.h, cpython/pystate.h); 3.14 and 3.15 publish theirs at run time. Those
 * of 3.13 without a GIL are in pystack_layout.c. */
#define PYSTACK_LAYOUTS(X) \
	X(0x308, PYSTACK_NONE, 24, 24, 32, 104, PYSTACK_NONE, PYSTACK_NONE, \
	  104, 112, 40, 120, PYSTACK_NONE, PYSTACK_NONE, 48, 72, 112, 360) \
	X(0x309, PYSTACK_NONE, 24, 24, 32, 104, PYSTACK_NONE, PYSTACK_NONE, \
	  104, 112, 40, 120, PYSTACK_NONE, PYSTACK_NONE, 48, 72, 112, 360) \
	X(0x30a, PYSTACK_NONE, 24, 24, 32, 96, PYSTACK_NONE, PYSTACK_NONE, \
	  104, 112, 40, 120, PYSTACK_NONE, PYSTACK_NONE, 48, 72, 112, 352) \
	X(0x30b, 56, 8, 48, 32, 56, 69, 68, \
	  112, 128, 72, 136, 184, 168, 48, 72, 120, 72) \
	X(0x30c, 56, 0, 8, 0, 56, 70, PYSTACK_NONE, \
	  112, 128, 68, 136, 192, 176, 40, 56, 120, 72) \
	X(0x30d, PYSTACK_NONE, 72, 8, 0, 56, 70, PYSTACK_NONE, \
	  112, 128, 68, 136, 200, 184, 40, 56, 120, 72)

/* From 3.13 on: does the interpreter run without a GIL, or not say so? `runtime`: its _PyRuntime. */
bool pystack_is_free_threaded(const char *runtime);

/* The kind of a str in bits 2 to 4, compact in bit 5, ASCII in bit 6, as in builds with a GIL. `word`: its state. */
static inline uint32_t pystack_text_state(const struct pystack_layout *l, uint32_t word)
{
	return word >> l->shift;
}

/* NULL, or why frames of this version cannot be read. `runtime`: its _PyRuntime, from 3.13 on. */
const char *pystack_layout_find(unsigned version, const char *runtime, struct pystack_layout *ret);

#define PYSTACK_UNKNOWN "not a CPython from 3.8 to 3.15"
