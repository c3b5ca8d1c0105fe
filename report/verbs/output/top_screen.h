/* SPDX-License-Identifier: Apache-2.0 */
/* The screen of `pillion top`. */
#pragma once

#include "report/live/top/top.h"

/* Shows rounds until the user quits or no process is left. Returns the exit status. */
int top_screen(struct top *t, double interval_s);
