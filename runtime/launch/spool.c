/* SPDX-License-Identifier: Apache-2.0 */
/* If files on the capture's file system cannot be mapped reliably (NFS, Lustre, GPFS, FUSE...), processes write into a
 * spool on a local file system: see runtime/shared/spool/spool.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/spool/spool.h"

/* LEAVING_MS: the longest interval after a signal that may announce SIGKILL. ORPHANS_MS: how often the spools of other
 * launchers are looked at. */
enum { ROOM_BYTES = 64 << 20, LEAVING_MS = 200, ORPHANS_MS = 10000 };

static struct spool spool = {.fd = -1, .say = say};
static uint64_t moved_ns, orphans_ns, interval_ms;

static bool is_local(const char *path)
{
	static const unsigned long known[] = {
		0xEF53 /* ext */, 0x58465342 /* xfs */, 0x9123683E /* btrfs */, 0x01021994 /* tmpfs */,
		0x858458F6 /* ramfs */,
		0x794C7630 /* overlay */, 0xF2F52010 /* f2fs */, 0xCA451A4E /* bcachefs */,
	};
	struct statfs fs;

	if (statfs(path, &fs))
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (((unsigned long)fs.f_type & 0xFFFFFFFF) == known[i])
			return true;
	}
	return false;
}

static bool has_room(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= ROOM_BYTES;
}

static int spool_make(struct run *run, const char *base)
{
	int rc;

	spool.run = run->id;
	snprintf(spool.capture, sizeof(spool.capture), "%s", run->directory);
	snprintf(spool.host, sizeof(spool.host), "%s", run->host);
	snprintf(spool.boot, sizeof(spool.boot), "%s", run->boot);
	rc = spool_create(&spool, base);
	if (!rc)
		strcpy(run->spool, spool.path);
	return rc;
}

/* The next directory of node-local storage that has room; *place begins at 0. NULL: there are no more. */
static const char *base_next(const struct run *run, size_t *place)
{
	const char *bases[] = {run->options.spool, getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};

	while (*place < sizeof(bases) / sizeof(bases[0])) {
		const char *base = bases[(*place)++];

		if (base && *base == '/' && is_local(base) && has_room(base))
			return base;
	}
	return NULL;
}

/* No other user can write to it: another one's captures could have been put in place of ours in /tmp. */
bool spool_local(const struct run *run, size_t *place, char ret[PATH_MAX])
{
	const char *base;
	struct stat st;

	while ((base = base_next(run, place))) {
		if (snprintf(ret, PATH_MAX, "%s/pillion-%u", base, (unsigned)geteuid()) >= PATH_MAX)
			continue;
		if (mkdir(ret, 0700) && errno != EEXIST)
			continue;
		if (!lstat(ret, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022))
			return true;
	}
	return false;
}

int spool_prepare(struct run *run)
{
	const char *wanted = run->options.spool, *base;
	size_t place = 0;
	int rc;

	interval_ms = run->options.spool_interval_ms;
	if (run->is_local)
		return 0;
	if (options_have_ring(&run->options) && ((wanted && *wanted) || !is_local(run->directory))) {
		say("--ring uses parts of mapped files again, so %s: choose a capture on a local file system with -o",
		    wanted && *wanted ? "it does not work with --spool" : "it does not work on a network file system");
		return NO_CAPTURE;
	}
	if (wanted && *wanted) {
		rc = *wanted == '/' ? spool_make(run, wanted) : -EINVAL;
		if (rc)
			say("--spool: cannot create a spool in %s: %s", wanted,
			    rc == -EINVAL ? "the path must be absolute" : strerror(-rc));
		return !rc ? 0 : rc == -EINVAL ? EXIT_USAGE : NO_CAPTURE;
	}
	if (is_local(run->directory))
		return 0;
	while ((base = base_next(run, &place)))
		if (!spool_make(run, base))
			return 0;
	say("%s is on a file system whose files cannot be mapped, and no local directory has enough space: set "
	    "--spool to one",
	    run->directory);
	return NO_CAPTURE;
}

/* Everything that was recorded before this call is then in the capture. */
static void move_now(void)
{
	spool_move(&spool, false, clock_now());
	moved_ns = clock_monotonic_ns();
}

/* ---- spools of launchers that were killed ---- */

/* A spool of an earlier run whose capture was replaced names the same path. It stays, and is named once. */
static bool is_foreign(const struct spool *orphan)
{
	static uint64_t named[16];
	static size_t count;

	if (spool_is_of(orphan, orphan->capture))
		return false;
	for (size_t i = 0; i < count; i++)
		if (named[i] == orphan->run)
			return true;
	if (count < sizeof(named) / sizeof(named[0])) {
		named[count++] = orphan->run;
		say("%s was left by a killed run whose capture was replaced by this one: it is not read; remove it if "
		    "it is not needed",
		    orphan->path);
	}
	return true;
}

/* Moves what a spool has; removes it if nothing writes to it any more. */
static void orphan_move(struct spool *orphan, const char *path)
{
	bool has_writers;

	if (spool_lock(orphan) || is_foreign(orphan))
		return; /* in the first case its launcher is alive */
	has_writers = spool_has_writers(orphan);
	if (spool_move(orphan, !has_writers, clock_now()) || has_writers)
		return;
	spool_remove(orphan);
	say("the launcher of %s was killed: its files were moved into the capture", path);
}

/* Looks for spools of this capture beside our own. */
static void orphans_find(const struct run *run)
{
	char base[PATH_MAX], prefix[64], path[PATH_MAX + NAME_MAX + 2];
	struct dirent *entry;
	struct spool orphan;
	DIR *d;

	orphans_ns = clock_monotonic_ns();
	snprintf(base, sizeof(base), "%s", run->spool);
	*strrchr(base, '/') = '\0';
	snprintf(prefix, sizeof(prefix), "pillion-%u-", (unsigned)getuid());
	d = opendir(*base ? base : "/");
	while (d && (entry = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", base, entry->d_name);
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || !strcmp(path, run->spool) ||
		    spool_open(&orphan, path))
			continue;
		orphan.say = say;
		if (!strcmp(orphan.capture, run->directory) && !strcmp(orphan.boot, run->boot))
			orphan_move(&orphan, path);
		spool_close(&orphan);
	}
	if (d)
		closedir(d);
}

/* ---- while COMMAND runs ---- */

void spool_begin(struct run *run)
{
	if (!run->spool[0])
		return;
	move_now();
	orphans_ns = moved_ns;
}

int spool_tick(struct run *run)
{
	uint64_t now = clock_monotonic_ns(), due;

	if (!run->spool[0])
		return -1;
	if (now - orphans_ns >= ORPHANS_MS * 1000000ull)
		orphans_find(run);
	if (now - moved_ns >= interval_ms * 1000000)
		move_now();
	now = clock_monotonic_ns();
	due = moved_ns + interval_ms * 1000000;
	return due > now ? (int)((due - now + 999999) / 1000000) : 0;
}

void spool_signal(struct run *run, int signal)
{
	bool is_end = signal_may_end(signal);

	if (!run->spool[0] || (!is_end && signal != SIGUSR1 && signal != SIGUSR2))
		return;
	if (is_end && interval_ms > LEAVING_MS)
		interval_ms = LEAVING_MS;
	move_now();
}

/* ---- at the end ---- */

static void move_last(struct run *run)
{
	if (spool_move(&spool, true, 0))
		say("files that could not be moved remain in %s; pillion recover %s moves them", run->spool,
		    run->directory);
	else
		spool_remove(&spool);
	orphans_find(run);
}

/* Runs in a process of its own, which must not keep open any descriptor of COMMAND or of the terminal. */
static void move_in_background(struct run *run)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	for (int fd = 3; fd < 4096; fd++)
		if (fd != spool.fd)
			close(fd);
	while (living_count(run, true)) {
		usleep((useconds_t)interval_ms * 1000);
		move_now();
	}
	move_last(run);
	_exit(0);
}

void spool_finish(struct run *run, unsigned living)
{
	if (!run->spool[0])
		return;
	if (!living) {
		move_last(run);
		return;
	}
	move_now();
	say("%u processes are still running; their records are moved from %s when they end", living, run->spool);
	if (!fork())
		move_in_background(run);
}
