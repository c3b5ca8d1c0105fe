/* SPDX-License-Identifier: Apache-2.0 */
/* --keep-symbols and --keep-sources: store the names of functions in the capture, and what its sources were. */
#pragma once

#include "report/events/scan.h"

/* Writes names.symbols into a capture's directory, replacing an older one, whose names are kept if their files are
 * gone. -errno with err if the capture or the file cannot be used. */
int keep_symbols(const char *directory, struct err *err);

/* Writes names.sources into the directory of a capture that was opened, replacing an older one. Likewise. */
int keep_sources(const char *directory, const struct report_context *context, struct err *err);
