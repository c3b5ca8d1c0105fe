/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that glibc has in versions newer than 2.17, the oldest one that the released binaries run on. */
#pragma once

#include <stddef.h>
#include <linux/fs.h> /* RENAME_NOREPLACE, RENAME_EXCHANGE */

/* renameat2() relative to the working directory: 0, or -1 and errno. */
int rename_by_flags(const char *from, const char *to, unsigned flags);

/* "TERM" for SIGTERM; NULL for real-time signals and numbers that are no signal. */
const char *signal_name(int signal);

/* Random bytes without waiting for entropy: their number, or -1 and errno. */
long random_bytes(void *bytes, size_t size);
