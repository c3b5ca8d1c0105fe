/* SPDX-License-Identifier: Apache-2.0 */
/* syscall(number, ...): looked at and jumped through, never called: clone comes back on another stack, or twice, and
 * would find a C frame gone. */
	.text
	.globl	syscall
	.type	syscall, %function
syscall:
	.cfi_startproc
	cmp	x0, #277		/* SYS_seccomp */
	b.ne	1f
	stp	x29, x30, [sp, #-80]!
	.cfi_adjust_cfa_offset 80
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	str	x6, [sp, #64]
	mov	w0, #1
	bl	process_freeze
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldr	x6, [sp, #64]
	ldp	x29, x30, [sp], #80
	.cfi_adjust_cfa_offset -80
	.cfi_restore x29
	.cfi_restore x30
1:	adrp	x16, real_syscall
	ldr	x16, [x16, #:lo12:real_syscall]
	br	x16
	.cfi_endproc
	.size	syscall, .-syscall
	.section .note.GNU-stack, "", %progbits
