/* SPDX-License-Identifier: Apache-2.0 */
#include "report/live/request_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/newer_libc.h"
#include "runtime/shared/common/sys.h"

enum { STALE_S = 60, POLL_NS = 2000000 };

uint64_t request_number(void)
{
	uint64_t number = 0;

	while (!number && random_bytes(&number, sizeof(number)) < 0)
		number = sys_clock_ns(CLOCK_REALTIME);
	return number;
}

/* A launcher accepts requests of its own user and of root, whose files it could not read. */
static int give_to_owner(const char *capture, int fd)
{
	struct stat st;

	if (stat(capture, &st))
		return -errno;
	return st.st_uid == geteuid() || !fchown(fd, st.st_uid, (gid_t)-1) ? 0 : -errno;
}

int request_place(const char *capture, uint64_t request, const char *more, struct buffer *path, struct err *err)
{
	uint64_t until = sys_clock_ns(CLOCK_MONOTONIC) + REQUEST_PATIENCE_S * 1000000000ull;
	SCOPED(buffer) own = {0};
	int fd, code = 0;

	buffer_print(path, "%s/.where", capture);
	buffer_print(&own, "%s/.where.%d.%016" PRIx64, capture, (int)getpid(), request);
	fd = open(own.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 ||
	    dprintf(fd, "request=%016" PRIx64 "\nrealtime_ns=%" PRIu64 "\n%s", request, sys_clock_ns(CLOCK_REALTIME),
		    more) < 0)
		code = -errno;
	if (fd >= 0 && !code)
		code = give_to_owner(capture, fd);
	if (fd >= 0 && close(fd) && !code)
		code = -errno;
	while (!code && link(own.data, path->data)) {
		struct timespec pause = {0, POLL_NS};
		struct stat st;

		code = errno == EEXIST ? 0 : -errno;
		if (!code && !stat(path->data, &st) && st.st_mtime + STALE_S < time(NULL))
			unlink(path->data);
		else if (!code && sys_clock_ns(CLOCK_MONOTONIC) > until)
			code = -EBUSY;
		else if (!code)
			nanosleep(&pause, NULL);
	}
	if (fd >= 0)
		unlink(own.data);
	return code ? err_set(err, code, "%s: cannot ask its launchers: %s", capture, strerror(-code)) : 0;
}
