/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the capture, or joins it.
 *
 * mkdir decides who of a job step's ranks is first. The first one puts a file "capture" with the step's key into
 * it, by rename, so that nobody reads half of it; the others wait for it and compare. To replace an older capture,
 * a rank claims it by creating "replaced" in it, through a descriptor of that very directory: one rank can, once,
 * whatever is renamed meanwhile.
 *
 * A batch job is never refused for what already has its name: its ranks go through NAME.1, NAME.2, ... in this
 * order, and each joins the first capture of its own step or makes the first one that does not exist. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/common/clock.h"
#include "runtime/launch/launch.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "0"
#endif

enum {
	NUMBER_MAX = 1000000,
	TRIES_MAX = 100,
	WAIT_STEP_MS = 20,
	WAIT_SILENT_MS = 2000,
	WAIT_REPLACE_MS = 15000,
	FRESH_S = 30,
};

/* What is at a path where a capture is wanted. FOUND_STUCK: it could not be replaced, which was said. */
enum found { FOUND_NOTHING, FOUND_OURS, FOUND_OTHER, FOUND_PACKED, FOUND_FOREIGN, FOUND_STUCK };

/* Whose a capture is, as its file "capture" says. */
struct owner {
	char key[512], job[JOB_NAME_BYTES], array[JOB_NAME_BYTES], restart[32];
};

static void pause_ms(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

	nanosleep(&t, NULL);
}

static int write_all(int fd, const char *text)
{
	size_t length = strlen(text);
	ssize_t n = write(fd, text, length);

	return n == (ssize_t)length ? 0 : n < 0 ? -errno : -ENOSPC;
}

static void owner_self(const struct launch *l, struct owner *ret)
{
	strcpy(ret->key, l->key);
	job_names(&l->job, ret->job, ret->array);
	strcpy(ret->restart, l->job.restart);
}

/* The file "capture", complete or not at all. */
static int owner_write(const struct launch *l, int directory)
{
	char text[2048], name[64];
	struct timespec now;
	struct owner self;
	int fd, rc;

	owner_self(l, &self);
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(text, sizeof(text), "format=1\nkey=%s\ncreated_ns=%lld%09ld\njob=%s\narray=%s\nrestart=%s\n", self.key,
		 (long long)now.tv_sec, now.tv_nsec, self.job, self.array, self.restart);
	snprintf(name, sizeof(name), ".capture.%d", (int)getpid());
	fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	rc = fchmod(fd, 0600) ? -errno : write_all(fd, text);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && renameat(directory, name, directory, "capture"))
		rc = -errno;
	if (rc)
		unlinkat(directory, name, 0);
	return rc;
}

static void line_read(const char *text, const char *name, char *ret, size_t size)
{
	const char *at = strstr(text, name);

	at = at ? at + strlen(name) : "";
	snprintf(ret, size, "%.*s", (int)strcspn(at, "\n"), at);
}

/* Of an open capture. 0, -ENOENT: no "capture" file, -EINVAL: not one of ours. */
static int owner_read(int directory, struct owner *ret)
{
	char text[2048];
	int fd = openat(directory, "capture", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (strncmp(text, "format=1\n", 9) != 0 || !strstr(text, "\nkey="))
		return -EINVAL;
	line_read(text, "\nkey=", ret->key, sizeof(ret->key));
	line_read(text, "\njob=", ret->job, sizeof(ret->job));
	line_read(text, "\narray=", ret->array, sizeof(ret->array));
	line_read(text, "\nrestart=", ret->restart, sizeof(ret->restart));
	return 0;
}

/* A directory without the file may be one that another rank has just made, on a node that is slow or has much to
 * do. To give up early would be not to start a rank, or to part it from the others. But a user who made it by hand
 * is to know what is waited for. */
static int owner_wait(const struct launch *l, const char *path, int directory, struct owner *ret)
{
	struct stat st;
	int rc = owner_read(directory, ret);
	bool is_fresh = !fstat(directory, &st) && st.st_mtime + FRESH_S >= time(NULL);
	bool may_join = is_fresh && (l->key[0] || l->options.append);

	for (int ms = 0; rc == -ENOENT && may_join && ms < FRESH_S * 1000; ms += WAIT_STEP_MS) {
		if (ms == WAIT_SILENT_MS)
			say("%s is no capture yet: waiting up to %d s for the run that has made it", path, FRESH_S);
		pause_ms(WAIT_STEP_MS);
		rc = owner_read(directory, ret);
	}
	return rc;
}

static bool is_packed(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint64_t magic = 0;
	bool is_one = fd >= 0 && read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == TF_PACK_MAGIC;

	if (fd >= 0)
		close(fd);
	return is_one;
}

/* Ranks of one step that were started by ssh lack the variables of the job that others of them have: no job is any
 * job. */
static bool is_same_step(const struct owner *a, const struct owner *b)
{
	bool is_same_job = !strcmp(a->job, b->job) && !strcmp(a->restart, b->restart);

	return *a->key && !strcmp(a->key, b->key) && (is_same_job || !*a->job || !*b->job);
}

static enum found look(const struct launch *l, const char *path, int *ret_directory, struct owner *ret)
{
	struct owner self;

	*ret_directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_directory < 0)
		return errno == ENOENT ? FOUND_NOTHING : is_packed(path) ? FOUND_PACKED : FOUND_FOREIGN;
	if (owner_wait(l, path, *ret_directory, ret))
		return FOUND_FOREIGN;
	owner_self(l, &self);
	return is_same_step(ret, &self) && !step_has_rank(l, path) ? FOUND_OURS : FOUND_OTHER;
}

/* 0; 1: there is something already; -errno */
static int make(struct launch *l, const char *path)
{
	mode_t mask = umask(077); /* the user's may close it even to us */
	int directory, rc = mkdir(path, 0700) ? errno : 0;

	umask(mask);
	if (rc)
		return rc == EEXIST ? 1 : -rc;
	directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0)
		return -errno;
	rc = owner_write(l, directory);
	close(directory);
	if (rc) {
		rmdir(path);
		return rc;
	}
	l->is_creator = true;
	strcpy(l->directory, path);
	return 0;
}

static int remove_tree(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while ((entry = readdir(d))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(fd, entry->d_name, 0) && (errno == EISDIR || errno == EPERM))
			remove_tree(fd, entry->d_name);
	}
	closedir(d);
	return unlinkat(parent, name, AT_REMOVEDIR) ? -errno : 0;
}

static bool is_still_at(const char *path, int directory)
{
	struct stat now, then;

	return !lstat(path, &now) && !fstat(directory, &then) && now.st_dev == then.st_dev && now.st_ino == then.st_ino;
}

/* Takes an older capture out of the way. 0: look again; otherwise the exit status. */
static int replace(const char *path, int old)
{
	char aside[PATH_MAX + 32];
	int claim = openat(old, "replaced", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (claim < 0 && errno == EEXIST) {
		for (int ms = 0; ms < WAIT_REPLACE_MS && is_still_at(path, old); ms += WAIT_STEP_MS)
			pause_ms(WAIT_STEP_MS);
		if (!is_still_at(path, old))
			return 0;
		say("%s was to be replaced by another run, which never did: remove it", path);
		return EXIT_USAGE;
	}
	if (!is_still_at(path, old)) {
		if (claim >= 0)
			close(claim);
		return 0;
	}
	if (claim < 0) {
		say("cannot replace %s: %s", path, strerror(errno));
		return EXIT_USAGE;
	}
	close(claim);
	snprintf(aside, sizeof(aside), "%s.replaced-%d", path, (int)getpid());
	if (rename(path, aside)) {
		say("cannot replace %s: %s", path, strerror(errno));
		unlinkat(old, "replaced", 0);
		return EXIT_USAGE;
	}
	if (remove_tree(AT_FDCWD, aside))
		say("the older capture could not be removed whole: see %s", aside);
	return 0;
}

/* 0: look again, also if another rank was first and has made its directory. */
static int replace_packed(const char *path)
{
	if (!unlink(path) || errno == ENOENT || errno == EISDIR)
		return 0;
	say("cannot replace %s: %s", path, strerror(errno));
	return EXIT_USAGE;
}

static int refuse(const struct launch *l, const char *path, enum found found)
{
	if (found == FOUND_NOTHING)
		say("%s comes and goes; giving up", path);
	else if (found == FOUND_FOREIGN)
		say("%s exists and is not a capture: choose another name", path);
	else if (found == FOUND_PACKED)
		say("%s exists, packed: use -f true to replace it", path);
	else if (found == FOUND_OTHER && l->key[0])
		say("%s exists, of another run or with this rank in it: use -f true to replace it, --append to join it",
		    path);
	else if (found == FOUND_OTHER)
		say("%s exists: use -f true to replace it, --append to join it", path);
	return EXIT_USAGE;
}

static int cannot(const char *path, int rc)
{
	say("cannot create the capture %s: %s", path, strerror(-rc));
	return EXIT_USAGE;
}

/* Whether -f true must leave a capture alone: another step or array task of this very job may still write it. An earlier
 * attempt of the same task cannot. The answer is about `path`, where another rank may put a new capture meanwhile. */
static bool is_in_use(const struct launch *l, const struct owner *owner, const char *path)
{
	struct owner self;
	unsigned started;

	owner_self(l, &self);
	if (!*self.array || strcmp(self.array, owner->array) != 0)
		return false;
	if (!strcmp(self.job, owner->job) && strcmp(self.restart, owner->restart) != 0)
		return false;
	return capture_launchers_running(path, &started) || !started;
}

/* 0: the capture at `path` is made or joined; OPEN_TAKEN: *ret_found is in the way; or an exit status, the reason said.
 * -f true and --append are about the name that the user gave. */
enum { OPEN_TAKEN = -1 };
static int open_at(struct launch *l, const char *path, bool is_as_given, enum found *ret_found)
{
	*ret_found = FOUND_NOTHING;
	for (int tries = 0; tries < TRIES_MAX && *ret_found == FOUND_NOTHING; tries++) {
		bool may_replace = is_as_given && l->options.force_overwrite;
		int old, rc = make(l, path);
		struct owner owner;

		if (rc <= 0)
			return rc ? cannot(path, rc) : 0;
		if (!is_as_given && !l->key[0])
			break;
		*ret_found = look(l, path, &old, &owner);
		if (*ret_found == FOUND_OURS || (*ret_found == FOUND_OTHER && is_as_given && l->options.append))
			strcpy(l->directory, path);
		else if (*ret_found == FOUND_NOTHING)
			pause_ms(WAIT_STEP_MS); /* a network file system may still have it from before */
		else if (*ret_found == FOUND_OTHER && may_replace && !is_in_use(l, &owner, path))
			*ret_found = replace(path, old) ? FOUND_STUCK : FOUND_NOTHING;
		else if (*ret_found == FOUND_OTHER && may_replace && !is_still_at(path, old))
			*ret_found = FOUND_NOTHING;
		else if (*ret_found == FOUND_PACKED && may_replace)
			*ret_found = replace_packed(path) ? FOUND_STUCK : FOUND_NOTHING;
		if (old >= 0)
			close(old);
		if (l->directory[0])
			return 0;
	}
	return OPEN_TAKEN;
}

/* The first of PREFIX1, PREFIX2, ... that does not exist or is of our step. */
static int open_numbered(struct launch *l, const char *prefix)
{
	for (int n = 1; n < NUMBER_MAX; n++) {
		char path[PATH_MAX];
		enum found found;
		int rc = name_number(prefix, n, path);

		if (!rc)
			rc = open_at(l, path, false, &found);
		if (rc != OPEN_TAKEN)
			return rc;
	}
	say("%s1 and so on: no free number", prefix);
	return EXIT_USAGE;
}

static int open_next(struct launch *l, const char *path)
{
	char prefix[PATH_MAX];
	int rc;

	strcpy(prefix, path);
	name_strip(prefix);
	strcat(prefix, "."); /* in the room of the suffix */
	rc = open_numbered(l, prefix);
	if (!rc && l->is_creator)
		say("%s exists already: this run of the batch job is recorded in %s", path, l->directory);
	return rc;
}

int capture_open(struct launch *l)
{
	char path[PATH_MAX];
	enum found found;
	int rc;

	job_find(&l->job);
	step_find(l);
	if (l->has_output && !*l->options.output) {
		say("--output needs a name");
		return EXIT_USAGE;
	}
	rc = name_expand(l, l->has_output ? l->options.output : "report", path);
	if (rc)
		return rc;
	if (!l->has_output) {
		name_strip(path);
		return open_numbered(l, path);
	}
	rc = open_at(l, path, true, &found);
	if (rc != OPEN_TAKEN)
		return rc;
	return l->job.scheduler ? open_next(l, path) : refuse(l, path, found);
}

static int line_write(const struct launch *l, struct index_line *line)
{
	int rc = index_append(line, l->directory, l->index);

	/* A limit on file sizes (ulimit -f) is the user's wish, and no reason not to run COMMAND. */
	if (rc == -EFBIG)
		return 0;
	if (rc)
		say("cannot write %s/%s: %s", l->directory, l->index, strerror(-rc));
	return rc ? EXIT_USAGE : 0;
}

static void options_field(struct index_line *line, const struct launch *l)
{
	struct options initial;
	char text[4096];
	size_t used = 0;

	options_init(&initial);
	for (size_t i = 0; i < options_table.count; i++) {
		const struct option *row = &options_table.rows[i];
		char now[512];

		if (!option_is_changed(row, &l->options, &initial, now, sizeof(now)))
			continue;
		if (used + strlen(row->name) + strlen(now) + 2 > sizeof(text))
			break;
		used += (size_t)sprintf(text + used, "%s=%s", row->name, now) + 1;
	}
	index_field(line, "options", text, used);
}

static void command_field(struct index_line *line, const struct launch *l)
{
	char text[8192];
	size_t used = 0;

	for (char **word = l->command; *word && used < sizeof(text); word++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", *word) + 1;
	index_field(line, "command", text, used < sizeof(text) ? used : sizeof(text));
}

static void job_fields(struct index_line *line, const struct job *job)
{
	const struct {
		const char *name, *value;
	} fields[] = {
		{"scheduler", job->scheduler}, {"job", job->array},   {"task", job->task},
		{"restart", job->restart},     {"step", job->step}, {"node", job->node},
	};

	for (size_t i = 0; job->scheduler && i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (*fields[i].value)
			index_text(line, fields[i].name, fields[i].value);
	}
}

int capture_write_launch(struct launch *l)
{
	char buffer[16384];
	struct index_line line;
	struct timespec now;
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	index_begin(&line, buffer, sizeof(buffer), "launch");
	index_hex(&line, "run", l->run);
	index_number(&line, "pid", (uint64_t)getpid());
	index_number(&line, "realtime_ns", (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
	index_text(&line, "version", PILLION_VERSION);
	index_text(&line, "host", l->host);
	index_text(&line, "boot", l->boot);
	if (l->key[0]) {
		index_text(&line, "rank", l->rank); /* these two stand together: step_has_rank looks for both at once */
		index_text(&line, "key", l->key);
	}
	job_fields(&line, &l->job);
	options_field(&line, l);
	command_field(&line, l);
	rc = line_write(l, &line);
	if (!rc)
		capture_line_clock(l);
	return rc;
}

void capture_line_clock(struct launch *l)
{
	char buffer[512];
	struct index_line line;
	struct tf_clock_pair pair;

	clock_pair(&pair);
	index_begin(&line, buffer, sizeof(buffer), "clock");
	index_number(&line, "ticks", pair.ticks);
	index_number(&line, "monotonic_ns", pair.monotonic_ns);
	index_number(&line, "realtime_ns", pair.realtime_ns);
	index_number(&line, "error_ticks", pair.error_ticks);
	index_number(&line, "clock", clock_kind);
	index_append(&line, l->directory, l->index);
}

void capture_line_bare(struct launch *l)
{
	char buffer[PATH_MAX * 4 + 256];
	struct index_line line;

	if (l->preloadable.kind == PRELOADABLE)
		return;
	index_begin(&line, buffer, sizeof(buffer), "bare");
	index_number(&line, "pid", (uint64_t)l->child);
	index_text(&line, "reason", l->preloadable.reason);
	index_text(&line, "exe", l->program);
	line_write(l, &line);
}

void capture_line_child(struct launch *l)
{
	char buffer[512];
	struct index_line line;

	index_begin(&line, buffer, sizeof(buffer), "child");
	index_number(&line, "pid", (uint64_t)l->child);
	index_signed(&line, "status", l->status);
	index_number(&line, "launcher", 1);
	index_hex(&line, "run", l->run);
	line_write(l, &line);
}

/* Launch lines less the lines of launchers whose COMMAND has ended, over all hosts. */
unsigned capture_launchers_running(const char *path, unsigned *ret_started)
{
	DIR *d = opendir(path);
	long running = 0;
	struct dirent *entry;

	*ret_started = 0;
	while (d && (entry = readdir(d))) {
		size_t length = strlen(entry->d_name), size = 0;
		char *line = NULL;
		int fd = -1;
		FILE *f;

		if (length > 6 && !strcmp(entry->d_name + length - 6, ".index"))
			fd = openat(dirfd(d), entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		f = fd < 0 ? NULL : fdopen(fd, "r");
		while (f && getline(&line, &size, f) > 0) {
			bool is_start = !strncmp(line, "launch\t", 7);

			*ret_started += is_start;
			running += is_start;
			running -= !strncmp(line, "child\t", 6) && strstr(line, "\tlauncher=1");
		}
		free(line);
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return running > 0 ? (unsigned)running : 0;
}

void capture_discard(struct launch *l)
{
	if (l->is_creator && !l->key[0] && !l->options.append)
		remove_tree(AT_FDCWD, l->directory);
}
