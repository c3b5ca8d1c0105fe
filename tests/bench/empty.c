/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded last: a write and a read that do nothing, which show the recorder's own cost without the kernel's variance.
 * libempty.so returns immediately. libenter.so, built with BENCH_ENTER, enters the kernel, so that the recorder's cost
 * includes the processor state that a system call flushes. */
#include <sys/types.h>
#include <unistd.h>

static inline void enter(void)
{
#ifdef BENCH_ENTER
	getppid();
#endif
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	(void)fd, (void)bytes;
	enter();
	return (ssize_t)size;
}

ssize_t read(int fd, void *bytes, size_t size)
{
	(void)fd, (void)bytes;
	enter();
	return (ssize_t)size;
}
