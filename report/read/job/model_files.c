/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files of a capture, a directory or a packed file, into the model. Several threads open the traces, which
 * reads them completely; large ones are read by all threads, one after the other. The results are added in the order
 * of the file names. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/parallel.h"
#include "report/read/job/foreign.h"
#include "report/read/job/model_files.h"
#include "runtime/shared/base/object_name.h"
#include "runtime/shared/spool/spool.h"

enum { LARGE_TRACE = 16 << 20 };

static void open_range(struct model *m, const char *path, const struct mapping *file)
{
	struct tf_range_page page;
	struct ranges *r;
	size_t room;

	if (file->size < sizeof(page) || (memcpy(&page, file->data, sizeof(page)), page.magic != TF_RANGE_MAGIC)) {
		texts_add(&m->problems, "%s: not a range file", path);
		return;
	}
	room = ((file->size < TF_RANGE_FILE_BYTES ? file->size : TF_RANGE_FILE_BYTES) - sizeof(page)) /
	       sizeof(struct tf_range);
	m->lost_lines += page.lost_lines;
	m->lost_events += page.lost_events;
	m->has_profile |= (page.ended & TF_RANGE_PROFILE) != 0;
	r = mem_new(m->ranges, m->ranges_count, m->ranges_capacity, (struct ranges){
		.run = page.run, .mode = page.mode, .count = page.begun < room ? page.begun : room,
		.spool_ticks = page.spool_ticks});
	r->items = mem_alloc(r->count * sizeof(*r->items));
	r->is_cancelled = mem_alloc(r->count * sizeof(*r->is_cancelled));
	memcpy(r->items, file->data + sizeof(page), r->count * sizeof(*r->items));
	for (size_t i = 0; i < r->count; i++) {
		r->is_cancelled[i] = r->items[i].end_ticks & TF_RANGE_CANCELLED;
		r->has_cancelled |= r->is_cancelled[i];
		r->items[i].end_ticks &= ~TF_RANGE_CANCELLED;
	}
}

static void read_trace(struct file *f, size_t workers)
{
	struct err err;
	int code = reader_open_mapping(f->path, &f->bytes, workers, &f->trace, &err);

	if (code)
		file_problem(f, code, &err);
}

static void open_trace(struct file *f)
{
	struct err err;
	int code = file_map(f, &f->bytes, &err);

	if (code)
		file_problem(f, code, &err);
	else if (f->bytes.size <= LARGE_TRACE)
		read_trace(f, 1);
}

static void read_traces(void *argument, size_t thread)
{
	struct files *l = argument;
	size_t i;

	(void)thread;
	while ((i = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED)) < l->count)
		if (file_is_trace(&l->items[i]) && l->items[i].owner == l->self)
			open_trace(&l->items[i]);
}

/* Of HOST.PID.NONCE.trace. */
static uint64_t name_nonce(const char *name)
{
	const char *end = strstr(name, ".trace"), *dot = end ? memrchr(name, '.', (size_t)(end - name)) : NULL;

	return dot ? strtoull(dot + 1, NULL, 16) : 0;
}

static void join_trace(struct model *m, struct file *f)
{
	if (f->problem && f->is_unwritten)
		model_unwritten(m, name_nonce(f->name), f->problem);
	else if (f->problem)
		texts_add(&m->problems, "%s", f->problem);
	else if (f->trace)
		model_trace(m, f->trace);
	f->trace = NULL;
}

/* The lines of a spool's index that are not in the capture's. */
static void join_index(struct model *m, const struct file *f, const struct mapping *bytes)
{
	struct mapping here = {0}, rest = *bytes;
	struct err err;
	size_t moved = 0;

	if (f->over && !mapping_open(f->over, &here, &err) && here.size && bytes->size)
		moved = spool_lines_moved((const char *)bytes->data, bytes->size, (const char *)here.data, here.size);
	rest.data += rest.data ? moved : 0;
	rest.size -= moved;
	model_index(m, f->path, f->name, &rest);
	mapping_close(&here);
}

static void join_other(struct model *m, struct file *f)
{
	struct mapping bytes;
	struct err err;

	if (text_ends_with(f->name, OBJECT_ENDING)) {
		if (!f->packed) /* pack has kept the names */
			texts_add(&m->objects, "%s", f->path);
		return;
	}

	if (text_ends_with(f->name, ".index") && f->over) {
		if (mapping_open(f->path, &bytes, &err))
			texts_add(&m->problems, "%s", err.text);
		else
			join_index(m, f, &bytes);
		mapping_close(&bytes);
		return;
	}
	if (file_map(f, &bytes, &err)) {
		texts_add(&m->problems, "%s", err.text);
		return;
	}
	if (text_ends_with(f->name, ".index")) {
		model_index(m, f->path, f->name, &bytes);
	} else if (text_ends_with(f->name, ".usage")) {
		model_usage(m, f->path, f->name, &bytes);
	} else if (text_ends_with(f->name, ".where")) {
		model_where(m, f->path, &bytes);
	} else if (text_ends_with(f->name, ".energy")) {
		model_energy(m, f->path, f->name, &bytes);
	} else if (text_ends_with(f->name, ".symbols") || text_ends_with(f->name, ".sources")) {
		texts_add(text_ends_with(f->name, ".symbols") ? &m->symbols : &m->sources, "%.*s",
			  bytes.size < INT_MAX ? (int)bytes.size : INT_MAX, (const char *)bytes.data);
	} else {
		open_range(m, f->path, &bytes);
		model_image_file(m, f->path, &bytes);
	}
	mapping_close(&bytes);
}

static void join_file(struct model *m, struct file *f)
{
	if (file_is_trace(f))
		join_trace(m, f);
	else if (file_is_of_capture(f->name))
		join_other(m, f);
	else
		texts_add(&m->problems, "%s: not a file of a capture", f->path);
	if (f->packed && f->packed->lost_bytes)
		texts_add(&m->problems, "%s: damaged, %llu bytes cannot be read", f->path,
			  (unsigned long long)f->packed->lost_bytes);
}

static void read_files(struct model *m, struct files *l)
{
	parallel_run(parallel_threads(l->count), read_traces, l);
	for (size_t i = 0; i < l->count; i++)
		if (l->items[i].bytes.data)
			read_trace(&l->items[i], parallel_threads(SIZE_MAX));
	files_exchange(m, l);
	for (size_t i = 0; i < l->count; i++)
		join_file(m, &l->items[i]);
}

/* The file that marks a directory as a capture. A directory without it may also contain traces, if the run was started
 * with LD_PRELOAD alone. */
static int check_format(const char *path, const struct mapping *file, struct err *err)
{
	char *text = mem_copy_text((const char *)file->data, file->size < TF_PAGE ? file->size : TF_PAGE), *at = text;
	unsigned long format = 0;

	for (; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (text_begins_with(at, "format="))
			format = strtoul(at + 7, NULL, 10);
	}
	free(text);
	if (format > TF_VERSION_MAJOR)
		return err_set(err, -ENOTSUP, "%s: capture format %lu, this program reads %u", path, format,
			       TF_VERSION_MAJOR);
	return 0;
}

/* Sets *ret_found if the file exists, even if it is damaged; else leaves it unchanged. */
static int read_capture_file(struct model *m, const struct file *f, bool *ret_found, struct err *err)
{
	struct mapping bytes;
	int code = file_map(f, &bytes, err);

	if (code == -ENOENT)
		return 0;
	*ret_found = true;
	if (code) {
		texts_add(&m->problems, "%s", err->text);
		return 0;
	}
	code = check_format(f->path, &bytes, err);
	mapping_close(&bytes);
	return code;
}

static char *join_path(const char *directory, const char *name)
{
	struct buffer path = {0};

	buffer_print(&path, "%s/%s", directory, name);
	return path.data;
}

static bool is_listed(const char *name)
{
	return name[0] != '.' && strcmp(name, "capture") != 0;
}

/* Adds the files of a spool: those that the capture has, too, are read as one. Of an index, in which several spools
 * have lines, the further lines are read as a file. */
static void files_add_spooled(struct files *l, size_t own, const struct spool *s, const char *name)
{
	char *spooled = join_path(s->path, name);
	size_t same = 0;

	while (same < own && strcmp(l->items[same].name, name) != 0)
		same++;
	if (same < own && !text_ends_with(name, ".index")) {
		mem_replace_text(&l->items[same].over, spooled);
		l->items[same].is_later = s->is_later;
		return;
	}
	files_add(l, spooled, strrchr(spooled, '/') + 1, NULL);
	if (same < own)
		l->items[l->count - 1].over = mem_copy_text(l->items[same].path, strlen(l->items[same].path));
}

static void files_add_spool(struct model *m, struct files *l, size_t own, const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);
	struct spool s;

	if (!spool_open(&s, path))
		*map_put(&m->spool_runs, s.run, 0, NULL) = 1;
	spool_close(&s);
	for (int i = 0; i < count; i++)
		if (is_listed(entries[i]->d_name))
			files_add_spooled(l, own, &s, entries[i]->d_name);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
}

bool model_path_is_spool(const char *path)
{
	SCOPED_MEMORY char *owner = join_path(path, SPOOL_OWNER);
	struct stat st;

	return !stat(owner, &st);
}

bool model_path_is_directory(const char *word)
{
	SCOPED(buffer) path = {0};
	struct stat st;
	struct err err;

	return !model_find(word, false, &path, &err) && !stat(path.data, &st) && S_ISDIR(st.st_mode) &&
	       !model_path_is_spool(path.data);
}

static int open_directory(struct model *m, const char *path, struct err *err)
{
	struct file capture = {.path = join_path(path, "capture")};
	SCOPED(files) files = {0};
	SCOPED_MEMORY struct dirent **entries = NULL;
	bool is_capture = false;
	int count, code = read_capture_file(m, &capture, &is_capture, err);

	free(capture.path);
	if (code)
		return code;
	count = scandir(path, &entries, NULL, alphasort);
	if (count < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		is_capture |= text_ends_with(name, ".trace") || text_ends_with(name, ".index");
		if (is_listed(name))
			files_add(&files, join_path(path, name), name, NULL);
	}
	for (size_t own = files.count; m->spools.count; texts_done(&m->spools))
		for (size_t i = 0; i < m->spools.count; i++)
			files_add_spool(m, &files, own, m->spools.items[i]);
	if (is_capture) {
		files_divide(m, &files, path);
		read_files(m, &files);
	} else {
		code = err_set(err, -EINVAL, "%s: not a pillion capture", path);
	}
	for (int i = 0; i < count; i++)
		free(entries[i]);
	return code;
}

static int open_packed(struct model *m, const char *path, struct err *err)
{
	SCOPED(files) files = {0};
	struct pack *p;
	bool is_found;
	int code = pack_open(path, &p, err);

	if (code)
		return code;
	mem_append(m->packs, m->pack_count, m->pack_capacity, p);
	if (!p->is_whole)
		texts_add(&m->problems, "%s: truncated, its end is missing", path);
	if (p->damaged_bytes)
		texts_add(&m->problems, "%s: damaged, %llu bytes cannot be read", path,
			  (unsigned long long)p->damaged_bytes);
	for (size_t i = 0; i < p->file_count && !code; i++) {
		struct pack_file *f = p->files[i];
		struct file capture = {.path = join_path(path, f->name), .packed = f};

		if (is_listed(f->name)) {
			files_add(&files, capture.path, f->name, f);
			continue;
		}
		if (!strcmp(f->name, "capture"))
			code = read_capture_file(m, &capture, &is_found, err);
		free(capture.path);
	}
	if (!code) {
		files_divide(m, &files, NULL);
		read_files(m, &files);
	}
	return code;
}

static int open_single(struct model *m, const char *path, struct err *err)
{
	SCOPED(buffer) words = {0};
	struct trace *t;
	int code = reader_open(path, &t, err);

	if (!code)
		model_trace(m, t);
	if (code == -EPROTO) {
		foreign_words(path, &words);
		err_set(err, code, "%s: not a pillion capture%s", path, buffer_string(&words));
	}
	return code;
}

/* Shells complete the name of a directory with a slash. */
static size_t length_without_slashes(const char *word)
{
	size_t length = strlen(word);

	while (length > 1 && word[length - 1] == '/')
		length--;
	return length;
}

/* The length of the word without the ending of a report of Nsight Systems. */
static size_t length_without_ending(const char *word, size_t length)
{
	static const char *const endings[] = {".nsys-rep", ".qdrep"};

	for (size_t i = 0; i < 2; i++) {
		size_t ending = strlen(endings[i]);

		if (length > ending && !strncmp(word + length - ending, endings[i], ending))
			return length - ending;
	}
	return length;
}

/* A directory without the mark, and a single trace, are found by their own names only. */
static bool has_mark(const char *path, mode_t mode)
{
	SCOPED_MEMORY char *mark = join_path(path, "capture");

	return S_ISDIR(mode) ? !access(mark, F_OK) : pack_is_one(path);
}

/* What was recorded from ./job or in job/ by -o job is found by that name, too. */
int model_find(const char *word, bool is_packed, struct buffer *ret, struct err *err)
{
	static const char *const endings[] = {"", ".pillion", ".pillpack", ".pillion"};
	size_t length = length_without_slashes(word), base = length_without_ending(word, length);
	SCOPED(buffer) path = {0};
	int code = -ENOENT, found = -ENOENT;
	bool is_sure = !length;
	struct stat st;

	/* -o x.nsys-rep made x.nsys-rep.pillion; a script that was written for nsys may also have had -o x. */
	for (size_t i = 0; i < (base < length && code ? 5 : 3) && !is_sure; i++) {
		size_t ending = i < 3 ? i : i - 2;
		int used = (int)(i < 3 ? length : base);

		buffer_set(&path, "%.*s%s", used, word, endings[ending + (ending && is_packed)]);
		found = stat(path.data, &st) < 0 ? -errno : 0;
		is_sure = found ? found != -ENOENT : has_mark(path.data, st.st_mode);
		if (code == -ENOENT || (is_sure && !found)) {
			buffer_set(ret, "%s", path.data);
			code = found;
		}
	}
	return code ? err_set(err, code, "%s: %s", word, strerror(-code)) : 0;
}

int model_path(struct model *m, const char *word, struct err *err)
{
	SCOPED(buffer) path = {0};
	struct stat st;
	int code = model_find(word, false, &path, err);

	if (!code && stat(path.data, &st) < 0)
		code = err_set(err, -errno, "%s: %s", path.data, strerror(errno));
	if (code)
		;
	else if (S_ISDIR(st.st_mode))
		code = open_directory(m, path.data, err);
	else if (pack_is_one(path.data))
		code = open_packed(m, path.data, err);
	else
		code = open_single(m, path.data, err);
	return code;
}
