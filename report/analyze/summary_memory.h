/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PILLION_SUMMARY_MEMORY_H
#define PILLION_SUMMARY_MEMORY_H

#include "report/analyze/rule.h"

/* The largest peaks of device memory, and of host memory with --memory, in a process, with the line that held most of
 * it; nothing of what was not recorded. */
void summary_memory(struct rules *r, struct buffer *ret);

#endif
