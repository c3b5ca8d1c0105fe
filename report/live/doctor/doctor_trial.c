/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of `true` where the capture would be, and what it says of itself. Whether a recording works is thereby
 * not deduced but seen. */
#include "report/live/doctor/doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "report/base/directory.h"
#include "report/base/launcher.h"
#include "report/read/job/model.h"

static const struct {
	unsigned long magic;
	const char *name;
} file_systems[] = {
	{0xEF53, "ext4"},	{0x58465342, "xfs"},	{0x9123683E, "btrfs"},	{0x01021994, "tmpfs"},
	{0x858458F6, "ramfs"},	{0x794C7630, "overlay"}, {0x6969, "NFS"},	{0x0BD00BD0, "Lustre"},
	{0x47504653, "GPFS"},	{0x65735546, "FUSE"},	{0x00C36400, "Ceph"},	{0x19830326, "BeeGFS"},
	{0xFF534D42, "CIFS"},	{0xFE534D42, "SMB2"},	{0x01021997, "9p"},	{0x2FC12FC1, "ZFS"},
	{0xF2F52010, "f2fs"},	{0xCA451A4E, "bcachefs"}, {0x5346414F, "AFS"},	{0x73717368, "squashfs"},
};

enum { ROOM_MB = 1000 };

static void add_file_system(struct doctor *d, const char *spool)
{
	struct statfs fs;
	const char *name = NULL;
	struct check *c;
	uint64_t free_mb;

	if (statfs(d->directory, &fs)) {
		c = check_add(d, "file system", "%s: %s", d->directory, strerror(errno));
		check_worse(c, CHECK_MISSING, "create the directory, or name another one with -o");
		return;
	}
	for (size_t i = 0; i < sizeof(file_systems) / sizeof(*file_systems); i++)
		if (file_systems[i].magic == ((unsigned long)fs.f_type & 0xFFFFFFFF))
			name = file_systems[i].name;
	free_mb = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize / 1000000;
	c = check_add(d, "file system", "%s: %s", d->directory, name ? name : "of an unknown type");
	if (!name)
		buffer_print(&c->found, " (0x%lx)", (unsigned long)fs.f_type);
	buffer_print(&c->found, ", %llu MB free", (unsigned long long)free_mb);
	if (*spool)
		buffer_print(&c->found, "; files are written in %s and moved", spool);
	if (access(d->directory, W_OK | X_OK))
		check_worse(c, CHECK_MISSING, "no permission to write here: name another directory with -o");
	else if (name && free_mb < ROOM_MB)
		check_worse(c, CHECK_LIMITED, "captures of long runs take gigabytes: name another directory with -o");
}

static void add_scheduler(struct doctor *d, const struct run_record *run)
{
	struct check *c;

	if (!run || !*run->scheduler) {
		check_add(d, "scheduler", "none: not in a batch job");
		return;
	}
	c = check_add(d, "scheduler", "%s, job %s", run->scheduler, run->job);
	if (*run->task)
		buffer_print(&c->found, ", array task %s", run->task);
	if (*run->step)
		buffer_print(&c->found, ", step %s", run->step);
	if (*run->key)
		buffer_text(&c->found, "; the ranks of this step share a capture");
}

/* Adds the rows that follow from the capture of the trial. */
static void read_trial(struct doctor *d, const char *path, struct check *c)
{
	char *paths[] = {(char *)path};
	SCOPED(model) m = {0};
	struct err err;
	const char *spool = "";
	bool is_recorded = false;

	if (model_open(&m, paths, 1, &err)) {
		check_worse(c, CHECK_MISSING, err.text);
	} else if (m.bare_count) {
		buffer_print(&c->found, "%s ran unrecorded: %s", m.bare[0].executable, m.bare[0].reason);
		check_worse(c, CHECK_MISSING, "the programs of this system cannot carry a preloaded library for glibc");
	} else if (!m.image_count) {
		buffer_text(&c->found, "`true` ran, but its capture is empty");
		check_worse(c, CHECK_MISSING, "what the loader says: LD_DEBUG=files pillion true");
	} else {
		buffer_print(&c->found, "a trial of `true` was recorded in %s", d->directory);
		is_recorded = true;
	}
	if (m.problems.count)
		check_worse(c, CHECK_LIMITED, m.problems.items[0]);
	if (m.run_count)
		spool = m.runs[0].spool;
	d->is_recording = is_recorded;
	add_file_system(d, spool);
	add_scheduler(d, m.run_count ? &m.runs[0] : NULL);
}

/* The last line on standard error, without "pillion: ", is the error. */
static const char *last_line(struct buffer *output)
{
	char *text, *line;

	while (output->size && output->data[output->size - 1] == '\n')
		output->data[--output->size] = 0;
	text = (char *)buffer_string(output);
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	return text_begins_with(line, "pillion: ") ? line + strlen("pillion: ") : line;
}

void doctor_trial(struct doctor *d)
{
	char launcher[PATH_MAX], path[PATH_MAX + 64];
	SCOPED(buffer) output = {0};
	char *words[] = {launcher, (char *)"profile", (char *)"--stats=false", (char *)"-o", path, (char *)"--",
			 (char *)"true", NULL};
	size_t row = d->count;
	struct stat st;
	int status;

	check_add(d, "recording", "%s", "");
	if (!launcher_find(launcher)) {
		buffer_text(&d->checks[row].found, "pillion-launch is not beside pillion-report");
		check_worse(&d->checks[row], CHECK_MISSING, "install pillion again");
		add_file_system(d, "");
		return;
	}
	snprintf(path, sizeof(path), "%s/pillion-doctor-%d.pillion", d->directory, (int)getpid());
	if (!lstat(path, &st)) {
		buffer_print(&d->checks[row].found, "%s exists", path);
		check_worse(&d->checks[row], CHECK_MISSING, "remove it");
		return;
	}
	status = doctor_execute(words, true, &output);
	if (status) {
		buffer_print(&d->checks[row].found, "a trial of `true` has failed: %s", last_line(&output));
		check_worse(&d->checks[row], CHECK_MISSING, "see the rows that are not ok");
		add_file_system(d, "");
	} else {
		struct check first = d->checks[row]; /* rows move while others are added */

		read_trial(d, path, &first);
		d->checks[row] = first;
	}
	directory_remove(path);
}
