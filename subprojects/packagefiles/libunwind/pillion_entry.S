/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the caller's registers before any compiled code can move them, and jumps on to
 * unw_pillion_walk(buffer, size, stack_low, stack_high, sp, fp [, pc]). */
	.text
	.globl unw_pillion_backtrace
	.hidden unw_pillion_backtrace
	.hidden unw_pillion_walk
	.type unw_pillion_backtrace, %function
	.p2align 4
unw_pillion_backtrace:
	.cfi_startproc
#ifdef __x86_64__
	endbr64
	movq %rsp, %r8
	movq %rbp, %r9
	jmp unw_pillion_walk
#else
	hint #34			/* bti c */
	mov x4, sp
	mov x5, x29
	mov x6, x30
	b unw_pillion_walk
#endif
	.cfi_endproc
	.size unw_pillion_backtrace, . - unw_pillion_backtrace

	.section .note.GNU-stack, "", %progbits
