/* SPDX-License-Identifier: Apache-2.0 */
/* The image's trace file: made with its first record, grown window by window. */
#include "file.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "clock.h"
#include "process.h"
#include "sys.h"
#include "thread.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { HIGH_DESCRIPTOR = 960 }; /* below 1024: the descriptor table of a process is rarely larger already */

static uint64_t round_page(uint64_t size)
{
	return (size + TF_PAGE - 1) & ~(uint64_t)(TF_PAGE - 1);
}

/* Takes the space for good, so that a store into it can raise no SIGBUS. Shared pages are not for a forked child. */
static bool populate(void *at, uint64_t size)
{
	if (sys_madvise(at, size, MADV_POPULATE_WRITE))
		return false;
	sys_madvise(at, size, MADV_DONTFORK);
	return true;
}

/* For the head, and on kernels that cannot populate (before 5.14): fallocate takes the space. */
static void *map_by_descriptor(int fd, uint64_t offset, uint64_t size)
{
	void *at;
	int error = sys_fallocate(fd, 0, offset, size);

	if (error == -EOPNOTSUPP || error == -ENOSYS)
		error = sys_ftruncate(fd, offset + size); /* populating still finds a full disk */
	if (error)
		return NULL;
	at = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (!at)
		return NULL;
	error = sys_madvise(at, size, MADV_POPULATE_WRITE);
	if (error && error != -EINVAL) {
		sys_munmap(at, size);
		return NULL;
	}
	process.can_populate = !error;
	sys_madvise(at, size, MADV_DONTFORK);
	return at;
}

/* Growing without a descriptor, for the program may have none left, or put its own in the place of ours meanwhile:
 * mremap with an old size of 0 maps a shared file once more, and further than before. `near` is a mapping of ours at
 * near_offset, not after `offset`. */
static void *map_by_mapping(void *near, uint64_t near_offset, uint64_t offset, uint64_t size)
{
	uint64_t skip = offset - near_offset;
	long at = sys_call6(SYS_mremap, (long)near, 0, (long)(skip + size), 1 /* MREMAP_MAYMOVE */, 0, 0);

	if (at < 0 && at > -4096)
		return NULL;
	if (skip)
		sys_munmap((void *)at, skip);
	if (populate((void *)(at + (long)skip), size))
		return (void *)(at + (long)skip);
	sys_munmap((void *)(at + (long)skip), size);
	return NULL;
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
	if (process_is_frozen || !process.path[0])
		return -EPERM;
	fd = sys_open(process.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	sys_fchmod(fd, 0600);
	header = sys_fstat(fd, &st) || size > sys_file_limit() ? NULL : map_by_descriptor(fd, 0, size);
	sys_close(fd);
	if (!header) {
		sys_unlink(process.path);
		return -ENOSPC;
	}
	process.device = st.st_dev;
	process.inode = st.st_ino;
	process.file_end = process.file_size = size;
	write_functions((uint8_t *)header + TF_PAGE);
	header->function_count = file_function_count;
	header->function_bytes = names;
	process_describe(header);
	sys_munmap((char *)header + TF_PAGE, size - TF_PAGE);
	__atomic_store_n(&header->magic, TF_MAGIC, __ATOMIC_RELEASE);
	__atomic_store_n(&process.header, header, __ATOMIC_RELEASE);
	return 0;
}

/* The program may have replaced or unmounted anything since: only the very file that we made will do. */
static bool is_ours(const struct stat *st)
{
	return (uint64_t)st->st_dev == process.device && (uint64_t)st->st_ino == process.inode;
}

/* At a number that programs do not reach and dup2 does not hit, for the moment that we need one: their own next descriptor
 * is then the one that it would be without us. */
static int move_up(int fd)
{
	uint64_t limit[2] = {0, 0};
	int high;

	sys_call(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, limit);
	if (limit[0] > HIGH_DESCRIPTOR + 64)
		limit[0] = HIGH_DESCRIPTOR + 64;
	if (limit[0] < 128)
		return fd;
	high = (int)sys_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, limit[0] - 64, 0);
	if (high < 0)
		return fd;
	sys_close(fd);
	return high;
}

static int reopen(void)
{
	int fd = sys_open(process.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	fd = move_up(fd);
	if (!sys_fstat(fd, &st) && is_ours(&st))
		return fd;
	sys_close(fd);
	return -ESTALE;
}

/* Makes the file `size` long. Under the lock: two threads could else cut what the other has just added. */
static bool extend(uint64_t size)
{
	struct stat st;

	if (size <= process.file_size)
		return true;
	if (process_is_frozen || size > sys_file_limit() ||
	    sys_call(SYS_newfstatat, AT_FDCWD, process.path, &st, AT_SYMLINK_NOFOLLOW) || !is_ours(&st) ||
	    sys_call(SYS_truncate, process.path, size, 0, 0))
		return false;
	process.file_size = size;
	return true;
}

static void *map_near(uint64_t offset, uint64_t size)
{
	const struct tf_window *mine = thread_self.base ? (struct tf_window *)(thread_self.base - sizeof(*mine)) : NULL;
	void *at;

	if (!extend(offset + size))
		return NULL;
	at = mine && mine->offset < offset ? map_by_mapping((void *)mine, mine->offset, offset, size)
					   : map_by_mapping(process.header, 0, offset, size);
	/* A hole on a full disk would be a SIGBUS for whoever reads it. */
	if (!at && !process_is_frozen && !sys_call(SYS_truncate, process.path, offset, 0, 0))
		process.file_size = offset;
	return at;
}

static void *map_window(uint64_t offset, uint64_t size)
{
	void *at;
	int fd;

	if (process.can_populate)
		return map_near(offset, size);
	fd = process_is_frozen || offset + size > sys_file_limit() ? -EPERM : reopen();
	if (fd < 0)
		return NULL;
	at = map_by_descriptor(fd, offset, size);
	sys_close(fd);
	return at;
}

static void lock(void)
{
	while (__atomic_exchange_n(&process.growing, 1, __ATOMIC_ACQUIRE))
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
}

static void unlock(void)
{
	__atomic_store_n(&process.growing, 0, __ATOMIC_RELEASE);
}

void file_reserve(uint64_t size)
{
	if (!process.header || !process.can_populate)
		return;
	lock();
	extend(process.file_end + size);
	unlock();
}

void *file_window(uint32_t kind, uint32_t size, uint32_t thread, uint32_t sequence)
{
	struct tf_window *w;
	uint64_t offset;

	if (!__atomic_load_n(&process.header, __ATOMIC_ACQUIRE))
		return NULL;
	lock();
	offset = process.file_end;
	w = map_window(offset, size);
	if (w)
		process.file_end += size;
	unlock();
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

/* What could not be written is cut off again, unless somebody has already come after it. */
static void give_back(int fd, uint64_t offset, uint64_t size)
{
	lock();
	if (process.file_end == offset + size && !sys_ftruncate(fd, offset)) {
		process.file_end = offset;
		if (process.file_size > offset)
			process.file_size = offset;
	}
	unlock();
}

static bool write_copy(int fd, const struct tf_window *window)
{
	struct tf_window head = *window;
	long body = head.size_bytes - (long)sizeof(head);
	bool has_room;

	lock();
	head.offset = process.file_end;
	has_room = head.offset + head.size_bytes <= sys_file_limit();
	if (has_room)
		process.file_end += head.size_bytes;
	unlock();
	if (!has_room)
		return false;
	head.full = 1;
	if (sys_pwrite(fd, window + 1, (size_t)body, head.offset + sizeof(head)) == body &&
	    sys_pwrite(fd, &head, sizeof(head), head.offset) == sizeof(head))
		return true;
	give_back(fd, head.offset, head.size_bytes);
	return false;
}

bool file_move(struct tf_window *window)
{
	int fd = process_is_frozen ? -EPERM : reopen();
	bool is_whole;

	if (fd < 0)
		return false;
	is_whole = write_copy(fd, window);
	if (is_whole)
		__atomic_store_n(&window->magic, 0, __ATOMIC_RELEASE);
	sys_close(fd);
	return is_whole;
}

void file_release(void *window, uint32_t size)
{
	struct tf_window *w = window;
	uint64_t offset = w->offset;
	int fd;

	w->full = 1;
	sys_munmap(w, size);
	if (process_is_frozen)
		return;
	fd = reopen();
	if (fd < 0)
		return;
	sys_call6(SYS_sync_file_range, fd, (long)offset, size, 2 /* SYNC_FILE_RANGE_WRITE */, 0, 0);
	sys_close(fd);
}
