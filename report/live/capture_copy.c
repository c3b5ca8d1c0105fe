/* SPDX-License-Identifier: Apache-2.0 */
/* A file is read from its beginning on, in which order the first slot of an event is read before its others, which were
 * written before it; so an event is copied as a whole or not at all, as after a kill. What it refers to may have been
 * defined after the page with the definition was copied, which no kill can do. So the copies of the range files state
 * that recording was stopped before the first read, and that what was recorded later was cancelled: what was recorded
 * before has its definitions in the copy. */
#include "report/live/capture_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/live/capture_files.h"
#include "report/live/copy_ring.h"
#include "runtime/shared/common/sys.h"
#include "runtime/shared/format/trace_format.h"

enum { PART_BYTES = 1 << 20 };

static uint64_t ticks_now(uint32_t clock)
{
#if defined(__x86_64__)
	if (clock == TF_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (clock == TF_CLOCK_CNTVCT) {
		uint64_t ticks;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return sys_clock_ns(CLOCK_MONOTONIC);
}

static int write_all(int fd, const char *bytes, size_t size, off_t at)
{
	while (size) {
		ssize_t n = pwrite(fd, bytes, size, at);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += n > 0 ? n : 0;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Holes stay holes: a trace file is extended in advance. */
static int copy_bytes(int from, int to, char *part)
{
	off_t at = 0;
	int code = 0;
	ssize_t n;

	for (; !code && (at = lseek(from, at, SEEK_DATA)) >= 0 && (n = pread(from, part, PART_BYTES, at)) > 0; at += n)
		code = write_all(to, part, (size_t)n, at);
	at = lseek(from, 0, SEEK_END);
	return code ? code : at > 0 && ftruncate(to, at) ? -errno : 0;
}

/* Stops the copy's range at that time, and begins one that is cancelled. Of a run without ranges, the first one began
 * when the range file was made. */
static int stop_copy(int fd, struct tf_range_page *page, uint64_t now)
{
	enum { ENTRIES = (TF_RANGE_FILE_BYTES - sizeof(*page)) / sizeof(struct tf_range) };
	struct tf_range last = {.begin_ticks = 1}, later = {now, now | TF_RANGE_CANCELLED};
	off_t at;
	struct tf_images images;
	int code = 0;

	if (page->begun >= ENTRIES)
		return -ENOSPC;
	if (page->mode == TF_RANGE_WHOLE_RUN)
		page->mode = TF_RANGE_ON_REQUEST;
	if (page->recording && !page->begun) {
		if (pread(fd, &images, sizeof(images), TF_IMAGES_OFFSET) == (ssize_t)sizeof(images) &&
		    images.magic == TF_IMAGES_MAGIC)
			last.begin_ticks = images.created.ticks;
		page->begun = 1;
	} else if (page->recording &&
		   pread(fd, &last, sizeof(last), (off_t)(sizeof(*page) + (page->begun - 1) * sizeof(last))) !=
			   (ssize_t)sizeof(last)) {
		return -EIO;
	}
	at = (off_t)(sizeof(*page) + page->begun * sizeof(last));
	last.end_ticks = now;
	if (page->recording)
		code = write_all(fd, (const char *)&last, sizeof(last), at - (off_t)sizeof(last));
	page->recording = 0;
	page->begun++;
	if (!code)
		code = write_all(fd, (const char *)&later, sizeof(later), at);
	return code ? code : write_all(fd, (const char *)page, sizeof(*page), 0);
}

static int copy_file(int from_directory, int to_directory, const char *name)
{
	int from = openat(from_directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), to, code = 0;
	bool is_range = text_ends_with(name, ".range");
	SCOPED_MEMORY char *part = mem_alloc(PART_BYTES);
	struct tf_range_page page;
	uint64_t now = 0;

	if (from < 0) {
		return errno == ENOENT ? 0 : -errno; /* it was removed meanwhile */
	}
	to = openat(to_directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0)
		code = -errno;
	/* The clock of a range page is that of the events of its run. */
	if (!code && is_range && pread(from, &page, sizeof(page), 0) == (ssize_t)sizeof(page) &&
	    page.magic == TF_RANGE_MAGIC)
		now = ticks_now(page.clock);
	if (!code)
		code = copy_bytes(from, to, part);
	if (!code && now)
		code = stop_copy(to, &page, now);
	if (!code && text_ends_with(name, ".trace"))
		code = copy_ring(from, to);
	if (to >= 0 && close(to) && !code)
		code = -errno;
	close(from);
	return code;
}

/* Range files first, because their time must be before that of all other reads; indexes last, because they have a line
 * of each process by then. */
static int copy_rank(const char *name)
{
	return text_ends_with(name, ".range") ? 0 : text_ends_with(name, ".index") ? 2 : 1;
}

static bool is_copied(const char *name)
{
	return name[0] != '.';
}

static int copy_directory(int from, int to, const char *path, struct err *err)
{
	int code = 0;

	for (int rank = 0; rank < 3 && !code; rank++) {
		int again = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *d = again < 0 ? NULL : fdopendir(again);

		if (!d)
			return err_set(err, -errno, "%s: %s", path, strerror(errno));
		for (struct dirent *entry; !code && (entry = readdir(d));) {
			if (!is_copied(entry->d_name) || copy_rank(entry->d_name) != rank)
				continue;
			code = copy_file(from, to, entry->d_name);
			if (code)
				err_set(err, code, "%s/%s: %s", path, entry->d_name, strerror(-code));
		}
		closedir(d);
	}
	return code;
}

int capture_copy(const char *from, const char *to, struct err *err)
{
	int source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC), target, code;
	struct err unused;

	if (source < 0)
		return err_set(err, -errno, "%s: %s", from, strerror(errno));
	if (mkdir(to, 0700)) {
		code = err_set(err, -errno, "%s: %s", to, strerror(errno));
		close(source);
		return code;
	}
	target = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	code = target < 0 ? err_set(err, -errno, "%s: %s", to, strerror(errno))
			  : copy_directory(source, target, from, err);
	close(source);
	if (target >= 0)
		close(target);
	if (code)
		capture_files_remove(to, &unused);
	return code;
}
