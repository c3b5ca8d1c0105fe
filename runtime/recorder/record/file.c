/* SPDX-License-Identifier: Apache-2.0 */
/* The image's trace file: created with the first record, extended in steps, mapped chunk by chunk. */
#include "runtime/recorder/record/file.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/process_line.h"
#include "runtime/recorder/record/profile/profile_state.h"
#include "runtime/recorder/record/ring/ring.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

/* MADE: beside the head, since the first record follows. It has room for the page of a thread with all counters. */
enum { MADE = 16 << 10, EXACT_BELOW = 256 << 10, STEP_MOST = 8 << 20, RETRY_TICKS = 1 << 24, RETRY_DOUBLINGS = 9 };

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

uint64_t file_round(uint64_t size)
{
	uint64_t page = getauxval(AT_PAGESZ);

	if (page < TF_PAGE)
		page = TF_PAGE;
	return (size + page - 1) & ~(page - 1);
}

uint64_t file_retry_ticks(uint32_t failures)
{
	return clock_now() + ((uint64_t)RETRY_TICKS << (failures < RETRY_DOUBLINGS ? failures : RETRY_DOUBLINGS));
}

/* Writes to the ledger, once per image, why the trace file could not be created or extended. */
static void file_note_no_room(int error)
{
	if (sys_is_no_room(error) && !__atomic_exchange_n(&process.has_noted_no_room, true, __ATOMIC_RELAXED))
		process_note(error == -EFBIG
				     ? TF_NOTE_FILE_LIMIT
				       ": events could not be stored beyond this size of the trace file"
				     : TF_NOTE_DISK_FULL ": events could not be stored");
}

/* Populating reports by EFAULT what a store would report by SIGBUS. */
static int file_populate(void *at, uint64_t size)
{
	int error = sys_madvise(at, size, MADV_POPULATE_WRITE);

	return error == -EFAULT ? -ENOSPC : error;
}

/* qemu-user accepts any advice and does nothing, so a store would raise SIGBUS on a full disk. */
static bool is_advice_ignored(void *at)
{
	enum { UNKNOWN_ADVICE = -1 };

	return !sys_madvise(at, TF_PAGE, UNKNOWN_ADVICE);
}

/* Reserves the disk space as fallocate does, and leaves pages that take half of the time to map. */
static int file_write_zeros(int fd, uint64_t offset, uint64_t size)
{
	static const uint8_t zeros[TF_PAGE];
	struct iovec parts[16];
	enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

	for (size_t i = 0; i < PARTS; i++)
		parts[i] = (struct iovec){(void *)(uintptr_t)zeros, TF_PAGE};
	for (uint64_t at = 0; at < size;) {
		uint64_t count = (size - at) / TF_PAGE < PARTS ? (size - at) / TF_PAGE : PARTS;
		long written = sys_pwritev(fd, parts, count, offset + at);

		if (written < 0)
			return (int)written;
		if (!written || written % TF_PAGE)
			return -ENOSPC;
		at += (uint64_t)written;
	}
	return 0;
}

/* For the head, and for kernels that cannot populate (before 5.14). */
static int file_map_by_descriptor(int fd, uint64_t offset, uint64_t size, void **ret)
{
	int error;

	if (offset + size > sys_file_limit())
		return -EFBIG;
	error = file_write_zeros(fd, offset, size);
	if (error) {
		sys_ftruncate(fd, offset);
		return error;
	}
	*ret = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (!*ret)
		return -ENOMEM;
	error = file_populate(*ret, size);
	process.can_populate = !error && !is_advice_ignored(*ret);
	if (!error || error == -EINVAL)
		return 0;
	sys_munmap(*ret, size);
	return error;
}

/* Maps a part of the file without a descriptor, because the program may have no free descriptor, or may put its own
 * in the place of ours meanwhile. mremap with an old size of 0 maps a shared file a second time, and beyond the old
 * end. `near` is one of our mappings at near_offset, which is not after `offset`. */
static int file_map_by_mapping(void *near, uint64_t near_offset, uint64_t offset, uint64_t size, void **ret)
{
	uint64_t skip = offset - near_offset;
	long at = sys_call6(SYS_mremap, (long)near, 0, (long)(skip + size), 1 /* MREMAP_MAYMOVE */, 0, 0);
	int error;

	if (at < 0 && at > -4096)
		return (int)at;
	if (skip)
		sys_munmap((void *)at, skip);
	*ret = (void *)(at + (long)skip);
	/* Reserves the disk space, so that a store into it cannot raise SIGBUS. */
	error = file_populate(*ret, size);
	if (error)
		sys_munmap(*ret, size);
	return error;
}

/* The path, and what a forked image that had a place in the range file only has not recorded of itself yet. */
static bool file_prepare(void)
{
	if (!process.path[0] && !process_set_path())
		return false;
	if (!process.is_listed && !process_is_frozen) {
		identity_forked(&process_inherited.identity);
		/* With --ring, the index would grow with each child; the header has what its line would have. */
		if (!options_have_ring(&process_options))
			process_line_start(true);
	}
	return true;
}

/* Returns 0 or -errno. Under process.starting. */
static int file_create(void)
{
	uint32_t names = process_function_bytes();
	uint64_t end = file_round(TF_PAGE + names), size = end + file_round(MADE);
	struct tf_header *header;
	struct stat st;
	void *at;
	int fd, error;

	if (process.header)
		return 0;
	if (clock_now() < process.create_retry_ticks)
		return -EAGAIN;
	if (process_is_frozen || !file_prepare())
		return -EPERM;
	fd = sys_open(process.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	sys_fchmod(fd, 0600);
	error = sys_fstat(fd, &st);
	if (!error)
		error = file_map_by_descriptor(fd, 0, size, &at);
	sys_close(fd);
	if (error) {
		sys_unlink(process.path);
		return error;
	}
	header = at;
	process.device = st.st_dev;
	process.inode = st.st_ino;
	process.file_end = end;
	process.file_size = process.file_made = size;
	process_write_functions((uint8_t *)header + TF_PAGE);
	header->function_count = process_functions->count;
	header->function_bytes = names;
	process_describe(header);
	ring_begin(header);
	profile_begin(header);
	__atomic_store_n(&header->magic, TF_MAGIC, __ATOMIC_RELEASE);
	__atomic_store_n(&process.header, header, __ATOMIC_RELEASE);
	return 0;
}

/* May a later attempt succeed? */
static bool file_may_retry(int error)
{
	return sys_is_no_room(error) || error == -EAGAIN || error == -EMFILE || error == -ENFILE || error == -ENOMEM ||
	       error == -EINTR;
}

bool file_make(void)
{
	int error;

	if (__atomic_load_n(&process.header, __ATOMIC_ACQUIRE))
		return true;
	sys_lock(&process.starting);
	error = file_create();
	if (error && error != -EAGAIN)
		process.create_retry_ticks = file_retry_ticks(process.create_failures++);
	sys_unlock(&process.starting);
	file_note_no_room(error);
	if (error && !file_may_retry(error) && !process_is_frozen)
		process_fail("cannot create the trace file");
	return !error;
}

/* The program may have replaced or unmounted anything meanwhile, so the inode must be that of the file that we
 * created. */
static bool is_our_file(const struct stat *st)
{
	return (uint64_t)st->st_dev == process.device && (uint64_t)st->st_ino == process.inode;
}

static int file_reopen(void)
{
	int fd = sys_open(process.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (!sys_fstat(fd, &st) && is_our_file(&st))
		return fd;
	sys_close(fd);
	return -ESTALE;
}

static bool path_is_our_file(void)
{
	struct stat st;

	return !sys_call(SYS_newfstatat, AT_FDCWD, process.path, &st, AT_SYMLINK_NOFOLLOW) && is_our_file(&st);
}

/* How far to extend the file beyond its end: by its own size, so that few chunks need a system call. The extension
 * is a hole. A small file is not: to cut it off at the end of a short process takes as long as five extensions. */
static uint64_t file_extension(void)
{
	if (process.end || process.file_size < EXACT_BELOW)
		return 0;
	return process.file_size > STEP_MOST ? STEP_MOST : process.file_size;
}

/* Extends the file to at least `size`. Under the lock, because otherwise a thread could cut off what another has
 * just added. */
static int file_extend(uint64_t size)
{
	uint64_t limit, ahead = process.file_size + file_extension();
	int error;

	if (size <= process.file_size)
		return 0;
	if (process_is_frozen)
		return -EPERM;
	limit = sys_file_limit();
	if (size > limit)
		return -EFBIG;
	if (!path_is_our_file())
		return -ESTALE;
	ahead = ahead > limit ? limit - limit % TF_PAGE : ahead;
	ahead = ahead < size ? size : ahead;
	error = (int)sys_call(SYS_truncate, process.path, ahead, 0, 0);
	if (!error)
		process.file_size = ahead;
	return error;
}

void file_cut(uint64_t size)
{
	if (process.file_size > size && !process_is_frozen && path_is_our_file() &&
	    !sys_call(SYS_truncate, process.path, size, 0, 0))
		process.file_size = size;
}

static int file_map_near(const struct tf_chunk *mine, uint64_t offset, uint64_t size, void **ret)
{
	const struct first_chunk_area *area = &process.areas[process.area_last];
	void *near = area->at;
	uint64_t near_offset = area->offset;
	int error = file_extend(offset + size);

	if (error)
		return error;
	if (!near) {
		near = process.header;
		near_offset = 0;
	}
	/* Not a TF_CHUNK_FIRST, which need not begin on a page boundary of the machine. */
	if (mine && mine->kind == TF_CHUNK_SLOTS && mine->offset > near_offset && mine->offset < offset) {
		near = (void *)mine;
		near_offset = mine->offset;
	}
	error = file_map_by_mapping(near, near_offset, offset, size, ret);
	/* A hole that remains on a full disk would raise SIGBUS in a reader. */
	if (error && offset == process.file_end)
		file_cut(offset);
	return error;
}

static int file_map_chunk(const struct tf_chunk *mine, uint64_t offset, uint64_t size, void **ret)
{
	int fd, error;

	if (process.can_populate)
		return file_map_near(mine, offset, size, ret);
	fd = process_is_frozen ? -EPERM : file_reopen();
	if (fd < 0)
		return fd;
	error = file_map_by_descriptor(fd, offset, size, ret);
	sys_close(fd);
	return error;
}

void file_reserve(uint64_t size)
{
	if (!process.header || !process.can_populate)
		return;
	sys_lock(&process.growing);
	file_extend(process.file_end + size);
	sys_unlock(&process.growing);
}

void *file_take(const struct tf_chunk *mine, uint64_t size, uint64_t *ret_offset)
{
	void *at = NULL;
	int error = 0;

	if (__builtin_expect(process.profile != NULL, 0) && profile_refuses(size))
		return NULL;
	if (process.file_end + size <= process.file_made)
		at = (uint8_t *)process.header + process.file_end;
	else
		error = file_map_chunk(mine, process.file_end, size, &at);
	*ret_offset = process.file_end;
	file_note_no_room(error);
	if (error)
		return NULL;
	process.file_end += size;
	return at;
}

void file_chunk_head(struct tf_chunk *chunk, uint32_t kind, uint32_t size, uint32_t thread, uint32_t sequence,
		     uint64_t offset)
{
	/* The reader depends on this order: a head that is incomplete after a kill has at least the nonce. */
	chunk->nonce = process.nonce;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	chunk->size_bytes = size;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	chunk->kind = kind;
	chunk->tid = (uint32_t)sys_gettid();
	chunk->thread = thread;
	chunk->sequence = sequence;
	chunk->offset = offset;
}

/* A place of the file that is used again, without what was in it. Until its head is complete, it is a hole of its size
 * for a reader. NULL: there is none. */
static __attribute__((cold)) struct tf_chunk *file_take_again(const struct tf_chunk *mine, uint32_t size,
							      uint64_t *ret_offset)
{
	struct tf_chunk *chunk;
	void *at;

	*ret_offset = ring_take(size);
	if (!*ret_offset || file_map_chunk(mine, *ret_offset, size, &at))
		return NULL;
	chunk = at;
	__atomic_store_n(&chunk->magic, 0, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memset(&chunk->base_ticks, 0, size - offsetof(struct tf_chunk, base_ticks));
	return chunk;
}

static struct tf_chunk *file_chunk_locked(const struct tf_chunk *mine, uint32_t kind, uint32_t size, uint32_t thread,
					  uint32_t sequence)
{
	struct tf_chunk *chunk = NULL;
	uint64_t offset;

	if (process.ring)
		chunk = file_take_again(mine, size, &offset);
	if (!chunk)
		chunk = file_take(mine, size, &offset);
	if (chunk)
		file_chunk_head(chunk, kind, size, thread, sequence, offset);
	if (chunk && process.ring && kind == TF_CHUNK_FIRST)
		ring_add_page((struct tf_thread *)chunk);
	return chunk;
}

bool file_turn(void)
{
	bool is_next;

	sys_lock(&process.growing);
	is_next = ring_turn(clock_now());
	sys_unlock(&process.growing);
	return is_next;
}

void *file_chunk(const struct tf_chunk *mine, uint32_t kind, uint32_t size, uint32_t thread, uint32_t sequence)
{
	struct tf_chunk *chunk;

	if (!__atomic_load_n(&process.header, __ATOMIC_ACQUIRE))
		return NULL;
	sys_lock(&process.growing);
	chunk = file_chunk_locked(mine, kind, size, thread, sequence);
	sys_unlock(&process.growing);
	return chunk;
}

void file_release(void *chunk, uint32_t size)
{
	((struct tf_chunk *)chunk)->full = 1;
	if (process.ring) {
		sys_lock(&process.growing);
		ring_give(chunk);
		sys_unlock(&process.growing);
	}
	sys_munmap(chunk, size);
}
