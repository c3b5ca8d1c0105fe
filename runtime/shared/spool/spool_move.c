/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the files of a spool into the capture. Full chunks of traces are moved: their place in the spool becomes a
 * hole. What is not full is copied, and copied again when it has grown. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/shared/spool/spool.h"

/* A blob of the largest size occupies 75 KB. Its first slot is stored last, so zeros of this length are the end of
 * what was recorded. */
enum { COPY_BYTES = 1 << 20, ZERO_BYTES = 96 << 10 };

/* What may change again: a chunk that is not full, the place of an image that has not ended. `sums`: of the pages of a
 * chunk as they were copied last; NULL: none was. */
struct open_part {
	off_t offset, size;
	uint64_t *sums;
	bool is_moved;
};

/* One file of the spool. `done` is the size of what was found: lines, chunks, images. */
struct spooled {
	struct spooled *next;
	off_t done;
	struct open_part *open;
	size_t open_count;
	bool has_failed, is_begun;
	char name[NAME_MAX + 1];
};

/* A file while it is moved. */
struct moved {
	struct spooled *f;
	int in, out;
	off_t end; /* the size of `in` */
	spool_is_later *merges; /* NULL: nobody else has copied parts of it */
};

static struct spooled *spooled_get(struct spool *s, const char *name)
{
	struct spooled *f;

	for (f = s->files; f; f = f->next)
		if (!strcmp(f->name, name))
			return f;
	if (!(f = calloc(1, sizeof(*f))))
		return NULL;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->next = s->files;
	s->files = f;
	return f;
}

static bool open_add(struct spooled *f, off_t offset, off_t size)
{
	void *more = realloc(f->open, (f->open_count + 1) * sizeof(*f->open));

	if (!more)
		return false;
	f->open = more;
	f->open[f->open_count++] = (struct open_part){.offset = offset, .size = size};
	return true;
}

static int write_at(int out, const char *bytes, size_t size, off_t offset)
{
	ssize_t wrote;

	for (size_t at = 0; at < size; at += (size_t)wrote) {
		wrote = pwrite(out, bytes + at, size - at, offset + (off_t)at);
		if (wrote <= 0)
			return wrote < 0 ? -errno : -ENOSPC;
	}
	return 0;
}

/* ---- merging ---- */

static size_t words_used(const void *page, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = 0;

		memcpy(&word, (const char *)page + i, size - i < sizeof(word) ? size - i : sizeof(word));
		used += word != 0;
	}
	return used;
}

bool spool_page_is_mapped(const void *captured, const void *spooled, size_t size)
{
	return captured && words_used(spooled, size);
}

bool spool_page_is_fuller(const void *captured, const void *spooled, size_t size)
{
	return words_used(spooled, size) >= words_used(captured, size);
}

/* What another process may have copied before: the later version of each page stays. */
static int merge_bytes(const struct moved *m, char *bytes, size_t size, off_t offset)
{
	char there[TF_PAGE];

	for (size_t at = 0; at < size; at += TF_PAGE) {
		size_t part = size - at < TF_PAGE ? size - at : TF_PAGE;
		ssize_t n = pread(m->out, there, part, offset + (off_t)at);
		int rc;

		if (n < 0)
			return -errno;
		memset(there + n, 0, part - (size_t)n);
		if (!m->merges(there, bytes + at, part) || !memcmp(there, bytes + at, part))
			continue;
		rc = write_at(m->out, bytes + at, part, offset + (off_t)at);
		if (rc)
			return rc;
	}
	return 0;
}

/* Pages of zeros are not written: nothing that was recorded becomes a page of zeros, and a file system on the network
 * should not store what was only allocated. */
static int write_used(int out, const char *bytes, size_t size, off_t offset)
{
	for (size_t at = 0, end; at < size; at = end) {
		bool is_used = false;
		int rc = 0;

		for (end = at; end < size; end += TF_PAGE) {
			bool used = words_used(bytes + end, size - end < TF_PAGE ? size - end : TF_PAGE);

			if (end > at && used != is_used)
				break;
			is_used = used;
		}
		end = end < size ? end : size;
		if (is_used)
			rc = write_at(out, bytes + at, end - at, offset + (off_t)at);
		if (rc)
			return rc;
	}
	return 0;
}

/* Of COPY_BYTES; kept. Not static: RLIMIT_DATA may be less, and most runs have no spool. NULL: no memory. */
static char *copy_buffer(void)
{
	static char *buffer;

	if (!buffer)
		buffer = malloc(COPY_BYTES);
	return buffer;
}

static int copy_bytes(const struct moved *m, off_t offset, off_t size)
{
	char *buffer = copy_buffer();

	while (size > 0 && buffer) {
		ssize_t n = pread(m->in, buffer, size < COPY_BYTES ? (size_t)size : COPY_BYTES, offset);
		int rc;

		if (n <= 0)
			return n < 0 ? -errno : 0;
		rc = m->merges ? merge_bytes(m, buffer, (size_t)n, offset)
			       : write_used(m->out, buffer, (size_t)n, offset);
		if (rc)
			return rc;
		offset += n;
		size -= n;
	}
	return buffer ? 0 : -ENOMEM;
}

static int copy_all_data(const struct moved *m)
{
	off_t at = 0, data, hole;

	while (at < m->end) {
		int rc;

		data = lseek(m->in, at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		if (data < 0)
			return copy_bytes(m, at, m->end - at);
		hole = lseek(m->in, data, SEEK_HOLE);
		rc = copy_bytes(m, data, (hole < 0 ? m->end : hole) - data);
		if (rc || hole < 0)
			return rc;
		at = hole;
	}
	return 0;
}

static int extend(int out, off_t size)
{
	struct stat st;

	if (fstat(out, &st))
		return -errno;
	return st.st_size < size && ftruncate(out, size) ? -errno : 0;
}

/* Copies all data except holes, at the same offsets. */
static int copy_data(const struct moved *m)
{
	int rc = copy_all_data(m);

	return rc ? rc : extend(m->out, m->end);
}

/* ---- traces ---- */

static bool chunk_read(int fd, off_t offset, uint64_t nonce, off_t end, struct tf_chunk *ret)
{
	return pread(fd, ret, sizeof(*ret), offset) == (ssize_t)sizeof(*ret) && ret->magic == TF_CHUNK_MAGIC &&
	       ret->nonce == nonce && ret->size_bytes && ret->size_bytes % TF_PAGE == 0 &&
	       ret->size_bytes <= end - offset;
}

/* Lists the chunks that are in the spool, in the order of the file. There may be gaps between them: chunks that were
 * moved, and space that a thread has taken and not described yet. */
static int chunks_find(const struct moved *m, const struct tf_header *header)
{
	struct spooled *f = m->f;
	struct open_part *old = f->open;
	size_t known = 0, old_count = f->open_count;
	off_t at = TF_PAGE + ((off_t)header->function_bytes + TF_PAGE - 1) / TF_PAGE * TF_PAGE;
	struct tf_chunk w;
	int rc = 0;

	f->open = NULL;
	f->open_count = 0;
	for (off_t step; !rc && at < m->end; at += step) {
		off_t data = lseek(m->in, at, SEEK_DATA);

		if (data < 0 && errno == ENXIO)
			break; /* the rest is a hole */
		at = data > at ? data / TF_PAGE * TF_PAGE : at;
		step = TF_PAGE;
		if (!chunk_read(m->in, at, header->nonce, m->end, &w))
			continue;
		step = w.size_bytes;
		rc = open_add(f, at, step) ? 0 : -ENOMEM;
		while (known < old_count && old[known].offset < at)
			free(old[known++].sums);
		if (!rc && known < old_count && old[known].offset == at)
			f->open[f->open_count - 1] = old[known++];
		f->done = f->done > at + step ? f->done : at + step;
	}
	while (known < old_count)
		free(old[known++].sums);
	free(old);
	return rc;
}

/* 0 for a page of zeros alone. */
static uint64_t page_sum(const char *page)
{
	uint64_t sum = 0, word;

	for (size_t i = 0; i < TF_PAGE; i += sizeof(word)) {
		memcpy(&word, page + i, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
		sum ^= sum >> 29;
	}
	return sum;
}

static int page_copy(const struct moved *m, char *page, off_t offset)
{
	return m->merges ? merge_bytes(m, page, TF_PAGE, offset) : write_at(m->out, page, TF_PAGE, offset);
}

/* Copies what was recorded of a chunk that is not full: the pages that have changed. Slots are appended; counters in
 * the head and in slots are updated in place. */
static int chunk_copy(const struct moved *m, struct open_part *part)
{
	off_t zeros = 0;
	int rc = 0;

	if (!part->sums)
		part->sums = calloc((size_t)(part->size / TF_PAGE), sizeof(*part->sums));
	if (!part->sums)
		return -ENOMEM;
	for (off_t at = 0; !rc && at < part->size && zeros < ZERO_BYTES; at += TF_PAGE) {
		char page[TF_PAGE];
		uint64_t sum;

		if (pread(m->in, page, TF_PAGE, part->offset + at) != TF_PAGE)
			break;
		sum = page_sum(page);
		zeros = sum ? 0 : zeros + TF_PAGE;
		if (sum == part->sums[at / TF_PAGE])
			continue;
		rc = page_copy(m, page, part->offset + at);
		part->sums[at / TF_PAGE] = rc ? 0 : sum;
	}
	return rc;
}

/* Full chunks are released; where the file system cannot do that, they are kept and not copied again. */
static int chunk_move(const struct moved *m, struct open_part *part, uint64_t nonce)
{
	struct tf_chunk w;
	int rc;

	if (part->is_moved || !chunk_read(m->in, part->offset, nonce, m->end, &w))
		return 0;
	if (__atomic_load_n(&w.full, __ATOMIC_ACQUIRE) != 1)
		return chunk_copy(m, part);
	rc = copy_bytes(m, part->offset, part->size);
	if (!rc && fallocate(m->in, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, part->offset, part->size))
		part->is_moved = true;
	return rc;
}

static int move_trace(const struct moved *m)
{
	bool is_first = !m->f->done;
	struct tf_header header;
	int rc;

	if (pread(m->in, &header, sizeof(header), 0) != (ssize_t)sizeof(header) || header.magic != TF_MAGIC)
		return 0;
	rc = copy_bytes(m, 0, is_first ? TF_PAGE + (off_t)header.function_bytes : TF_PAGE);
	if (!rc)
		rc = chunks_find(m, &header);
	for (size_t i = 0; !rc && i < m->f->open_count; i++)
		rc = chunk_move(m, &m->f->open[i], header.nonce);
	return rc ? rc : extend(m->out, m->f->done); /* a chunk that ends in zeros is complete nevertheless */
}

/* ---- other files ---- */

static bool image_has_ended(const struct moved *m, off_t offset)
{
	struct tf_image image;

	return pread(m->in, &image, sizeof(image), offset) == (ssize_t)sizeof(image) && image.nonce && image.end;
}

/* The capture range and the head of the images, then the images that had not ended when they were copied last. */
static int move_range(const struct moved *m)
{
	struct spooled *f = m->f;
	struct moved head = *m;
	size_t kept = 0;
	int rc;

	if (!f->done)
		f->done = TF_IMAGES_FIRST;
	head.end = m->end < TF_IMAGES_FIRST ? m->end : TF_IMAGES_FIRST;
	rc = copy_data(&head);
	for (; f->done + TF_IMAGE_BYTES <= m->end; f->done += TF_IMAGE_BYTES)
		if (!open_add(f, f->done, TF_IMAGE_BYTES))
			return -ENOMEM;
	for (size_t i = 0; i < f->open_count; i++) {
		bool has_ended = image_has_ended(m, f->open[i].offset);

		if (!rc)
			rc = copy_bytes(m, f->open[i].offset, f->open[i].size);
		if (rc || !has_ended)
			f->open[kept++] = f->open[i];
	}
	f->open_count = kept;
	return rc;
}

size_t spool_lines_moved(const char *spooled, size_t spooled_size, const char *index, size_t index_size)
{
	const char *line = spooled, *end = spooled + spooled_size, *at = index, *index_end = index + index_size;

	while (line < end && at < index_end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *at_end = memchr(at, '\n', (size_t)(index_end - at));

		if (!newline || !at_end)
			break;
		if (newline - line == at_end - at && !memcmp(line, at, (size_t)(newline - line)))
			line = newline + 1;
		at = at_end + 1;
	}
	return (size_t)(line - spooled);
}

static char *file_read(int fd, off_t size)
{
	char *text = malloc((size_t)size + 1);
	off_t used = 0;

	while (text && used < size) {
		ssize_t n = pread(fd, text + used, (size_t)(size - used), used);

		if (n <= 0) {
			free(text);
			return NULL;
		}
		used += n;
	}
	return text;
}

/* Lines are only appended, so those that were moved before are a part of the capture's, in the same order. A line that
 * was cut when its writer was killed is ended. */
static int lines_compare(const struct moved *m)
{
	struct stat st;
	char *here = file_read(m->in, m->end), *there = NULL;
	int rc = here && !fstat(m->out, &st) && (there = file_read(m->out, st.st_size)) ? 0 : -EIO;

	if (!rc && st.st_size) {
		m->f->done = (off_t)spool_lines_moved(here, (size_t)m->end, there, (size_t)st.st_size);
		if (there[st.st_size - 1] != '\n' && write(m->out, "\n", 1) != 1)
			rc = -errno;
	}
	free(here);
	free(there);
	return rc;
}

/* Copies only complete lines, because other launchers on this host append to the same file. */
static int move_lines(const struct moved *m)
{
	char *text = copy_buffer();
	struct spooled *f = m->f;
	ssize_t n;

	if (!text)
		return -ENOMEM;
	if (m->merges && !f->is_begun) {
		int rc = lines_compare(m);

		if (rc)
			return rc;
	}
	while ((n = pread(m->in, text, COPY_BYTES, f->done)) > 0) {
		char *end = memrchr(text, '\n', (size_t)n);
		ssize_t wrote;

		if (!end)
			return 0;
		wrote = write(m->out, text, (size_t)(end + 1 - text));
		if (wrote < 0)
			return -errno;
		f->done += wrote;
		if (wrote < end + 1 - text)
			return -ENOSPC;
	}
	return 0;
}

static int move_appended(const struct moved *m)
{
	int rc = copy_bytes(m, m->f->done, m->end - m->f->done);

	if (!rc)
		m->f->done = m->end;
	return rc;
}

static bool ends_in(const char *name, const char *end)
{
	size_t a = strlen(name), b = strlen(end);

	return a >= b && !strcmp(name + a - b, end);
}

static bool is_appended(const char *name)
{
	return ends_in(name, ".index") || ends_in(name, ".usage") || ends_in(name, ".energy");
}

static int move_open_file(const struct moved *m, bool is_last)
{
	if (ends_in(m->f->name, ".index"))
		return move_lines(m);
	if (!is_last && ends_in(m->f->name, ".trace"))
		return move_trace(m);
	if (!is_last && ends_in(m->f->name, ".range"))
		return move_range(m);
	if (!is_last && is_appended(m->f->name))
		return move_appended(m);
	return copy_data(m);
}

static int move_file(const struct spool *s, struct spooled *f, bool is_last)
{
	char path[PATH_MAX + NAME_MAX + 2];
	struct moved m = {.f = f, .merges = s->is_later};
	struct stat st;
	int rc;

	m.in = openat(s->fd, f->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (m.in < 0)
		return -errno;
	rc = fstat(m.in, &st) ? -errno : 0;
	if (rc || (f->is_begun && !is_last && is_appended(f->name) && st.st_size == f->done)) {
		close(m.in); /* nothing new: the server of the capture's file system is not asked */
		return rc;
	}
	m.end = st.st_size;
	snprintf(path, sizeof(path), "%s/%s", s->capture, f->name);
	m.out = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (ends_in(f->name, ".index") ? O_APPEND : 0),
		     0600);
	if (m.out < 0) {
		rc = -errno;
		close(m.in);
		return rc;
	}
	rc = !f->is_begun && fchmod(m.out, 0600) ? -errno : move_open_file(&m, is_last);
	f->is_begun |= !rc;
	if (close(m.out) && !rc) /* NFS reports write errors here */
		rc = -errno;
	close(m.in);
	return rc;
}

/* Writes it into the range file of the spool, too, which is copied each time. */
static void state_write(const struct spool *s, const char *name, uint64_t ticks)
{
	const off_t at = offsetof(struct tf_range_page, spool_ticks);
	char path[PATH_MAX + NAME_MAX + 2];
	int fds[2];

	snprintf(path, sizeof(path), "%s/%s", s->capture, name);
	fds[0] = openat(s->fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	fds[1] = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0 && pwrite(fds[i], &ticks, sizeof(ticks), at) != (ssize_t)sizeof(ticks))
			s->say("%s: %s", path, strerror(errno));
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

unsigned spool_move(struct spool *s, bool is_last, uint64_t ticks)
{
	int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	unsigned failed = !d;

	while (d && (entry = readdir(d))) {
		struct spooled *f;
		int rc;

		if (entry->d_name[0] == '.')
			continue;
		f = spooled_get(s, entry->d_name);
		rc = f ? move_file(s, f, is_last) : -ENOMEM;
		if (rc && !(f && f->has_failed))
			s->say("cannot move %s/%s into the capture: %s", s->path, entry->d_name, strerror(-rc));
		if (f)
			f->has_failed = rc != 0;
		failed += rc != 0;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	for (struct spooled *f = s->files; f && !failed; f = f->next)
		if ((is_last || ticks) && ends_in(f->name, ".range"))
			state_write(s, f->name, is_last ? TF_SPOOL_MOVED : ticks);
	return failed;
}

void spool_remove(struct spool *s)
{
	for (struct spooled *f = s->files; f; f = f->next)
		unlinkat(s->fd, f->name, 0);
	unlinkat(s->fd, SPOOL_OWNER, 0);
	rmdir(s->path);
}

void spool_close(struct spool *s)
{
	while (s->files) {
		struct spooled *f = s->files;

		s->files = f->next;
		for (size_t i = 0; i < f->open_count; i++)
			free(f->open[i].sums);
		free(f->open);
		free(f);
	}
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
