/* SPDX-License-Identifier: Apache-2.0 */
/* The stack walker that is built into our shared object. Every function may be called from any
 * thread and from signal handlers. None allocates, sets errno or opens a file; none takes a lock, but
 * see unw_pillion_init; no thread owns anything that would have to be given back when it ends. */
#ifndef UNWIND_PILLION_H
#define UNWIND_PILLION_H

#include <stdbool.h>
#include <stdint.h>

/* Set in the result of unw_pillion_backtrace when it stopped before the stack's outermost frame for
 * another reason than a full buffer. The lower bits still count the frames that were found. */
#define UNW_PILLION_CUT 0x40000000
/* Set when one of the frames is a signal handler's. */
#define UNW_PILLION_SIGNAL 0x20000000
#define UNW_PILLION_COUNT 0xffffff

/* Names libc's _dl_find_object (glibc 2.35 and newer), as void *. Without it modules are found with
 * dl_iterate_phdr, which takes the loader's lock. May be called again, and at any time. */
void unw_pillion_init(void *dl_find_object);

/* Writes the return addresses of the calling thread's stack, innermost first; the first one lies in
 * the function that called this one. Returns their number.
 *
 * stack_low and stack_high bound the calling thread's stack: memory between the stack pointer and
 * stack_high is read without a check, nothing outside is. With both 0, or when the stack pointer is
 * not between them (a coroutine, an alternate signal stack), each page is probed by a system call
 * first. */
int unw_pillion_backtrace(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high);

/* The same for the stack of the caller of a living function, by this one's __builtin_frame_address(0); the first address is
 * where it returns to, and *ret_hash is a hash of all that was written. On aarch64, where that does not tell the stack pointer, it is unw_pillion_backtrace. */
int unw_pillion_backtrace_from(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame,
	uint64_t *ret_hash);

/* What one thread's walks have met, in UNW_PILLION_MEMO bytes of its own that began as zeros: with it a stack that has hardly
 * changed is not walked again, but compared. Exact: all that a walk would read is read. Not to be entered again by a handler
 * that interrupts it; a handler may leave it for good by longjmp. A forked child may go on with it. */
struct unw_pillion_memo;
enum { UNW_PILLION_MEMO = 336 << 10 };

/* The hash, the number of frames and UNW_PILLION_SIGNAL that unw_pillion_backtrace_from would give; 0: it cannot tell (aarch64, a stack
 * whose bounds are not known). */
int unw_pillion_hash_from(struct unw_pillion_memo *memo, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame,
	uint64_t *ret_hash);

/* Where a signal interrupted the thread; lr is aarch64's. */
struct unw_pillion_place {
	uintptr_t pc, sp, fp, lr;
};

/* The same for the code that a signal has interrupted, anywhere in it: the first address is pc itself. To be called on another
 * stack than that. With stack_low and stack_high both 0 the page of sp must be known to be readable. */
int unw_pillion_backtrace_at(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high, const struct unw_pillion_place *place,
	uint64_t *ret_hash);

/* Forgets what is known about all addresses: to be called after dlclose. Costs one add; what is
 * still needed is read again. */
void unw_pillion_flush(void);

/* Around fork, in the thread that forks: begin before it; end after it, in both processes, or after
 * its failure. Where _dl_find_object is in use they do nothing. Elsewhere they see to it that the
 * loader's lock is not copied while a backtrace in another thread holds it: usually microseconds, at
 * most a second. After that, or in a child that begin did not announce, frames not yet known end the
 * stack. */
void unw_pillion_fork_begin(void);
void unw_pillion_fork_end(bool is_child);

#endif
