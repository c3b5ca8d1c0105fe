/* SPDX-License-Identifier: Apache-2.0 */
/* The exported functions of the libraries: a stub for each row, which loads the row's number, and one entry for all. A
 * call that is not recorded continues by a jump, with all its arguments in place.
 *
 * Free to use at entry: x9 to x17, because no row is variadic; x8 may be the address of a result. */
#include "preload/library/frame.h"
#include "preload/library/hook_library.h"
	.text
	.hidden	library_rows, library_found, library_begin, library_finish, caller_epoch, process_gate

	.balign	16
	.type	library_stubs, %function
library_stubs:
	.cfi_startproc
	.set	number, 0
	.macro	library_stub symbol
	.balign	16
	.globl	\symbol
	.type	\symbol, %function
\symbol:
	hint	#34			/* bti c */
	mov	w16, #number
	b	library_entry
	.size	\symbol, .-\symbol
	.set	number, number + 1
	.endm
#define STUB(kind, group, symbol, name, words, shape) library_stub symbol;
	HOOK_LIBRARY(STUB)
	.cfi_endproc
	.size	library_stubs, .-library_stubs

	/* The pointers that symbol lookups return. */
	.balign	16
	.globl	library_trampolines
	.hidden	library_trampolines
	.type	library_trampolines, %function
library_trampolines:
	.cfi_startproc
	.set	number, 0
	.rept	LIBRARY_TRAMPOLINES
	.balign	16
	hint	#34			/* bti c */
	mov	w16, #number
	b	library_entry_found
	.set	number, number + 1
	.endr
	.balign	16
	.cfi_endproc
	.size	library_trampolines, .-library_trampolines

	.balign	64
	.type	library_entry, %function
library_entry:
	.cfi_startproc
	adrp	x17, library_rows
	add	x17, x17, :lo12:library_rows
	add	x17, x17, x16, lsl #ROW_SHIFT	/* x17 = row */
	adrp	x9, caller_epoch
	ldr	x9, [x9, :lo12:caller_epoch]
	eor	x9, x9, x30
	ldr	x10, [x17, ROW_CHECK]
	ldr	x16, [x17, ROW_REAL]
	eor	x9, x9, x10			/* x9 = real, if the row has cached this caller */
	cmp	x9, x16
	b.ne	2f
	cbz	x16, 3f
1:	adrp	x10, process_gate
	add	x10, x10, :lo12:process_gate
	ldr	x9, [x10, GATE_RECORDING]
	ldr	w10, [x10, GATE_GROUPS]
	ldr	w9, [x9]
	ldrh	w11, [x17, ROW_ALWAYS]
	ldrh	w12, [x17, ROW_GROUP]
	orr	w9, w9, w11
	and	w9, w9, w10
	tst	w9, w12
	b.ne	3f
	br	x16

library_entry_found:
	adrp	x17, library_found
	ldr	x17, [x17, :lo12:library_found]
	add	x17, x17, x16, lsl #ROW_SHIFT
	ldr	x16, [x17, ROW_REAL]
	b	1b

2:	mov	x16, xzr			/* real has to be looked up */
3:	stp	x29, x30, [sp, #-FRAME_BYTES]!	/* sp = frame */
	.cfi_def_cfa_offset FRAME_BYTES
	.cfi_offset x29, -FRAME_BYTES
	.cfi_offset x30, -FRAME_BYTES + 8
	mov	x29, sp
	.cfi_def_cfa_register x29
	stp	x16, x17, [sp, FRAME_REAL]
	stp	x0, x1, [sp, FRAME_WORDS]
	stp	x2, x3, [sp, FRAME_WORDS + 16]
	stp	x4, x5, [sp, FRAME_WORDS + 32]
	stp	x6, x7, [sp, FRAME_WORDS + 48]
	str	x8, [sp, FRAME_INDIRECT]
	stp	q0, q1, [sp, FRAME_VECTORS]
	stp	q2, q3, [sp, FRAME_VECTORS + 32]
	stp	q4, q5, [sp, FRAME_VECTORS + 64]
	stp	q6, q7, [sp, FRAME_VECTORS + 96]
	mov	x0, sp
	bl	library_begin			/* w0 = words on the stack */
	mov	w10, w0
	cbz	w10, 5f
	add	w11, w10, #1
	and	w11, w11, #~1
	sub	sp, sp, w11, uxtw #3
	add	x12, x29, #FRAME_BYTES
	mov	x13, sp
4:	ldp	x11, x14, [x12], #16		/* two at a time: an odd one is followed by padding */
	stp	x11, x14, [x13], #16
	subs	w10, w10, #2
	b.gt	4b
5:	ldr	x16, [x29, FRAME_REAL]
	ldp	x0, x1, [x29, FRAME_WORDS]
	ldp	x2, x3, [x29, FRAME_WORDS + 16]
	ldp	x4, x5, [x29, FRAME_WORDS + 32]
	ldp	x6, x7, [x29, FRAME_WORDS + 48]
	ldr	x8, [x29, FRAME_INDIRECT]
	ldp	q0, q1, [x29, FRAME_VECTORS]
	ldp	q2, q3, [x29, FRAME_VECTORS + 32]
	ldp	q4, q5, [x29, FRAME_VECTORS + 64]
	ldp	q6, q7, [x29, FRAME_VECTORS + 96]
	blr	x16
	mov	sp, x29
	stp	x0, x1, [sp, FRAME_RESULTS]
	stp	q0, q1, [sp, FRAME_VECTORS]
	stp	q2, q3, [sp, FRAME_VECTORS + 32]
	mov	x0, sp
	bl	library_finish
	ldp	x0, x1, [sp, FRAME_RESULTS]
	ldp	q0, q1, [sp, FRAME_VECTORS]
	ldp	q2, q3, [sp, FRAME_VECTORS + 32]
	ldp	x29, x30, [sp], #FRAME_BYTES
	.cfi_def_cfa sp, 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	library_entry, .-library_entry
	.section .note.GNU-stack, "", %progbits
