/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores and messages that processes may share beyond the job. System V's with a key are anybody's, as is a
 * semaphore with a name. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/shared/outside/process_stat.h"
#include "runtime/shared/outside/where.h"

enum { LINE_BYTES = 256 };

/* When this process began, in seconds of the real time, or up to 2 s before that: times are truncated. */
static uint64_t began_at(void)
{
	struct process_stat stat;
	struct timespec now, up;

	if (!process_stat_read((uint32_t)getpid(), &stat) || clock_gettime(CLOCK_REALTIME, &now) ||
	    clock_gettime(CLOCK_BOOTTIME, &up))
		return UINT64_MAX;
	return (uint64_t)(now.tv_sec - up.tv_sec) + stat.start / (uint64_t)sysconf(_SC_CLK_TCK) - 1;
}

/* `table`: "sem" or "msg". The time of its last change is that of semget() or later. */
static void add_private(struct where_buffer *b, const char *table, uint64_t id)
{
	char path[32], line[LINE_BYTES], text[48];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sysvipc/%s", table);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		long key;
		unsigned long long each;
		const char *last = strrchr(line, ' ');

		if (sscanf(line, "%ld %llu", &key, &each) != 2 || each != id || key || !last ||
		    strtoull(last, NULL, 10) < began_at())
			continue;
		snprintf(text, sizeof(text), "private %s %llu\n", table, each);
		where_add_text(b, text);
	}
	if (f)
		fclose(f);
}

/* sem_open() maps a file before it gives it its name: the mapping has the old one, "(deleted)". Python's
 * multiprocessing keeps its names to itself. */
static void add_named(struct where_buffer *b, const struct where_process *p)
{
	char path[40], text[32];
	struct dirent *entry;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/root/dev/shm", p->pid);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		snprintf(text, sizeof(text), " %llu ", (unsigned long long)entry->d_ino);
		if (strncmp(entry->d_name, "sem.", 4) || !strncmp(entry->d_name, "sem.mp-", 7) ||
		    !strstr(p->maps, text))
			continue;
		where_add_text(b, "named");
		text[strlen(text) - 1] = '\n';
		where_add_text(b, text);
	}
	if (d)
		closedir(d);
}

void where_ipc(struct where_buffer *b, const struct where_process *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct tf_where_thread *t = &p->threads[i];

		if (!(t->flags & TF_WHERE_IN_CALL))
			continue;
		if (t->call == SYS_semop || t->call == SYS_semtimedop)
			add_private(b, "sem", t->arguments[0]);
		if (t->call == SYS_msgrcv || t->call == SYS_msgsnd)
			add_private(b, "msg", t->arguments[0]);
	}
	if (strstr(p->maps, "/dev/shm/sem."))
		add_named(b, p);
}
