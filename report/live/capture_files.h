/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a capture as a whole: their size and age, and their removal. A capture is a directory or packed. */
#pragma once

#include <time.h>

#include "report/base/util.h"

struct capture_files {
	uint64_t bytes;		/* that they take on the disk */
	struct timespec made;	/* of a directory: when its file `capture` was written */
	struct timespec newest; /* the last change of any of the files */
};

/* False: no capture is at that path. */
bool capture_files_read(const char *path, struct capture_files *ret);

/* Removes a capture. What does not look like a file of one is left, with the directory. 0 or -errno. */
int capture_files_remove(const char *path, struct err *err);
