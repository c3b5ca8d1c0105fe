/* SPDX-License-Identifier: Apache-2.0 */
/* An fsync that takes 50 ms, preloaded by a test: that of the machine's file system may take no time at all. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd)
{
	const struct timespec pause = {0, 50000000};

	(void)fd;
	return (int)syscall(SYS_nanosleep, &pause, NULL);
}
