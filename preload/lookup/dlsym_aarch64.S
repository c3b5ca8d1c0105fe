/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym(handle, name): lookup_dlsym() decides, then this jumps to the real function instead of calling it, so that
 * glibc sees the return address of the program: the meaning of RTLD_NEXT and RTLD_DEFAULT depends on it. */
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
	adrp	x2, lookup_no_version	/* in case the target is dlvsym */
	add	x2, x2, #:lo12:lookup_no_version
	br	x16
1:	mov	x0, x17
	ret
	.cfi_endproc
	.size	dlsym, .-dlsym
	.section .note.GNU-stack, "", %progbits
