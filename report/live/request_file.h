/* SPDX-License-Identifier: Apache-2.0 */
/* The file .where in a capture, by which its launchers are asked: runtime/launch/where.c. */
#pragma once

#include "report/base/util.h"

/* A launcher looks for requests once per second; one on another host sees the file when its file system shows it. */
enum { REQUEST_PATIENCE_S = 30 };

/* A number that no other request has. */
uint64_t request_number(void);

/* Puts the request into the capture; another one that is waiting there is waited for, unless it is a left-over. `more`:
 * its further lines. *path: the file, which the caller removes after the answers. 0 or -errno. */
int request_place(const char *capture, uint64_t request, const char *more, struct buffer *path, struct err *err);
