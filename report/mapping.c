/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped files that may be truncated under us. */
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the handler may patch. Only the main thread changes it. */
static struct {
	uintptr_t start, end;
} * mapped;
static size_t mapped_count, mapped_capacity;
static volatile sig_atomic_t was_cut;

/* Puts zeros where the file no longer is; a fault elsewhere is not ours and kills, as it would have. */
static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);

	(void)context;
	for (size_t i = 0; i < mapped_count; i++) {
		if (page < mapped[i].start || page >= mapped[i].end)
			continue;
		if (mmap((void *)page, mapped[i].end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			 0) == MAP_FAILED)
			break;
		was_cut = 1;
		return;
	}
	sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static void register_mapping(const void *data, size_t size)
{
	struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER};

	mapped = mem_grow(mapped, mapped_count, &mapped_capacity, sizeof(*mapped));
	mapped[mapped_count].start = (uintptr_t)data;
	mapped[mapped_count].end = (uintptr_t)data + size;
	mapped_count++;
	if (mapped_count == 1)
		sigaction(SIGBUS, &action, NULL);
}

static void unregister_mapping(const void *data)
{
	for (size_t i = 0; i < mapped_count; i++)
		if (mapped[i].start == (uintptr_t)data)
			mapped[i--] = mapped[--mapped_count];
	if (mapped_count)
		return;
	free(mapped);
	mapped = NULL;
	mapped_capacity = 0;
}

/* For file systems that cannot map, and when a capture has more files than a process may have mappings. */
static int read_whole(int fd, size_t size, struct mapping *ret)
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
	*ret = (struct mapping){data, have, false};
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
		code = read_whole(fd, (size_t)st.st_size, ret);
		return code ? err_set(err, code, "%s: %s", path, strerror(-code)) : 0;
	}
	*ret = (struct mapping){data, (size_t)st.st_size, true};
	register_mapping(data, ret->size);
	return 0;
}

int mapping_open(const char *path, struct mapping *ret, struct err *err)
{
	int fd, code;

	*ret = (struct mapping){0};
	/* O_NONBLOCK: a FIFO of that name must not hold us. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	code = map_descriptor(fd, path, ret, err);
	close(fd);
	return code;
}

void mapping_from_bytes(const void *data, size_t size, struct mapping *ret)
{
	uint8_t *copy = mem_alloc(size);

	if (size)
		memcpy(copy, data, size);
	*ret = (struct mapping){copy, size, false};
}

void mapping_close(struct mapping *m)
{
	if (m->data && m->is_mapped) {
		unregister_mapping(m->data);
		munmap((void *)m->data, m->size);
	} else {
		free((void *)m->data);
	}
	*m = (struct mapping){0};
}

void mapping_forget(const struct mapping *m, uint64_t offset, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
		  start = ((uintptr_t)m->data + offset + page - 1) & ~(page - 1);
	uintptr_t end;

	if (offset >= m->size)
		return;
	end = ((uintptr_t)m->data + offset + (size < m->size - offset ? size : m->size - offset)) & ~(page - 1);
	if (m->is_mapped && end > start)
		madvise((void *)start, end - start, MADV_DONTNEED);
}

bool mapping_was_cut(void)
{
	return was_cut;
}
