/* SPDX-License-Identifier: Apache-2.0 */
/* A few stacks of ours, shared by all threads, for slow paths that would need more than a small stack of the program
 * has. Work on them is short and runs with signals blocked, so no handler of the program ever runs there, none leaves
 * one by longjmp, and a thread uses at most one. */
#pragma once

#include <stdbool.h>

struct thread_guard;

/* Once per image, at the start; they are mapped at their first use, and a forked child inherits them. There are none on
 * aarch64, where a walk begins in the function that makes it, and none under valgrind, which warns of a stack pointer
 * that changes. */
void spare_stack_init(void);

/* False: there are none. */
bool spare_stack_exists(void);

/* Runs work(argument) on one of the stacks. False: none is free, or signals could not be blocked; it did not run. */
bool spare_stack_run(void (*work)(void *), void *argument);

/* Like spare_stack_run() in the thread's guard `g`, but if there is no stack, the work runs on the caller's. */
void spare_stack_prefer(const struct thread_guard *g, void (*work)(void *), void *argument);

#if defined(__x86_64__)
/* Calls work(argument) with the stack pointer `top`, a multiple of 16. */
void spare_stack_switch(void (*work)(void *), void *argument, char *top) __attribute__((visibility("hidden")));
#endif
