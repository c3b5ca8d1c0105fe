/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that the kernel has counted of read(2), write(2) and similar calls in each process, beside those of the
 * recorded calls. System calls that are not made through libc's functions, and those inside libc, are in the former
 * alone. */
#pragma once

#include "report/events/scan.h"

enum io_direction { IO_READ, IO_WRITTEN, IO_DIRECTIONS };

/* Sums over the images of a process of which both are known. */
struct io_account {
	uint64_t kernel[IO_DIRECTIONS], recorded[IO_DIRECTIONS];
	size_t compared, unknown; /* images; unknown: without what the kernel has counted */
	uint64_t submitted; /* operations of io_uring, whose bytes are not known */
	bool is_of_living; /* threads that ended before their image did are left out */
};

/* Of each process of the model, whatever the filter is. Without any in captures of versions before 1.8 of the trace
 * format, of runs with a capture range and of rings, whose calls are not all in the capture. The caller frees the
 * result. */
struct io_account *io_accounts(const struct report_context *c);

/* The bytes that the kernel alone has counted, if they are more than 1 % and than 64 KiB; else 0. */
uint64_t io_not_seen(const struct io_account *a, enum io_direction direction);

/* Likewise the bytes that only recorded calls have. */
uint64_t io_not_counted(const struct io_account *a, enum io_direction direction);
