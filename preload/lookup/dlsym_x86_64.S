/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym(handle, name): looked at and jumped through, never called, so that glibc sees the return address of the program: what
 * RTLD_NEXT and RTLD_DEFAULT mean depends on it. And the pointers that look-ups hand out, see lookup.h. */
#include "preload/lookup/lookup.h"
	.text
	.globl	dlsym
	.type	dlsym, @function
dlsym:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	24(%rsp), %rdx		/* the return address */
	call	lookup_dlsym
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rdx, %rdx
	je	1f
	movq	%rdx, %r11
	leaq	lookup_no_version(%rip), %rdx	/* if it is dlvsym that we go on to */
	jmpq	*%r11
1:	ret
	.cfi_endproc
	.size	dlsym, .-dlsym

/* The slot's real function as the fifth argument of type double, then the wrapper. */
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
