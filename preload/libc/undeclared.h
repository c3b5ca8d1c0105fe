/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of libc's rows that no header declares, declared as in their rows. All other exported functions have
 * a prototype in a header of libc: a row that differs from it is a conflicting type, and a row whose header hook.h does
 * not include is a missing prototype (-Wmissing-prototypes). Both are errors. */
#pragma once

#include "preload/hook/hook.h"

#define HOOK_UNDECLARED(X)                                                                                             \
	/* fortified variants: declared only under _FORTIFY_SOURCE, without which our sources are compiled */          \
	X(__read_chk) X(__pread_chk) X(__pread64_chk) X(__recv_chk) X(__recvfrom_chk) X(__poll_chk) X(__ppoll_chk)     \
	X(__open_2) X(__open64_2) X(__openat_2) X(__openat64_2)                                                        \
	X(__fread_chk) X(__fread_unlocked_chk) X(__fgets_chk) X(__fgets_unlocked_chk)                                  \
	X(__fgetws_chk) X(__fgetws_unlocked_chk) X(__longjmp_chk)                                                      \
	X(__vprintf_chk) X(__vfprintf_chk) X(__vwprintf_chk) X(__vfwprintf_chk) X(__vdprintf_chk)                      \
	X(__isoc99_vscanf) X(__isoc99_vfscanf) X(__isoc99_vwscanf) X(__isoc99_vfwscanf)                                \
	X(__isoc23_vscanf) X(__isoc23_vfscanf) X(__isoc23_vwscanf) X(__isoc23_vfwscanf)                                \
	/* used by programs that were linked to a glibc before 2.33 or 2.28 */                                     \
	X(__xstat) X(__xstat64) X(__lxstat) X(__lxstat64) X(__fxstat) X(__fxstat64) X(__fxstatat) X(__fxstatat64)      \
	X(_IO_getc) X(_IO_putc)                                                                                        \
	/* removed from POSIX in 2008 */                                                                               \
	X(bsd_signal)

#define HOOK_DECLARE_UNDECLARED(symbol) extern __typeof__(*real_##symbol) symbol;
HOOK_UNDECLARED(HOOK_DECLARE_UNDECLARED)
#undef HOOK_DECLARE_UNDECLARED
