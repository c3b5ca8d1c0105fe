/* SPDX-License-Identifier: Apache-2.0 */
/* The capture that a verb reads if none is given: the one of the working directory that was made last. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/verbs/verb.h"

static bool is_packed(const char *path)
{
	uint64_t magic = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool ret = fd >= 0 && read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == TF_PACK_MAGIC;

	if (fd >= 0)
		close(fd);
	return ret;
}

/* When the capture of that name was made. False: it is none. */
static bool capture_made(const char *name, struct timespec *ret)
{
	SCOPED(buffer) path = {0};
	struct stat st;
	bool is_capture = false;

	if (text_ends_with(name, ".pillpack")) {
		is_capture = is_packed(name) && !stat(name, &st);
	} else if (text_ends_with(name, ".pillion")) {
		buffer_print(&path, "%s/capture", name);
		is_capture = !stat(path.data, &st); /* nothing is written to it afterwards */
	}
	if (is_capture)
		*ret = st.st_mtim;
	return is_capture;
}

static bool is_after(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

char *newest_capture(void)
{
	DIR *directory = opendir(".");
	struct timespec made, newest = {0};
	char *ret = NULL;

	for (struct dirent *e; directory && (e = readdir(directory));) {
		if (!capture_made(e->d_name, &made) || (ret && !is_after(&made, &newest)))
			continue;
		free(ret);
		ret = mem_copy_text(e->d_name, strlen(e->d_name));
		newest = made;
	}
	if (directory)
		closedir(directory);
	return ret;
}
