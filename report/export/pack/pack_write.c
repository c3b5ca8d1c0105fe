/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a packed file: one thread for each CPU packs blocks, which are written in order and read back. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/directory.h"
#include "report/base/newer_libc.h"
#include "report/base/parallel.h"
#include "report/export/export.h"
#include "report/export/pack/redact.h"
#include "report/read/pack.h"
#include "report/read/pack_block.h"
#include "report/read/reader.h"

enum { BATCH = 64 };

struct pack_batch {
	struct mapping file;
	uint64_t first, count; /* number of blocks in the batch */
	uint64_t next;	       /* the next block that no thread has taken */
	uint8_t *packed[BATCH];
	size_t packed_size[BATCH];
};

struct packer {
	FILE *out;
	uint64_t records;
	struct block_coder *coders[PARALLEL_MOST]; /* one for each thread */
	size_t thread_count;
	struct pack_batch work;
	struct shared_table {
		uint64_t hash;
		size_t size;
		uint8_t *record; /* its bytes in the file */
		size_t record_size;
	} tables[PACK_TABLES];
	size_t table_count;
	const struct shared_table *shared; /* of the current file; NULL: none */
	uint8_t without[BLOCK_BYTES]; /* the first block of a file without the shared bytes */
	bool is_failed;
};

/* ---- records ---- */

static bool is_packed_kind(enum pack_kind kind)
{
	return kind == PACK_BLOCK || kind == PACK_TABLE;
}

static void put_record(struct packer *p, enum pack_kind kind, uint64_t value, const void *bytes, size_t size)
{
	static const uint8_t zeros[PACK_ALIGN];
	struct pack_record r = {.magic = PACK_RECORD_MAGIC, .kind = kind, .size_bytes = size, .value = value};

	r.check = hash_bytes(&r, offsetof(struct pack_record, check));
	if (!is_packed_kind(kind))
		r.check ^= hash_bytes(bytes, size);
	p->is_failed |= fwrite(&r, sizeof(r), 1, p->out) != 1;
	p->is_failed |= size && fwrite(bytes, size, 1, p->out) != 1;
	size = -size % PACK_ALIGN;
	p->is_failed |= size && fwrite(zeros, size, 1, p->out) != 1;
	p->records++;
}

/* ---- function tables, stored once for all traces ---- */

static const struct shared_table *make_table(struct packer *p, uint64_t hash, const uint8_t *bytes, size_t size)
{
	struct shared_table *t = &p->tables[p->table_count++];
	uint64_t size_bytes = size;
	const uint8_t *packed = block_encode(p->coders[0], bytes, size, &t->record_size);

	t->hash = hash;
	t->size = size;
	t->record = mem_alloc(sizeof(size_bytes) + t->record_size);
	memcpy(t->record, &size_bytes, sizeof(size_bytes));
	memcpy(t->record + sizeof(size_bytes), packed, t->record_size);
	t->record_size += sizeof(size_bytes);
	put_record(p, PACK_TABLE, t->hash, t->record, t->record_size);
	return t;
}

/* The function table of the current trace, written before its FILE record; NULL: it is not a trace, or its table is
 * unsuitable. */
static const struct shared_table *find_table(struct packer *p)
{
	const struct mapping *file = &p->work.file;
	struct tf_header head;
	const uint8_t *names;
	uint64_t hash;

	if (file->size < SHARED_AT || (memcpy(&head, file->data, sizeof(head)), head.magic != TF_MAGIC) ||
	    !head.function_bytes || head.function_bytes > BLOCK_BYTES - SHARED_AT ||
	    head.function_bytes > file->size - SHARED_AT)
		return NULL;
	names = file->data + SHARED_AT;
	hash = hash_bytes(names, head.function_bytes);
	for (size_t i = 0; i < p->table_count; i++)
		if (p->tables[i].hash == hash && p->tables[i].size == head.function_bytes)
			return &p->tables[i];
	return p->table_count < PACK_TABLES ? make_table(p, hash, names, head.function_bytes) : NULL;
}

static const uint8_t *block_without_shared(struct packer *p, const uint8_t *block, size_t size)
{
	memcpy(p->without, block, size);
	memset(p->without + SHARED_AT, 0, p->shared->size);
	return p->without;
}

/* ---- files ---- */

static void pack_blocks(void *argument, size_t thread)
{
	struct packer *p = argument;
	struct pack_batch *work = &p->work;
	uint64_t i;

	while ((i = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < work->count) {
		uint64_t at = (work->first + i) * BLOCK_BYTES, left = work->file.size - at;
		size_t size = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
		const uint8_t *block = work->file.data + at, *packed;

		if (!at && p->shared)
			block = block_without_shared(p, block, size);
		packed = block_encode(p->coders[thread], block, size, &work->packed_size[i]);
		work->packed[i] = mem_alloc(work->packed_size[i]);
		memcpy(work->packed[i], packed, work->packed_size[i]);
	}
}

/* Packs the file's current bytes: a recorder may still be writing to it. */
static void put_file(struct packer *p, const char *name)
{
	struct pack_batch *w = &p->work;
	uint64_t blocks = (w->file.size + BLOCK_BYTES - 1) / BLOCK_BYTES;

	p->shared = find_table(p);
	put_record(p, PACK_FILE, w->file.size, name, strlen(name));
	if (p->shared)
		put_record(p, PACK_SHARED, p->shared->hash, &(uint64_t){p->shared->size}, sizeof(uint64_t));
	for (w->first = 0; w->first < blocks && !p->is_failed; w->first += w->count) {
		w->count = blocks - w->first < BATCH ? blocks - w->first : BATCH;
		w->next = 0;
		parallel_run(p->thread_count < w->count ? p->thread_count : (size_t)w->count, pack_blocks, p);
		for (size_t i = 0; i < w->count; i++) {
			put_record(p, PACK_BLOCK, w->first + i, w->packed[i], w->packed_size[i]);
			free(w->packed[i]);
		}
		mapping_drop(&w->file, w->first * BLOCK_BYTES, (size_t)w->count * BLOCK_BYTES);
		if (reader_progress)
			reader_progress(w->count * BLOCK_BYTES);
	}
}

/* ---- selecting files ---- */

/* The name of a capture: the last component of its path. */
static void base_name(const char *path, struct buffer *ret)
{
	SCOPED_MEMORY char *real = realpath(path, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;

	buffer_text(ret, slash && slash[1] ? slash + 1 : "capture.pillion");
}

typedef int visit_fn(void *argument, const char *path, const char *name, const struct mapping *file, struct err *err);

struct pack_visit {
	visit_fn *function;
	void *argument;
	struct texts *left_out;	   /* NULL: a file that cannot be read is an error, because it would be lost */
	struct redactor *redactor; /* NULL: files are seen as they are */
};

/* Replaces the file by its redacted bytes. */
static int redact_mapping(const struct pack_visit *v, struct mapping *file, char *name, bool *ret_is_known,
			  struct err *err)
{
	struct mapping copy = {0};

	mapping_from_bytes(file->data, file->size, &copy);
	mapping_close(file);
	*file = copy;
	return redact_file(v->redactor, name, (uint8_t *)file->data, file->size, ret_is_known, err);
}

static int visit_file(const char *path, const char *name, const struct pack_visit *v, struct err *err)
{
	struct mapping file;
	SCOPED(buffer) shown = {0};
	bool is_known = true;
	int code = mapping_open(path, &file, err);

	if (code && v->left_out) {
		texts_add(v->left_out, "%s, omitted", err->text);
		return 0;
	}
	buffer_text(&shown, name);
	if (!code && v->redactor)
		code = redact_mapping(v, &file, shown.data, &is_known, err);
	if (!code && !is_known)
		texts_add(v->left_out, "%s: cannot be redacted, omitted", path);
	else if (!code)
		code = v->function(v->argument, path, shown.data, &file, err);
	mapping_close(&file);
	return code;
}

/* Every file of a capture, sorted by name. A file that cannot be read, cannot be redacted or is not a regular file is
 * omitted and listed. */
static int visit_files(const char *directory, const struct pack_visit *v, struct err *err)
{
	SCOPED_MEMORY struct dirent **entries = NULL;
	int count = scandir(directory, &entries, NULL, alphasort), code = 0;

	if (count < 0)
		return err_set(err, -errno, "%s: %s", directory, strerror(errno));
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		SCOPED(buffer) path = {0};

		buffer_print(&path, "%s/%s", directory, name);
		if (!code && strcmp(name, ".") && strcmp(name, ".."))
			code = visit_file(path.data, name, v, err);
		free(entries[i]);
	}
	return code;
}

static int pack_one(void *argument, const char *path, const char *name, const struct mapping *file, struct err *err)
{
	struct packer *p = argument;

	(void)path;
	(void)err;
	p->work.file = *file;
	put_file(p, name);
	return 0;
}

static int pack_capture(struct packer *p, const char *path, const struct pack_wish *w, struct err *err)
{
	struct pack_visit v = {pack_one, p, w->left_out, w->redactor};
	SCOPED(buffer) name = {0};
	bool is_known;
	int code;

	base_name(path, &name);
	code = w->redactor ? redact_file(w->redactor, name.data, NULL, 0, &is_known, err) : 0;
	put_record(p, PACK_CAPTURE, 0, name.data, name.size);
	return code ? code : visit_files(path, &v, err);
}

static int visit_none(void *argument, const char *path, const char *name, const struct mapping *file, struct err *err)
{
	(void)argument, (void)path, (void)name, (void)file, (void)err;
	return 0;
}

/* Finds the names that are secret, before the first file is packed. */
static int find_names(const struct pack_wish *w, struct err *err)
{
	SCOPED(texts) said = {0};
	struct pack_visit v = {visit_none, NULL, &said, w->redactor};
	int code = 0;

	for (size_t i = 0; i < w->count && !code; i++)
		code = visit_files(w->captures[i], &v, err);
	return code;
}

/* ---- reading back ---- */

struct pack_check {
	struct pack *pack;
	size_t next; /* of pack.files */
};

static bool is_same(const struct mapping *a, const struct mapping *b)
{
	size_t piece = BLOCK_BYTES;

	if (a->size != b->size)
		return false;
	for (size_t at = 0; at < a->size; at += piece) {
		if (memcmp(a->data + at, b->data + at, a->size - at < piece ? a->size - at : piece) != 0)
			return false;
		mapping_drop(a, at, piece);
	}
	return true;
}

static int check_one(void *argument, const char *path, const char *name, const struct mapping *file, struct err *err)
{
	struct pack_check *c = argument;
	struct pack_file *f = c->next < c->pack->file_count ? c->pack->files[c->next++] : NULL;
	struct mapping packed = {0};
	int code;

	if (!f || strcmp(f->name, name))
		return err_set(err, -EIO, "%s: is not in the packed file", path);
	code = pack_map(f, &packed, err);
	if (!code && !is_same(file, &packed))
		code = err_set(err, -EAGAIN, "%s: changed while it was packed, or cannot be read back", path);
	mapping_close(&packed);
	if (!code && f->lost_bytes)
		code = err_set(err, -EIO, "%s: cannot be read back", path);
	return code;
}

static int check_pack(const struct pack_wish *w, const char *path, struct err *err)
{
	struct pack_check check = {0};
	SCOPED(texts) said = {0};
	struct pack_visit v = {check_one, &check, w->left_out ? &said : NULL, w->redactor};
	int code = pack_open(path, &check.pack, err);

	if (!code && (!check.pack->is_whole || check.pack->damaged_bytes))
		code = err_set(err, -EIO, "%s: cannot be read back", path);
	for (size_t i = 0; i < w->count && !code; i++)
		code = visit_files(w->captures[i], &v, err);
	if (!code && check.next < check.pack->file_count)
		code = err_set(err, -EAGAIN, "%s: a file disappeared while it was packed", path);
	pack_close(check.pack);
	return code;
}

/* ---- the file ---- */

struct pack_job {
	struct export export; /* the first one is passed to run() */
	const struct pack_wish *wish;
};

static void packer_init(struct packer *p, FILE *out)
{
	p->out = out;
	p->thread_count = parallel_threads(BATCH);
	for (size_t i = 0; i < p->thread_count; i++)
		p->coders[i] = block_coder_new();
}

static int write_captures(struct packer *p, const struct pack_wish *wish, struct err *err)
{
	struct pack_head head = {TF_PACK_MAGIC, TF_BYTE_ORDER, PACK_VERSION};
	int code = wish->redactor ? find_names(wish, err) : 0;

	p->is_failed = fwrite(&head, sizeof(head), 1, p->out) != 1;
	for (size_t i = 0; i < wish->count && !code; i++)
		code = pack_capture(p, wish->captures[i], wish, err);
	for (size_t i = 0; i < p->table_count; i++) {
		put_record(p, PACK_TABLE, p->tables[i].hash, p->tables[i].record, p->tables[i].record_size);
		free(p->tables[i].record);
	}
	put_record(p, PACK_END, p->records, NULL, 0);
	p->is_failed |= fflush(p->out) || fsync(fileno(p->out));
	if (p->is_failed && !code)
		code = err_set(err, errno ? -errno : -EIO, "cannot write the packed file: %s", strerror(errno));
	return code;
}

static int run_job(struct export *x, struct err *err)
{
	const struct pack_wish *wish = ((struct pack_job *)x)->wish;
	SCOPED_MEMORY struct packer *p = NULL;
	FILE *out = fopen(x->path, "we");
	int code;

	if (!out)
		return err_set(err, -errno, "%s: %s", x->path, strerror(errno));
	fchmod(fileno(out), 0600); /* like the files of a capture */
	p = mem_alloc(sizeof(*p));
	packer_init(p, out);
	code = write_captures(p, wish, err);
	for (size_t i = 0; i < p->thread_count; i++)
		block_coder_free(p->coders[i]);
	if (fclose(out) && !code)
		code = err_set(err, -errno, "%s: %s", x->path, strerror(errno));
	return code ? code : check_pack(wish, x->path, err);
}

/* ---- replacing the directory ---- */

/* There is a complete capture by that name at any moment; on file systems that cannot exchange names, briefly under
 * the other name. */
static int replace_directory(const char *packed, const char *directory, struct err *err)
{
	SCOPED(buffer) aside = {0};
	int code = 0;

	if (!rename_by_flags(packed, directory, RENAME_EXCHANGE)) {
		directory_remove(packed);
		return 0;
	}
	buffer_print(&aside, "%s.unpacked-%d", directory, (int)getpid());
	if (rename(directory, aside.data) < 0) {
		code = err_set(err, -errno, "%s: %s", directory, strerror(errno));
	} else if (rename(packed, directory) < 0) {
		code = err_set(err, -errno, "%s: %s", directory, strerror(errno));
		if (rename(aside.data, directory) < 0)
			code = err_set(err, code, "%s: the directory is now %s, the packed file %s", directory,
				       aside.data, packed);
	} else {
		directory_remove(aside.data);
	}
	if (code)
		unlink(packed);
	return code;
}

static int find_captures(const struct pack_wish *w, struct err *err)
{
	for (size_t i = 0; i < w->count; i++) {
		struct stat st;

		if (stat(w->captures[i], &st) < 0)
			return err_set(err, -errno, "%s: %s", w->captures[i], strerror(errno));
		if (!S_ISDIR(st.st_mode))
			return err_set(err, -ENOTDIR, "%s: %s", w->captures[i],
				       pack_is_one(w->captures[i]) ? "is already packed" : "not a capture directory");
	}
	return 0;
}

static size_t length_without_slashes(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return length;
}

int pack_write(const struct pack_wish *wish, struct buffer *ret_path, struct err *err)
{
	static const struct export_type type = {
		.name = "pack", .ending = ".pillpack", .flags = EXPORT_FILE, .run = run_job};
	struct pack_job job = {.wish = wish};
	int code = find_captures(wish, err);

	if (code)
		return code;
	if (!block_coder_exists())
		return err_set(err, -ENOTSUP, "this build has no zstd");
	if (wish->is_replacing)
		buffer_print(ret_path, "%.*s.packing", (int)length_without_slashes(wish->captures[0]),
			     wish->captures[0]);
	else if (wish->output)
		buffer_text(ret_path, wish->output);
	else
		export_name(wish->captures[0], &type, ret_path);
	code = export_write(&job.export, &type, ret_path->data, wish->is_forced, err);
	if (code || !wish->is_replacing)
		return code;
	code = replace_directory(ret_path->data, wish->captures[0], err);
	buffer_clear(ret_path);
	buffer_text(ret_path, wish->captures[0]);
	return code;
}

/* ---- unpacking ---- */

static int extract_file(const char *directory, struct pack_file *f, struct err *err)
{
	SCOPED(buffer) path = {0};
	struct mapping bytes = {0};
	FILE *out;
	int code = pack_map(f, &bytes, err);
	bool is_failed;

	buffer_print(&path, "%s/%s", directory, f->name);
	out = code ? NULL : fopen(path.data, "wxe");
	if (out) {
		is_failed = false;
		/* Written in pieces: the kernel cannot fault in blocks that were not read before. */
		for (size_t at = 0; at < bytes.size && !is_failed; at += TF_PAGE) {
			size_t size = bytes.size - at < TF_PAGE ? bytes.size - at : TF_PAGE;
			uint8_t page[TF_PAGE];

			memcpy(page, bytes.data + at, size);
			is_failed = fwrite(page, size, 1, out) != 1;
		}
		fchmod(fileno(out), 0600);
		is_failed |= fclose(out) != 0;
	}
	if (!code && (!out || is_failed))
		code = err_set(err, -errno, "%s: %s", path.data, strerror(errno));
	mapping_close(&bytes);
	if (!code && f->lost_bytes)
		code = err_set(err, -EBADMSG, "%s: damaged, %llu bytes cannot be read", path.data,
			       (unsigned long long)f->lost_bytes);
	return code;
}

static int make_directory(const char *path, struct err *err)
{
	if (!mkdir(path, 0700))
		return 0;
	return errno == EEXIST ? err_set(err, -EEXIST, "%s: file exists, use -o to write to another directory", path)
			       : err_set(err, -errno, "%s: %s", path, strerror(errno));
}

/* Continues after damage, because the rest is needed all the more. */
static int extract_all(struct pack *p, const char *directory, struct err *err)
{
	int code = make_directory(directory, err), failed;
	SCOPED(buffer) inner = {0};
	struct err other;

	for (size_t i = 0; i < p->capture_count && !code && p->capture_count > 1; i++) {
		buffer_set(&inner, "%s/%s", directory, p->captures[i]);
		code = make_directory(inner.data, err);
	}
	for (size_t i = 0; i < p->file_count && (!code || code == -EBADMSG); i++) {
		buffer_set(&inner, "%s%s%s", directory, p->capture_count > 1 ? "/" : "",
			   p->capture_count > 1 ? p->captures[p->files[i]->capture] : "");
		failed = extract_file(inner.data, p->files[i], code ? &other : err);
		code = failed ? failed : code;
	}
	return code;
}

int pack_extract(const char *path, const char *output, struct buffer *ret_path, struct err *err)
{
	struct pack *p;
	const char *slash = strrchr(path, '/');
	int code = pack_open(path, &p, err);

	if (code)
		return code;
	if (output)
		buffer_text(ret_path, output);
	else
		buffer_print(ret_path, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path,
			     p->capture_count == 1 ? p->captures[0] : "captures");
	code = extract_all(p, ret_path->data, err);
	if (!code && (!p->is_whole || p->damaged_bytes))
		code = err_set(err, -EBADMSG, "%s: damaged or truncated, the rest is in %s", path, ret_path->data);
	pack_close(p);
	return code;
}
