/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/stacks/source_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/read/index.h"

/* What is recorded at most: it takes some 30 ms at the end of a run. */
enum { RECORDED_BYTES = 8 << 20, RECORDED_FILES = 300 };

/* ---- files ---- */

static bool is_source_name(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && text_any(text_is, dot + 1, "py", "pyx", "pxd", "pxi", "pyi", "c", "cc", "cpp", "cxx",
			"c++", "C", "h", "hh", "hpp", "hxx", "h++", "inc", "inl", "ipp", "tcc", "cu", "cuh",
			"hip", "f", "for", "ftn", "f77", "f90", "f95", "f03", "f08", "F", "F77", "F90", "F95",
			"F03", "F08", "s", "S", "rs", "go", "jl", "java", "kt", "scala", "d", "m", "mm",
			"swift", "zig", "js", "mjs", "ts", "rb", "pl", "lua", "R", "hs", "ml");
}

static char *path_of(int fd)
{
	char proc_path[64], target[PATH_MAX];
	ssize_t size;

	snprintf(proc_path, sizeof(proc_path), "/proc/self/fd/%d", fd);
	size = readlink(proc_path, target, sizeof(target));
	return mem_copy_text(target, size > 0 ? (size_t)size : 0);
}

static int read_bytes(struct source_file *f, int fd, size_t size)
{
	f->bytes = mem_alloc(size + 1);
	while (f->is.size < size) {
		ssize_t n = read(fd, f->bytes + f->is.size, size - f->is.size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		f->is.size += (size_t)n;
	}
	f->is.hash = hash_bytes(f->bytes, f->is.size);
	return 0;
}

int source_file_read(const char *path, size_t largest, struct source_file *ret, struct err *err)
{
	/* do not wait for the writer of a FIFO */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), code = 0;
	struct stat st;

	*ret = (struct source_file){0};
	if (fd < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	ret->path = path_of(fd);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		code = err_set(err, -ENODATA, "%s: not a regular file", path);
	else if (!is_source_name(ret->path))
		code = err_set(err, -ENODATA, "%s: its name does not end like that of a source file", path);
	else if ((uint64_t)st.st_size > largest)
		code = err_set(err, -ENODATA, "%s: larger than %zu MB", path, largest >> 20);
	else if (read_bytes(ret, fd, (size_t)st.st_size))
		code = err_set(err, -ENODATA, "%s: could not be read", path);
	ret->is.mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	close(fd);
	return code;
}

void source_file_done(struct source_file *f)
{
	free(f->path);
	free(f->bytes);
	*f = (struct source_file){0};
}

/* ---- records ---- */

static bool find_in(const char *text, const char *file, struct source_record *ret)
{
	bool is_found = false;

	while (*text && !is_found) {
		size_t length = strcspn(text, "\n");
		SCOPED(index_line) line = {0};

		index_parse(text, length, &line);
		is_found = !strcmp(line.name, "source") && !strcmp(index_text(&line, "file"), file) &&
			   index_find(&line, "hash");
		if (is_found)
			*ret = (struct source_record){index_number(&line, "size"), index_number(&line, "mtime_ns"),
						      index_number(&line, "hash")};
		text += length + (text[length] == '\n');
	}
	return is_found;
}

bool source_record_find(const struct model *m, const char *file, struct source_record *ret)
{
	return list_find(source, &m->sources, find_in(*source, file, ret)) != NULL;
}

bool source_record_is(const struct source_record *record, const struct source_file *file)
{
	return record->size == file->is.size && record->hash == file->is.hash;
}

void source_records_write(const struct texts *files, struct buffer *ret)
{
	size_t bytes = 0;

	for (size_t i = 0; i < files->count && i < RECORDED_FILES; i++) {
		SCOPED(source_file) f = {0};
		struct err err;

		if (!source_file_read(files->items[i], RECORDED_BYTES - bytes, &f, &err)) {
			buffer_text(ret, "source");
			index_write_field(ret, "file", files->items[i]);
			buffer_print(ret, "\tsize=%" PRIu64 "\tmtime_ns=%" PRIu64 "\thash=0x%" PRIx64 "\n", f.is.size,
				     f.is.mtime_ns, f.is.hash);
			bytes += f.is.size;
		}
	}
}
