/* SPDX-License-Identifier: Apache-2.0 */
/* The code to which symbol lookups return pointers, see trampoline.h. */
#include "preload/lookup/trampoline.h"
	.section .sbss.pillion, "aw", %nobits
	.balign	16
	.globl	trampoline_slots
	.hidden	trampoline_slots
	.type	trampoline_slots, %object
	.size	trampoline_slots, 16 * TRAMPOLINES
trampoline_slots:
	.zero	16 * TRAMPOLINES

	.section .text.unlikely, "ax", %progbits
/* Passes the slot's real function as the fifth argument of type double and jumps to the wrapper. */
	.type	pass_through, %function
pass_through:
	.cfi_startproc
	adrp	x16, trampoline_slots
	add	x16, x16, #:lo12:trampoline_slots
	add	x16, x16, x17, lsl #4
	ldr	d4, [x16]
	ldr	x16, [x16, #8]
	br	x16
	.cfi_endproc
	.size	pass_through, .-pass_through

	.balign	16
	.globl	trampoline_code
	.hidden	trampoline_code
	.type	trampoline_code, %function
trampoline_code:
	.cfi_startproc
	.set	slot, 0
	.rept	TRAMPOLINES
	.balign	16
	hint	#34			/* bti c */
	mov	w17, #slot
	b	pass_through
	.set	slot, slot + 1
	.endr
	.balign	16
	.cfi_endproc
	.size	trampoline_code, .-trampoline_code
	.section .note.GNU-stack, "", %progbits
