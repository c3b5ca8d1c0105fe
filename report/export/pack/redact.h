/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a capture without the names of hosts, people, files, commands and threads: pack --redact. Every name is
 * replaced by one of the same length, so that nothing moves. What no reader would read is zeroed. */
#pragma once

#include <sys/types.h>

#include "report/base/util.h"

struct redactor {
	pid_t pid; /* of the program that redacts */
	int fd;
};

int redactor_start(struct redactor *r, struct err *err);
void redactor_done(struct redactor *r);

/* Changes in place the bytes of a file, and its name, which loses that of the host; or the name of a capture, without
 * bytes. Names that are secret in a file are replaced in free text of all files that are redacted later: to be called
 * for all files twice, on fresh bytes. Not *ret_is_known: such files are not to be shown. */
int redact_file(struct redactor *r, char *name, uint8_t *bytes, size_t size, bool *ret_is_known, struct err *err);
