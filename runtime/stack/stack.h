/* SPDX-License-Identifier: Apache-2.0 */
/* Native stacks: raw return addresses, each different stack written once. */
#ifndef PILLION_STACK_H
#define PILLION_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

enum { STACK_FRAMES = 512 }; /* --backtrace-depth goes no further */
enum { STACK_NATIVE_ONLY = 1 }; /* in `frame`: the call may come from the midst of an interpreter's own work */

/* Once per image, at the start. */
void stack_init(void);

/* The id of the calling thread's stack, from the caller of the function whose frame address `frame` is (a living one, the
 * wrapper's); 0: none could be taken, counted in the thread's page. Not on an alternate signal stack, on a coroutine's, nor
 * near a stack's end. Safe in a signal handler from glibc 2.35 on; before that a new stack takes the loader's lock. */
uint32_t stack_take(struct thread *t, uintptr_t frame);

/* Where a signal came upon the thread: its program counter, stack pointer, frame pointer and (aarch64) link register. */
struct stack_place {
	uintptr_t pc, sp, fp, lr;
};

/* Likewise for the stack that a signal interrupted, from a handler on another stack, which has 100 KiB of room. The first address is one
 * past the interrupted instruction's first byte, so that it reads as the others, return addresses, do. Where the stack is not
 * known, each page of it is asked for. */
uint32_t stack_take_at(struct thread *t, const struct stack_place *place);

/* After a dlclose: other code may come to lie there. */
void stack_module_gone(void);

/* Around fork, in the thread that forks: keeps the loader's lock from being copied while a backtrace holds it. */
void stack_fork_begin(void);
void stack_fork_end(bool is_child);

/* The program has set an alternate signal stack: from now on every backtrace asks the kernel where it stands. */
void stack_alternate_seen(void);

#endif
