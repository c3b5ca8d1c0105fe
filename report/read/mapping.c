/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped files that may be truncated while they are mapped. */
#include "report/read/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct lazy {
	struct mapping_source source;
	uintptr_t start;
	size_t size;
};

/* The ranges that the signal handlers may patch, and the blocks in memory, oldest first. Changed only under the
 * lock, which a handler that interrupts its owner does not take again. */
enum { MANY = 512 << 20, AROUND = 64 << 10, MISSING_PAGES = 32768 };
enum { PLACED_LEAST = 64, PLACED_MOST = 16384 };

static struct region {
	uintptr_t start, end;
	struct lazy *lazy;
} * mapped;
static size_t mapped_count, mapped_capacity;
static uint64_t mapped_bytes; /* of files */
static uintptr_t placed[PLACED_MOST]; /* a ring of addresses; 0: removed with its mapping */
static size_t placed_first, placed_count, placed_limit = PLACED_LEAST;
static volatile sig_atomic_t was_cut;
static bool is_locked;
static __thread bool has_lock;

static bool lazy_lock(void)
{
	if (has_lock)
		return false;
	while (__atomic_exchange_n(&is_locked, true, __ATOMIC_ACQUIRE))
		sched_yield();
	return has_lock = true;
}

static void lazy_unlock(bool is_mine)
{
	if (!is_mine)
		return;
	has_lock = false;
	__atomic_store_n(&is_locked, false, __ATOMIC_RELEASE);
}

static struct region *find_region(uintptr_t address)
{
	return array_find(one, mapped, mapped_count, address >= one->start && address < one->end);
}

/* A fault at another address is not ours and kills the program, as it would have without the handler. */
static void end_by_signal(int signal)
{
	sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

/* Maps zeros where the file has no bytes any more, or has a hole that a full tmpfs cannot fill: page by page, because
 * bytes may follow a hole. After many pages the rest is given up, because a process may have 65,530 mappings. */
static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	static unsigned pages;
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)info->si_addr & ~(size - 1);
	bool is_mine = lazy_lock();
	struct region *r = find_region(page);

	(void)context;
	if (r && (page + size > r->end || ++pages > MISSING_PAGES))
		size = r->end - page;
	if (!r || mmap((void *)page, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		end_by_signal(signal);
	else
		was_cut = 1;
	lazy_unlock(is_mine);
}

/* ---- blocks created on access ---- */

static void *reserve_addresses(void *at, size_t size)
{
	return mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
}

static size_t block_size(const struct lazy *z, size_t offset)
{
	return z->size - offset < z->source.block_bytes ? z->size - offset : z->source.block_bytes;
}

/* Makes room for one block by dropping the oldest, which is created again on the next access. */
static void place_free(void)
{
	while (placed_count >= placed_limit) {
		uintptr_t oldest = placed[placed_first];
		struct region *r = oldest ? find_region(oldest) : NULL;

		if (r)
			reserve_addresses((void *)oldest, block_size(r->lazy, oldest - r->start));
		placed_first = (placed_first + 1) % PLACED_MOST;
		placed_count--;
	}
}

/* Fills the block at another address, and moves the complete block to its own address: another thread either reads
 * complete memory or takes a page fault, too. */
static bool lazy_place(struct lazy *z, uintptr_t address)
{
	size_t offset = (address - z->start) & ~(z->source.block_bytes - 1), size = block_size(z, offset);
	uint8_t *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *at = (void *)(z->start + offset);

	if (made == MAP_FAILED)
		return false;
	z->source.fill(z->source.source, offset / z->source.block_bytes, made, size);
	place_free();
	if (mprotect(made, size, PROT_READ) || mremap(made, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at) {
		munmap(made, size);
		return false;
	}
	placed[(placed_first + placed_count++) % PLACED_MOST] = z->start + offset;
	return true;
}

static bool is_placed(uintptr_t address, const struct lazy *z)
{
	uintptr_t block = z->start + ((address - z->start) & ~(z->source.block_bytes - 1));

	for (size_t i = placed_count; i > 0; i--)
		if (placed[(placed_first + i - 1) % PLACED_MOST] == block)
			return true;
	return false;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	int saved = errno;
	bool is_mine = lazy_lock();
	struct region *r = is_mine ? find_region(address) : NULL;

	(void)context;
	/* another thread may have created it */
	if (!r || !r->lazy || (!is_placed(address, r->lazy) && !lazy_place(r->lazy, address)))
		end_by_signal(signal);
	lazy_unlock(is_mine);
	errno = saved;
}

/* ---- the list of mappings ---- */

static void add_mapped(uint64_t bytes)
{
	__atomic_add_fetch(&mapped_bytes, bytes, __ATOMIC_RELAXED);
}

static void register_mapping(const void *data, size_t size, struct lazy *lazy)
{
	struct sigaction bus = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER};
	struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
	bool is_mine = lazy_lock();

	mem_append(mapped, mapped_count, mapped_capacity,
		   (struct region){(uintptr_t)data, (uintptr_t)data + size, lazy});
	add_mapped(lazy ? 0 : size);
	sigaction(SIGBUS, &bus, NULL);
	if (lazy)
		sigaction(SIGSEGV, &fault, NULL);
	lazy_unlock(is_mine);
}

static void unregister_mapping(const void *data)
{
	bool is_mine = lazy_lock();
	struct region *r = find_region((uintptr_t)data);

	for (size_t i = 0; i < placed_count && r; i++) {
		uintptr_t *address = &placed[(placed_first + i) % PLACED_MOST];

		if (*address >= r->start && *address < r->end)
			*address = 0;
	}
	if (r) {
		add_mapped(r->lazy ? 0 : r->start - r->end);
		*r = mapped[--mapped_count];
	}
	if (!mapped_count) {
		free(mapped);
		mapped = NULL;
		mapped_capacity = placed_first = placed_count = 0;
		placed_limit = PLACED_LEAST;
	}
	lazy_unlock(is_mine);
}

int mapping_open_source(const struct mapping_source *source, size_t size, struct mapping *ret, struct err *err)
{
	struct lazy *z;
	void *data;

	*ret = (struct mapping){0};
	if (!size)
		return 0;
	data = reserve_addresses(NULL, size);
	if (data == MAP_FAILED)
		return err_set(err, -errno, "%zu bytes: %s", size, strerror(errno));
	z = mem_alloc(sizeof(*z));
	*z = (struct lazy){.source = *source, .start = (uintptr_t)data, .size = size};
	*ret = (struct mapping){.data = data, .size = size, .is_mapped = true, .lazy = z};
	register_mapping(data, size, z);
	return 0;
}

void mapping_keep(const struct mapping *m, size_t places)
{
	bool is_mine = lazy_lock();

	if (m->lazy && places > placed_limit - PLACED_LEAST)
		placed_limit = places < PLACED_MOST - PLACED_LEAST ? PLACED_LEAST + places : PLACED_MOST;
	lazy_unlock(is_mine);
}

/* For file systems that cannot map files, and for captures with more files than a process may have mappings. */
static int read_into_memory(int fd, size_t size, struct mapping *ret)
{
	uint8_t *data = mem_alloc(size);
	size_t have = 0;

	while (have < size) {
		ssize_t n = pread(fd, data + have, size - have, (off_t)have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int code = -errno;

			free(data);
			return code;
		}
		if (!n)
			break;
		have += (size_t)n;
	}
	*ret = (struct mapping){.data = data, .size = have};
	return 0;
}

static int map_descriptor(int fd, const char *path, struct mapping *ret, struct err *err)
{
	struct stat st;
	void *data;
	int code;

	if (fstat(fd, &st) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: not a regular file", path);
	if (!st.st_size)
		return 0;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED) {
		code = read_into_memory(fd, (size_t)st.st_size, ret);
		return code ? err_set(err, code, "%s: %s", path, strerror(-code)) : 0;
	}
	*ret = (struct mapping){.data = data, .size = (size_t)st.st_size, .is_mapped = true};
	register_mapping(data, ret->size, NULL);
	return 0;
}

int mapping_open(const char *path, struct mapping *ret, struct err *err)
{
	int fd, code;

	*ret = (struct mapping){0};
	/* O_NONBLOCK: opening a FIFO must not block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	code = map_descriptor(fd, path, ret, err);
	close(fd);
	return code;
}

/* ---- two versions of a file ---- */

struct versions {
	uint8_t *data;
	int fd, over;
	bool (*is_later)(const void *a, const void *b, size_t size);
};

static void versions_page(const struct versions *v, size_t offset, size_t size)
{
	uint8_t a[4096] = {0}, b[4096] = {0};
	ssize_t have = pread(v->fd, a, size, (off_t)offset), read = pread(v->over, b, size, (off_t)offset);

	memcpy(v->data + offset, read > 0 && (have <= 0 || v->is_later(a, b, size)) ? b : a, size);
}

/* Replaces the bytes from `from` to `to`, which is data of the other version. */
static int versions_replace(const struct versions *v, size_t from, size_t to, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	from &= ~(page - 1);
	to = (to + page - 1) & ~(page - 1);
	to = to < size ? to : size;
	if (from >= to)
		return 0;
	if (mmap(v->data + from, to - from, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		return -errno;
	for (size_t at = from; at < to; at += 4096)
		versions_page(v, at, to - at < 4096 ? to - at : 4096);
	return 0;
}

static int versions_join(const struct versions *v, size_t size, size_t over_size)
{
	off_t data, hole = 0;
	int code = 0;

	while (!code && (data = lseek(v->over, hole, SEEK_DATA)) >= 0) {
		hole = lseek(v->over, data, SEEK_HOLE);
		if (hole <= data)
			hole = (off_t)over_size;
		code = versions_replace(v, (size_t)data, (size_t)hole, size);
	}
	return code;
}

static int map_versions(struct versions *v, size_t size, size_t over_size, struct mapping *ret)
{
	size_t whole = size > over_size ? size : over_size;
	int code;

	if (!whole)
		return 0;
	v->data = mmap(NULL, whole, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (v->data == MAP_FAILED)
		return -errno;
	*ret = (struct mapping){.data = v->data, .size = whole, .is_mapped = true, .is_changed = true};
	register_mapping(v->data, whole, NULL);
	if (size && mmap(v->data, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, v->fd, 0) == MAP_FAILED)
		code = -errno;
	else
		code = versions_join(v, whole, over_size);
	if (code)
		mapping_close(ret);
	return code;
}

int mapping_open_over(const char *path, const char *over, bool (*is_later)(const void *a, const void *b, size_t size),
		      struct mapping *ret, struct err *err)
{
	struct versions v = {.is_later = is_later};
	struct stat st, over_st;
	int code;

	*ret = (struct mapping){0};
	v.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	v.over = open(over, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	code = v.fd < 0 || v.over < 0 || fstat(v.fd, &st) || fstat(v.over, &over_st) ? -errno : 0;
	if (!code && (!S_ISREG(st.st_mode) || !S_ISREG(over_st.st_mode)))
		code = -EINVAL;
	if (!code)
		code = map_versions(&v, (size_t)st.st_size, (size_t)over_st.st_size, ret);
	if (v.fd >= 0)
		close(v.fd);
	if (v.over >= 0)
		close(v.over);
	return code ? err_set(err, code, "%s with %s: %s", path, over, strerror(-code)) : 0;
}

void mapping_from_bytes(const void *data, size_t size, struct mapping *ret)
{
	uint8_t *copy = mem_alloc(size);

	if (size)
		memcpy(copy, data, size);
	*ret = (struct mapping){.data = copy, .size = size};
}

void mapping_close(struct mapping *m)
{
	if (m->data && m->is_mapped) {
		unregister_mapping(m->data);
		munmap((void *)m->data, m->size);
		free(m->lazy);
	} else if (!m->is_borrowed) {
		free((void *)m->data);
	}
	*m = (struct mapping){0};
}

/* A fault maps up to AROUND bytes around it as well: bytes dropped before come back with their neighbours, and have
 * to be dropped with these. */
void mapping_drop(const struct mapping *m, uint64_t offset, size_t size)
{
	uintptr_t base = (uintptr_t)m->data, start, end;

	/* blocks are dropped by age */
	if (offset >= m->size || !m->is_mapped || m->lazy || m->is_changed ||
	    __atomic_load_n(&mapped_bytes, __ATOMIC_RELAXED) <= MANY)
		return;
	size = size < m->size - offset ? size : (size_t)(m->size - offset);
	start = (base + offset) & ~(uintptr_t)(AROUND - 1);
	end = (base + offset + size + AROUND - 1) & ~(uintptr_t)(AROUND - 1);
	start = start > base ? start : base;
	end = end < base + m->size ? end : base + m->size;
	madvise((void *)start, end - start, MADV_DONTNEED);
}

bool mapping_was_cut(void)
{
	return was_cut;
}
