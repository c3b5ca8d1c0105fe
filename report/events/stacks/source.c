/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/stacks/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	SCOPED(texts) seen = {0};

	for (size_t i = 0; i < l->count && seen.count < NAMED_FILES; i++) {
		const char *file = lines_field(c, l, i, 0);

		if (!*file || (wanted == NOT_IT ? !l->values[i].is_users : file_likeness(file, named, NULL) < wanted) ||
		    list_find(one, &seen, !strcmp(*one, file)))
			continue;
		buffer_print(ret, "%s%s", seen.count ? ", " : "", file);
		texts_add(&seen, "%s", file);
	}
}

int source_choose(const struct report_context *c, const struct lines *l, const char **ret_file, struct err *err)
{
	SCOPED_MEMORY char *resolved = realpath(c->source, NULL);
	enum likeness best = NOT_IT;
	bool is_several = false;
	SCOPED(buffer) named = {0}, others = {0};
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
	return code;
}

/* ---- its text ---- */

static bool is_below(const char *path, const char *directory)
{
	SCOPED_MEMORY char *root = realpath(directory, NULL);
	size_t length = root ? strlen(root) : 0;

	return root && !strncmp(path, root, length) && (path[length] == '/' || !strcmp(root, "/"));
}

static bool is_below_any(const char *path, const struct texts *directories)
{
	return list_find(directory, directories, is_below(path, *directory)) != NULL;
}

/* Whether its text may be shown. 0: yes; -ENODATA: yes, with the remark in err; -EACCES: no. */
static int check(const struct source *s, const struct report_context *c, const char *recorded, struct err *err)
{
	uint64_t mtime_ns = s->file.is.mtime_ns;
	struct source_record record;
	bool is_recorded = source_record_find(c->model, recorded, &record);

	if (c->source_roots && !is_below_any(s->file.path, c->source_roots))
		return err_set(err, -EACCES, "%s is not below a directory of --source-root", s->file.path);
	if (is_recorded && !source_record_is(&record, &s->file))
		return err_set(err, -EACCES, "%s was changed after the run", s->path);
	if (is_recorded)
		mtime_ns = record.mtime_ns; /* the same content may have been written anew */
	if (mtime_ns > c->model->origin_ns && (is_recorded || !c->source_roots))
		return err_set(err, -ENODATA, "%s was changed after the capture began: lines may have moved", s->path);
	if (is_recorded)
		return 0;
	return err_set(err, c->source_roots ? -EACCES : -ENODATA,
		       "%s cannot be verified: the capture has not recorded what it was", s->path);
}

int source_open(struct source *s, const struct report_context *c, const char *recorded, struct err *err)
{
	int code;

	*s = (struct source){.path = c->source};
	code = source_file_read(s->path, LARGEST, &s->file, err);
	if (code == -ENOENT) {
		s->path = recorded;
		source_file_done(&s->file);
		code = source_file_read(s->path, LARGEST, &s->file, err);
	}
	if (!code) {
		code = check(s, c, recorded, err);
		if (code != -EACCES)
			return code;
	}
	s->file.is.size = 0;
	snprintf(err->text + strlen(err->text), sizeof(err->text) - strlen(err->text),
		 "; its lines are shown without their text");
	return -ENODATA;
}

void source_done(struct source *s)
{
	source_file_done(&s->file);
	*s = (struct source){0};
}

bool source_next(struct source *s, struct buffer *ret)
{
	size_t column = 0;

	buffer_clear(ret);
	buffer_text(ret, "");
	if (s->at >= s->file.is.size)
		return false;
	for (; s->at < s->file.is.size && s->file.bytes[s->at] != '\n'; s->at++) {
		char byte = s->file.bytes[s->at];
		size_t spaces = byte == '\t' ? TAB - column % TAB : 0;

		if (byte == '\r' && s->at + 1 < s->file.is.size && s->file.bytes[s->at + 1] == '\n')
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
