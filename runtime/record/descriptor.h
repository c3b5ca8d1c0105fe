/* SPDX-License-Identifier: Apache-2.0 */
/* What the program's descriptors are: files, sockets' peers, pipes. The trace is told of a number when the first call
 * on it is recorded, and anew once it may mean something else; most descriptors are never told of.
 *
 * Any thread, any signal handler; no lock, errno is left alone. Numbers of 65535 and above are not told of. */
#ifndef PILLION_DESCRIPTOR_H
#define PILLION_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "runtime/record/process.h"

/* Has the trace been told what `fd` is now? An odd number says yes; each change goes on to the next even one, so that
 * what was found out meanwhile is not taken for what the number means now. */
static inline bool descriptor_is_known(int fd)
{
	return (unsigned)fd >= PROCESS_DESCRIPTORS || process.descriptors[fd] & 1;
}

/* `fd` is closed, or is made, or has another peer. */
static inline void descriptor_invalidate(int fd)
{
	if ((unsigned)fd < PROCESS_DESCRIPTORS)
		__atomic_store_n(&process.descriptors[fd], (process.descriptors[fd] + 2) & ~1, __ATOMIC_RELAXED);
}

void descriptor_forget_range(unsigned first, unsigned last);

/* Tells the trace what `fd` is, for calls that end at from_ticks or later. Up to four system calls, as it is done
 * once. */
__attribute__((cold)) void descriptor_describe(int fd, uint64_t from_ticks);

/* Likewise where it is known: it was opened by this path (one that is not absolute is looked up), or connected to this
 * address. */
void descriptor_tell_path(int fd, uint64_t from_ticks, const char *path);
void descriptor_tell_peer(int fd, uint64_t from_ticks, const struct sockaddr *address, socklen_t size);

#endif
