/* SPDX-License-Identifier: Apache-2.0 */
/* The exported functions of the libraries: a stub for each row, which loads the row's number, and one entry for all. A
 * call that is not recorded continues by a jump, with all its arguments in place.
 *
 * Free to use at entry: rax, r10, r11, because no row is variadic. */
#include "preload/library/frame.h"
#include "preload/library/hook_library.h"
	.text
	.hidden	library_rows, library_found, library_begin, library_finish, caller_epoch, process_gate

	.balign	16
	.type	library_stubs, @function
library_stubs:
	.cfi_startproc
	.set	number, 0
	.macro	library_stub symbol
	.balign	16
	.globl	\symbol
	.type	\symbol, @function
\symbol:
	endbr64
	movl	$number, %r11d
	jmp	library_entry
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
	.type	library_trampolines, @function
library_trampolines:
	.cfi_startproc
	.set	number, 0
	.rept	LIBRARY_TRAMPOLINES
	.balign	16
	endbr64
	movl	$number, %r11d
	jmp	library_entry_found
	.set	number, number + 1
	.endr
	.balign	16
	.cfi_endproc
	.size	library_trampolines, .-library_trampolines

	.balign	64
	.type	library_entry, @function
library_entry:
	.cfi_startproc
	shlq	$ROW_SHIFT, %r11
	leaq	library_rows(%rip), %r10
	addq	%r10, %r11			/* r11 = row */
	movq	caller_epoch(%rip), %rax
	xorq	(%rsp), %rax
	xorq	ROW_CHECK(%r11), %rax		/* rax = real, if the row has cached this caller */
	cmpq	ROW_REAL(%r11), %rax
	jne	2f
	testq	%rax, %rax
	je	3f
1:	movq	process_gate+GATE_RECORDING(%rip), %r10
	movl	(%r10), %r10d
	orw	ROW_ALWAYS(%r11), %r10w
	andw	process_gate+GATE_GROUPS(%rip), %r10w
	testw	%r10w, ROW_GROUP(%r11)
	jne	3f
	jmpq	*%rax

library_entry_found:
	shlq	$ROW_SHIFT, %r11
	addq	library_found(%rip), %r11
	movq	ROW_REAL(%r11), %rax
	jmp	1b

2:	xorl	%eax, %eax			/* real has to be looked up */
3:	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	subq	$FRAME_BYTES, %rsp
	movq	%rax, FRAME_REAL(%rsp)
	movq	%r11, FRAME_ROW(%rsp)
	movq	%rdi, FRAME_WORDS(%rsp)
	movq	%rsi, FRAME_WORDS+8(%rsp)
	movq	%rdx, FRAME_WORDS+16(%rsp)
	movq	%rcx, FRAME_WORDS+24(%rsp)
	movq	%r8, FRAME_WORDS+32(%rsp)
	movq	%r9, FRAME_WORDS+40(%rsp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movups	%xmm\n, FRAME_VECTORS+16*\n(%rsp)
	.endr
	movq	%rsp, %rdi
	call	library_begin			/* eax = words on the stack */
	movq	%rsp, %r10
	testl	%eax, %eax
	je	5f
	leal	1(%rax), %ecx
	andl	$-2, %ecx
	shll	$3, %ecx
	subq	%rcx, %rsp
	xorl	%ecx, %ecx			/* two at a time: an odd one is followed by padding */
4:	movq	16(%rbp,%rcx,8), %rdi
	movq	24(%rbp,%rcx,8), %rsi
	movq	%rdi, (%rsp,%rcx,8)
	movq	%rsi, 8(%rsp,%rcx,8)
	addl	$2, %ecx
	cmpl	%eax, %ecx
	jb	4b
5:	movq	FRAME_WORDS(%r10), %rdi
	movq	FRAME_WORDS+8(%r10), %rsi
	movq	FRAME_WORDS+16(%r10), %rdx
	movq	FRAME_WORDS+24(%r10), %rcx
	movq	FRAME_WORDS+32(%r10), %r8
	movq	FRAME_WORDS+40(%r10), %r9
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movups	FRAME_VECTORS+16*\n(%r10), %xmm\n
	.endr
	call	*FRAME_REAL(%r10)
	leaq	-FRAME_BYTES(%rbp), %rsp
	movq	%rax, FRAME_RESULTS(%rsp)
	movq	%rdx, FRAME_RESULTS+8(%rsp)
	movups	%xmm0, FRAME_VECTORS(%rsp)
	movups	%xmm1, FRAME_VECTORS+16(%rsp)
	movq	%rsp, %rdi
	call	library_finish
	movq	FRAME_RESULTS(%rsp), %rax
	movq	FRAME_RESULTS+8(%rsp), %rdx
	movups	FRAME_VECTORS(%rsp), %xmm0
	movups	FRAME_VECTORS+16(%rsp), %xmm1
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	library_entry, .-library_entry
	.section .note.GNU-stack, "", @progbits
