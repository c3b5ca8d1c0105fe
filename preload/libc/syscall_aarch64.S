/* SPDX-License-Identifier: Apache-2.0 */
/* syscall(number, ...): examines the number and jumps to the real function. It is not called, because clone returns on
 * another stack, or twice, and would then find a destroyed C frame. Calls that wait and always return once are passed
 * to wrap_syscall.c and wrap_seccomp.c. */
	.text
	.globl	syscall
	.type	syscall, %function
syscall:
	.cfi_startproc
	adrp	x16, hook_is_resolved
	ldrb	w16, [x16, #:lo12:hook_is_resolved]
	cbz	w16, 2f
	cmp	x0, #277		/* SYS_seccomp */
	b.eq	wrap_syscall_seccomp
	cmp	x0, #98			/* SYS_futex */
	b.eq	wrap_syscall_futex
	cmp	x0, #426		/* SYS_io_uring_enter */
	b.eq	wrap_syscall_io_uring_enter
	cmp	x0, #283		/* SYS_membarrier */
	b.eq	wrap_syscall_membarrier
	cmp	x0, #57			/* SYS_close */
	b.eq	wrap_syscall_close
	cmp	x0, #436		/* SYS_close_range */
	b.eq	wrap_syscall_close_range
	cmp	x0, #24			/* SYS_dup3 */
	b.eq	wrap_syscall_dup
	cmp	x0, #167		/* SYS_prctl */
	b.eq	wrap_syscall_prctl
	b	5f
2:	stp	x29, x30, [sp, #-80]!
	.cfi_adjust_cfa_offset 80
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	str	x6, [sp, #64]
	bl	hook_resolve	/* before our constructor: a C function would lose the arguments */
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldr	x6, [sp, #64]
	ldp	x29, x30, [sp], #80
	.cfi_adjust_cfa_offset -80
	.cfi_restore x29
	.cfi_restore x30
5:	adrp	x16, real_syscall
	ldr	x16, [x16, #:lo12:real_syscall]
	br	x16
	.cfi_endproc
	.size	syscall, .-syscall
	.section .note.GNU-stack, "", %progbits
