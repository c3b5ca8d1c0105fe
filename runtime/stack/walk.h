/* SPDX-License-Identifier: Apache-2.0 */
/* The stack walker. Each function may be called from any thread and any signal handler. None allocates, sets errno
 * or opens a file; none takes a lock, but see object.h for glibc before 2.35; no thread owns anything that is given
 * back when it ends.
 *
 * stack_low and stack_high bound the stack that is walked: memory between its stack pointer and stack_high is read
 * without a check, nothing outside is. Where the stack pointer is not between them (a coroutine, an alternate signal
 * stack), or both are 0, each page is probed by a system call first. */
#ifndef PILLION_WALK_H
#define PILLION_WALK_H

#include <stdint.h>

#include "runtime/stack/place.h"

/* The result of a walk: the number of frames, and these bits. WALK_CUT: it stopped before the outermost frame for
 * another reason than a full buffer. WALK_SIGNAL: a signal handler's frame is among them. */
enum { WALK_CUT = 0x40000000, WALK_SIGNAL = 0x20000000, WALK_COUNT = 0xffffff };

/* Writes at most `size` return addresses, innermost first, and a hash of them. `frame` is __builtin_frame_address(0)
 * of a function that has not returned; the first address is where that function returns to. On aarch64, where this
 * does not give the stack pointer, the first address lies in walk_from itself. */
int walk_from(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame, uint64_t *ret_hash);

/* Likewise for the code that a signal interrupted, at any instruction: the first address is place->pc itself. To be
 * called on another stack than that one. Outside the bounds the page of place->sp must be known to be readable. */
int walk_at(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high, const struct stack_place *place,
	    uint64_t *ret_hash);

/* What the walks of one thread have read, in WALK_MEMO_BYTES of its own that began as zeros: a stack that has hardly
 * changed is compared, and not walked again. Exact, because all that a walk would read is compared. A handler must
 * not use the memo that it interrupts the use of; it may leave by longjmp. A forked child may go on with its copy. */
struct walk_memo;
enum { WALK_MEMO_BYTES = 336 << 10 };

/* The hash and the result that walk_from would give, without WALK_CUT; 0: not known (aarch64, a stack without
 * bounds). */
int walk_memo_hash(struct walk_memo *memo, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame,
		   uint64_t *ret_hash);

/* After a dlclose: what is known of any address no longer holds. Costs one addition; the tables are read again. */
void walk_invalidate(void);

#endif
