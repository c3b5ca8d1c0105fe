/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time, run delay, memory and bytes, as the kernel accounts them, and when that began: read when the first thread
 * of an image is attached and when a thread or the image ends, never during a call. A thread that ends costs two system
 * calls. Only a thread that was off the CPU for 0.5 ms also reads its run delay, through a descriptor that is open for
 * some microseconds; otherwise descriptors are opened only at the start and the end of the image, because a program may
 * replace any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

/* Of the image at its end. Values that cannot be read are 0, delays TF_USAGE_UNKNOWN. */
struct usage {
	struct tf_usage process, thread; /* thread: the calling one */
};

/* Has threads record their usage. Once, before any thread is attached. */
void usage_init(void);

/* At the start of the image: the bytes that the kernel has counted until now, which are not the image's. */
void usage_begin_bytes(bool is_fork);

/* At exit: libc is going to write bytes that are recorded already. */
void usage_expect_written(uint64_t bytes);

/* Reads the usage of the process and of the calling thread. Under a guard, as is usage_write. */
void usage_read(struct usage *ret);

/* Writes it to the trace, and that of the other living threads. The calling thread must have a page in the file. */
void usage_write(const struct usage *usage);
