/* SPDX-License-Identifier: Apache-2.0 */
/* whatif --delay: runs COMMAND with calls that take longer, and without. */
#pragma once

#include "report/verbs/command_line.h"

/* The exit status. */
int verb_delay(const struct command_line *l);
