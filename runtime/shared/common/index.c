/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/common/index.h"

#include <errno.h>
#include <string.h>

#include "runtime/shared/base/text.h"
#include "runtime/shared/common/sys.h"

static const char hex[] = "0123456789abcdef";

/* One byte is reserved for the newline. */
static bool line_put(struct index_writer *line, const char *bytes, size_t length)
{
	if (line->is_cut || line->size - line->used <= length) {
		line->is_cut = true;
		return false;
	}
	memcpy(line->bytes + line->used, bytes, length);
	line->used += length;
	return true;
}

void index_begin(struct index_writer *line, char *buffer, size_t size, const char *kind)
{
	*line = (struct index_writer){.bytes = buffer, .size = size};
	line_put(line, kind, strlen(kind));
}

static bool key_put(struct index_writer *line, const char *key)
{
	size_t start = line->used;

	if (line_put(line, "\t", 1) && line_put(line, key, strlen(key)) && line_put(line, "=", 1))
		return true;
	line->used = start; /* no incomplete key */
	return false;
}

void index_field(struct index_writer *line, const char *key, const void *value, size_t length)
{
	const unsigned char *byte = value;

	/* A value that was cut is the last one of its line, so long values should be last. */
	if (!key_put(line, key))
		return;
	for (; length; length--, byte++) {
		char escaped[4] = {'\\', 'x', hex[*byte >> 4], hex[*byte & 15]};
		bool is_plain = *byte > 0x20 && *byte != 0x7f && *byte != '\\';

		if (!line_put(line, is_plain ? (const char *)byte : escaped, is_plain ? 1 : 4))
			break;
	}
}

void index_text(struct index_writer *line, const char *key, const char *value)
{
	index_field(line, key, value, strlen(value));
}

__attribute__((cold)) void index_number(struct index_writer *line, const char *key, uint64_t value)
{
	char digits[24];
	struct text t = text_init(digits, sizeof(digits));

	text_number(&t, value);
	index_field(line, key, digits, text_length(&t));
}

__attribute__((cold)) void index_signed(struct index_writer *line, const char *key, int64_t value)
{
	char digits[24];
	struct text t = text_init(digits, sizeof(digits));

	text_signed(&t, value);
	index_field(line, key, digits, text_length(&t));
}

static void format_hex16(char ret[16], uint64_t value)
{
	for (int i = 15; i >= 0; i--, value >>= 4)
		ret[i] = hex[value & 15];
}

void index_hex(struct index_writer *line, const char *key, uint64_t value)
{
	char digits[16];

	format_hex16(digits, value);
	index_field(line, key, digits, sizeof(digits));
}

/* If the file would exceed RLIMIT_FSIZE, the kernel sends SIGXFSZ to this thread, which would end the target: the
 * signal is blocked and removed. An incomplete line is not written either. */
static long write_limited(int fd, const void *bytes, size_t size, uint64_t limit)
{
	struct stat st;
	uint64_t one = 1ull << (SIGXFSZ - 1), old = 0, pending = 0;
	struct timespec zero = {0};
	long wrote;

	if (sys_fstat(fd, &st) == 0 && (uint64_t)st.st_size + size > limit)
		return -EFBIG;
	sys_call(SYS_rt_sigprocmask, SIG_BLOCK, &one, &old, sizeof(one));
	sys_call(SYS_rt_sigpending, &pending, sizeof(pending), 0, 0);
	wrote = sys_write(fd, bytes, size);
	if (wrote == -EFBIG && !(pending & one))
		sys_call(SYS_rt_sigtimedwait, &one, NULL, &zero, sizeof(one));
	sys_signals_restore(&old);
	return wrote;
}

int index_append(struct index_writer *line, const char *directory, const char *name)
{
	char *path = line->bytes + line->used + 1; /* after the newline: stacks may be small */
	size_t d = strlen(directory), n = strlen(name);
	uint64_t limit;
	int fd, rc = 0;
	long wrote;

	if (line->used + 1 + d + n + 2 > line->size)
		return -ENAMETOOLONG;
	memcpy(path, directory, d);
	path[d] = '/';
	memcpy(path + d + 1, name, n + 1);
	line->bytes[line->used++] = '\n';
	/* The first process creates it. fchmod undoes the creator's umask; for the others it changes nothing. */
	fd = sys_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd == -ENOENT) {
		fd = sys_open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			sys_fchmod(fd, 0600);
		else if (fd == -EEXIST)
			fd = sys_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0);
	}
	/* With umask 0777 a new file can only be accessed by its creator's descriptor until the fchmod. */
	for (int i = 0; fd == -EACCES && i < 50; i++) {
		struct timespec ms = {0, 1000000};

		sys_call(SYS_nanosleep, &ms, NULL, 0, 0);
		fd = sys_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0);
	}
	if (fd < 0)
		return fd;
	limit = sys_file_limit();
	wrote = limit < ~0ull ? write_limited(fd, line->bytes, line->used, limit)
			      : sys_write(fd, line->bytes, line->used);
	if (wrote < 0)
		rc = (int)wrote;
	else if ((size_t)wrote < line->used)
		rc = -ENOSPC;
	sys_close(fd);
	return rc;
}

void index_host(char *ret, size_t size, const char *host)
{
	size_t i;

	for (i = 0; host[i] && i + 1 < size; i++) {
		char c = host[i];
		bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
				c == '-' || (c == '.' && i);

		ret[i] = is_plain ? c : '_';
	}
	if (!i && size > 1)
		ret[i++] = '_';
	ret[i] = '\0';
}

static void three_parts(char *ret, size_t size, const char *host, const char *middle, size_t length, const char *last)
{
	char name[INDEX_HOST_BYTES];
	size_t h, l = strlen(last);

	index_host(name, sizeof(name), host);
	h = strlen(name);
	if (h + 1 + length + l + 1 > size) {
		*ret = '\0';
		return;
	}
	memcpy(ret, name, h);
	ret[h] = '.';
	memcpy(ret + h + 1, middle, length);
	memcpy(ret + h + 1 + length, last, l + 1);
}

void index_name(char *ret, size_t size, const char *host, const char *boot)
{
	size_t length = strlen(boot);

	three_parts(ret, size, host, boot, length < 8 ? length : 8, ".index");
}

void index_run_name(char *ret, size_t size, const char *host, uint64_t run, const char *suffix)
{
	char digits[16];

	format_hex16(digits, run);
	three_parts(ret, size, host, digits, sizeof(digits), suffix);
}
