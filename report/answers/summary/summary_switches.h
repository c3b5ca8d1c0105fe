/* SPDX-License-Identifier: Apache-2.0 */
/* The summary's line about what was switched on that makes programs slower: variables of the environment, options of
 * Python and of the compiler, PyTorch's anomaly mode, libraries that check what a program does. */
#pragma once

#include "report/answers/roles/role.h"

void summary_switches(const struct report_context *c, const struct roles *roles, struct buffer *ret);
