/* SPDX-License-Identifier: Apache-2.0 */
/* whatif --delay: runs COMMAND with calls that take longer, and without. */
#ifndef PILLION_VERB_DELAY_H
#define PILLION_VERB_DELAY_H

#include "report/verbs/command_line.h"

/* The exit status. */
int verb_delay(const struct command_line *l);

#endif
