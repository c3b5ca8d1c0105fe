/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of the program's file descriptors: files, peers of sockets, pipes. The trace describes a descriptor
 * when the first call on it is recorded, and again when it may refer to something else; most descriptors are never
 * described.
 *
 * Any thread, any signal handler; no lock; errno is preserved. Descriptors from 65535 on are not described. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "runtime/recorder/record/process_state.h"

/* Does the trace describe what `fd` refers to now? The state is odd if so. Each change advances it to the next even
 * number, so that a description that was prepared meanwhile is discarded. */
static inline bool descriptor_is_known(int fd)
{
	return (unsigned)fd >= PROCESS_DESCRIPTORS || process.descriptors[fd] & 1;
}

/* Tells apart what a descriptor has referred to over time, up to 32768 changes. */
static inline uint16_t descriptor_generation(uint16_t state)
{
	return state >> 1;
}

/* `fd` is closed, created, or connected to another peer. */
static inline void descriptor_invalidate(int fd)
{
	if ((unsigned)fd < PROCESS_DESCRIPTORS)
		__atomic_store_n(&process.descriptors[fd], (process.descriptors[fd] + 2) & ~1, __ATOMIC_RELAXED);
}

void descriptor_invalidate_range(unsigned first, unsigned last);

/* Describes `fd` in the trace, for calls that end at from_ticks or later. Takes up to four system calls, but once
 * only. */
__attribute__((cold)) void descriptor_describe(int fd, uint64_t from_ticks);

/* Likewise if the meaning is known: `fd` was opened by this path (a path that is not absolute is read from /proc),
 * or connected to this address. */
void descriptor_describe_path(int fd, uint64_t from_ticks, const char *path);
void descriptor_describe_peer(int fd, uint64_t from_ticks, const struct sockaddr *address, socklen_t size);
