/* SPDX-License-Identifier: Apache-2.0 */
/* The image's lines in its host's index, and what they are made of. For process.c alone; what others may say through it
 * (process_note, process_seen, process_bare) is in process.h.
 *
 * Any thread, one at a time: who cannot have the buffer soon leaves its line out. A line stands whole in the file,
 * whoever else appends to it. */
#ifndef PILLION_PROCESS_LINE_H
#define PILLION_PROCESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/process.h"

/* The line that makes the image known. 0 or -errno. */
int process_line_start(bool is_fork);

/* How it ended, by process.end, with the counts of calls below their thresholds: for an image without a trace file. */
void process_line_end(void);

/* How a child ended, as wait() told it. */
void process_line_child(int pid, int status);

#endif
