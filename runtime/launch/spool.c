/* SPDX-License-Identifier: Apache-2.0 */
/* If files on the capture's file system cannot be mapped reliably (NFS, Lustre, GPFS, FUSE...), processes write into a
 * spool on a local file system, under the same names. The launcher moves full chunks to the capture every few seconds
 * and the rest at the end. */
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

enum { COPY_BYTES = 1 << 20, ROOM_BYTES = 64 << 20, BACKGROUND_S = 2 };

/* One file of the spool. `open` has the chunks that were not full yet; chunks that were moved are holes. */
struct spooled {
	struct spooled *next;
	off_t done; /* index: bytes moved; trace: end of the known chunks */
	struct { off_t offset, size; } *open;
	size_t open_count;
	bool has_failed;
	char name[NAME_MAX + 1];
};

static struct spooled *files;

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
	int n = snprintf(run->spool, sizeof(run->spool), "%s/pillion-%u-%016llx", base, (unsigned)getuid(),
			 (unsigned long long)run->id);

	mode_t mask = umask(077);
	int rc = n >= (int)sizeof(run->spool) - INDEX_NAME_BYTES ? -ENAMETOOLONG : mkdir(run->spool, 0700) ? -errno : 0;

	umask(mask);
	if (rc)
		run->spool[0] = '\0';
	return rc;
}

int spool_prepare(struct run *run)
{
	const char *wanted = getenv("PILLION_RUN") ? NULL : getenv("PILLION_SPOOL");
	const char *bases[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};
	int rc;

	if (wanted && *wanted) {
		rc = *wanted == '/' ? spool_make(run, wanted) : -EINVAL;
		if (rc)
			say("PILLION_SPOOL: cannot create a spool in %s: %s", wanted,
			    rc == -EINVAL ? "the path must be absolute" : strerror(-rc));
		return rc ? EXIT_USAGE : 0;
	}
	if (is_local(run->directory))
		return 0;
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		if (bases[i] && *bases[i] == '/' && is_local(bases[i]) && has_room(bases[i]) &&
		    !spool_make(run, bases[i]))
			return 0;
	}
	say("%s is on a file system whose files cannot be mapped, and no local directory has enough space: set "
	    "PILLION_SPOOL to one",
	    run->directory);
	return EXIT_USAGE;
}

static struct spooled *spooled_get(const char *name)
{
	struct spooled *f;

	for (f = files; f; f = f->next) {
		if (!strcmp(f->name, name))
			return f;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->next = files;
	files = f;
	return f;
}

static int copy_bytes(int in, int out, off_t offset, off_t size)
{
	static char buffer[COPY_BYTES];

	while (size > 0) {
		ssize_t n = pread(in, buffer, size < COPY_BYTES ? (size_t)size : COPY_BYTES, offset), wrote;

		if (n <= 0)
			return n < 0 ? -errno : 0;
		for (ssize_t at = 0; at < n; at += wrote) {
			wrote = pwrite(out, buffer + at, (size_t)(n - at), offset + at);
			if (wrote <= 0)
				return wrote < 0 ? -errno : -ENOSPC;
		}
		offset += n;
		size -= n;
	}
	return 0;
}

static bool chunk_read(int in, off_t offset, uint64_t nonce, off_t end, struct tf_chunk *ret)
{
	return pread(in, ret, sizeof(*ret), offset) == (ssize_t)sizeof(*ret) && ret->magic == TF_CHUNK_MAGIC &&
	       ret->nonce == nonce && ret->size_bytes && ret->size_bytes % TF_PAGE == 0 &&
	       ret->size_bytes <= end - offset;
}

/* Adds the chunks that were written since the last call. */
static void chunks_find(struct spooled *f, int in, const struct tf_header *header, off_t end)
{
	struct tf_chunk w;

	if (!f->done)
		f->done = TF_PAGE + ((off_t)header->function_bytes + TF_PAGE - 1) / TF_PAGE * TF_PAGE;
	while (chunk_read(in, f->done, header->nonce, end, &w)) {
		void *more = realloc(f->open, (f->open_count + 1) * sizeof(*f->open));

		if (!more)
			return;
		f->open = more;
		f->open[f->open_count].offset = f->done;
		f->open[f->open_count++].size = w.size_bytes;
		f->done += w.size_bytes;
	}
}

/* Moves the full chunks. Those whose place cannot be punched out are copied again at the end. */
static int chunks_move(struct spooled *f, int in, int out, uint64_t nonce, off_t end)
{
	size_t kept = 0;
	int rc = 0;

	if (lseek(in, 0, SEEK_DATA) < 0)
		return 0;
	for (size_t i = 0; i < f->open_count; i++) {
		struct tf_chunk w;
		off_t offset = f->open[i].offset, size = f->open[i].size;

		if (!rc && chunk_read(in, offset, nonce, end, &w) && __atomic_load_n(&w.full, __ATOMIC_ACQUIRE) == 1) {
			rc = copy_bytes(in, out, offset, size);
			if (!rc && !fallocate(in, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size))
				continue;
		}
		f->open[kept++] = f->open[i];
	}
	f->open_count = kept;
	return rc;
}

/* Copies all data except holes, at the same offsets. */
static int copy_data(int in, int out, off_t end)
{
	off_t at = 0, data, hole;

	while (at < end) {
		int rc;

		data = lseek(in, at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		if (data < 0)
			return copy_bytes(in, out, at, end - at);
		hole = lseek(in, data, SEEK_HOLE);
		rc = copy_bytes(in, out, data, (hole < 0 ? end : hole) - data);
		if (rc || hole < 0)
			return rc;
		at = hole;
	}
	return ftruncate(out, end) ? -errno : 0;
}

static int drain_trace(struct spooled *f, int in, int out, bool is_last)
{
	struct tf_header header;
	struct stat st;
	int rc = 0;

	if (fstat(in, &st))
		return -errno;
	if (!is_last && pread(in, &header, sizeof(header), 0) == (ssize_t)sizeof(header) && header.magic == TF_MAGIC) {
		chunks_find(f, in, &header, st.st_size);
		rc = copy_bytes(in, out, 0, TF_PAGE + (off_t)header.function_bytes);
		return rc ? rc : chunks_move(f, in, out, header.nonce, st.st_size);
	}
	return is_last ? copy_data(in, out, st.st_size) : 0;
}

/* Copies only complete lines, because other hosts append to the same file. */
static int drain_lines(struct spooled *f, int in, int out)
{
	static char text[COPY_BYTES];
	ssize_t n;

	while ((n = pread(in, text, sizeof(text), f->done)) > 0) {
		char *end = memrchr(text, '\n', (size_t)n);
		ssize_t wrote;

		if (!end)
			return 0;
		wrote = write(out, text, (size_t)(end + 1 - text));
		if (wrote < 0)
			return -errno;
		f->done += wrote;
		if (wrote < end + 1 - text)
			return -ENOSPC;
	}
	return 0;
}

static bool ends_in(const char *name, const char *end)
{
	size_t a = strlen(name), b = strlen(end);

	return a >= b && !strcmp(name + a - b, end);
}

static int drain_one(const struct run *run, int spool, struct spooled *f, bool is_last)
{
	char path[PATH_MAX + NAME_MAX + 2];
	bool is_index = ends_in(f->name, ".index");
	int in = openat(spool, f->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), out, rc;
	struct stat st;

	if (in < 0)
		return -errno;
	snprintf(path, sizeof(path), "%s/%s", run->directory, f->name);
	out = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (is_index ? O_APPEND : 0), 0600);
	if (out < 0) {
		rc = -errno;
		close(in);
		return rc;
	}
	if (fchmod(out, 0600) || fstat(in, &st))
		rc = -errno;
	else if (is_index)
		rc = drain_lines(f, in, out);
	else if (ends_in(f->name, ".trace"))
		rc = drain_trace(f, in, out, is_last);
	else
		rc = copy_data(in, out, st.st_size);
	if (close(out) && !rc) /* NFS reports write errors here */
		rc = -errno;
	close(in);
	return rc;
}

/* Returns the number of files that could not be moved. */
static unsigned drain_all(struct run *run, bool is_last)
{
	int spool = open(run->spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = spool < 0 ? NULL : opendir(run->spool);
	struct dirent *entry;
	unsigned failed = !d;

	while (d && (entry = readdir(d))) {
		struct spooled *f = entry->d_name[0] == '.' ? NULL : spooled_get(entry->d_name);
		int rc = f ? drain_one(run, spool, f, is_last) : 0;

		if (rc && !f->has_failed)
			say("cannot move %s/%s into the capture: %s", run->spool, f->name, strerror(-rc));
		if (f)
			f->has_failed = rc != 0;
		failed += rc != 0;
	}
	if (d)
		closedir(d);
	if (spool >= 0)
		close(spool);
	return failed;
}

void spool_drain(struct run *run, bool is_last)
{
	drain_all(run, is_last);
}

static void spool_remove(const struct run *run)
{
	char path[PATH_MAX + NAME_MAX + 2];

	for (struct spooled *f = files; f; f = f->next) {
		snprintf(path, sizeof(path), "%s/%s", run->spool, f->name);
		unlink(path);
	}
	rmdir(run->spool);
}

static void drain_finish(struct run *run)
{
	if (drain_all(run, true))
		say("files that could not be moved remain in %s", run->spool);
	else
		spool_remove(run);
}

/* Runs in a process of its own, which must not keep open any descriptor of COMMAND or of the terminal. */
static void drain_in_background(struct run *run)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	while (wait_living(run)) {
		sleep(BACKGROUND_S);
		drain_all(run, false);
	}
	drain_finish(run);
	_exit(0);
}

void spool_finish(struct run *run, unsigned living)
{
	if (!run->spool[0])
		return;
	if (!living) {
		drain_finish(run);
		return;
	}
	drain_all(run, false);
	say("%u processes are still running; their records are moved from %s when they end", living, run->spool);
	if (!fork())
		drain_in_background(run);
}
