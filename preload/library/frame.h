/* SPDX-License-Identifier: Apache-2.0 */
/* What the entry of the library wrappers (entry_<architecture>.S) and its two C functions (library_call.c) share: the
 * writable row of a function, and the stack frame of one call. */
#ifndef PILLION_FRAME_H
#define PILLION_FRAME_H

#include "preload/library/library_lookup.h"

/* struct library_row */
#define ROW_REAL 0
#define ROW_CHECK 8
#define ROW_GROUP 24
#define ROW_ALWAYS 26
#define ROW_SHIFT 5 /* log2 of its size */
/* struct process_gate */
#define GATE_GROUPS 0
#define GATE_RECORDING 8
/* struct library_frame: from the stack pointer to the end of `words`, and what lies above */
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

/* Of an exported function: `place` is what it has learnt of its caller. Of a trampoline: place.real is the function
 * that it calls, and the rest of `place` is not used. */
struct library_row {
	struct caller_place place;
	uint16_t group;	 /* bit of its group */
	uint16_t always; /* all ones: what its handles say is kept while a capture range is closed, too; else 0 */
	uint16_t number; /* in the table of rows */
};

/* Of the exported functions, by number; of the trampolines. */
extern struct library_row library_rows[HOOK_LIBRARY_COUNT] HIDDEN, library_found[LIBRARY_TRAMPOLINES] HIDDEN;

/* Arguments of a call are not copied together: words[LIBRARY_WORD(n) - 1] is the n-th, wherever the convention puts
 * it. */
struct library_frame {
#if defined(__x86_64__)
	void *real; /* to be called; NULL at first: not known for this caller */
	struct library_row *row;
	uintptr_t results[2];
	struct call call;
	uint64_t state;		/* library_call.c's */
	uint8_t vectors[8][16]; /* arguments; after the call the first of them are results */
	uintptr_t unused[2], words[LIBRARY_REGISTERS];
	uintptr_t frame_pointer, caller; /* rbp as it was; return address */
#else
	uintptr_t frame_pointer, caller; /* x29 as it was; return address */
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

/* library_call.c: what the entry calls before the call of f->real, and after it. The first returns how many words of
 * the caller's stack are arguments. */
unsigned library_begin(struct library_frame *f) HIDDEN;
void library_finish(struct library_frame *f) HIDDEN;

/* The symbol of the function of this number. */
const char *library_symbol(unsigned number);
#endif

#endif
