/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/directory.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

void directory_remove(const char *path)
{
	struct linux_dirent64 {
		uint64_t inode, offset;
		uint16_t size;
		uint8_t type;
		char name[];
	};
	char entries[4096] __attribute__((aligned(8)));
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long size;

	while (fd >= 0 && (size = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (long at = 0; at < size;) {
			const struct linux_dirent64 *e = (const struct linux_dirent64 *)(entries + at);

			unlinkat(fd, e->name, 0);
			at += e->size;
		}
	if (fd >= 0)
		close(fd);
	rmdir(path);
}
