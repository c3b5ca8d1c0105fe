/* SPDX-License-Identifier: Apache-2.0 */
/* The module map: which file lies where, with its build-id, so that the report can name addresses. */
#ifndef PILLION_MODULE_H
#define PILLION_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/* Writes those modules that the trace does not have yet. Cheap where none were loaded since. Never under the guard. */
void module_write_new(void);

/* Is the address in our own object? */
bool module_is_ours(uintptr_t address);

void module_init(void);

#endif
