/* SPDX-License-Identifier: Apache-2.0 */
/* The code to which symbol lookups return pointers, see trampoline.h. */
#include "preload/lookup/trampoline.h"
	.section .sbss.pillion, "aw", %nobits
	.balign	16
	.globl	trampoline_slots
	.hidden	trampoline_slots
	.type	trampoline_slots, @object
	.size	trampoline_slots, 16 * TRAMPOLINES
trampoline_slots:
	.zero	16 * TRAMPOLINES

	.section .text.unlikely, "ax", %progbits
/* Passes the slot's real function as the fifth argument of type double and jumps to the wrapper. */
	.type	pass_through, @function
pass_through:
	.cfi_startproc
	shlq	$4, %r11
	leaq	trampoline_slots(%rip), %r10
	addq	%r11, %r10
	movq	(%r10), %xmm4
	jmpq	*8(%r10)
	.cfi_endproc
	.size	pass_through, .-pass_through

	.balign	16
	.globl	trampoline_code
	.hidden	trampoline_code
	.type	trampoline_code, @function
trampoline_code:
	.cfi_startproc
	.set	slot, 0
	.rept	TRAMPOLINES
	.balign	16
	endbr64
	movl	$slot, %r11d
	jmp	pass_through
	.set	slot, slot + 1
	.endr
	.balign	16
	.cfi_endproc
	.size	trampoline_code, .-trampoline_code
	.section .note.GNU-stack, "", @progbits
