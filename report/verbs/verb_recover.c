/* SPDX-License-Identifier: Apache-2.0 */
/* recover: moves spools, which launchers that were killed have left, into their capture. It reads the index alone, so
 * that it works for any capture and at once. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/read/index.h"
#include "report/verbs/verb.h"
#include "runtime/shared/spool/spool.h"

struct recovery {
	char capture[PATH_MAX]; /* absolute */
	const struct command_line *line;
	size_t found;
	int status;
};

static void incomplete(struct recovery *r)
{
	r->status = r->status ? r->status : EXIT_INCOMPLETE;
}

/* What its range file in the capture states. */
static uint64_t moved_ticks(const struct recovery *r, const struct spool *s)
{
	SCOPED(buffer) path = {0};
	struct tf_range_page page = {0};
	struct mapping file;
	struct err err;

	buffer_print(&path, "%s/%s.%016llx.range", r->capture, s->host, (unsigned long long)s->run);
	if (!mapping_open(path.data, &file, &err) && file.size >= sizeof(page))
		memcpy(&page, file.data, sizeof(page));
	mapping_close(&file);
	return page.spool_ticks;
}

/* Its files are moved, and it is removed unless processes still write to it. */
static void move_locked(struct recovery *r, struct spool *s)
{
	bool has_writers = spool_has_writers(s);

	strcpy(s->capture, r->capture);
	s->say = say;
	if (spool_move(s, !has_writers, 0)) {
		incomplete(r);
	} else if (has_writers) {
		say("%s: what was recorded so far is in the capture; its processes are still running, or in another "
		    "container: repeat pillion recover when they have ended",
		    s->path);
		incomplete(r);
	} else {
		spool_remove(s);
		if (!r->line->quiet)
			say("%s: moved into %s", s->path, r->capture);
	}
}

static void recover_open(struct recovery *r, struct spool *s)
{
	int code = spool_lock(s);

	if (!code) {
		move_locked(r, s);
	} else if (code == -EWOULDBLOCK) {
		say("%s: its launcher is running and moves it", s->path);
		incomplete(r);
	} else {
		say("%s: %s", s->path, strerror(-code));
		incomplete(r);
	}
}

/* A spool that the user names. */
static void recover_path(struct recovery *r, const char *path)
{
	struct spool s;
	int code = spool_open(&s, path);

	if (code) {
		say("%s: %s", path, code == -EINVAL ? "not a spool of pillion" : strerror(-code));
		r->status = EXIT_UNUSABLE;
	} else if (!spool_is_of(&s, r->capture)) {
		say("%s: not a spool of %s, but of %s", path, r->capture, s.capture);
		r->status = EXIT_UNUSABLE;
	} else {
		recover_open(r, &s);
	}
	spool_close(&s);
}

/* A spool that a line "launch" names. */
static void recover_line(struct recovery *r, const struct index_line *l)
{
	const char *path = index_text(l, "spool"), *host = index_text(l, "host");
	struct spool s, named = {.run = index_hex(l, "run")};
	int code;

	strncpy(named.host, host, sizeof(named.host) - 1);
	if (!*path || !spool_is_of(&named, r->capture) || moved_ticks(r, &named) == TF_SPOOL_MOVED)
		return;
	r->found++;
	code = spool_open(&s, path);
	if (!code && s.run == named.run) {
		recover_open(r, &s);
	} else {
		say("%s:%s: not found on this host; if it is another one, run pillion recover there", host, path);
		incomplete(r);
	}
	spool_close(&s);
}

static void recover_index(struct recovery *r, const char *path)
{
	SCOPED(buffer) text = {0};
	struct mapping file;
	struct err err;

	if (mapping_open(path, &file, &err)) {
		say("%s", err.text);
		incomplete(r);
		return;
	}
	/* a copy: moving a spool changes the file */
	if (file.size)
		buffer_add(&text, file.data, file.size);
	mapping_close(&file);
	for (const char *at = buffer_string(&text), *end; (end = strchr(at, '\n')); at = end + 1) {
		SCOPED(index_line) line = {0};

		if (!text_begins_with(at, "launch\t"))
			continue;
		index_parse(at, (size_t)(end - at), &line);
		recover_line(r, &line);
	}
}

static void recover_all(struct recovery *r)
{
	DIR *d = opendir(r->capture);
	SCOPED(buffer) path = {0};
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		size_t length = strlen(entry->d_name);

		if (length < 6 || strcmp(entry->d_name + length - 6, ".index") != 0)
			continue;
		buffer_set(&path, "%s/%s", r->capture, entry->d_name);
		recover_index(r, path.data);
	}
	if (d)
		closedir(d);
	if (!r->found && !r->line->quiet)
		say("%s: all spools were moved", r->capture);
}

static int run_recover(const struct command_line *l)
{
	struct recovery r = {.line = l};
	SCOPED(buffer) path = {0};
	struct stat st;
	struct err err;

	if (!l->capture_count) {
		say("no CAPTURE given; see pillion recover --help");
		return EXIT_UNUSABLE;
	}
	if (model_find(l->captures[0], false, &path, &err)) {
		say("%s", err.text);
		r.status = EXIT_UNUSABLE;
	} else if (!realpath(path.data, r.capture) || stat(r.capture, &st) || !S_ISDIR(st.st_mode)) {
		say("%s: not the directory of a capture", path.data);
		r.status = EXIT_UNUSABLE;
	} else if (l->capture_count == 1) {
		recover_all(&r);
	}
	for (size_t i = 1; i < l->capture_count && *r.capture; i++)
		recover_path(&r, l->captures[i]);
	return r.status;
}

const struct verb verb_recover = {
	"recover", "[OPTION]... CAPTURE [SPOOL]...",
	"move the spools that killed launchers have left into their capture", VERB_RECOVER, run_recover, NULL,
};
