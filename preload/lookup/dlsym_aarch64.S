/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym(handle, name): looked at and jumped through, never called, so that glibc sees the return address of the program: what
 * RTLD_NEXT and RTLD_DEFAULT mean depends on it. And the pointers that look-ups hand out, see lookup.h. */
#include "preload/lookup/lookup.h"
	.text
	.globl	dlsym
	.type	dlsym, %function
dlsym:
	.cfi_startproc
	hint	#34			/* bti c */
	stp	x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	stp	x0, x1, [sp, #16]
	mov	x2, x30			/* the return address */
	bl	lookup_dlsym
	mov	x17, x0
	mov	x16, x1
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	cbz	x16, 1f
	adrp	x2, lookup_no_version	/* if it is dlvsym that we go on to */
	add	x2, x2, #:lo12:lookup_no_version
	br	x16
1:	mov	x0, x17
	ret
	.cfi_endproc
	.size	dlsym, .-dlsym

/* The slot's real function as the fifth argument of type double, then the wrapper. */
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
