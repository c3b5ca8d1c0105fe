/* SPDX-License-Identifier: Apache-2.0 */
/* How far long work has come, on standard error if that is a terminal, from its second second on. */
#ifndef PILLION_PROGRESS_H
#define PILLION_PROGRESS_H

#include <stdint.h>

/* Once, before all else. */
void progress_init(void);

/* What is done now. total_bytes 0: not known. The label is borrowed. */
void progress_begin(const char *label, uint64_t total_bytes);

/* So much more was read; any thread may say so. */
void progress_add(uint64_t bytes);

/* Before anything else is printed there. */
void progress_clear(void);

#endif
