/* SPDX-License-Identifier: Apache-2.0 */
/* The screen of `pillion top`. */
#ifndef PILLION_TOP_SCREEN_H
#define PILLION_TOP_SCREEN_H

#include "report/live/top/top.h"

/* Shows rounds until the user quits or no process is left. Returns the exit status. */
int top_screen(struct top *t, double interval_s);

#endif
