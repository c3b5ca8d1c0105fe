/* SPDX-License-Identifier: Apache-2.0 */
/* The file or directory of an export: it is written under a temporary name and renamed once it is complete. */
#include "report/export/export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/directory.h"
#include "report/base/newer_libc.h"
#include "report/export/columns.h"

struct export_target {
	int fd;
	char *path;      /* the real path, with links resolved; NULL: a stream */
	char *temporary; /* the file being written; NULL: none */
	bool is_forced;
};

/* ---- an incomplete file is removed when a signal terminates the program ---- */

static char *unfinished;
static const int stops[] = {SIGINT, SIGTERM, SIGHUP};

static void remove_unfinished(int number)
{
	if (unfinished && unlink(unfinished))
		directory_remove(unfinished);
	raise(number); /* SA_RESETHAND: the signal terminates the program after this returns */
}

static void watch_temporary(char *temporary)
{
	struct sigaction action = {.sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND}, old;

	unfinished = temporary;
	for (size_t i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		if (!sigaction(stops[i], NULL, &old) && old.sa_handler == SIG_DFL && temporary)
			sigaction(stops[i], &action, NULL);
}

/* ---- names ---- */

void export_name(const char *capture, const struct export_type *type, struct buffer *ret)
{
	size_t length = strlen(capture);
	SCOPED_MEMORY char *name = NULL;

	while (length > 1 && capture[length - 1] == '/')
		length--;
	name = mem_copy_text(capture, length);
	if (text_ends_with(name, ".pillion"))
		name[length - strlen(".pillion")] = 0;
	buffer_print(ret, "%s%s", name, type->ending);
}

/* ---- opening ---- */

static int open_temporary(struct export_target *p, const char *beside, struct err *err)
{
	struct buffer name = {0};

	buffer_print(&name, "%s.XXXXXX", beside);
	p->fd = mkostemp(name.data, O_CLOEXEC);
	if (p->fd < 0) {
		int code = -errno;

		err_set(err, code, "%s: %s", beside, strerror(errno));
		buffer_done(&name);
		return code;
	}
	p->temporary = name.data;
	watch_temporary(p->temporary);
	return 0;
}

/* A temporary file in place of a stream for formats that need a file. */
static int place_open_temporary(struct export_target *p, struct err *err)
{
	const char *directory = getenv("TMPDIR");
	SCOPED(buffer) name = {0};

	buffer_print(&name, "%s/pillion-export", directory && *directory ? directory : "/tmp");
	return open_temporary(p, name.data, err);
}

static int place_open(struct export_target *p, const char *path, bool is_forced, struct err *err)
{
	struct stat st;

	*p = (struct export_target){.fd = -1, .is_forced = is_forced};
	if (!strcmp(path, "-")) {
		p->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return p->fd < 0 ? err_set(err, -errno, "standard output: %s", strerror(errno)) : 0;
	}
	if (stat(path, &st) < 0) {
		/* A dangling link is replaced, not followed. */
		p->path = mem_copy_text(path, strlen(path));
		return open_temporary(p, path, err);
	}
	if (S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR, "%s: is a directory", path);
	if (!S_ISREG(st.st_mode)) {
		p->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return p->fd < 0 ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
	}
	if (!is_forced)
		return err_set(err, -EEXIST, "%s: file exists, use -f true to replace it", path);
	p->path = realpath(path, NULL);
	if (!p->path)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	return open_temporary(p, p->path, err);
}

/* ---- closing ---- */

static int copy_out(int from, int to)
{
	char bytes[1 << 16];
	ssize_t size;

	if (lseek(from, 0, SEEK_SET) < 0)
		return -errno;
	while ((size = read(from, bytes, sizeof(bytes))) > 0)
		for (ssize_t done = 0, piece; done < size; done += piece) {
			piece = write(to, bytes + done, (size_t)(size - done));
			if (piece < 0)
				return -errno;
		}
	return size < 0 ? -errno : 0;
}

static int move_into_place(struct export_target *p)
{
	if (p->is_forced)
		return rename(p->temporary, p->path) < 0 ? -errno : 0;
	if (!rename_by_flags(p->temporary, p->path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* for file systems that cannot rename without replacement */
	if (link(p->temporary, p->path) < 0)
		return errno == EEXIST || access(p->path, F_OK) == 0 ? -EEXIST
		       : rename(p->temporary, p->path) < 0           ? -errno
								     : 0;
	unlink(p->temporary);
	return 0;
}

/* After an earlier failure the file is removed. */
static int place_close(struct export_target *p, int code, struct err *err)
{
	const char *name = p->path ? p->path : "standard output";

	if (p->fd >= 0 && close(p->fd) < 0 && !code)
		code = err_set(err, -errno, "%s: %s", name, strerror(errno));
	if (p->temporary && p->path && !code) {
		code = move_into_place(p);
		if (code)
			err_set(err, code, "%s: %s", name, strerror(-code));
	}
	if (p->temporary && (code || !p->path))
		unlink(p->temporary);
	watch_temporary(NULL);
	free(p->path);
	free(p->temporary);
	return code;
}

/* ---- writing ---- */

int export_profiles(const struct export *x, struct profile ret[METRIC_COUNT], size_t *ret_count, struct err *err)
{
	*ret_count = 1;
	if (x->is_metric_given)
		return profile_make(x->context, x->metric, &ret[0], err);
	*ret_count = profiles_make(x->context, ret);
	return 0;
}

bool export_is_gzip(const struct export_type *type, const char *path)
{
	return type->flags & EXPORT_GZIP || text_ends_with(path, ".gz");
}

static int write_stream(struct export *x, const struct export_type *type, struct export_target *p, const char *path,
			struct err *err)
{
	struct sink sink;
	int code = sink_open(&sink, p->fd, export_is_gzip(type, path), err), failed;

	if (code)
		return code;
	x->out = &sink;
	code = type->run(x, err);
	failed = sink_close(&sink);
	x->out = NULL;
	if (failed && !code)
		code = err_set(err, failed, "%s: %s", path, strerror(-failed));
	return code;
}

static int write_file(struct export *x, const struct export_type *type, struct export_target *p, const char *path,
		      struct err *err)
{
	struct export_target scratch = *p;
	int code = p->path ? 0 : place_open_temporary(&scratch, err), failed;

	if (code)
		return code;
	x->path = scratch.temporary;
	code = type->run(x, err);
	x->path = NULL;
	if (p->path)
		return code;
	failed = code ? 0 : copy_out(scratch.fd, p->fd);
	if (failed)
		code = err_set(err, failed, "%s: %s", path, strerror(-failed));
	close(scratch.fd);
	unlink(scratch.temporary);
	watch_temporary(NULL);
	free(scratch.temporary);
	return code;
}

/* ---- directories ---- */

static bool is_made_by_export(const char *name)
{
	return text_ends_with(name, parquet_format.extension) || text_ends_with(name, arrow_format.extension);
}

/* Whether only an export's files are in a directory, so that it may be replaced. */
static int check_replaceable(const char *path, struct err *err)
{
	DIR *directory = opendir(path);
	const struct dirent *e;
	int code = 0;

	if (!directory)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	while (!code && (e = readdir(directory)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && !is_made_by_export(e->d_name))
			code = err_set(err, -EEXIST, "%s: not replaced, because %s in it was not exported", path,
				       e->d_name);
	closedir(directory);
	return code;
}

static int move_directory(const char *temporary, const char *path, bool is_forced, struct err *err)
{
	int code;

	if (!rename_by_flags(temporary, path, RENAME_NOREPLACE))
		return 0;
	if (errno != EEXIST)
		return rename(temporary, path) ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
	if (!is_forced)
		return err_set(err, -EEXIST, "%s: file exists, use -f true to replace it", path);
	code = check_replaceable(path, err);
	if (code)
		return code;
	directory_remove(path);
	return rename(temporary, path) ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
}

static int write_directory(struct export *x, const struct export_type *type, const char *path, bool is_forced,
			   struct err *err)
{
	struct buffer name = {0};
	struct stat st;
	int code = 0;

	if (!strcmp(path, "-"))
		return err_set(err, -EINVAL, "%s is a directory: name one by -o", type->name);
	if (!lstat(path, &st) && !is_forced)
		return err_set(err, -EEXIST, "%s: file exists, use -f true to replace it", path);
	buffer_print(&name, "%s.XXXXXX", path);
	if (!mkdtemp(name.data)) {
		code = err_set(err, -errno, "%s: %s", path, strerror(errno));
		buffer_done(&name);
		return code;
	}
	watch_temporary(name.data);
	x->path = name.data;
	code = type->run(x, err);
	x->path = NULL;
	if (!code)
		code = move_directory(name.data, path, is_forced, err);
	watch_temporary(NULL);
	if (code)
		directory_remove(name.data);
	buffer_done(&name);
	return code;
}

int export_write(struct export *x, const struct export_type *type, const char *path, bool is_forced, struct err *err)
{
	struct export_target place;
	int code;

	if (type->flags & EXPORT_DIRECTORY)
		return write_directory(x, type, path, is_forced, err);
	code = place_open(&place, path, is_forced, err);

	if (!code && type->flags & EXPORT_FILE)
		code = write_file(x, type, &place, path, err);
	else if (!code)
		code = write_stream(x, type, &place, path, err);
	return place_close(&place, code, err);
}
