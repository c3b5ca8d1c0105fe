/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's samples (.usage, .energy) state only what has changed. For --ring, time is divided into turns, as in
 * the processes' traces: a turn begins with a complete state, so that the turns before it can be removed. The file is
 * then replaced by one that has its newest turns; rename() makes a reader see either of the two, also after SIGKILL.
 * See docs/decisions/ring.md. */
#include "runtime/launch/perf/sample_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/shared/common/clock.h"

/* PARTS: turns in a ring. BYTES_SHARE: with a ring of bytes, what its samples may have of it. SLACK_NS: a process keeps
 * up to three eighths more than the ring (see preload), and a round of samples may be late. */
enum { PARTS = 8, BYTES_SHARE = 8 };
#define TURN_LEAST_NS 1000000000ull
#define SLACK_NS 2000000000ull

static int file_create(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
}

bool sample_file_open(struct sample_file *f, const struct run *run, const char *name, const void *head, size_t size)
{
	snprintf(f->path, sizeof(f->path), "%s/%s", run->spool[0] ? run->spool : run->directory, name);
	memcpy(f->head, head, size);
	f->head_size = size;
	f->is_ring = options_have_ring(&run->options);
	f->fd = file_create(f->path);
	if (f->fd >= 0 && !sample_file_add(f, head, size))
		unlink(f->path);
	return f->fd >= 0;
}

bool sample_file_add(struct sample_file *f, const void *bytes, size_t size)
{
	if (f->fd < 0 || !size)
		return f->fd >= 0;
	if (write(f->fd, bytes, size) != (ssize_t)size) {
		close(f->fd);
		f->fd = -1;
		return false;
	}
	f->size += size;
	f->added += size;
	return true;
}

static bool copy(int from, uint64_t at, uint64_t end, int to)
{
	char bytes[16384];

	while (at < end) {
		size_t size = end - at < sizeof(bytes) ? (size_t)(end - at) : sizeof(bytes);

		if (pread(from, bytes, size, (off_t)at) != (ssize_t)size || write(to, bytes, size) != (ssize_t)size)
			return false;
		at += size;
	}
	return true;
}

/* If it fails, as on a full disk, the file stays as it is. */
static void remove_turns(struct sample_file *f, size_t count)
{
	uint64_t at = f->turns[count].at, removed = at - f->head_size;
	char path[sizeof(f->path) + 8];
	int fd;

	snprintf(path, sizeof(path), "%s.new", f->path);
	unlink(path);
	fd = file_create(path);
	if (fd < 0)
		return;
	if (write(fd, f->head, f->head_size) != (ssize_t)f->head_size || !copy(f->fd, at, f->size, fd) ||
	    rename(path, f->path)) {
		unlink(path);
		close(fd);
		return;
	}
	close(f->fd);
	f->fd = fd;
	f->size -= removed;
	f->turn_count -= count;
	memmove(f->turns, f->turns + count, f->turn_count * sizeof(*f->turns));
	for (size_t i = 0; i < f->turn_count; i++)
		f->turns[i].at -= removed;
}

/* Whether what is before the turn is not kept. */
static bool is_kept_enough(const struct sample_file *f, const struct options *o, const struct sample_turn *t,
			   uint64_t now)
{
	if (o->ring_bytes)
		return f->size - t->at >= o->ring_bytes / BYTES_SHARE;
	return now - t->ns >= o->ring_ns + o->ring_ns / 2 + SLACK_NS;
}

static bool is_turn_due(const struct sample_file *f, const struct options *o, uint64_t now)
{
	const struct sample_turn *last = &f->turns[f->turn_count - 1];
	uint64_t ns = o->ring_ns / PARTS > TURN_LEAST_NS ? o->ring_ns / PARTS : TURN_LEAST_NS;

	return o->ring_bytes ? f->size - last->at >= o->ring_bytes / BYTES_SHARE / PARTS : now - last->ns >= ns;
}

bool sample_file_turn(struct sample_file *f, const struct run *run)
{
	uint64_t now = clock_monotonic_ns();
	size_t past = 0;

	if (!f->is_ring || f->fd < 0)
		return false;
	if (!f->turn_count) {
		f->turns[f->turn_count++] = (struct sample_turn){f->head_size, now};
		return false;
	}
	if (!is_turn_due(f, &run->options, now))
		return false;
	while (past + 1 < f->turn_count && is_kept_enough(f, &run->options, &f->turns[past + 1], now))
		past++;
	if (past)
		remove_turns(f, past);
	if (f->turn_count == SAMPLE_TURNS)
		return false;
	f->turns[f->turn_count++] = (struct sample_turn){f->size, now};
	return true;
}
