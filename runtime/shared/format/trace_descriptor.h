/* SPDX-License-Identifier: Apache-2.0 */
/* What descriptors refer to, and calls below the threshold. Included by trace_format.h. */
#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

enum tf_descriptor_kind {
	TF_DESCRIPTOR_UNKNOWN = 0, /* no text: unknown. Earlier descriptions of this number are void */
	TF_DESCRIPTOR_FILE = 1,	   /* path of a file, a directory or a device */
	/* "tcp 127.0.0.1:80", "unix /run/x", ...: the peer, or the socket's own address if it has no peer. From 1.21 on
	 * a NUL and its own address follow a peer that has a port, but not with --mode=profile */
	TF_DESCRIPTOR_SOCKET = 2,
	/* path of a directory with a slash at its end; fd is TF_NO_DESCRIPTOR, generation the directory's number */
	TF_DESCRIPTOR_DIRECTORY = 4,
	TF_DESCRIPTOR_OTHER = 3,   /* "pipe:[1]", "anon_inode:[eventfd]": the name that the kernel gives */
};

enum { TF_NO_DESCRIPTOR = 0xffff };

/* What a descriptor refers to in calls that end at from_ticks or later, until the next blob of the same descriptor.
 * The call that closes it refers to what it was when the call began. */
struct tf_descriptor {
	uint64_t from_ticks;
	uint16_t fd, kind;   /* enum tf_descriptor_kind */
	uint32_t generation; /* of fd: struct tf_traffic refers to it. From 1.4 on, else 0 */
};

/* The calls of one function on one descriptor that were below the threshold, in one thread, from some time on. The
 * recorder updates it in place, each number by one store, while it writes to the same chunk; then it begins another
 * one. Each number has 7 bytes, the least significant one first, so that it lies in one slot. */
enum tf_traffic_number {
	TF_TRAFFIC_KEY,   /* descriptor | generation << 16 | function << 32. A generation has 15 bits */
	TF_TRAFFIC_FROM,  /* low 56 bits of the ticks when the first of the calls began */
	TF_TRAFFIC_CALLS,
	TF_TRAFFIC_TICKS, /* their total duration */
	/* the sum of their results that are positive; of calls on paths of a directory: how many failed */
	TF_TRAFFIC_BYTES,
	TF_TRAFFIC_NUMBERS
};

/* Likewise of other blobs that are updated in place. */
static inline uint64_t tf_number(const uint8_t bytes[TF_DATA_BYTES])
{
	uint64_t value = 0;

	__builtin_memcpy(&value, bytes, TF_DATA_BYTES);
	return value;
}

struct tf_traffic {
	uint8_t numbers[TF_TRAFFIC_NUMBERS][TF_DATA_BYTES];
};

/* The stack of a call below the threshold, which is also counted. The recorder takes that of one in `weight` such calls
 * of a thread: one of each `weight` calls in succession, at a random position. */
struct tf_short_stack {
	uint64_t ticks; /* duration of the call */
	uint32_t stack; /* id of a TF_BLOB_STACK */
	uint32_t weight;
	uint32_t function, reserved;
};
