/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells of a process. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/shared/common/sys.h"
#include "runtime/shared/outside/process_stat.h"

/* The name may contain spaces and parentheses. */
bool process_stat_parse(const char *text, struct process_stat *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long user, system, start;
	long resident;
	size_t length;

	if (!open || !close ||
	    sscanf(close + 1,
		   " %c %u %*d %d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %u %*d %llu %*u %ld",
		   &ret->state, &ret->parent_pid, &ret->session, &user, &system, &ret->threads, &start, &resident) != 8)
		return false;
	length = (size_t)(close - open - 1);
	memset(ret->name, 0, sizeof(ret->name));
	memcpy(ret->name, open + 1, length < sizeof(ret->name) ? length : sizeof(ret->name));
	ret->start = start;
	ret->cpu_ticks = user + system;
	ret->resident_pages = (uint64_t)resident;
	return true;
}

static bool stat_read(uint32_t pid, struct process_stat *ret)
{
	char path[48], text[1024];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	return sys_read_file(path, text, sizeof(text)) > 0 && process_stat_parse(text, ret);
}

bool process_stat_read(uint32_t pid, struct process_stat *ret)
{
	struct process_stat other;

	if (!stat_read(pid, ret))
		return false;
	ret->reader = pid;
	if (ret->state == 'Z' && ret->threads > 1) { /* its main thread alone has ended, as by pthread_exit() */
		ret->state = 'S';
		ret->reader = process_thread_alive(pid);
		if (stat_read(ret->reader, &other))
			ret->resident_pages = other.resident_pages;
	}
	return true;
}

uint32_t process_thread_alive(uint32_t pid)
{
	struct dirent *entry;
	uint32_t alive = 0;
	char path[64], text[128];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	d = opendir(path);
	while (d && !alive && (entry = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%u/task/%.10s/statm", pid, entry->d_name);
		if (sys_read_file(path, text, sizeof(text)) > 0 && strtoul(text, NULL, 10))
			alive = (uint32_t)strtoul(entry->d_name, NULL, 10);
	}
	if (d)
		closedir(d);
	return alive ? alive : pid;
}

uint64_t process_strings(uint32_t pid)
{
	enum { STATE = 3, ARGUMENTS = 48 }; /* numbers of fields in proc(5) */
	char path[48], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	at = sys_read_file(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	for (int field = STATE; at && field <= ARGUMENTS; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

/* False: no such process, or a zombie. */
bool process_lives(uint32_t pid, int *ret_session, uint64_t *ret_start)
{
	struct process_stat stat;

	if (!process_stat_read(pid, &stat))
		return false;
	*ret_session = stat.session;
	*ret_start = stat.start;
	return stat.state != 'Z' && stat.state != 'X';
}

bool process_is_alive(uint32_t pid)
{
	uint64_t start;
	int session;

	/* Without /proc, a zombie counts as alive. */
	if (access("/proc/self/stat", R_OK))
		return !kill((pid_t)pid, 0) || errno == EPERM;
	return process_lives(pid, &session, &start);
}
