/* SPDX-License-Identifier: Apache-2.0 */
/* What the entry of the library wrappers (entry_<architecture>.S) and its two C functions (library_call.c) share: the
 * writable row of a function, and the stack frame of one call. */
#pragma once

#include "preload/library/library_lookup.h"

/* struct library_row */
#define ROW_REAL 0
#define ROW_CHECK 8
#define ROW_GROUP 24
#define ROW_ALWAYS 26
#define ROW_SHIFT 5 /* log2 of the size of a row */
/* struct process_gate */
#define GATE_GROUPS 0
#define GATE_RECORDING 8
/* struct library_frame: the offsets from the stack pointer */
#if defined(__x86_64__)
#define FRAME_REAL 0
#define FRAME_ROW 8
#define FRAME_RESULTS 16
#define FRAME_VECTORS 80
#define FRAME_WORDS 224
#define FRAME_BYTES 272
#else
#define FRAME_REAL 16
#define FRAME_ROW 24
#define FRAME_RESULTS 32
#define FRAME_INDIRECT 96
#define FRAME_VECTORS 112
#define FRAME_WORDS 240
#define FRAME_BYTES 304
#endif

#ifndef __ASSEMBLER__
#include "preload/hook/caller.h"
#include "preload/library/library.h"

/* The row of an exported function has in `place` the cached function for its last caller. The row of a trampoline has
 * in place.real the function that it calls; the rest of `place` is unused. */
struct library_row {
	struct caller_place place;
	uint16_t group;	 /* bit of its group */
	uint16_t always; /* all ones: notes of its handles are also taken while the capture range is closed; else 0 */
	uint16_t number; /* in the table of rows */
};

/* The rows of the exported functions, by number, and those of the trampolines, which are mapped when there is one. */
extern struct library_row library_rows[HOOK_LIBRARY_COUNT] HIDDEN, *library_found HIDDEN;

/* The arguments of a call are not copied into a list: words[LIBRARY_WORD(n) - 1] is the n-th, whether it was passed in
 * a register or on the stack. */
struct library_frame {
#if defined(__x86_64__)
	void *real; /* the function to call; NULL: not yet found for this caller */
	struct library_row *row;
	uintptr_t results[2];
	struct call call;
	uint64_t state;		/* private to library_call.c */
	uint8_t vectors[8][16]; /* arguments; after the call the first ones are results */
	uintptr_t unused[2], words[LIBRARY_REGISTERS];
	uintptr_t frame_pointer, caller; /* saved rbp; return address */
#else
	uintptr_t frame_pointer, caller; /* saved x29; return address */
	void *real;
	struct library_row *row;
	uintptr_t results[2];
	struct call call;
	uint64_t state;
	uintptr_t indirect, unused; /* indirect: x8 */
	uint8_t vectors[8][16];
	uintptr_t words[LIBRARY_REGISTERS];
#endif
	uintptr_t stack[]; /* arguments on the caller's stack */
};

/* In library_call.c: called by the entry before and after it calls f->real. library_begin returns how many words on the
 * caller's stack are arguments. */
unsigned library_begin(struct library_frame *f) HIDDEN;
void library_finish(struct library_frame *f) HIDDEN;

/* The symbol of the function with this number. */
const char *library_symbol(unsigned number);
#endif
