/* SPDX-License-Identifier: Apache-2.0 */
/* libunwind's interpreter of call frame instructions, with one instruction added. */
#include "dwarf_i.h"
#include "libunwind_i.h"

/* On aarch64 opcode 0x2d says that the return address is signed from here on. libunwind 1.6.2 takes it for SPARC's
 * window_save and fails, which would end every stack at the first function built with -mbranch-protection. The walker
 * strips signatures, so the instruction needs no action. The expansion follows "case"; 0x3b is an unused opcode. */
#ifdef __aarch64__
#define DW_CFA_GNU_window_save 0x2d: break; case 0x3b
#endif

#include "src/dwarf/Gparser.c"
