/* SPDX-License-Identifier: Apache-2.0 */
/* For variables that every call reads: they are placed together, in one or two cache lines, whichever file defines
 * them. */
#pragma once

#define HOT __attribute__((section("pillion_hot")))

/* For large arrays that few programs use: the small variables, which every process writes, are then in few pages. The
 * name makes the section one without contents in the file. */
#define LARGE __attribute__((section(".sbss.pillion")))

/* For the declaration of a variable that another file defines: it is in our own object, so its address needs no load
 * from the global offset table. */
#define HIDDEN __attribute__((visibility("hidden")))

/* Of a function that programs enter: it may use instructions that need an aligned stack, and so may libc's functions
 * that it calls, though the caller's stack is not aligned (assembly language, a _start in C). */
#ifdef __x86_64__
#define ALIGNS_STACK __attribute__((force_align_arg_pointer))
#else
#define ALIGNS_STACK
#endif
