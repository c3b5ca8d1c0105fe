/* SPDX-License-Identifier: Apache-2.0 */
/* Who a process is, in words that tell a process on the same host whether it has ended. */
#ifndef PILLION_SHARE_PROCESS_H
#define PILLION_SHARE_PROCESS_H

#include "report/base/util.h"

/* This process: "HOST BOOT NAMESPACE PID START". */
void process_text(char *ret, size_t size);

/* Is the process of `text` known to have ended? `self` is the text of this one. Appends where it was. */
bool process_has_ended(const char *self, const char *text, struct buffer *where);

#endif
