/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the capture, or joins it.
 *
 * mkdir decides who of a job step's ranks is first. The first one puts a file "capture" with the step's key into it, by
 * rename, so that nobody reads half of it; the others wait for it and compare. To replace an older capture, a rank claims
 * it by creating "replaced" in it, through a descriptor of that very directory: one rank can, once, whatever is renamed
 * meanwhile. */
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

enum { REPORTS_MAX = 1000000, WAIT_STEP_MS = 20, WAIT_SILENT_MS = 2000, WAIT_REPLACE_MS = 15000, FRESH_S = 30 };

/* What stands at a path where a capture is wanted. */
enum found { FOUND_NOTHING, FOUND_OURS, FOUND_OTHER, FOUND_PACKED, FOUND_FOREIGN };

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

/* The file "capture", complete or not at all. */
static int key_write(const struct launch *l, int directory)
{
	char text[1024], name[64];
	struct timespec now;
	int fd, rc;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(text, sizeof(text), "format=1\nkey=%s\ncreated_ns=%lld%09ld\n", l->key, (long long)now.tv_sec,
		 now.tv_nsec);
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

/* The key in an open capture. 0, -ENOENT: no "capture" file, -EINVAL: not one of ours. */
static int key_read(int directory, char ret[512])
{
	char text[1024], *key;
	int fd = openat(directory, "capture", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	key = strstr(text, "\nkey=");
	if (strncmp(text, "format=1\n", 9) != 0 || !key)
		return -EINVAL;
	key += 5;
	snprintf(ret, 512, "%.*s", (int)strcspn(key, "\n"), key);
	return 0;
}

/* A directory without the file may be one that another rank has just made, on a node that is slow or has much to do. To give up early would
 * be not to start a rank, or to part it from the others. But a user who made it by hand is to know what is waited for. */
static int key_wait(const struct launch *l, const char *path, int directory, char ret[512])
{
	struct stat st;
	int rc = key_read(directory, ret);
	bool is_fresh = !fstat(directory, &st) && st.st_mtime + FRESH_S >= time(NULL);
	bool may_join = is_fresh && (l->key[0] || l->options.append);

	for (int ms = 0; rc == -ENOENT && may_join && ms < FRESH_S * 1000; ms += WAIT_STEP_MS) {
		if (ms == WAIT_SILENT_MS)
			say("%s is no capture yet: waiting up to %d s for the run that has made it", path, FRESH_S);
		pause_ms(WAIT_STEP_MS);
		rc = key_read(directory, ret);
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

static enum found look(const struct launch *l, const char *path, int *ret_directory)
{
	char key[512];

	*ret_directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_directory < 0)
		return errno == ENOENT ? FOUND_NOTHING : is_packed(path) ? FOUND_PACKED : FOUND_FOREIGN;
	if (key_wait(l, path, *ret_directory, key))
		return FOUND_FOREIGN;
	return l->key[0] && !strcmp(key, l->key) && !step_has_rank(l, path) ? FOUND_OURS : FOUND_OTHER;
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
	rc = key_write(l, directory);
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
	if (found == FOUND_FOREIGN)
		say("%s exists and is not a capture: choose another name", path);
	else if (found == FOUND_PACKED)
		say("%s exists, packed: use -f true to replace it", path);
	else if (l->key[0])
		say("%s exists, of another run or with this rank in it: use -f true to replace it, --append to join it",
		    path);
	else
		say("%s exists: use -f true to replace it, --append to join it", path);
	return EXIT_USAGE;
}

static int cannot(const char *path, int rc)
{
	say("cannot create the capture %s: %s", path, strerror(-rc));
	return EXIT_USAGE;
}

static int open_named(struct launch *l, const char *path)
{
	for (int tries = 0; tries < 100; tries++) {
		int old, rc = make(l, path);
		enum found found;

		if (rc <= 0)
			return rc ? cannot(path, rc) : 0;
		found = look(l, path, &old);
		if (found == FOUND_OURS || (found == FOUND_OTHER && l->options.append))
			strcpy(l->directory, path);
		else if (found == FOUND_OTHER && l->options.force_overwrite)
			rc = replace(path, old);
		else if (found == FOUND_PACKED && l->options.force_overwrite)
			rc = replace_packed(path);
		else if (found != FOUND_NOTHING)
			rc = refuse(l, path, found);
		if (old >= 0)
			close(old);
		if (l->directory[0] || rc > 1)
			return l->directory[0] ? 0 : rc;
	}
	say("%s comes and goes; giving up", path);
	return EXIT_USAGE;
}

static int open_numbered(struct launch *l)
{
	for (int n = 1; n < REPORTS_MAX; n++) {
		char name[32], path[PATH_MAX];
		int old, rc;
		enum found found;

		snprintf(name, sizeof(name), "report%d", n);
		if (name_expand(l, name, path))
			return EXIT_USAGE;
		rc = make(l, path);
		if (rc <= 0)
			return rc ? cannot(path, rc) : 0;
		if (!l->key[0])
			continue;
		found = look(l, path, &old);
		if (old >= 0)
			close(old);
		if (found == FOUND_OURS) {
			strcpy(l->directory, path);
			return 0;
		}
	}
	say("no free report number");
	return EXIT_USAGE;
}

int capture_open(struct launch *l)
{
	char path[PATH_MAX];

	step_find(l);
	if (!l->has_output)
		return open_numbered(l);
	if (!*l->options.output) {
		say("--output needs a name");
		return EXIT_USAGE;
	}
	if (name_expand(l, l->options.output, path))
		return EXIT_USAGE;
	return open_named(l, path);
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
	for (size_t i = 0; i < option_count; i++) {
		char now[512], then[512];

		if (!option_print(&option_table[i], &l->options, now, sizeof(now)) ||
		    (option_print(&option_table[i], &initial, then, sizeof(then)) && !strcmp(now, then)))
			continue;
		if (used + strlen(option_table[i].name) + strlen(now) + 2 > sizeof(text))
			break;
		used += (size_t)sprintf(text + used, "%s=%s", option_table[i].name, now) + 1;
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
unsigned capture_launchers_running(const struct launch *l)
{
	DIR *d = opendir(l->directory);
	long running = 0;
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		size_t length = strlen(entry->d_name), size = 0;
		char *line = NULL;
		int fd = -1;
		FILE *f;

		if (length > 6 && !strcmp(entry->d_name + length - 6, ".index"))
			fd = openat(dirfd(d), entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		f = fd < 0 ? NULL : fdopen(fd, "r");
		while (f && getline(&line, &size, f) > 0) {
			running += !strncmp(line, "launch\t", 7);
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
