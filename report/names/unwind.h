/* SPDX-License-Identifier: Apache-2.0 */
/* Unwinds a stack from registers and memory, frame by frame, by the call frame information of the files: by elfutils
 * (unwind_elfutils.c), or not at all in a build without it (symbol_file_none.c). x86-64.
 *
 * Of a blocked thread, only the stack pointer and the pc are known. They are sufficient as long as the unwind table
 * computes frames from the stack pointer. The first frame that needs the frame pointer takes it from the function's
 * prologue (prologue.c); later frames find it in the saved registers. */
#pragma once

#include "report/names/symbol_file.h"

enum { UNWIND_FP = 6, UNWIND_SP = 7, UNWIND_PC = 16, UNWIND_REGISTERS };

struct unwind_registers { /* by their DWARF numbers */
	uint64_t value[UNWIND_REGISTERS];
	uint32_t known; /* bit i: value[i] */
};

struct unwind_memory {
	bool (*read)(void *context, uint64_t address, uint64_t *ret); /* a word of the stack */
	/* Whether a call instruction precedes it, `function`: that of the code there; 0: of any. */
	bool (*is_return)(void *context, uint64_t address, uint64_t function);
	void *context;
};

enum unwind_outcome { UNWIND_GOES_ON, UNWIND_ENDED, UNWIND_STOPPED };

/* Steps from a frame to its caller. `bias`: address in memory minus address in the file. `is_call`: the pc is a return
 * address; set to whether the caller's is, which it is unless the frame is that of a signal handler's return. ENDED: it
 * was the outermost frame. STOPPED: it cannot be unwound. */
enum unwind_outcome unwind_step(struct symbol_file *f, uint64_t bias, const struct unwind_memory *memory,
				struct unwind_registers *registers, bool *is_call);

/* Copies code of the file from that address of it on. False: it is not all in the file. */
bool symbol_file_code(struct symbol_file *f, uint64_t address, uint8_t *ret, size_t size);

/* ---- prologue.c ---- */

/* Whether a call instruction ends at the end of these bytes. */
enum { CALL_BYTES = 7 };
bool prologue_is_call(const uint8_t code[CALL_BYTES]);

/* Whether the instruction calls that distance from its end. False: another one, or where is not in the instruction. */
bool prologue_calls(const uint8_t code[CALL_BYTES], int64_t distance);

/* Whether a function takes a number of bytes on the stack that it computes: alloca(), arrays of variable length. Bytes
 * that merely look like such an instruction count, too. */
bool prologue_is_of_any_size(const uint8_t *code, size_t size);

/* The distance from the stack pointer after the prologue of a function to the frame pointer that it set up. `code`: the
 * function's first bytes. False: it sets up none, or not in the usual way. */
bool prologue_distance(const uint8_t *code, size_t size, uint64_t *ret);
