/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups by name, dlsym's and the driver's own: what they find is replaced by our wrapper of it.
 *
 * A wrapper that is handed out calls the very function that the look-up found, for as long as it lives: each pair of wrapper and
 * function has a trampoline, which is the pointer that the program gets. So two libraries may hold functions of one name,
 * and the driver may give several for one name.
 *
 * One layer: a shared libcudart gets the driver's functions as they are, for its callers come through our wrappers of it; so do the
 * driver's own tools. Who asks is told by the return address.
 *
 * Any thread, any time, also before our constructor. Not from a signal handler that has interrupted the loader, as dlsym itself. */
#ifndef PILLION_LOOKUP_H
#define PILLION_LOOKUP_H

#define TRAMPOLINES 4096 /* pairs; dlsym_*.S has a trampoline of 16 bytes for each */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

struct entry_row;

/* The row of this symbol, or NULL. */
const struct entry_row *lookup_row(const char *symbol);

/* What a program is to be given in place of `real`: a way into the row's wrapper; `real` itself where nothing of its kind is recorded,
 * and where trampolines have run out, which the ledger then says. */
void *lookup_trampoline(const struct entry_row *row, void *real);

/* Who asks: the code at `caller`. RUNTIME: a shared libcudart. TOOL: a part of the driver, of its tools, or of us. */
enum lookup_caller { LOOKUP_BY_PROGRAM = 1, LOOKUP_BY_RUNTIME, LOOKUP_BY_TOOL };
enum lookup_caller lookup_caller_of(const void *caller);

/* Does it lie in our object? */
bool lookup_is_ours(const void *address);

/* lookup_driver.c: the same as lookup_trampoline() for what the driver's look-up `lookup` (a function of the driver's library, or NULL: not known)
 * has found for `name`. `version`: of CUDA, 0: not known, then only a function that bears one of our names in that library is replaced. */
void *lookup_driver_trampoline(const char *name, int version, uint64_t flags, void *real, const void *lookup, const void *caller);

/* What dlsym() does: return `value`, or go on to `jump` with the caller's arguments. */
struct lookup_result {
	void *value, *jump;
};
struct lookup_result lookup_dlsym(void *handle, const char *name, const void *caller);

/* At the end of the image, if it is no forked child: the ledger names the libraries whose calls come by none of these ways. */
void lookup_note_unseen(void);
#endif

#endif
