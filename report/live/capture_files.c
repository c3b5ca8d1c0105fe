/* SPDX-License-Identifier: Apache-2.0 */
#include "report/live/capture_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/read/job/model_files.h"
#include "runtime/shared/format/trace_format.h"

enum { BLOCK_BYTES = 512 };

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

static void add_file(struct capture_files *f, const struct stat *st)
{
	f->bytes += (uint64_t)st->st_blocks * BLOCK_BYTES;
	if (is_later(&st->st_mtim, &f->newest))
		f->newest = st->st_mtim;
}

static bool read_packed(int fd, const struct stat *st, struct capture_files *ret)
{
	uint64_t magic = 0;

	if (!S_ISREG(st->st_mode) || read(fd, &magic, sizeof(magic)) != sizeof(magic) || magic != TF_PACK_MAGIC)
		return false;
	add_file(ret, st);
	ret->made = st->st_mtim;
	return true;
}

static bool read_directory(int fd, struct capture_files *ret)
{
	DIR *d = fdopendir(fd);
	bool is_capture = false;
	struct stat st;

	for (struct dirent *entry; d && (entry = readdir(d));) {
		if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		add_file(ret, &st);
		if (strcmp(entry->d_name, "capture") != 0)
			continue;
		is_capture = true;
		ret->made = st.st_mtim; /* nothing is written to it afterwards */
	}
	if (d)
		closedir(d);
	else
		close(fd);
	return is_capture;
}

bool capture_files_read(const char *path, struct capture_files *ret)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool is_capture = false;
	struct stat st;

	*ret = (struct capture_files){0};
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode))
		return read_directory(fd, ret);
	is_capture = read_packed(fd, &st, ret);
	close(fd);
	return is_capture;
}

/* What other programs have put there is not ours to remove. */
static bool is_ours(const char *name)
{
	return name[0] == '.' || file_is_of_capture(name) || !strcmp(name, "functions.json");
}

/* The file `capture` is the last one, so that what is left after a failure is still a capture. */
static int remove_directory(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), code = fd < 0 ? -errno : 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *entry; d && !code && (entry = readdir(d));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || !is_ours(entry->d_name))
			continue;
		if (unlinkat(fd, entry->d_name, 0))
			code = err_set(err, -errno, "%s/%s: %s", path, entry->d_name, strerror(errno));
	}
	if (d && !code && (unlinkat(fd, "capture", 0) || rmdir(path)))
		code = err_set(err, -errno, "%s: %s", path,
			       errno == ENOTEMPTY ? "it has files that are not of a capture" : strerror(errno));
	else if (!d)
		code = err_set(err, code, "%s: %s", path, strerror(-code));
	if (d)
		closedir(d);
	return code;
}

int capture_files_remove(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st))
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return remove_directory(path, err);
	return unlink(path) ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
}
