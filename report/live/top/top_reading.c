/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc and the CPU clocks tell of a process. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/live/proc_file.h"
#include "report/live/top/top.h"
#include "report/read/job/command.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/outside/process_stat.h"

enum { TEXT_BYTES = 4096, COMMAND_MOST = 64 << 10 };

/* The length; -1: it cannot be read. */
static ssize_t proc_text(uint32_t pid, const char *name, char ret[TEXT_BYTES])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, ret, TEXT_BYTES - 1);
	if (fd >= 0)
		close(fd);
	ret[n < 0 ? 0 : n] = '\0';
	return n;
}

/* The clock has nanoseconds, and those of threads that have ended; /proc/PID/stat has ticks of 10 ms. */
static uint64_t cpu_time(uint32_t pid, const struct process_stat *stat)
{
	struct timespec t;
	clockid_t clock;

	if (!clock_getcpuclockid((pid_t)pid, &clock) && !clock_gettime(clock, &t))
		return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return stat->cpu_ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t field_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : TOP_UNKNOWN;
}

COMPARATOR(thread_order, struct top_thread, order_of(a->tid, b->tid))

static void threads_read(uint32_t pid, struct top_reading *r)
{
	char name[48], text[TEXT_BYTES];
	struct dirent *entry;
	size_t capacity = 0;
	DIR *d;

	snprintf(name, sizeof(name), "/proc/%u/task", pid);
	d = opendir(name);
	while (d && (entry = readdir(d))) {
		struct top_thread t = {.tid = (uint32_t)strtoul(entry->d_name, NULL, 10)};
		unsigned long long cpu, delay;

		snprintf(name, sizeof(name), "task/%u/schedstat", t.tid);
		if (!t.tid || proc_text(pid, name, text) <= 0 || sscanf(text, "%llu %llu", &cpu, &delay) != 2)
			continue;
		t.cpu_ns = cpu;
		t.delay_ns = delay;
		mem_append(r->threads, r->thread_count, capacity, t);
	}
	if (d)
		closedir(d);
	array_sort(r->threads, r->thread_count, thread_order);
}

bool top_reading_take(uint32_t pid, struct top_reading *ret)
{
	char text[TEXT_BYTES];
	struct process_stat stat;
	unsigned long long resident;
	uint64_t began;

	*ret = (struct top_reading){0};
	if (!process_stat_read(pid, &stat) || stat.state == 'Z' || stat.state == 'X')
		return false;
	began = clock_monotonic_ns();
	ret->cpu_ns = cpu_time(pid, &stat);
	ret->at_ns = began + (clock_monotonic_ns() - began) / 2;
	/* statm is exact where stat has what each CPU has not counted yet. It has none if the main thread has ended. */
	if (proc_text(pid, "statm", text) <= 0 || sscanf(text, "%*u %llu", &resident) != 1 || !resident)
		resident = stat.resident_pages;
	ret->resident_bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
	proc_text(pid, "io", text);
	ret->read_bytes = field_of(text, "rchar: ");
	ret->written_bytes = field_of(text, "wchar: ");
	threads_read(pid, ret);
	return true;
}

void top_reading_done(struct top_reading *r)
{
	free(r->threads);
	*r = (struct top_reading){0};
}

char *top_command(uint32_t pid)
{
	size_t size;
	SCOPED_MEMORY char *text = proc_file_read(pid, "cmdline", &size);

	if (size > COMMAND_MOST)
		text[size = COMMAND_MOST] = '\0';
	return size ? command_join(text, text + size) : mem_copy_text("", 0);
}
