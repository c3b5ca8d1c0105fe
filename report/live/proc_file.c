/* SPDX-License-Identifier: Apache-2.0 */
#include "report/live/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int proc_file_open(uint32_t pid, const char *name)
{
	SCOPED(buffer) path = {0};

	buffer_print(&path, "/proc/%u/%s", pid, name);
	return open(path.data, O_RDONLY | O_CLOEXEC);
}

char *proc_file_read(uint32_t pid, const char *name, size_t *ret_size)
{
	struct buffer bytes = {0};
	char part[4096];
	ssize_t n;
	int fd = proc_file_open(pid, name);

	if (fd < 0 && errno == ESRCH) /* it has no memory: of the process, or of a main thread that has ended */
		fd = proc_file_open(process_thread_alive(pid), name);
	while (fd >= 0 && (n = read(fd, part, sizeof(part))) > 0)
		buffer_add(&bytes, part, (size_t)n);
	n = fd < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	*ret_size = bytes.size;
	if (n < 0)
		errno = (int)-n;
	else if (!bytes.data)
		bytes.data = mem_copy_text("", 0);
	return bytes.data;
}

const char *proc_file_variable(const char *environment, size_t size, const char *name)
{
	size_t length = strlen(name);

	for (const char *item = environment; item < environment + size; item += strlen(item) + 1)
		if (!strncmp(item, name, length) && item[length] == '=')
			return item + length + 1;
	return NULL;
}

static bool is_called(const struct process_stat *stat, const char *name)
{
	return !strncmp(stat->name, name, strlen(name));
}

bool proc_file_is_launcher(const struct process_stat *stat)
{
	return is_called(stat, "pillion-launch");
}

bool proc_file_is_report(const struct process_stat *stat)
{
	return is_called(stat, "pillion-report");
}
