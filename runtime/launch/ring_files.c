/* SPDX-License-Identifier: Apache-2.0 */
/* --ring: a process uses the chunks of its own trace file again. Here, the files of processes that ended before what is
 * kept are removed, and the places of such processes in the range file become holes. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/range.h"

enum { LEAST_MS = 100, MOST_MS = 2000, PARTS = 8, IMAGES_PER_BLOCK = TF_IMAGE_BLOCK_BYTES / TF_IMAGE_BYTES };

/* A process that was killed has recorded no end: it ended before it was seen to be gone. */
struct gone_image {
	uint64_t nonce, ticks;
};

static struct {
	struct gone_image *gone;
	size_t gone_count, gone_room;
	uint64_t due_ns;
	uint64_t block; /* all blocks of the range file before this one are holes */
} files;

/* When the image ended, at the latest; UINT64_MAX: it lives. */
static uint64_t end_of(uint64_t nonce, uint32_t pid, uint32_t end, uint64_t end_ticks)
{
	if (end != TF_END_NONE && end_ticks)
		return end_ticks;
	if (process_is_alive(pid))
		return UINT64_MAX;
	for (size_t i = 0; i < files.gone_count; i++)
		if (files.gone[i].nonce == nonce)
			return files.gone[i].ticks;
	if (files.gone_count == files.gone_room) {
		size_t room = files.gone_room * 2 + 64;
		struct gone_image *more = realloc(files.gone, room * sizeof(*more));

		if (!more)
			return UINT64_MAX;
		files.gone = more;
		files.gone_room = room;
	}
	files.gone[files.gone_count++] = (struct gone_image){nonce, clock_now()};
	return UINT64_MAX;
}

/* What ended before this time is not kept. With a size, the time since when the other processes have everything. */
static uint64_t kept_since(const struct run *run, uint64_t ring_ticks)
{
	uint64_t kept = clock_ticks(run->options.ring_ns + run->options.ring_ns / PARTS), now = clock_now();

	return run->options.ring_bytes ? ring_ticks : now > kept ? now - kept : 0;
}

static bool header_read(int directory, const char *name, const struct run *run, struct tf_header *ret)
{
	size_t length = strlen(name), suffix = strlen(".trace");
	int fd;
	bool is_read;

	if (length < suffix || strcmp(name + length - suffix, ".trace") != 0)
		return false;
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	is_read = fd >= 0 && pread(fd, ret, sizeof(*ret), 0) == (ssize_t)sizeof(*ret);
	if (fd >= 0)
		close(fd);
	return is_read && ret->magic == TF_MAGIC && ret->run == run->id && ret->via != TF_VIA_OBSERVED;
}

/* Returns the latest time since when a process that lives has everything; 0: none has overwritten anything. */
static uint64_t traces_visit(const struct run *run, const char *path, uint64_t since)
{
	DIR *d = opendir(path);
	struct tf_header h;
	uint64_t ring_ticks = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		uint64_t end;

		if (!header_read(dirfd(d), e->d_name, run, &h))
			continue;
		end = end_of(h.nonce, h.pid, h.end, h.end_ticks);
		if (end == UINT64_MAX && h.ring_ticks > ring_ticks)
			ring_ticks = h.ring_ticks;
		if (end != UINT64_MAX)
			trigger_end(run, &h);
		if (end < since)
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
	return ring_ticks;
}

static bool image_is_past(const char *directory, const struct run *run, const uint8_t *place, uint64_t since)
{
	char path[PATH_MAX + INDEX_NAME_BYTES];
	struct tf_image image;
	struct tf_chunk chunk;

	memcpy(&image, place, sizeof(image));
	memcpy(&chunk, place + sizeof(image), sizeof(chunk));
	if (!image.nonce)
		return true; /* killed before it had written anything */
	if (chunk.magic)
		return end_of(image.nonce, image.pid, image.end, image.end_ticks) < since;
	snprintf(path, sizeof(path), "%s/%s.%u.%016llx.trace", directory, run->host, image.pid,
		 (unsigned long long)image.nonce);
	return access(path, F_OK) != 0;
}

static bool block_is_past(const char *directory, const struct run *run, int fd, uint64_t block, uint64_t since)
{
	static uint8_t bytes[TF_IMAGE_BLOCK_BYTES];
	off_t at = (off_t)(TF_IMAGES_FIRST + block * TF_IMAGE_BLOCK_BYTES);

	if (pread(fd, bytes, sizeof(bytes), at) != (ssize_t)sizeof(bytes))
		return false;
	for (int i = 0; i < IMAGES_PER_BLOCK; i++)
		if (!image_is_past(directory, run, bytes + (size_t)i * TF_IMAGE_BYTES, since))
			return false;
	return true;
}

/* The latest blocks are in use. */
static void images_visit(const struct run *run, const char *directory, uint64_t since)
{
	char path[PATH_MAX + INDEX_NAME_BYTES];
	struct tf_images head;
	bool is_first = true;
	uint64_t blocks;
	int fd;

	if (!since || !range_path(path, sizeof(path), directory, run->host, run->id))
		return;
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	blocks = pread(fd, &head, sizeof(head), TF_IMAGES_OFFSET) == (ssize_t)sizeof(head)
			 ? head.next / IMAGES_PER_BLOCK
			 : 0;
	for (uint64_t block = files.block; block + 2 < blocks; block++) {
		off_t at = (off_t)(TF_IMAGES_FIRST + block * TF_IMAGE_BLOCK_BYTES);

		at = lseek(fd, at, SEEK_DATA);
		if (at < 0)
			break;
		block = ((uint64_t)at - TF_IMAGES_FIRST) / TF_IMAGE_BLOCK_BYTES;
		if (block + 2 >= blocks)
			break;
		if (!block_is_past(directory, run, fd, block, since))
			is_first = false;
		else if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				   (off_t)(TF_IMAGES_FIRST + block * TF_IMAGE_BLOCK_BYTES), TF_IMAGE_BLOCK_BYTES))
			break;
		files.block = is_first ? block + 1 : files.block;
	}
	close(fd);
}

int ring_files_tick(struct run *run)
{
	static uint64_t ring_ticks;
	const char *directory = range_clock_directory(run);
	uint64_t now = clock_monotonic_ns(), ms = run->options.ring_ns / PARTS / 1000000, since;

	if (!options_have_ring(&run->options) || !run->range)
		return -1;
	if (now < files.due_ns)
		return (int)((files.due_ns - now + 999999) / 1000000);
	ms = run->options.ring_bytes || ms > MOST_MS ? MOST_MS : ms < LEAST_MS ? LEAST_MS : ms;
	since = kept_since(run, ring_ticks);
	ring_ticks = traces_visit(run, directory, since);
	images_visit(run, directory, since);
	for (size_t i = 0; i < files.gone_count;) {
		if (files.gone[i].ticks + 2 * clock_ticks(1000000000) < since)
			files.gone[i] = files.gone[--files.gone_count];
		else
			i++;
	}
	files.due_ns = clock_monotonic_ns() + ms * 1000000;
	return (int)ms;
}
