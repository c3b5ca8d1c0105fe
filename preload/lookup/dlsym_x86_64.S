/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym(handle, name): lookup_dlsym() decides, then this jumps to the real function instead of calling it, so that
 * glibc sees the return address of the program: the meaning of RTLD_NEXT and RTLD_DEFAULT depends on it. */
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
	leaq	lookup_no_version(%rip), %rdx	/* in case the target is dlvsym */
	jmpq	*%r11
1:	ret
	.cfi_endproc
	.size	dlsym, .-dlsym
	.section .note.GNU-stack, "", @progbits
