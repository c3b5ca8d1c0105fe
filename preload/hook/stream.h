/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of stdio reads and writes. libc calls the kernel inside its functions, where no wrapper sees it; the
 * stream's buffer tells how much it was: bytes that the program put and that are no longer in the buffer were written,
 * and bytes in the buffer that were not there before the call were read.
 *
 * The state before the call may be outdated if another thread uses the stream at the same time; its lock shows that in
 * most cases, and the bytes of that call are then not known. So are those of wide streams. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bits of a stream's _flags, which libc's headers do not declare. */
enum { STREAM_UNBUFFERED = 0x2, STREAM_AT_END = 0x10, STREAM_FAILED = 0x20, STREAM_IN_BACKUP = 0x100,
       STREAM_BY_LINES = 0x200 };

/* How a function uses the file. PIECES: through the buffer. BLOCK: large amounts bypass the buffer. TEXT: as PIECES,
 * but how much the program got is not known, or too small: the text may contain NUL. */
enum stream_use { STREAM_PIECES, STREAM_BLOCK, STREAM_TEXT };

/* The descriptors of libc's streams, -1: none. fileno() would set errno in that case. */
static inline int hook_stream_fd(FILE *f)
{
	return f ? f->_fileno : -1;
}

/* How often the kernel was called, and the bytes that it moved. */
struct stream_moved {
	uint64_t bytes;
	uint32_t calls;
};

/* ---- output ---- */

struct stream_output {
	ptrdiff_t pending; /* bytes that the file does not have yet */
	ptrdiff_t room;	   /* that the buffer has left */
	int flags, locked;
};

static inline int stream_locked(const FILE *f)
{
	return f->_lock ? *(volatile int *)f->_lock : 0;
}

static inline ptrdiff_t stream_pending(const FILE *f)
{
	return f->_IO_write_ptr - f->_IO_write_base;
}

static inline struct stream_output stream_output_before(const FILE *f)
{
	ptrdiff_t room;

	if (!f)
		return (struct stream_output){0};
	room = f->_IO_write_end - f->_IO_write_ptr;
	return (struct stream_output){stream_pending(f), room > 0 ? room : 0, f->_flags, stream_locked(f)};
}

__attribute__((noinline)) struct stream_moved stream_written_slowly(const struct stream_output *before, FILE *f,
								    ptrdiff_t put, enum stream_use use);

/* `put`: bytes that the call added to the stream. */
static inline __attribute__((always_inline)) struct stream_moved stream_written(const struct stream_output *before,
										FILE *f, ptrdiff_t put,
										enum stream_use use)
{
	if (__builtin_expect(!f || stream_pending(f) == before->pending + put, 1))
		return (struct stream_moved){0, 0};
	return stream_written_slowly(before, f, put, use);
}

/* ---- input ---- */

struct stream_input {
	ptrdiff_t pending, unread; /* unread: bytes in the buffer that the program has not got yet */
	const char *next, *end;
	int flags, locked;
	ptrdiff_t wanted; /* of a BLOCK: bytes that the program wants */
};

static inline ptrdiff_t stream_unread(const FILE *f)
{
	ptrdiff_t unread = f->_IO_read_end - f->_IO_read_ptr;

	return f->_flags & STREAM_IN_BACKUP ? unread + (f->_IO_save_end - f->_IO_save_base) : unread;
}

static inline struct stream_input stream_input_before(const FILE *f)
{
	if (!f)
		return (struct stream_input){0};
	return (struct stream_input){stream_pending(f), stream_unread(f), f->_IO_read_ptr, f->_IO_read_end,
				     f->_flags, stream_locked(f)};
}

/* Counts what was written, if the stream had output, too. */
__attribute__((noinline)) struct stream_moved stream_read_slowly(const struct stream_input *before, FILE *f,
								 ptrdiff_t got, enum stream_use use);

/* `got`: bytes of the stream that the call returned. */
static inline __attribute__((always_inline)) struct stream_moved stream_read(const struct stream_input *before,
									     FILE *f, ptrdiff_t got,
									     enum stream_use use)
{
	if (__builtin_expect(!f || (use != STREAM_TEXT || got ? stream_unread(f) + got == before->unread &&
				    !((f->_flags ^ before->flags) & (STREAM_AT_END | STREAM_IN_BACKUP)) : false), 1))
		return (struct stream_moved){0, 0};
	return stream_read_slowly(before, f, got, use);
}

/* ---- calls that move in the file, or empty the buffer ---- */

struct stream_place {
	ptrdiff_t pending;
	int64_t offset; /* of the descriptor, -1 until libc needs it */
	int fd;
};

static inline struct stream_place stream_place_before(FILE *f)
{
	return f ? (struct stream_place){stream_pending(f), f->_offset, f->_fileno}
		 : (struct stream_place){.offset = -1, .fd = -1};
}

/* Output that the call wrote. */
static inline uint64_t stream_flushed(const struct stream_place *before, const FILE *f)
{
	ptrdiff_t written = f ? before->pending - stream_pending(f) : 0;

	return written > 0 && f->_mode <= 0 && !(f->_flags & STREAM_FAILED) ? (uint64_t)written : 0;
}

/* Counts what such a call read and wrote. */
void stream_count_place(const struct stream_place *before, FILE *f, uint64_t ticks);

/* ---- the end of a stream ---- */

struct stream_closing {
	uint64_t pending;
	uint16_t state; /* of the descriptor, see descriptor.h */
};

/* Describes the descriptor if the call will write to it. */
struct stream_closing stream_closing_before(const FILE *f);

/* Counts output that the call which is about to be made will write: to replace this stream, or (NULL) to flush all.
 * Returns its bytes. */
uint64_t stream_count_pending(FILE *f);

/* Counts reads or writes of the kernel during a call of another function: HOOK_inner_read, HOOK_inner_write. */
void stream_count(unsigned function, int fd, uint64_t ticks, struct stream_moved moved);
