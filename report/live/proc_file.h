/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc/PID. */
#pragma once

#include "report/base/util.h"
#include "runtime/shared/outside/process_stat.h"

/* The whole file, terminated by NUL; the caller frees it. NULL with errno: it cannot be read. */
char *proc_file_read(uint32_t pid, const char *name, size_t *ret_size);

/* The value of a variable in the text of /proc/PID/environ, borrowed; NULL: it is not set. */
const char *proc_file_variable(const char *environment, size_t size, const char *name);

/* Whether the process is a launcher, or a helper of one. */
bool proc_file_is_launcher(const struct process_stat *stat);
bool proc_file_is_report(const struct process_stat *stat);
