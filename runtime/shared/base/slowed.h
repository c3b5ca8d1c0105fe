/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls --slow-down makes longer where it names a line or a lock: for the recorder, and for the report, which
 * counts them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Identifies the place of a stack frame in all processes that run the same program, because their addresses differ. Of
 * a native frame: the offset of the call's last byte in its object, and the object's size in memory. Of a Python frame:
 * the offset of the instruction, the first line of the function, and its file. */
static inline uint64_t frame_key(uint64_t offset, uint64_t extent, const char *file, size_t file_bytes)
{
	uint64_t key = 0xcbf29ce484222325ull;

	key = (key ^ offset) * 0x100000001b3ull;
	key = (key ^ key >> 32 ^ extent) * 0x9fb21c651e98df25ull;
	for (size_t i = 0; i < file_bytes; i++)
		key = (key ^ (unsigned char)file[i]) * 0x100000001b3ull;
	return key ^ key >> 29;
}

/* Not slowed down at a line: the interpreter makes such calls at any line, with its own locks held. */
static inline bool slowed_never_at_line(const char *name)
{
	return !strncmp(name, "pthread_", 8) || !strncmp(name, "sem_", 4);
}

/* Takes a lock or a semaphore. Of Python only semaphores, because the interpreter's own lock is a mutex. */
static inline bool slowed_as_lock(const char *name, bool is_python)
{
	return !strcmp(name, "sem_wait") || !strcmp(name, "sem_timedwait") || !strcmp(name, "sem_clockwait") ||
	       (!is_python && (!strncmp(name, "pthread_mutex_", 14) || !strncmp(name, "pthread_rwlock_", 15) ||
			       !strncmp(name, "pthread_spin_", 13)));
}
