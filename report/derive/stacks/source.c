/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/stacks/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/text.h"

enum { LARGEST = 64 << 20, TAB = 8, NAMED_FILES = 5 };

/* ---- selecting the file ---- */

enum likeness { NOT_IT, ENDS_SO, SAME };

static enum likeness file_likeness(const char *file, const char *named, const char *resolved)
{
	size_t length = strlen(file), end = strlen(named);

	if (!strcmp(file, named) || (resolved && !strcmp(file, resolved)))
		return SAME;
	return end && length > end && file[length - end - 1] == '/' && !strcmp(file + length - end, named) ? ENDS_SO
													   : NOT_IT;
}

/* A few file names for the message: those that match, or if there are none those of user code. */
static void list_files(const struct report_context *c, const struct lines *l, const char *named, enum likeness wanted,
		       struct buffer *ret)
{
	struct texts seen = {0};

	for (size_t i = 0; i < l->count && seen.count < NAMED_FILES; i++) {
		const char *file = lines_field(c, l, i, 0);
		size_t k = 0;

		if (!*file || (wanted == NOT_IT ? !l->values[i].is_users : file_likeness(file, named, NULL) < wanted))
			continue;
		while (k < seen.count && strcmp(seen.items[k], file))
			k++;
		if (k < seen.count)
			continue;
		buffer_print(ret, "%s%s", seen.count ? ", " : "", file);
		texts_add(&seen, "%s", file);
	}
	texts_done(&seen);
}

int source_choose(const struct report_context *c, const struct lines *l, const char **ret_file, struct err *err)
{
	char *resolved = realpath(c->source, NULL);
	enum likeness best = NOT_IT;
	bool is_several = false;
	struct buffer named = {0}, others = {0};
	int code = 0;

	text_escape(&named, c->source, "");
	for (size_t i = 0; i < l->count; i++) {
		const char *file = lines_field(c, l, i, 0);
		enum likeness how = file_likeness(file, buffer_string(&named), resolved);

		if (how == NOT_IT || how < best)
			continue;
		is_several = how == best && how == ENDS_SO && (is_several || strcmp(file, *ret_file));
		best = how;
		*ret_file = file;
	}
	if (best == NOT_IT || is_several)
		list_files(c, l, buffer_string(&named), best, &others);
	if (best == NOT_IT)
		code = err_set(err, -ENODATA, "%s has no recorded data; these files have: %s", c->source,
			       others.data ? others.data : "none");
	else if (is_several)
		code = err_set(err, -ENODATA, "%s is ambiguous: %s", c->source, others.data ? others.data : "several");
	free(resolved);
	buffer_done(&named);
	buffer_done(&others);
	return code;
}

/* ---- its text ---- */

static int read_text(struct source *s, int fd, size_t size)
{
	s->bytes = mem_alloc(size + 1);
	while (s->size < size) {
		ssize_t n = read(fd, s->bytes + s->size, size - s->size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		s->size += (size_t)n;
	}
	return 0;
}

int source_open(struct source *s, const char *named, const char *recorded, uint64_t since_ns, struct err *err)
{
	/* do not wait for the writer of a FIFO */
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(named, flags), code = 0;
	struct stat st;

	*s = (struct source){.path = named};
	if (fd < 0 && errno == ENOENT) {
		s->path = recorded;
		fd = open(recorded, flags);
	}
	if (fd < 0)
		return err_set(err, -ENODATA, "%s: %s; its lines are shown without their text", s->path,
			       strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		code = err_set(err, -ENODATA, "%s: not a regular file; its lines are shown without their text",
			       s->path);
	else if (st.st_size > LARGEST)
		code = err_set(err, -ENODATA, "%s: larger than %d MB; its lines are shown without their text", s->path,
			       LARGEST >> 20);
	else if (read_text(s, fd, (size_t)st.st_size))
		code = err_set(err, -ENODATA, "%s: could not be read", s->path);
	else if ((uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec > since_ns)
		code = err_set(err, -ENODATA, "%s was changed after the capture began: lines may have moved", s->path);
	close(fd);
	return code;
}

void source_done(struct source *s)
{
	free(s->bytes);
	*s = (struct source){0};
}

bool source_next(struct source *s, struct buffer *ret)
{
	size_t column = 0;

	buffer_clear(ret);
	buffer_text(ret, "");
	if (s->at >= s->size)
		return false;
	for (; s->at < s->size && s->bytes[s->at] != '\n'; s->at++) {
		char byte = s->bytes[s->at];
		size_t spaces = byte == '\t' ? TAB - column % TAB : 0;

		if (byte == '\r' && s->at + 1 < s->size && s->bytes[s->at + 1] == '\n')
			continue;
		column += spaces ? spaces : 1;
		for (; spaces; spaces--)
			buffer_add(ret, " ", 1);
		if (byte != '\t')
			buffer_add(ret, byte ? &byte : " ", 1);
	}
	s->at++;
	return true;
}
