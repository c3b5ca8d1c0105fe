/* SPDX-License-Identifier: Apache-2.0 */
/* The stack walker. Each function may be called from any thread and any signal handler. None allocates, sets errno
 * or opens a file. None takes a lock, except with glibc before 2.35, see object.h. No thread owns anything that
 * would have to be released when it ends.
 *
 * stack_low and stack_high bound the stack that is walked: memory between its stack pointer and stack_high is read
 * without a check, and no other memory is read. If the stack pointer is outside these bounds (a coroutine, an
 * alternate signal stack), or both are 0, each page is first probed by a system call. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/stack/place.h"

/* The result of a walk: the number of frames, and these bits. WALK_CUT: it stopped before the outermost frame, for
 * another reason than a full buffer. WALK_SIGNAL: the frames include that of a signal handler. */
enum { WALK_CUT = 0x40000000, WALK_SIGNAL = 0x20000000, WALK_COUNT = 0xffffff };

/* Stores at most `size` return addresses, innermost first, and a hash of them. `frame` is __builtin_frame_address(0)
 * of a function that has not returned; the first address is where that function returns to. On aarch64, where the
 * frame address does not give the stack pointer, the first address is in walk_from itself. */
int walk_from(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame, uint64_t *ret_hash);

/* Likewise for code that a signal interrupted at any instruction: the first address is place->pc itself. The caller
 * must run on another stack. Outside the bounds, the page of place->sp must be known to be readable. */
int walk_at(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high, const struct stack_place *place,
	    uint64_t *ret_hash);

/* The memo of one thread: the words that its walks have read, in WALK_MEMO_BYTES of initially zeroed memory. A stack
 * that has hardly changed is compared instead of walked again. The result is exact, because all words that a walk
 * would read are compared. A handler must not use the memo while it interrupts its use; it may leave by longjmp. A
 * forked child may continue to use its copy. */
struct walk_memo;
enum { WALK_MEMO_BYTES = 336 << 10 };

/* The hash and the result of walk_from, without WALK_CUT; 0: unknown (aarch64, a stack without bounds, or, without
 * reads_rules, a rule that is not cached). Reading a rule takes 2.5 KB of stack, all else less than 1 KB. */
int walk_memo_hash(struct walk_memo *memo, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame,
		   bool reads_rules, uint64_t *ret_hash);

/* Maps the cache of rules, unless it is. False: there is no memory for it, so nothing can be walked; the walks return
 * 0. */
bool walk_prepare(void);

/* After a dlclose: invalidates the rules of all addresses; the tables are read again. Costs one addition. */
void walk_invalidate(void);
