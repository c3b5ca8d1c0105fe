/* SPDX-License-Identifier: Apache-2.0 */
/* --keep-symbols: stores the names of functions in the capture. */
#ifndef PILLION_KEEP_H
#define PILLION_KEEP_H

#include "report/base/util.h"

/* Writes names.symbols into a capture's directory, replacing an older one, whose names are kept if their files are
 * gone. -errno with err if the capture or the file cannot be used. */
int keep_symbols(const char *directory, struct err *err);

#endif
