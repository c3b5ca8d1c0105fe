/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of files. /proc/locks has who took a lock, but not who has it: locks of flock(2) and of open file descriptions
 * go with the descriptor to children, and to nobody when it is closed. The fdinfo of a descriptor has its locks. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/shared/outside/where.h"

enum { LINE_BYTES = 128 };

/* Appends, after "held ", the line of /proc/locks of each lock that a process has by a descriptor of a file. */
static void add_locks(struct where_buffer *b, const char *process)
{
	static const char start[] = "lock:\t";
	char path[32], link[16], line[LINE_BYTES], text[LINE_BYTES + 16];
	struct dirent *entry;
	unsigned count = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/fd", process);
	d = opendir(path);
	while (d && count++ < WHERE_DESCRIPTORS && b->used < WHERE_TEXT_MOST && (entry = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), entry->d_name, link, sizeof(link) - 1);
		char name[48];
		FILE *f;

		link[n < 0 ? 0 : n] = '\0';
		if (link[0] != '/' || !strncmp(link, "/dev/", strlen("/dev/")))
			continue;
		snprintf(name, sizeof(name), "/proc/%s/fdinfo/%.10s", process, entry->d_name);
		f = fopen(name, "re");
		while (f && b->used < WHERE_TEXT_MOST && fgets(line, sizeof(line), f)) {
			if (strncmp(line, start, strlen(start)) || !strchr(line, '\n'))
				continue;
			snprintf(text, sizeof(text), "held %s", line + strlen(start));
			where_add_text(b, text);
		}
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

static void add_held(struct where_buffer *b, const char *process)
{
	struct where_buffer held = {0}, own = {0};
	const char *line, *end;

	add_locks(&held, process);
	if (held.used)
		add_locks(&own, "self");
	for (line = held.bytes; line && b->used < WHERE_TEXT_MOST; line = end + 1) {
		end = memchr(line, '\n', (size_t)(held.bytes + held.used - line));
		if (!end)
			break;
		where_add(b, line, (size_t)(end - line));
		if (own.used && memmem(own.bytes, own.used, line, (size_t)(end + 1 - line)))
			where_add_text(b, " outside");
		where_add_text(b, "\n");
	}
	free(held.bytes);
	free(own.bytes);
}

/* For the descriptor's file: /proc/locks does not say who waits for a lock of an open file description. */
static void add_inode(struct where_buffer *b, uint32_t pid, unsigned fd)
{
	char path[48], line[LINE_BYTES], text[LINE_BYTES];
	unsigned long inode;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%u", pid, fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "ino: %lu", &inode) != 1) /* since Linux 5.14 */
			continue;
		snprintf(text, sizeof(text), "inode %u %lu\n", fd, inode);
		where_add_text(b, text);
	}
	if (f)
		fclose(f);
}

void where_file_locks(struct where_buffer *b, const struct where_process *p)
{
	bool has_waiting = false;
	char pid[16], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(pid, sizeof(pid), "%u", p->pid);
	add_held(b, pid);
	for (size_t i = 0; i < p->count; i++) {
		const struct tf_where_thread *t = &p->threads[i];
		bool waits = t->flags & TF_WHERE_IN_CALL && (t->call == SYS_flock || t->call == SYS_fcntl);

		if (waits)
			add_inode(b, p->pid, (unsigned)t->arguments[0]);
		has_waiting |= waits;
	}
	f = has_waiting ? fopen("/proc/locks", "re") : NULL;
	while (f && getline(&line, &size, f) > 0 && b->used < WHERE_TEXT_MOST) {
		where_add_text(b, "lock ");
		where_add_text(b, line);
	}
	free(line);
	if (f)
		fclose(f);
}
