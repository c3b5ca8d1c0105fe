/* SPDX-License-Identifier: Apache-2.0 */
/* Variadic file calls. */
#include <stdarg.h>

#include "hook.h"

/* The mode is there only where the flags ask for it; reading it otherwise would be reading what is not. */
#define MODE(flags)                                                                                                    \
	({                                                                                                             \
		mode_t mode_ = 0;                                                                                      \
		va_list list;                                                                                          \
                                                                                                                       \
		if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) {                                         \
			va_start(list, flags);                                                                         \
			mode_ = va_arg(list, mode_t);                                                                  \
			va_end(list);                                                                                  \
		}                                                                                                      \
		mode_;                                                                                                 \
	})

#define OPEN(symbol)                                                                                                   \
	HOOK_EXPORT int symbol(const char *path, int flags, ...)                                                       \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		mode_t mode = MODE(flags);                                                                             \
		int result;                                                                                            \
                                                                                                                       \
		HOOK_TIME(real_##symbol(path, flags, mode), FD(-1));                                                   \
		return result;                                                                                         \
	}
#define OPENAT(symbol)                                                                                                 \
	HOOK_EXPORT int symbol(int at, const char *path, int flags, ...)                                               \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		mode_t mode = MODE(flags);                                                                             \
		int result;                                                                                            \
                                                                                                                       \
		HOOK_TIME(real_##symbol(at, path, flags, mode), FD(at));                                               \
		return result;                                                                                         \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

HOOK_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	enum { HOOK_CURRENT = HOOK_ioctl };
	void *argument;
	va_list list;
	int result;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	HOOK_TIME(real_ioctl(fd, request, argument), FD(fd));
	return result;
}
