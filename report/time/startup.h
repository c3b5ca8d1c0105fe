/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of start-up scripts, such as those of pyenv: what a process started, and what had ended, before it executed
 * the program that took longer than all before; and what these started. */
#pragma once

#include "report/read/job/model.h"

#define STARTUP_WORDS "processes of start-up"

/* By process: 1 for those. The caller frees it. */
uint8_t *startup_find(const struct model *m);
