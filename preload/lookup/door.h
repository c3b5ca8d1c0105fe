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
#ifndef PILLION_DOOR_H
#define PILLION_DOOR_H

#define DOOR_SLOTS 4096 /* pairs of CUDA's functions, and as many of the libraries'; each has a trampoline of 16 bytes */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

struct entry_row;

/* The row of this symbol, or NULL. */
const struct entry_row *door_row(const char *symbol);

/* What a program is to be given in place of `real`: a way into the row's wrapper; `real` itself where nothing of its
 * kind is recorded, and where trampolines have run out, which the ledger then says. */
void *door_hand(const struct entry_row *row, void *real);

/* Who asks: the code at `caller`. RUNTIME: a shared libcudart. TOOL: a part of the driver, of its tools, or of us. */
enum door_asker { DOOR_PROGRAM = 1, DOOR_RUNTIME, DOOR_TOOL };
enum door_asker door_asker_of(const void *caller);

/* Does it lie in our object? */
bool door_is_ours(const void *address);

/* door_driver.c: the same as door_hand() for what the driver's look-up `lookup` (a function of the driver's library,
 * or NULL: not known) has found for `name`. `version`: of CUDA, 0: not known, then only a function that bears one of
 * our names in that library is replaced. */
void *door_hand_driver(const char *name, int version, uint64_t flags, void *real, const void *lookup, const void *caller);

/* What dlsym() does: return `value`, or go on to `jump` with the caller's arguments. */
struct door_answer {
	void *value, *jump;
};
struct door_answer door_dlsym(void *handle, const char *name, const void *caller);

/* At the end of the image, if it is no forked child: the ledger names the libraries whose calls come by none of these
 * ways. */
void door_say_unseen(void);
#endif

#endif
