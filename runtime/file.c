/* SPDX-License-Identifier: Apache-2.0 */
/* The image's trace file: made with its first record, grown window by window. */
#include "file.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "process.h"
#include "sys.h"
#include "thread.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static uint64_t round_page(uint64_t size)
{
	return (size + TF_PAGE - 1) & ~(uint64_t)(TF_PAGE - 1);
}

/* Space that is really there, mapped: a store into it can raise neither SIGBUS nor SIGXFSZ. */
static void *map_space(int fd, uint64_t offset, uint64_t size)
{
	void *at;
	int error;

	if (offset + size > sys_file_limit())
		return NULL;
	error = sys_fallocate(fd, 0, offset, size);
	if (error == -EOPNOTSUPP || error == -ENOSYS)
		error = sys_ftruncate(fd, offset + size); /* populating below still finds a full disk */
	if (error)
		return NULL;
	at = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (!at)
		return NULL;
	error = sys_madvise(at, size, MADV_POPULATE_WRITE);
	if (error && error != -EINVAL) { /* EINVAL: a kernel before 5.14; fallocate must do */
		sys_munmap(at, size);
		return NULL;
	}
	sys_madvise(at, size, MADV_DONTFORK);
	return at;
}

static uint32_t function_bytes(void)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < file_function_count; i++)
		bytes += 2 + (uint32_t)strlen(file_functions[i].name);
	return bytes;
}

static void write_functions(uint8_t *at)
{
	for (uint32_t i = 0; i < file_function_count; i++) {
		size_t length = strlen(file_functions[i].name);

		*at++ = file_functions[i].group;
		*at++ = (uint8_t)length;
		memcpy(at, file_functions[i].name, length);
		at += length;
	}
}

int file_create(void)
{
	uint32_t names = function_bytes();
	uint64_t size = TF_PAGE + round_page(names);
	struct tf_header *header;
	struct stat st;
	int fd;

	if (process.header)
		return 0;
	if (process.is_frozen || !process.path[0])
		return -EPERM;
	fd = sys_open(process.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	sys_fchmod(fd, 0600);
	header = sys_fstat(fd, &st) ? NULL : map_space(fd, 0, size);
	sys_close(fd);
	if (!header) {
		sys_unlink(process.path);
		return -ENOSPC;
	}
	process.device = st.st_dev;
	process.inode = st.st_ino;
	process.file_end = size;
	write_functions((uint8_t *)header + TF_PAGE);
	header->function_count = file_function_count;
	header->function_bytes = names;
	process_describe(header);
	sys_munmap((char *)header + TF_PAGE, size - TF_PAGE);
	__atomic_store_n(&header->magic, TF_MAGIC, __ATOMIC_RELEASE);
	__atomic_store_n(&process.header, header, __ATOMIC_RELEASE);
	return 0;
}

/* The program may have closed, replaced or unmounted anything since: only the very file that we made will do. */
static int reopen(void)
{
	int fd = sys_open(process.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (sys_fstat(fd, &st) || (uint64_t)st.st_dev != process.device || (uint64_t)st.st_ino != process.inode) {
		sys_close(fd);
		return -ESTALE;
	}
	return fd;
}

void *file_window(uint32_t kind, uint32_t size, uint32_t thread, uint32_t sequence)
{
	uint64_t offset;
	struct tf_window *w;
	int fd;

	if (process.is_frozen || !process.header)
		return NULL;
	fd = reopen();
	if (fd < 0)
		return NULL;
	offset = __atomic_fetch_add(&process.file_end, size, __ATOMIC_RELAXED);
	w = map_space(fd, offset, size);
	sys_close(fd);
	if (!w)
		return NULL;
	w->kind = kind;
	w->nonce = process.nonce;
	w->size_bytes = size;
	w->tid = (uint32_t)sys_gettid();
	w->thread = thread;
	w->sequence = sequence;
	w->offset = offset;
	return w;
}

void file_release(void *window, uint32_t size)
{
	struct tf_window *w = window;
	uint64_t offset = w->offset;
	int fd;

	w->full = 1;
	sys_munmap(w, size);
	if (process.is_frozen)
		return;
	fd = reopen();
	if (fd < 0)
		return;
	sys_call6(SYS_sync_file_range, fd, (long)offset, size, 2 /* SYNC_FILE_RANGE_WRITE */, 0, 0);
	sys_close(fd);
}
