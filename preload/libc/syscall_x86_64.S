/* SPDX-License-Identifier: Apache-2.0 */
/* syscall(number, ...): examines the number and jumps to the real function. It is not called, because clone and vfork
 * return on another stack, or twice, and would then find a destroyed C frame. Calls that wait and always return once
 * are passed to wrap_syscall.c and wrap_seccomp.c. */
	.text
	.globl	syscall
	.type	syscall, @function
syscall:
	.cfi_startproc
	endbr64
	cmpb	$0, hook_is_resolved(%rip)
	je	2f
	cmpq	$317, %rdi		/* SYS_seccomp */
	je	wrap_syscall_seccomp
	cmpq	$157, %rdi		/* SYS_prctl */
	je	wrap_syscall_prctl
	cmpq	$202, %rdi		/* SYS_futex */
	je	wrap_syscall_futex
	cmpq	$426, %rdi		/* SYS_io_uring_enter */
	je	wrap_syscall_io_uring_enter
	cmpq	$324, %rdi		/* SYS_membarrier */
	je	wrap_syscall_membarrier
	cmpq	$13, %rdi		/* SYS_rt_sigaction */
	je	wrap_syscall_rt_sigaction
	cmpq	$131, %rdi		/* SYS_sigaltstack */
	je	wrap_syscall_sigaltstack
	cmpq	$38, %rdi		/* SYS_setitimer */
	je	wrap_syscall_setitimer
	cmpq	$222, %rdi		/* SYS_timer_create */
	je	wrap_syscall_timer_create
	cmpq	$3, %rdi		/* SYS_close */
	je	wrap_syscall_close
	cmpq	$436, %rdi		/* SYS_close_range */
	je	wrap_syscall_close_range
	cmpq	$33, %rdi		/* SYS_dup2 */
	je	wrap_syscall_dup
	cmpq	$292, %rdi		/* SYS_dup3 */
	je	wrap_syscall_dup
	jmpq	*real_syscall(%rip)
2:	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	hook_resolve	/* before our constructor: a C function would lose the arguments */
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmpq	*real_syscall(%rip)
	.cfi_endproc
	.size	syscall, .-syscall
	.section .note.GNU-stack, "", @progbits
