/* SPDX-License-Identifier: Apache-2.0 */
/* Native stacks: return addresses; each distinct stack is written to the trace once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/record/thread/thread_state.h"
#include "runtime/recorder/stack/place.h"

enum { STACK_FRAMES = 512 };	/* the maximum of --backtrace-depth */
enum { STACK_NATIVE_ONLY = 1 }; /* in `frame`: the interpreter may be changing its own state during the call */

/* Once per image, at the start. */
void stack_init(void);

/* Returns the id of the calling thread's stack; 0: it could not be walked, which is counted in the thread's page.
 * `frame` is the frame address of the wrapper; the first frame of the stack is the wrapper's caller. No stack is
 * walked on an alternate signal stack, on a coroutine's stack, or near the end of a stack. Safe in a signal handler
 * with glibc 2.35 or newer; with older versions a new stack takes the loader's lock. */
uint32_t stack_take(struct thread *t, uintptr_t frame);

/* Likewise for the stack that a signal interrupted, from a handler on another stack with 100 KiB of space. The first
 * address is one past the first byte of the interrupted instruction, so that it is interpreted like the return
 * addresses. If the bounds of the stack are unknown, each of its pages is probed. */
uint32_t stack_take_at(struct thread *t, const struct stack_place *place);

/* Likewise for a thread that crashes: its stack may have overflowed. */
uint32_t stack_take_crash(struct thread *t, const struct stack_place *place);

/* Has the calling thread's stack so much space left? */
bool stack_has(uintptr_t bytes);

/* At the end of an image: adds to the ledger why stacks were lost. */
void stack_note_lost(void);

/* Before system calls are given up: maps what stacks will need. */
void stack_prepare(void);

/* After a dlclose: other code may be loaded at the same addresses. */
void stack_module_unloaded(void);

/* The program has set an alternate signal stack: from now on every stack walk checks by a system call whether it is
 * on one. */
void stack_alternate_set(void);
