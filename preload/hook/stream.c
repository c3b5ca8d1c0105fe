/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of stream.h in which a stream's buffer was filled or written. */
#include "preload/hook/stream.h"

#include <pthread.h>

#include "preload/hook/hook.h"

/* libc's list of streams, and its lock, which the thread that has it may take again. libc takes it in each call that
 * opens, closes or flushes all streams. */
extern FILE *_IO_list_all;
extern void _IO_list_lock(void);
extern void _IO_list_unlock(void);

/* Counted calls of the kernel during one call at most; counting takes 5 ns each. */
enum { CALLS_MAX = 1 << 16 };

/* The beginning of libc's lock of a stream. */
struct stream_lock {
	int locked, count;
	void *owner;
};

/* Was the stream locked by another thread before the call? */
static bool stream_is_shared(const FILE *f, int locked_before)
{
	const struct stream_lock *lock = f->_lock;

	return lock && locked_before && !(lock->locked && lock->owner == (void *)pthread_self());
}

static bool stream_is_known(const FILE *f, int locked_before)
{
	return f->_mode <= 0 && !stream_is_shared(f, locked_before);
}

static ptrdiff_t stream_size(const FILE *f)
{
	return f->_IO_buf_end > f->_IO_buf_base ? f->_IO_buf_end - f->_IO_buf_base : 1;
}

static uint32_t stream_calls(const FILE *f, ptrdiff_t bytes)
{
	ptrdiff_t calls = (bytes + stream_size(f) - 1) / stream_size(f);

	return bytes <= 0 ? 0 : calls < CALLS_MAX ? (uint32_t)calls : CALLS_MAX;
}

struct stream_moved stream_written_slowly(const struct stream_output *before, FILE *f, ptrdiff_t put,
					  enum stream_use use)
{
	ptrdiff_t bytes = before->pending + put - stream_pending(f), first = before->pending + before->room;
	struct stream_moved moved = {(uint64_t)bytes, 1};

	/* After an error, the buffer is empty although nothing was written. More than there was: another thread is
	 * changing the stream. */
	if (bytes <= 0 || bytes > before->pending + put || !stream_is_known(f, before->locked) ||
	    (f->_flags & ~before->flags & STREAM_FAILED))
		return (struct stream_moved){0, 0};
	if (f->_flags & STREAM_UNBUFFERED)
		return moved;
	if (use == STREAM_BLOCK && !(f->_flags & STREAM_BY_LINES))
		moved.calls = (first > 0) + (bytes > first);
	else
		moved.calls = stream_calls(f, bytes);
	return moved;
}

/* Bytes of the last read, if the buffer has been filled since; else 0. */
static ptrdiff_t stream_fill(const struct stream_input *before, const FILE *f)
{
	bool is_same = f->_IO_read_end == before->end && f->_IO_read_ptr >= before->next;

	if (is_same || (f->_flags | before->flags) & STREAM_IN_BACKUP || f->_IO_read_end <= f->_IO_buf_base)
		return 0;
	return f->_IO_read_end - f->_IO_buf_base;
}

struct stream_moved stream_read_slowly(const struct stream_input *before, FILE *f, ptrdiff_t got, enum stream_use use)
{
	ptrdiff_t bytes = got + stream_unread(f) - before->unread, fill = stream_fill(before, f);
	ptrdiff_t written = before->pending - stream_pending(f);
	struct stream_moved moved = {0, 0};

	if (!stream_is_known(f, before->locked) || bytes > got + 2 * stream_size(f))
		return moved;
	if (written > 0)
		stream_count(HOOK_inner_write, f->_fileno, clock_now(),
			     (struct stream_moved){(uint64_t)written, stream_calls(f, written)});
	if (use == STREAM_TEXT && bytes < fill)
		bytes = fill;
	if (bytes > 0 && use == STREAM_BLOCK) {
		/* Whole blocks bypass the buffer, which then gets the rest. */
		ptrdiff_t rest = before->wanted - before->unread, blocks = rest - rest % stream_size(f);

		moved = (struct stream_moved){(uint64_t)bytes, (blocks > 0) + (bytes > blocks)};
	} else if (bytes > 0) {
		moved = (struct stream_moved){(uint64_t)bytes, stream_calls(f, bytes)};
	}
	moved.calls += (f->_flags & ~before->flags & STREAM_AT_END) != 0; /* a read that returned nothing */
	return moved;
}

void stream_count(unsigned function, int fd, uint64_t ticks, struct stream_moved moved)
{
	if (moved.calls && !descriptor_is_known(fd)) /* once, and not more than a call of the kernel costs */
		descriptor_describe(fd, ticks);
	for (uint32_t i = 0; i < moved.calls; i++)
		traffic_count(function, fd, ticks, 0, i ? 0 : (int64_t)moved.bytes);
}

void stream_count_place(const struct stream_place *before, FILE *f, uint64_t ticks)
{
	uint64_t written = stream_flushed(before, f);
	ptrdiff_t read;

	if (!f || f->_mode > 0)
		return;
	read = f->_offset != before->offset && f->_offset >= 0 ? f->_IO_read_end - f->_IO_buf_base : 0;
	if (written)
		stream_count(HOOK_inner_write, f->_fileno, ticks, (struct stream_moved){written, 1});
	if (read > 0)
		stream_count(HOOK_inner_read, f->_fileno, ticks, (struct stream_moved){(uint64_t)read, 1});
}

struct stream_closing stream_closing_before(const FILE *f)
{
	struct stream_closing closing = {0};

	if (!f || f->_mode > 0 || (unsigned)f->_fileno >= PROCESS_DESCRIPTORS || stream_pending(f) <= 0 ||
	    !event_enabled(TF_GROUP_OSRT) || !hook_attached())
		return closing;
	if (!descriptor_is_known(f->_fileno))
		descriptor_describe(f->_fileno, clock_now());
	return (struct stream_closing){(uint64_t)stream_pending(f), process.descriptors[f->_fileno]};
}

static uint64_t stream_count_one(const FILE *f)
{
	uint64_t bytes = f->_mode <= 0 && stream_pending(f) > 0 ? (uint64_t)stream_pending(f) : 0;

	if (bytes)
		stream_count(HOOK_inner_write, f->_fileno, clock_now(), (struct stream_moved){bytes, 1});
	return bytes;
}

uint64_t stream_count_pending(FILE *f)
{
	uint64_t bytes = 0;

	if (!event_enabled(TF_GROUP_OSRT) || !hook_attached())
		return 0;
	if (f)
		return stream_count_one(f);
	_IO_list_lock();
	for (f = _IO_list_all; f; f = f->_chain)
		bytes += stream_count_one(f);
	_IO_list_unlock();
	return bytes;
}
