/* SPDX-License-Identifier: Apache-2.0 */
/* The summary's line about what was switched on that makes programs slower: variables of the environment, options of
 * Python, libraries that check what a program does. */
#ifndef PILLION_SUMMARY_SWITCHES_H
#define PILLION_SUMMARY_SWITCHES_H

#include "report/read/job/model.h"

void summary_switches(const struct model *m, struct buffer *ret);

#endif
