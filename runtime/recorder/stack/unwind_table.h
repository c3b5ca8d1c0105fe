/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of unwind tables (.eh_frame_hdr, .eh_frame), the only part of libunwind that the walker uses.
 * Implemented by subprojects/packagefiles/libunwind/unwind_table.c, the only file that includes libunwind's headers.
 *
 * Any thread, any signal handler. Takes no lock, allocates nothing, makes no system call. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* DWARF register numbers of the registers that a walk tracks. */
#if defined(__x86_64__)
enum { UNWIND_FP = 6, UNWIND_SP = 7, UNWIND_RA = 16 };
#elif defined(__aarch64__)
enum { UNWIND_FP = 29, UNWIND_SP = 31, UNWIND_RA = 30 };
#else
#error "pillion walks the stacks of x86-64 and aarch64 only"
#endif

/* How to recover the value of a register in the caller's frame. */
enum unwind_how {
	UNWIND_SAME,	   /* the register still has it */
	UNWIND_UNDEFINED,  /* it is lost; of the return address: the outermost frame */
	UNWIND_SAVED,	   /* in memory at CFA + offset */
	UNWIND_REGISTER,   /* for the CFA only: a register + offset */
	UNWIND_EXPRESSION, /* by a DWARF expression */
	UNWIND_OTHER,
};

enum { UNWIND_EXPRESSION_BYTES = 16 };

struct unwind_cell {
	enum unwind_how how;
	uint64_t number; /* of the register */
	int64_t offset;	 /* bytes */
	/* As in the table: its length as ULEB128, then the operations; padded with zeros at the end of the object. */
	uint8_t expression[UNWIND_EXPRESSION_BYTES];
};

/* One row of the table: the rules for one instruction. */
struct unwind_row {
	struct unwind_cell cfa, fp, ra;
	uint64_t ra_column; /* the register that holds the return address */
	bool is_signal_frame;
};

/* A loaded object. All reads are within [start, end), which must be readable. */
struct unwind_object {
	uintptr_t start, end;
	uintptr_t eh_frame_hdr; /* 0: none */
};

/* Finds the row of the instruction at `address`. False: no row, no binary search table, or a corrupt table. */
bool unwind_table_row(const struct unwind_object *object, uintptr_t address, struct unwind_row *ret);
