/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the progress of long operations on standard error if that is a terminal, after the first second. */
#pragma once

#include <stdint.h>

/* To be called once, before everything else. */
void progress_init(void);

/* Names the current operation. total_bytes 0: not known. The label is borrowed. */
void progress_begin(const char *label, uint64_t total_bytes);

/* That many more bytes were read; any thread may call it. */
void progress_add(uint64_t bytes);

/* To be called before anything else is printed there. */
void progress_clear(void);
