/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells of a process or a thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process_stat { /* of /proc/PID/stat or /proc/PID/task/TID/stat */
	char name[15]; /* terminated unless it has 15 bytes */
	char state;
	uint32_t parent_pid, threads;
	uint32_t reader; /* by process_stat_read: the thread through which memory and descriptors can be read */
	int session;
	uint64_t start; /* clock ticks since boot */
	uint64_t cpu_ticks, resident_pages;
};

/* Parses the text of such a file. */
bool process_stat_parse(const char *text, struct process_stat *ret);
/* False: no such process. The state is that of the main thread, and not 'Z' as long as another thread goes on, which is
 * the reader then: /proc/PID has neither memory, variables nor descriptors, and /proc/TID of it has all of them. */
bool process_stat_read(uint32_t pid, struct process_stat *ret);
/* The first thread that has memory. The PID if there is none. */
uint32_t process_thread_alive(uint32_t pid);
/* Where the strings of arguments and environment begin, above all frames of the first thread's stack. 0: not known. */
uint64_t process_strings(uint32_t pid);
/* False: no such process, or a zombie. */
bool process_lives(uint32_t pid, int *ret_session, uint64_t *ret_start);
bool process_is_alive(uint32_t pid);
