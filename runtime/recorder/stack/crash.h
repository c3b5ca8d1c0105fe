/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes: the signal, the thread and its stack are recorded before the program dies of SIGSEGV, SIGBUS, SIGFPE, SIGILL
 * or SIGABRT, as it would without us: docs/decisions/crashes.md. */
#pragma once

#include <stdint.h>

/* Once per image that was exec'ed, and after altstack_stop(). Does nothing where the program, or somebody who watches
 * it, would notice. */
void crash_init(void);

/* The calling thread is about to call abort() for this reason, see struct tf_crash. */
void crash_aborts(uint32_t reason);
