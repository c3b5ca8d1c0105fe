/* SPDX-License-Identifier: Apache-2.0 */
/* Files and mappings: variadic calls, and those that close many descriptors. */
#include <stdarg.h>

#include "preload/python/annotate.h"
#include "preload/hook/hook_record.h"
#include "runtime/recorder/stack/sample.h"

/* The mode is an argument only if the flags require it; otherwise it must not be read. */
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
	HOOK_EXPORT ALIGNS_STACK int symbol(const char *path, int flags, ...)                                          \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		mode_t mode = MODE(flags);                                                                             \
		int result;                                                                                            \
                                                                                                                       \
		annotate_here(__builtin_return_address(0));                                                            \
		HOOK_TIME(real_##symbol(path, flags, mode), OPENED(path, flags));                                      \
		return result;                                                                                         \
	}
#define OPENAT(symbol)                                                                                                 \
	HOOK_EXPORT ALIGNS_STACK int symbol(int at, const char *path, int flags, ...)                                  \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		mode_t mode = MODE(flags);                                                                             \
		int result;                                                                                            \
                                                                                                                       \
		HOOK_TIME(real_##symbol(at, path, flags, mode), OPENED(path, flags));                                  \
		return result;                                                                                         \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

HOOK_EXPORT ALIGNS_STACK int ioctl(int fd, unsigned long request, ...)
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

/* Some commands create a descriptor. For the others the result may be the number of another descriptor, which is then
 * only described again. */
#define FCNTL(symbol)                                                                                                  \
	HOOK_EXPORT ALIGNS_STACK int symbol(int fd, int command, ...)                                                  \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		void *argument;                                                                                        \
		va_list list;                                                                                          \
		int result;                                                                                            \
                                                                                                                       \
		va_start(list, command);                                                                               \
		argument = va_arg(list, void *);                                                                       \
		va_end(list);                                                                                          \
		if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)                                                  \
			HOOK_TIME(real_##symbol(fd, command, argument), NEW);                                          \
		else                                                                                                   \
			HOOK_TIME(real_##symbol(fd, command, argument), FD(fd));                                       \
		return result;                                                                                         \
	}

FCNTL(fcntl)
FCNTL(fcntl64)

int wrap_close_range(unsigned first, unsigned last, int flags)
{
	enum { HOOK_CURRENT = HOOK_close_range };
	int result;

	descriptor_invalidate_range(first, last);
	HOOK_TIME(real_close_range(first, last, flags), NOTHING);
	return result;
}

void wrap_closefrom(int first)
{
	descriptor_invalidate_range(first < 0 ? 0 : (unsigned)first, ~0u);
	real_closefrom(first);
}

int wrap_fcloseall(void)
{
	enum { HOOK_CURRENT = HOOK_fcloseall };
	int result;

	stream_count_pending(NULL);
	descriptor_invalidate_range(0, ~0u);
	HOOK_TIME(real_fcloseall(), NOTHING);
	return result;
}

void hook_record_amount(const struct call *e, unsigned function, int fd, int64_t amount)
{
	call_record(e, function, process_osrt_backtrace, (uint64_t[]){hook_fd_arg(fd, amount)}, 1);
	if (!descriptor_is_known(fd))
		descriptor_describe(fd, e->start);
}

void hook_record_flags(const struct call *e, unsigned function, int fd, int64_t result, uint64_t flags)
{
	call_record_words(e, function, 0, hook_fd_arg(fd, result), flags);
	if (!descriptor_is_known(fd))
		descriptor_describe(fd, e->start);
}

void hook_record_mapped(const struct call *e, unsigned function, int fd, uint64_t bytes)
{
	const uint64_t args[] = {hook_fd_arg(fd, (int64_t)bytes), tf_arg(TF_ARG_BYTES, 0, bytes)};

	call_record(e, function, process_osrt_backtrace, args, 2);
	if (!descriptor_is_known(fd))
		descriptor_describe(fd, e->start);
}

void hook_count_listed(struct aiocb *const *blocks, int count)
{
	if (!event_enabled(TF_GROUP_OSRT) || !hook_attached())
		return;
	for (int i = 0; i < count; i++) {
		const struct aiocb *b = blocks[i];

		if (b && (b->aio_lio_opcode == LIO_READ || b->aio_lio_opcode == LIO_WRITE))
			stream_count(b->aio_lio_opcode == LIO_READ ? HOOK_aio_read : HOOK_aio_write, b->aio_fildes,
				     clock_now(), (struct stream_moved){b->aio_nbytes, 1});
	}
}

HOOK_EXPORT ALIGNS_STACK void *mremap(void *at, size_t n, size_t size, int flags, ...)
{
	enum { HOOK_CURRENT = HOOK_mremap };
	void *to, *result;
	va_list list;

	va_start(list, flags);
	to = va_arg(list, void *);
	va_end(list);
	HOOK_TIME(real_mremap(at, n, size, flags, to), MEMORY(size));
	return result;
}

HOOK_EXPORT ALIGNS_STACK mqd_t mq_open(const char *name, int flags, ...)
{
	enum { HOOK_CURRENT = HOOK_mq_open };
	struct mq_attr *attributes = NULL;
	mode_t mode = 0;
	mqd_t result;
	va_list list;

	if (flags & O_CREAT) {
		va_start(list, flags);
		mode = va_arg(list, mode_t);
		attributes = va_arg(list, struct mq_attr *);
		va_end(list);
	}
	HOOK_TIME(real_mq_open(name, flags, mode, attributes), NEW);
	return result;
}

HOOK_EXPORT ALIGNS_STACK int semctl(int id, int number, int command, ...)
{
	enum { HOOK_CURRENT = HOOK_semctl };
	void *argument; /* a union of an int and pointers, which are passed alike */
	va_list list;
	int result;

	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	HOOK_TIME(real_semctl(id, number, command, argument), NOTHING);
	return result;
}

HOOK_EXPORT ALIGNS_STACK long ptrace(enum __ptrace_request request, ...)
{
	enum { HOOK_CURRENT = HOOK_ptrace };
	void *at, *data;
	va_list list;
	long result;
	pid_t pid;

	va_start(list, request);
	pid = va_arg(list, pid_t);
	at = va_arg(list, void *);
	data = va_arg(list, void *);
	va_end(list);
	if (request == PTRACE_TRACEME)
		sample_give_up(TF_NOTE_NO_SAMPLES " from here on, the process lets itself be traced (PTRACE_TRACEME)");
	HOOK_TIME(real_ptrace(request, pid, at, data), NOTHING);
	return result;
}
