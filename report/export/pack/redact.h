/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a capture without the names of hosts, people, files, commands and threads: pack --redact. Every name is
 * replaced by one of the same length, so that nothing moves. What no reader would read is zeroed. */
#pragma once

#include "report/export/pack/redact_text.h"

/* Changes the bytes of a file in place. Names that are secret in a file are replaced in free text of all files that
 * are redacted later: to be called for all files twice, on fresh bytes. False: such files are not to be shown. */
bool redact_file(struct redactor *r, const char *name, uint8_t *bytes, size_t size);

/* The name of a file of a capture, or of a capture, without that of the host. */
void redact_file_name(struct redactor *r, const char *name, struct buffer *ret);
