/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, finds, locks and removes spools. */
#include "runtime/shared/spool/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void pids_find(char *ret, size_t size)
{
	ssize_t n = readlink("/proc/self/ns/pid", ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
}

static void boot_find(char *ret, size_t size)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

static bool is_of_this_boot(const struct spool *s)
{
	char boot[sizeof(s->boot)];

	boot_find(boot, sizeof(boot));
	return !strcmp(boot, s->boot);
}

/* The path of the capture is last, because it may contain newlines. */
static int owner_write(const struct spool *s)
{
	int fd = openat(s->fd, SPOOL_OWNER, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), n;

	if (fd < 0)
		return -errno;
	n = dprintf(fd, "format=1\nrun=%016llx\nhost=%s\nboot=%s\npids=%s\ncapture=%s", (unsigned long long)s->run,
		    s->host, s->boot, s->pids, s->capture);
	close(fd);
	return n < 0 ? -EIO : 0;
}

/* Copies the value of `key`, which begins a line of `text`. */
static bool owner_field(const char *text, const char *key, char *ret, size_t size)
{
	const char *at = strstr(text, key);
	size_t length;

	if (!at)
		return false;
	at += strlen(key);
	length = strcspn(at, "\n");
	if (length >= size)
		return false;
	memcpy(ret, at, length);
	ret[length] = '\0';
	return true;
}

static int owner_read(struct spool *s)
{
	static const char last[] = "\ncapture=";
	char text[PATH_MAX + 512], run[24];
	int fd = openat(s->fd, SPOOL_OWNER, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	char *capture;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	capture = strstr(text, last);
	if (!capture || strncmp(text, "format=1\n", 9) != 0 || !owner_field(text, "\nrun=", run, sizeof(run)) ||
	    !owner_field(text, "\nhost=", s->host, sizeof(s->host)) ||
	    !owner_field(text, "\nboot=", s->boot, sizeof(s->boot)) ||
	    !owner_field(text, "\npids=", s->pids, sizeof(s->pids)))
		return -EINVAL;
	s->run = strtoull(run, NULL, 16);
	capture += sizeof(last) - 1;
	if (strlen(capture) >= sizeof(s->capture))
		return -EINVAL;
	strcpy(s->capture, capture);
	return 0;
}

int spool_create(struct spool *s, const char *base)
{
	int n = snprintf(s->path, sizeof(s->path), "%s/pillion-%u-%016llx", base, (unsigned)getuid(),
			 (unsigned long long)s->run);
	mode_t mask = umask(077);
	int rc = n >= (int)sizeof(s->path) - NAME_MAX ? -ENAMETOOLONG : mkdir(s->path, 0700) ? -errno : 0;

	umask(mask);
	s->fd = -1;
	if (rc) {
		s->path[0] = '\0';
		return rc;
	}
	pids_find(s->pids, sizeof(s->pids));
	s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	rc = s->fd < 0 ? -errno : spool_lock(s);
	if (!rc)
		rc = owner_write(s);
	if (rc) {
		spool_remove(s);
		spool_close(s);
		s->path[0] = '\0';
	}
	return rc;
}

int spool_open(struct spool *s, const char *path)
{
	struct stat st;
	int rc;

	*s = (struct spool){.fd = -1, .is_later = spool_page_is_mapped};
	if (strlen(path) >= sizeof(s->path))
		return -ENAMETOOLONG;
	strcpy(s->path, path);
	s->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->fd < 0)
		return -errno;
	/* what another user has put into a shared directory is no part of our capture */
	rc = fstat(s->fd, &st) ? -errno : st.st_uid != geteuid() ? -EPERM : owner_read(s);
	if (rc)
		spool_close(s);
	else if (!is_of_this_boot(s))
		s->is_later = spool_page_is_fuller;
	return rc;
}

bool spool_is_of(const struct spool *s, const char *capture)
{
	char path[PATH_MAX + TF_HOST + 32];

	snprintf(path, sizeof(path), "%s/%s.%016llx.range", capture, s->host, (unsigned long long)s->run);
	return !access(path, F_OK);
}

int spool_lock(struct spool *s)
{
	struct stat st;

	if (flock(s->fd, LOCK_EX | LOCK_NB))
		return -errno;
	return fstat(s->fd, &st) ? -errno : !st.st_nlink ? -ENOENT : 0;
}

/* ---- its writers ---- */

/* Whether a part of the file, which `end` ends, contains the text. */
static bool file_has(int directory, const char *name, char end, const char *wanted)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *part = NULL;
	bool has = false;
	size_t size = 0;

	while (f && !has && getdelim(&part, &size, end, f) > 0)
		has = strstr(part, wanted);
	free(part);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return has;
}

/* Every process of the run maps the range file in the spool, and its children have the path in their environment
 * before they do. */
static bool process_writes(int proc, const char *pid, const char *path)
{
	char name[64], wanted[PATH_MAX + 16];

	snprintf(name, sizeof(name), "%.20s/maps", pid);
	snprintf(wanted, sizeof(wanted), "%s/", path);
	if (file_has(proc, name, '\n', wanted))
		return true;
	snprintf(name, sizeof(name), "%.20s/environ", pid);
	snprintf(wanted, sizeof(wanted), "PILLION_SPOOL=%s", path);
	return file_has(proc, name, '\0', wanted);
}

bool spool_has_writers(const struct spool *s)
{
	char pids[sizeof(s->pids)];
	bool has = false;
	struct dirent *entry;
	DIR *d;

	if (!is_of_this_boot(s))
		return false;
	pids_find(pids, sizeof(pids));
	d = strcmp(pids, s->pids) ? NULL : opendir("/proc");
	if (!d)
		return true;
	while (!has && (entry = readdir(d)))
		has = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		      strtoul(entry->d_name, NULL, 10) != (unsigned long)getpid() &&
		      process_writes(dirfd(d), entry->d_name, s->path);
	closedir(d);
	return has;
}
