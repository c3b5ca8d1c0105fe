/* SPDX-License-Identifier: Apache-2.0 */
/* Native stacks: return addresses, each different stack written to the trace once. */
#ifndef PILLION_STACK_H
#define PILLION_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"
#include "runtime/stack/place.h"

enum { STACK_FRAMES = 512 };	/* --backtrace-depth goes no further */
enum { STACK_NATIVE_ONLY = 1 }; /* in `frame`: the call may come while the interpreter changes its own state */

/* Once per image, at the start. */
void stack_init(void);

/* The id of the calling thread's stack; 0: it could not be taken, which is counted in the thread's page. `frame` is
 * the frame address of the wrapper, and the first frame is the wrapper's caller. No stack is taken on an alternate
 * signal stack, on a coroutine's stack, or near a stack's end. Safe in a signal handler from glibc 2.35 on; before
 * that a new stack takes the loader's lock. */
uint32_t stack_take(struct thread *t, uintptr_t frame);

/* Likewise for the stack that a signal interrupted, from a handler on another stack with 100 KiB of room. The first
 * address is one past the first byte of the interrupted instruction, so that it is read as the return addresses are.
 * Where the bounds of the stack are not known, each page of it is probed. */
uint32_t stack_take_at(struct thread *t, const struct stack_place *place);

/* After a dlclose: other code may be loaded at the same addresses. */
void stack_module_gone(void);

/* Around fork, in the thread that forks: the loader's lock is not copied while a backtrace holds it. */
void stack_fork_begin(void);
void stack_fork_end(bool is_child);

/* The program has set an alternate signal stack: from now on every backtrace asks the kernel whether it is on one. */
void stack_alternate_seen(void);

#endif
