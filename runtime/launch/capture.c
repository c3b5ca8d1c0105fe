/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the capture, or joins it.
 *
 * mkdir decides which rank of a job step is first. The first one creates a file "capture" with the step's key, by
 * rename, so that no other rank reads an incomplete file; the others wait for it and compare the key. To replace an
 * older capture, a rank claims it by creating "replaced" in it through a descriptor of the directory: exactly one rank
 * succeeds, even if the directory is renamed meanwhile.
 *
 * A batch job is never refused because its name is taken: its ranks try NAME.1, NAME.2, ... in this order, and each
 * joins the first capture of its own step or creates the first one that does not exist. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"

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

/* What exists at the path of the capture. FOUND_STUCK: it could not be replaced, which has been reported. */
enum capture_found { FOUND_NOTHING, FOUND_OURS, FOUND_OTHER, FOUND_PACKED, FOUND_FOREIGN, FOUND_STUCK };

/* The owner of a capture, from its file "capture". */
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

static void owner_self(const struct run *run, struct owner *ret)
{
	strcpy(ret->key, run->key);
	job_names(&run->job, ret->job, ret->array);
	strcpy(ret->restart, run->job.restart);
}

/* Creates the file "capture" atomically. */
static int owner_write(const struct run *run, int directory)
{
	char text[2048], name[64];
	struct owner self;
	int fd, rc;

	owner_self(run, &self);
	snprintf(text, sizeof(text), "format=1\nkey=%s\ncreated_ns=%llu\njob=%s\narray=%s\nrestart=%s\n", self.key,
		 (unsigned long long)clock_realtime_ns(), self.job, self.array, self.restart);
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

/* Reads the owner of an open capture. 0; -ENOENT: it has no file "capture"; -EINVAL: the file is not ours. */
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

/* A directory without the file may just have been created by another rank on a slow or loaded node. Giving up
 * early would fail this rank or separate it from the others, so wait, and tell a user who created the directory by
 * hand why. */
static int owner_wait(const struct run *run, const char *path, int directory, struct owner *ret)
{
	struct stat st;
	int rc = owner_read(directory, ret);
	bool is_fresh = !fstat(directory, &st) && st.st_mtime + FRESH_S >= time(NULL);
	bool may_join = is_fresh && (run->key[0] || run->options.append);

	for (int ms = 0; rc == -ENOENT && may_join && ms < FRESH_S * 1000; ms += WAIT_STEP_MS) {
		if (ms == WAIT_SILENT_MS)
			say("%s is not a capture yet: waiting up to %d s for the run that created it", path, FRESH_S);
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

/* Ranks started by ssh lack the job's variables that other ranks of the step have, so an unknown job matches any. */
static bool is_same_step(const struct owner *a, const struct owner *b)
{
	bool is_same_job = !strcmp(a->job, b->job) && !strcmp(a->restart, b->restart);

	return *a->key && !strcmp(a->key, b->key) && (is_same_job || !*a->job || !*b->job);
}

static enum capture_found capture_find(const struct run *run, const char *path, int *ret_directory, struct owner *ret)
{
	struct owner self;

	*ret_directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_directory < 0)
		return errno == ENOENT ? FOUND_NOTHING : is_packed(path) ? FOUND_PACKED : FOUND_FOREIGN;
	if (owner_wait(run, path, *ret_directory, ret))
		return FOUND_FOREIGN;
	owner_self(run, &self);
	return is_same_step(ret, &self) && !step_has_rank(run, path) ? FOUND_OURS : FOUND_OTHER;
}

/* 0; 1: the path exists; -errno */
static int capture_make(struct run *run, const char *path)
{
	mode_t mask = umask(077); /* with the user's mask it may be inaccessible even to us */
	int directory, rc = mkdir(path, 0700) ? errno : 0;

	umask(mask);
	if (rc)
		return rc == EEXIST ? 1 : -rc;
	directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0)
		return -errno;
	rc = owner_write(run, directory);
	close(directory);
	if (rc) {
		rmdir(path);
		return rc;
	}
	run->is_creator = true;
	strcpy(run->directory, path);
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

/* Moves an older capture away and removes it. 0: look again; otherwise the exit status. */
static int capture_replace(const char *path, int old)
{
	char aside[PATH_MAX + 32];
	int rc, claim = openat(old, "replaced", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (claim < 0 && errno == EEXIST) {
		for (int ms = 0; ms < WAIT_REPLACE_MS && is_still_at(path, old); ms += WAIT_STEP_MS)
			pause_ms(WAIT_STEP_MS);
		if (!is_still_at(path, old))
			return 0;
		say("another run claimed %s and did not replace it: remove it", path);
		return EXIT_USAGE;
	}
	if (!is_still_at(path, old)) {
		if (claim >= 0) { /* the rank that replaces it had removed its claim with the other files */
			unlinkat(old, "replaced", 0);
			close(claim);
		}
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
	for (int ms = 0; (rc = remove_tree(AT_FDCWD, aside)) == -ENOTEMPTY && ms < WAIT_REPLACE_MS; ms += WAIT_STEP_MS)
		pause_ms(WAIT_STEP_MS); /* another rank claims it at this moment, and sees then that it is too late */
	if (rc)
		say("the older capture could not be removed completely: see %s", aside);
	return 0;
}

/* 0: look again, also if another rank has already replaced it by a directory. */
static int capture_replace_packed(const char *path)
{
	if (!unlink(path) || errno == ENOENT || errno == EISDIR)
		return 0;
	say("cannot replace %s: %s", path, strerror(errno));
	return EXIT_USAGE;
}

static int capture_refuse(const struct run *run, const char *path, enum capture_found found)
{
	if (found == FOUND_NOTHING)
		say("%s keeps appearing and disappearing; giving up", path);
	else if (found == FOUND_FOREIGN)
		say("%s exists and is not a capture: choose another name", path);
	else if (found == FOUND_PACKED)
		say("%s exists and is packed: use -f true to replace it", path);
	else if (found == FOUND_OTHER && run->key[0])
		say("%s exists, of another run or with this rank in it: use -f true to replace it, --append to join it",
		    path);
	else if (found == FOUND_OTHER)
		say("%s exists: use -f true to replace it, --append to join it", path);
	return EXIT_USAGE;
}

static int capture_failed(const char *path, int rc)
{
	say("cannot create the capture %s: %s", path, strerror(-rc));
	return NO_CAPTURE;
}

/* Whether -f true must not replace a capture, because another step or array task of this job may still write to it. An
 * earlier attempt of the same task cannot. The answer is about `path`, where another rank may create a new capture in
 * the meantime. */
static bool is_in_use(const struct run *run, const struct owner *owner, const char *path)
{
	struct owner self;
	unsigned started;

	owner_self(run, &self);
	if (!*self.array || strcmp(self.array, owner->array) != 0)
		return false;
	if (!strcmp(self.job, owner->job) && strcmp(self.restart, owner->restart) != 0)
		return false;
	return capture_launchers_running(path, &started) || !started;
}

/* Creates or joins the capture at `path`. 0; OPEN_TAKEN: *ret_found exists there; or an exit status after an error
 * message. -f true and --append apply only to the name that the user gave. */
enum { OPEN_TAKEN = -1 };
static int open_at(struct run *run, const char *path, bool is_as_given, enum capture_found *ret_found)
{
	*ret_found = FOUND_NOTHING;
	for (int tries = 0; tries < TRIES_MAX && *ret_found == FOUND_NOTHING; tries++) {
		bool may_replace = is_as_given && run->options.force_overwrite;
		int old, rc = capture_make(run, path);
		struct owner owner;

		if (rc <= 0)
			return rc ? capture_failed(path, rc) : 0;
		if (!is_as_given && !run->key[0])
			break;
		*ret_found = capture_find(run, path, &old, &owner);
		if (*ret_found == FOUND_OURS || (*ret_found == FOUND_OTHER && is_as_given && run->options.append))
			strcpy(run->directory, path);
		else if (*ret_found == FOUND_NOTHING)
			pause_ms(WAIT_STEP_MS); /* a network file system may still have it cached */
		else if (*ret_found == FOUND_OTHER && may_replace && !is_in_use(run, &owner, path))
			*ret_found = capture_replace(path, old) ? FOUND_STUCK : FOUND_NOTHING;
		else if (*ret_found == FOUND_OTHER && may_replace && !is_still_at(path, old))
			*ret_found = FOUND_NOTHING;
		else if (*ret_found == FOUND_PACKED && may_replace)
			*ret_found = capture_replace_packed(path) ? FOUND_STUCK : FOUND_NOTHING;
		if (old >= 0)
			close(old);
		if (run->directory[0])
			return 0;
	}
	return OPEN_TAKEN;
}

/* Creates the first of PREFIX1, PREFIX2, ... that does not exist, or joins the first one of our step. */
static int open_numbered(struct run *run, const char *prefix)
{
	for (int n = 1; n < NUMBER_MAX; n++) {
		char path[PATH_MAX];
		enum capture_found found;
		int rc = name_number(prefix, n, path);

		if (!rc)
			rc = open_at(run, path, false, &found);
		if (rc != OPEN_TAKEN)
			return rc;
	}
	say("no free number for %s1, %s2, ...", prefix, prefix);
	return NO_CAPTURE;
}

static int open_next(struct run *run, const char *path)
{
	char prefix[PATH_MAX];
	int rc;

	strcpy(prefix, path);
	name_strip(prefix);
	strcat(prefix, "."); /* fits where the suffix was */
	rc = open_numbered(run, prefix);
	if (!rc && run->is_creator)
		say("%s exists already: this run of the batch job is recorded in %s", path, run->directory);
	return rc;
}

static int open_named(struct run *run, char path[PATH_MAX], bool is_as_given)
{
	enum capture_found found;
	int rc;

	if (!run->has_output) {
		name_strip(path);
		return open_numbered(run, path);
	}
	rc = open_at(run, path, is_as_given, &found);
	if (rc != OPEN_TAKEN)
		return rc;
	return run->job.scheduler ? open_next(run, path) : capture_refuse(run, path, found);
}

static int capture_path(const struct run *run, char ret[PATH_MAX])
{
	if (run->has_output && !*run->options.output) {
		say("--output needs a name");
		return EXIT_USAGE;
	}
	return name_expand(run, run->has_output ? run->options.output : "report", ret);
}

int capture_open(struct run *run)
{
	char path[PATH_MAX];
	int rc = capture_path(run, path);

	return rc ? rc : open_named(run, path, true);
}

int capture_open_local(struct run *run, const char *directory)
{
	char path[PATH_MAX], local[PATH_MAX];
	int rc = capture_path(run, path);

	if (rc)
		return rc;
	if (snprintf(local, sizeof(local), "%s%s", directory, strrchr(path, '/')) >= (int)sizeof(local))
		return NO_CAPTURE;
	run->is_local = true;
	return open_named(run, local, false);
}

static int line_write(const struct run *run, struct index_writer *line)
{
	int rc = index_append(line, run->directory, run->index);

	/* A limit on file sizes (ulimit -f) is set by the user and must not keep COMMAND from running. */
	if (rc == -EFBIG)
		return 0;
	if (rc)
		say("cannot write %s/%s: %s", run->directory, run->index, strerror(-rc));
	return rc ? NO_CAPTURE : 0;
}

static void options_field(struct index_writer *line, const struct run *run)
{
	struct options initial;
	char text[4096];
	size_t used = 0;

	options_init(&initial);
	for (size_t i = 0; i < options_table.count; i++) {
		const struct option *row = &options_table.rows[i];
		char now[512];
		struct text value = text_init(now, sizeof(now));

		if (!option_is_changed(row, &run->options, &initial, &value))
			continue;
		if (used + strlen(row->name) + strlen(now) + 2 > sizeof(text))
			break;
		used += (size_t)sprintf(text + used, "%s=%s", row->name, now) + 1;
	}
	index_field(line, "options", text, used);
}

static void command_field(struct index_writer *line, const struct run *run)
{
	char text[8192];
	size_t used = 0;

	for (char **word = run->command; *word && used < sizeof(text); word++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", *word) + 1;
	index_field(line, "command", text, used < sizeof(text) ? used : sizeof(text));
}

static void job_fields(struct index_writer *line, const struct batch_job *job)
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

int capture_line_run(struct run *run)
{
	char buffer[16384];
	struct index_writer line;
	int rc;

	index_begin(&line, buffer, sizeof(buffer), "launch");
	index_hex(&line, "run", run->id);
	index_number(&line, "pid", (uint64_t)getpid());
	index_number(&line, "realtime_ns", clock_realtime_ns());
	index_text(&line, "version", PILLION_VERSION);
	index_text(&line, "host", run->host);
	index_text(&line, "boot", run->boot);
	if (run->key[0]) {
		index_text(&line, "rank", run->rank); /* step_has_rank searches for these two fields together */
		index_text(&line, "key", run->key);
	}
	job_fields(&line, &run->job);
	if (run->spool[0])
		index_text(&line, "spool", run->spool);
	options_field(&line, run);
	command_field(&line, run);
	rc = line_write(run, &line);
	if (!rc)
		capture_line_clock(run);
	return rc;
}

void capture_line_clock(struct run *run)
{
	char buffer[512];
	struct index_writer line;
	struct tf_clock_pair pair;

	clock_pair(&pair);
	index_begin(&line, buffer, sizeof(buffer), "clock");
	index_number(&line, "ticks", pair.ticks);
	index_number(&line, "monotonic_ns", pair.monotonic_ns);
	index_number(&line, "realtime_ns", pair.realtime_ns);
	index_number(&line, "error_ticks", pair.error_ticks);
	index_number(&line, "clock", clock_kind);
	index_number(&line, "hz", clock_hz());
	index_append(&line, run->directory, run->index);
}

void capture_line_bare(struct run *run)
{
	char buffer[PATH_MAX * 4 + 256];
	struct index_writer line;

	if (run->preloadable.kind == PRELOADABLE)
		return;
	index_begin(&line, buffer, sizeof(buffer), "bare");
	index_number(&line, "pid", (uint64_t)run->child);
	index_text(&line, "reason", run->preloadable.reason);
	index_text(&line, "exe", run->program);
	line_write(run, &line);
}

void capture_line_note(struct run *run, const char *text)
{
	char buffer[512];
	struct index_writer line;

	index_begin(&line, buffer, sizeof(buffer), "note");
	index_number(&line, "pid", (uint64_t)getpid());
	index_text(&line, "text", text);
	line_write(run, &line);
}

void capture_line_child(struct run *run)
{
	char buffer[512];
	struct index_writer line;

	index_begin(&line, buffer, sizeof(buffer), "child");
	index_number(&line, "pid", (uint64_t)run->child);
	index_signed(&line, "status", run->status);
	index_number(&line, "launcher", 1);
	index_number(&line, "cpu_ns", run->cpu_ns);
	index_hex(&line, "run", run->id);
	index_number(&line, "ticks", run->end_ticks);
	line_write(run, &line);
}

/* The number of "launch" lines minus the "child" lines of launchers whose COMMAND has ended. */
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

void capture_discard(struct run *run)
{
	if (run->is_creator && !run->key[0] && !run->options.append)
		remove_tree(AT_FDCWD, run->directory);
	run->directory[0] = '\0';
	run->is_creator = false;
}
