/* SPDX-License-Identifier: Apache-2.0 */
/* The module map: the file loaded at each address range, with its build-id, so that the report can resolve
 * addresses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Writes the modules of these code addresses that the trace does not have yet. The addresses must be on the calling
 * thread's stack, so that none of the modules can be unloaded meanwhile. */
void module_write(void *const *addresses, int count);

/* After a dlclose: if it unloaded a module of the trace, stacks with the same addresses are distinct from now on
 * (process.unloads), because other code may be loaded there. This is done at most 65535 times, so that the trace of
 * a program that loads and unloads forever stops growing. */
void module_unloaded(void);

/* Is the address in our own shared object? */
bool module_is_ours(uintptr_t address);

/* Is the address in an object with the Go runtime? With glibc before 2.35, only the program is known to be one.
 * Safe in a signal handler. */
bool module_is_go(const void *address);

void module_init(void);
