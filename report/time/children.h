/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of processes outside of their own records: the kernel ends a process after its last record, and a process
 * that is killed records no end. The kernel accounts it to the parent that waits for the process. */
#pragma once

#include "report/time/partition.h"

/* Fills in children_ns and end_ns of the processes, which have cpu_ns and waited_ns. A lower bound: what cannot be
 * told from the recorded time of a process is 0. */
void children_find(const struct model *m, struct process_time *processes);
