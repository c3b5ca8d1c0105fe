/* SPDX-License-Identifier: Apache-2.0 */
/* The image's lines in the index of its host, and their contents. Used by recorder.c and file.c; other parts use
 * process_note, process_seen and process_bare of process.h.
 *
 * Any thread, one at a time: a line is omitted if the buffer is not available soon. Lines are appended atomically,
 * even if other processes append at the same time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/usage.h"

/* Writes the first line of the image. Returns 0 or -errno; 0 also if there was no room for the line, because the trace
 * file has the same facts. */
int process_line_start(bool is_fork);

/* Writes how the image ended (process.end), with the counts of calls below their thresholds and what it used (NULL: it
 * has not ended). For an image without a trace file. */
void process_line_end(const struct usage *usage);

/* Writes the wait status of a child. */
void process_line_child(int pid, int status);
