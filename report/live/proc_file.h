/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc/PID. */
#ifndef PILLION_PROC_FILE_H
#define PILLION_PROC_FILE_H

#include "report/base/util.h"

/* The whole file, terminated by NUL; the caller frees it. NULL with errno: it cannot be read. */
char *proc_file_read(uint32_t pid, const char *name, size_t *ret_size);

struct proc_stat {
	char name[16]; /* of the program, as the kernel has it: at most 15 bytes */
	char state;
	uint32_t parent_pid;
	uint64_t start; /* field 22: clock ticks since boot */
};

/* False: no such process. */
bool proc_file_stat(uint32_t pid, struct proc_stat *ret);

/* The value of a variable in the text of /proc/PID/environ, borrowed; NULL: it is not set. */
const char *proc_file_variable(const char *environment, size_t size, const char *name);

/* Whether the process is a launcher, or a helper of one. */
bool proc_file_is_launcher(const struct proc_stat *stat);

#endif
