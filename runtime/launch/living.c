/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of the run that are known so far: those of the host's index, of the range file, and of /proc. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/range.h"
#include "runtime/shared/common/sys.h"

enum { LATE_MOST = 512 };

static struct {
	struct living *list;
	size_t count, room;
	long offset; /* of the first byte of the index that was not read */
	int images; /* the range file; 0, -1: not open */
	uint64_t image;		  /* the first image that was not read */
	uint64_t late[LATE_MOST]; /* images before that, which had not described themselves: the oldest first */
	size_t late_count;
	bool is_over; /* COMMAND has ended and left no process: none can follow */
	void (*forget)(struct living *);
} all;

static uint64_t line_field(const char *line, const char *key, int base)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, base) : 0;
}

/* `nonce`: of its image; 0: not known. A process executes another program after it was forked, not before. */
static void living_add(uint32_t pid, uint64_t start, uint64_t nonce, bool is_forked)
{
	for (size_t i = 0; i < all.count; i++) {
		if (all.list[i].pid == pid && all.list[i].start == start) {
			if (nonce && !(is_forked && all.list[i].nonce))
				all.list[i].nonce = nonce;
			return;
		}
	}
	if (all.count == all.room) {
		struct living *more = realloc(all.list, (all.room * 2 + 64) * sizeof(*more));

		if (!more)
			return;
		all.list = more;
		all.room = all.room * 2 + 64;
	}
	all.list[all.count++] = (struct living){.pid = pid, .start = start, .nonce = nonce};
}

static bool is_forked_image(const struct tf_image *image)
{
	return image->nonce && image->via == TF_VIA_FORK && image->end != TF_END_EXIT;
}

static off_t image_offset(uint64_t image)
{
	return (off_t)(TF_IMAGES_FIRST + image * TF_IMAGE_BYTES);
}

/* Adds the process of an image, if it lives. Only a forked image has no line in the index. False: the image has taken
 * its place, and has not allocated it or not described itself there. */
static bool living_read_image(uint64_t number)
{
	struct tf_image image;
	uint64_t start;
	int session;

	if (pread(all.images, &image, sizeof(image), image_offset(number)) != (ssize_t)sizeof(image) || !image.nonce)
		return false;
	if (is_forked_image(&image) && process_lives(image.pid, &session, &start) && start <= image.process_start)
		living_add(image.pid, start, image.nonce, true);
	return true;
}

static void living_read_late(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < all.late_count; i++)
		if (!living_read_image(all.late[i]))
			all.late[kept++] = all.late[i];
	all.late_count = kept;
}

static void living_keep_late(uint64_t image)
{
	if (all.late_count == LATE_MOST)
		memmove(all.late, all.late + 1, --all.late_count * sizeof(*all.late));
	all.late[all.late_count++] = image;
}

/* An image that has not described itself in its place was killed before, or is stopped or waits for the disk, for
 * which there is no limit: it is read again in each round. */
static void living_read_images(const struct run *run)
{
	char path[PATH_MAX + INDEX_NAME_BYTES];
	struct tf_images head;

	if (!run->range)
		return;
	if (all.images <= 0 && range_path(path, sizeof(path), run->spool[0] ? run->spool : run->directory, run->host,
					  run->id))
		all.images = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (all.images <= 0 || pread(all.images, &head, sizeof(head), TF_IMAGES_OFFSET) != (ssize_t)sizeof(head))
		return;
	living_read_late();
	for (; all.image < head.next; all.image++) {
		bool has_place = !head.is_closed || image_offset(all.image) < (off_t)head.end;

		if (has_place && !living_read_image(all.image))
			living_keep_late(all.image);
	}
}

/* Reads the new lines of the index and adds the processes of this run that are alive. */
static void living_read(const struct run *run)
{
	char path[PATH_MAX + INDEX_NAME_BYTES], *line = NULL;
	size_t size = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", run->spool[0] ? run->spool : run->directory, run->index);
	f = fopen(path, "re");
	if (!f || fseek(f, all.offset, SEEK_SET)) {
		if (f)
			fclose(f);
		return;
	}
	while ((n = getline(&line, &size, f)) > 0 && line[n - 1] == '\n') {
		uint32_t pid = (uint32_t)line_field(line, "\tpid=", 10);
		uint64_t now, start = line_field(line, "\tstart=", 10);
		int session;

		all.offset += n;
		if (!strncmp(line, "process\t", 8) && line_field(line, "\trun=", 16) == run->id &&
		    process_lives(pid, &session, &now) && now == start)
			living_add(pid, start, line_field(line, "\tnonce=", 16), false);
	}
	free(line);
	fclose(f);
}

/* During an exec the file is empty, for less than a millisecond. */
static bool environment_has(uint32_t pid, const char *wanted)
{
	char path[48], *variable = NULL;
	bool is_empty = true, has = false;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	for (int tries = 0; is_empty && tries < 5; tries++) {
		struct timespec ms = {0, 1000000};
		FILE *f = fopen(path, "re");

		if (!f)
			break;
		while (!has && getdelim(&variable, &size, '\0', f) > 0) {
			is_empty = false;
			has = !strcmp(variable, wanted);
		}
		fclose(f);
		if (is_empty)
			nanosleep(&ms, NULL);
	}
	free(variable);
	return has;
}

/* The PIDs that processes younger than COMMAND have. They are given in turn, and begin again from the lowest. */
static void living_pids(const struct run *run, uint32_t *ret_first, uint32_t *ret_last)
{
	enum { WRAPS_PER_S = 10 }; /* never so many: the shortest turn is 32768 processes */
	bool is_short = run->end_ticks - run->start_ticks < clock_hz() / WRAPS_PER_S;
	char text[128], *at;

	*ret_first = 1;
	*ret_last = UINT32_MAX;
	if (!is_short || sys_read_file("/proc/loadavg", text, sizeof(text)) <= 0 || !(at = strrchr(text, ' ')) ||
	    strtoul(at, NULL, 10) < (unsigned long)run->child)
		return;
	*ret_first = (uint32_t)run->child + 1;
	*ret_last = (uint32_t)strtoul(at, NULL, 10);
}

/* A child that COMMAND started just before it ended may not have written its line yet. It is found in /proc among the
 * processes that are not older than the launcher, because an environment takes longer to read than a start. */
static void living_scan(const struct run *run)
{
	char wanted[48];
	DIR *d = opendir("/proc");
	struct dirent *entry;
	uint32_t first, last;
	uint64_t own_start;
	int session;

	living_pids(run, &first, &last);
	snprintf(wanted, sizeof(wanted), "PILLION_RUN=%016llx", (unsigned long long)run->id);
	if (!process_lives((uint32_t)getpid(), &session, &own_start))
		own_start = 0;
	while (d && (entry = readdir(d))) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		uint64_t start;

		if (pid >= first && pid <= last && process_lives(pid, &session, &start) && session &&
		    start >= own_start && environment_has(pid, wanted))
			living_add(pid, start, 0, false);
	}
	if (d)
		closedir(d);
}

/* A scan takes milliseconds, in which srun and Hydra send SIGKILL after a signal: then a rank ends by that one; and
 * they learn of a rank that died when its launcher ends. What is recorded later is read from the capture all the same,
 * unless it is moved or packed. */
static bool is_ending(const struct run *run)
{
	bool has_died = run->status && verdict_is_printed(run);

	return (has_died || was_told_within(run, KILLED_MS)) && run->key[0] && !run->spool[0] && !run->options.pack;
}

void living_on_end(void (*forget)(struct living *))
{
	all.forget = forget;
}

size_t living_processes(struct run *run, struct living **ret)
{
	uint64_t start = 0;
	size_t kept = 0;
	int session;

	/* COMMAND may be a program that does not record, or have ended, and is not waited for yet. */
	if (!all.offset && (process_lives((uint32_t)run->child, &session, &start) || start))
		living_add((uint32_t)run->child, start, 0, false);
	living_read(run);
	living_read_images(run);
	for (size_t i = 0; i < all.count; i++) {
		if (all.list[i].has_ended)
			calls_forget(&all.list[i]);
		else
			all.list[kept++] = all.list[i];
	}
	all.count = kept;
	*ret = all.list;
	return all.count;
}

/* Whether it has not ended, as far as is known: while no file can be opened, its stat tells nothing. */
static bool may_live(const struct living *p, int *ret_session)
{
	uint64_t start = 0;
	bool lives = process_lives(p->pid, ret_session, &start);

	if (start)
		return lives && start == p->start;
	*ret_session = getsid((pid_t)p->pid);
	return *ret_session >= 0;
}

static void living_drop_dead(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < all.count; i++) {
		struct living p = all.list[i];
		int session;

		if (p.pid != (uint32_t)getpid() && may_live(&p, &session)) {
			all.list[kept++] = p;
			continue;
		}
		calls_forget(&p);
		if (all.forget)
			all.forget(&p);
	}
	all.count = kept;
}

/* Daemons have a session of their own and are counted only on request. */
unsigned living_count(struct run *run, bool with_daemons)
{
	pid_t session = getsid(0);
	unsigned living = 0;

	if (all.is_over)
		return 0;
	living_read(run);
	living_read_images(run);
	living_drop_dead();
	if (!all.count && !is_ending(run))
		living_scan(run);
	all.is_over = run->end_ticks && !all.count;
	for (size_t i = 0; i < all.count; i++) {
		int its_session;

		living += may_live(&all.list[i], &its_session) && (with_daemons || its_session == session);
	}
	return living;
}
