/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of unwind tables (.eh_frame_hdr, .eh_frame): all that the walker sees of libunwind. Implemented by
 * subprojects/packagefiles/libunwind/unwind_table.c, which alone includes libunwind's own headers.
 *
 * Any thread, any signal handler. Takes no lock, allocates nothing, makes no system call. */
#ifndef PILLION_UNWIND_TABLE_H
#define PILLION_UNWIND_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* DWARF's numbers of the registers that a walk follows. */
#if defined(__x86_64__)
enum { UNWIND_FP = 6, UNWIND_SP = 7, UNWIND_RA = 16 };
#elif defined(__aarch64__)
enum { UNWIND_FP = 29, UNWIND_SP = 31, UNWIND_RA = 30 };
#else
#error "pillion walks the stacks of x86-64 and aarch64 only"
#endif

/* How the value of a register in the caller's frame is found. */
enum unwind_how {
	UNWIND_SAME,	   /* the register still holds it */
	UNWIND_UNDEFINED,  /* it is lost; for the return address: the outermost frame */
	UNWIND_SAVED,	   /* in memory at CFA + offset */
	UNWIND_REGISTER,   /* the CFA alone: a register + offset */
	UNWIND_EXPRESSION, /* by a DWARF expression */
	UNWIND_OTHER,
};

enum { UNWIND_EXPRESSION_BYTES = 16 };

struct unwind_cell {
	enum unwind_how how;
	uint64_t number; /* of the register */
	int64_t offset;	 /* bytes */
	/* As in the table: its length as ULEB128, then the operations. Zeros follow the end of the object. */
	uint8_t expression[UNWIND_EXPRESSION_BYTES];
};

/* One row of the table: valid at one instruction. */
struct unwind_row {
	struct unwind_cell cfa, fp, ra;
	uint64_t ra_column; /* the register that the function returns by */
	bool is_signal_frame;
};

/* A loaded object. Every byte that is read lies in [start, end), which must be readable. */
struct unwind_object {
	uintptr_t start, end;
	uintptr_t eh_frame_hdr; /* 0: it has none */
};

/* The row for the instruction at `address`. False: no row, no binary search table, or a table that is damaged. */
bool unwind_table_row(const struct unwind_object *object, uintptr_t address, struct unwind_row *ret);

#endif
