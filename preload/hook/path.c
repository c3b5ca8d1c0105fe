/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/hook/path.h"

#include <errno.h>

#include "runtime/recorder/record/directory.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/record/traffic.h"

/* Whether the kernel has read the path, so that it can be read here. It returns other errors, as EFAULT and EINVAL,
 * without or before that. */
static bool path_is_readable(int64_t result)
{
	static const int errors[] = {ENOENT, ENOTDIR, EACCES, EEXIST, ENOTEMPTY, EISDIR, EROFS, EXDEV, ELOOP};

	for (size_t i = 0; result == -1 && i < sizeof(errors) / sizeof(*errors); i++)
		if (errno == errors[i])
			return true;
	return result != -1;
}

static uint32_t path_directory(const struct call *e, int at, const char *path, int64_t result, bool is_change)
{
	if (!path || !path_is_readable(result) || thread_has_no_room(&thread_self))
		return 0;
	/* A directory needs a definition, for which an image that only looks at files gets no trace file. */
	if (!is_change && !thread_self.number && !__atomic_load_n(&process.header, __ATOMIC_ACQUIRE))
		return 0;
	return directory_number(at, path, e->start);
}

void path_record(const struct call *e, unsigned function, int at, const char *path, int64_t result, int error,
		 bool is_change)
{
	uint32_t number = path_directory(e, at, path, result, is_change);
	uint64_t arg = number  ? tf_arg(TF_ARG_DIRECTORY, 0, number | (uint64_t)error << 16)
		       : error ? tf_arg(TF_ARG_RESULT, 0, (unsigned)error)
			       : 0;

	call_record(e, function, process_osrt_backtrace, &arg, arg != 0);
}

void path_count(const struct call *e, unsigned function, int at, const char *path, int64_t result)
{
	uint32_t number = path_directory(e, at, path, result, false);

	if (number)
		traffic_count_slowly(function, TF_NO_DESCRIPTOR, (uint16_t)(number << 1 | 1), e->start,
				     e->end - e->start, result == -1);
}
