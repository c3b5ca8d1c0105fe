/* SPDX-License-Identifier: Apache-2.0 */
/* The module map: which file lies where, with its build-id, so that the report can name addresses. */
#ifndef PILLION_MODULE_H
#define PILLION_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/* Writes the modules around these code addresses that the trace does not have yet. They must be on the calling thread's
 * stack, so that none can be unloaded meanwhile. */
void module_write(void *const *addresses, int count);

/* After a dlclose: if it took a module that the trace has, stacks are others from now on (process.unloads), for their addresses may
 * come to mean other code. Up to 65535 times: then a program that loads and unloads for ever no longer makes the trace grow by it. */
void module_gone(void);

/* Is the address in our own object? */
bool module_is_ours(uintptr_t address);

/* Is it in an object that has Go's runtime? Safe in a signal handler; false where glibc is older than 2.35. */
bool module_is_go(const void *address);

void module_init(void);

#endif
