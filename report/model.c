/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a capture's files and reading them into the model. */
#include "model.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *this_boot(void)
{
	static char boot[40];
	FILE *f = boot[0] ? NULL : fopen("/proc/sys/kernel/random/boot_id", "re");

	if (f) {
		if (!fgets(boot, sizeof(boot), f))
			boot[0] = 0;
		fclose(f);
		boot[strcspn(boot, "\n")] = 0;
	}
	return boot;
}

size_t model_machine(struct model *m, const char *host, const char *boot, uint32_t clock)
{
	struct machine *new;

	for (size_t i = 0; i < m->machine_count; i++)
		if (m->machines[i].axis.clock == clock && !strcmp(m->machines[i].boot, boot) &&
		    !strcmp(m->machines[i].host, host))
			return i;
	m->machines = mem_grow(m->machines, m->machine_count, &m->machine_capacity, sizeof(*m->machines));
	new = &m->machines[m->machine_count];
	*new = (struct machine){
		.host = mem_copy_text(host, strlen(host)),
		.boot = mem_copy_text(boot, strlen(boot)),
		.axis.clock = clock,
		.is_this = boot[0] && !strcmp(boot, this_boot()),
	};
	return m->machine_count++;
}

struct image *model_image(struct model *m, uint64_t nonce)
{
	bool is_new;
	uint64_t *place = map_put(&m->by_nonce, nonce, 0, &is_new);

	if (!is_new)
		return &m->images[*place];
	*place = m->image_count;
	m->images = mem_grow(m->images, m->image_count, &m->image_capacity, sizeof(*m->images));
	m->images[m->image_count] = (struct image){.nonce = nonce};
	return &m->images[m->image_count++];
}

/* Items that end with NUL, up to an empty one or the end, as a command line. */
static char *join_items(const char *items, size_t size)
{
	struct buffer b = {0};
	const char *end = items + size;

	while (items < end && *items) {
		size_t length = strnlen(items, (size_t)(end - items));
		bool quoted = strcspn(items, " \t\n\"'\\$`*?;&|<>()") < length;

		if (b.size)
			buffer_text(&b, " ");
		buffer_text(&b, quoted ? "'" : "");
		buffer_add(&b, items, length);
		buffer_text(&b, quoted ? "'" : "");
		items += length + 1;
	}
	return b.data ? b.data : mem_copy_text("", 0);
}

static void set_text(char **place, char *text)
{
	free(*place);
	*place = text;
}

static void damage(struct model *m, const struct trace *t)
{
	if (t->missing_bytes)
		texts_add(&m->problems, "%s: truncated, %llu bytes are missing", t->path,
			  (unsigned long long)t->missing_bytes);
	if (t->damaged_bytes)
		texts_add(&m->problems, "%s: damaged, %llu bytes are no window", t->path,
			  (unsigned long long)t->damaged_bytes);
	if (t->broken || t->orphans)
		texts_add(&m->problems, "%s: damaged, %llu records cannot be read", t->path,
			  (unsigned long long)(t->broken + t->orphans));
}

/* `last` is written in turn: the later of the two that is whole. */
static const struct tf_clock_pair *last_pair(const struct tf_header *h)
{
	return h->last[0].ticks > h->last[1].ticks ? &h->last[0] : &h->last[1];
}

static void tell_children(struct model *m, const struct trace *t, size_t machine)
{
	for (size_t i = 0; i < t->child_count; i++) {
		m->told = mem_grow(m->told, m->told_count, &m->told_capacity, sizeof(*m->told));
		m->told[m->told_count++] = (struct told){
			.machine = machine,
			.pid = t->children[i].child.pid,
			.parent_pid = t->header.pid,
			.status = t->children[i].child.status,
			.ticks = t->children[i].ticks,
		};
	}
}

/* Takes the trace. */
static void add_trace(struct model *m, struct trace *t)
{
	const struct tf_header *h = &t->header;
	size_t machine = model_machine(m, h->host, h->boot, h->clock);
	struct axis *axis = &m->machines[machine].axis;
	struct image *image = model_image(m, h->nonce);

	if (image->trace) {
		texts_add(&m->problems, "%s: the same process image as %s, left out", t->path, image->trace->path);
		reader_close(t);
		return;
	}
	damage(m, t);
	axis_add(axis, &h->first);
	axis_add(axis, last_pair(h));
	if (h->clock_hz)
		axis->hz = h->clock_hz;
	*image = (struct image){
		.nonce = h->nonce,
		.run = h->run,
		.parent_nonce = h->parent_nonce,
		.process_start = h->process_start,
		.start_ticks = h->first.ticks,
		.end_ticks = h->end_ticks,
		.machine = machine,
		.trace = t,
		.pid = h->pid,
		.parent_pid = h->parent_pid,
		.via = h->via,
		.end = h->end,
		.end_status = h->end_status,
		.executable = image->executable,
		.command = image->command,
		.variables = image->variables,
		.shorts = image->shorts,
		.short_count = image->short_count,
	};
	if (!image->executable || !image->executable[0])
		set_text(&image->executable, mem_copy_text(h->executable, strlen(h->executable)));
	if (!image->command || !image->command[0])
		set_text(&image->command, join_items(h->arguments, sizeof(h->arguments)));
	if (!image->variables || !image->variables[0])
		set_text(&image->variables, mem_copy_text(h->variables, sizeof(h->variables)));
	m->trace_bytes += t->bytes.size;
	tell_children(m, t, machine);
}

static void open_trace(struct model *m, const char *path, struct mapping *file)
{
	struct trace *t;
	struct err err;

	if (reader_open_mapping(path, file, &t, &err))
		texts_add(&m->problems, "%s", err.text);
	else
		add_trace(m, t);
}

static void open_range(struct model *m, const char *path, const struct mapping *file)
{
	struct tf_range_page page;
	size_t room;

	if (file->size < sizeof(page) || (memcpy(&page, file->data, sizeof(page)), page.magic != TF_RANGE_MAGIC)) {
		texts_add(&m->problems, "%s: not a range file", path);
		return;
	}
	room = (file->size - sizeof(page)) / sizeof(struct tf_range);
	m->ranges = mem_grow(m->ranges, m->ranges_count, &m->ranges_capacity, sizeof(*m->ranges));
	m->ranges[m->ranges_count] =
		(struct ranges){.run = page.run, .mode = page.mode, .count = page.begun < room ? page.begun : room};
	m->ranges[m->ranges_count].items = mem_alloc(m->ranges[m->ranges_count].count * sizeof(struct tf_range));
	memcpy(m->ranges[m->ranges_count].items, file->data + sizeof(page),
	       m->ranges[m->ranges_count].count * sizeof(struct tf_range));
	m->ranges_count++;
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	return length > tail && !strcmp(name + length - tail, end);
}

static bool is_of_capture(const char *name)
{
	return ends_with(name, ".trace") || ends_with(name, ".index") || ends_with(name, ".range");
}

/* Takes the file's bytes. */
static void open_file(struct model *m, const char *path, const char *name, struct mapping *file)
{
	if (ends_with(name, ".trace"))
		open_trace(m, path, file);
	else if (ends_with(name, ".index"))
		model_index(m, path, name, file);
	else
		open_range(m, path, file);
	mapping_close(file);
}

static void open_named(struct model *m, const char *path, const char *name)
{
	struct mapping file;
	struct err err;

	if (!is_of_capture(name))
		texts_add(&m->problems, "%s: not a file of a capture", path);
	else if (mapping_open(path, &file, &err))
		texts_add(&m->problems, "%s", err.text);
	else
		open_file(m, path, name, &file);
}

/* The file that makes a directory a capture. Without it the directory may still hold traces of a run that was started
 * by LD_PRELOAD alone. */
static int check_format(const char *path, const struct mapping *file, struct err *err)
{
	char *text = mem_copy_text((const char *)file->data, file->size < TF_PAGE ? file->size : TF_PAGE), *at = text;
	unsigned long format = 0;

	for (; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, "format=", 7))
			format = strtoul(at + 7, NULL, 10);
	}
	free(text);
	if (format > TF_VERSION_MAJOR)
		return err_set(err, -ENOTSUP, "%s: capture format %lu, this program reads %u", path, format, TF_VERSION_MAJOR);
	return 0;
}

static int read_capture_file(struct model *m, const char *path, bool *ret_found, struct err *err)
{
	struct mapping file;
	int code = mapping_open(path, &file, err);

	*ret_found = code != -ENOENT;
	if (code && *ret_found)
		texts_add(&m->problems, "%s", err->text);
	if (code)
		return 0;
	code = check_format(path, &file, err);
	mapping_close(&file);
	return code;
}

static int open_directory(struct model *m, const char *path, struct err *err)
{
	struct dirent **entries;
	struct buffer file = {0};
	bool is_capture;
	int count, code;

	buffer_print(&file, "%s/capture", path);
	code = read_capture_file(m, file.data, &is_capture, err);
	if (code)
		goto out;
	count = scandir(path, &entries, NULL, alphasort);
	if (count < 0) {
		code = err_set(err, -errno, "%s: %s", path, strerror(errno));
		goto out;
	}
	for (int i = 0; i < count && !is_capture; i++)
		is_capture = ends_with(entries[i]->d_name, ".trace") || ends_with(entries[i]->d_name, ".index");
	if (!is_capture)
		code = err_set(err, -EINVAL, "%s: not a pillion capture", path);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (!code && name[0] != '.' && strcmp(name, "capture")) {
			buffer_clear(&file);
			buffer_print(&file, "%s/%s", path, name);
			open_named(m, file.data, name);
		}
		free(entries[i]);
	}
	free(entries);
out:
	buffer_done(&file);
	return code;
}

/* ---- packed ---- */

static int open_packed_file(struct model *m, struct pack_file *f, struct err *err)
{
	struct buffer path = {0};
	struct mapping file;
	int code = pack_map(f, &file, err);

	buffer_print(&path, "%s/%s", f->pack->path, f->name);
	if (code) {
		texts_add(&m->problems, "%s: %s", path.data, err->text);
		code = 0;
	} else if (!strcmp(f->name, "capture")) {
		code = check_format(path.data, &file, err);
		mapping_close(&file);
	} else if (f->name[0] != '.' && is_of_capture(f->name)) {
		open_file(m, path.data, f->name, &file);
	} else {
		if (f->name[0] != '.')
			texts_add(&m->problems, "%s: not a file of a capture", path.data);
		mapping_close(&file);
	}
	if (f->lost_bytes)
		texts_add(&m->problems, "%s: damaged, %llu bytes cannot be read", path.data,
			  (unsigned long long)f->lost_bytes);
	buffer_done(&path);
	return code;
}

static int open_packed(struct model *m, const char *path, struct err *err)
{
	struct pack *p;
	int code = pack_open(path, &p, err);

	if (code)
		return code;
	m->packs = mem_grow(m->packs, m->pack_count, &m->pack_capacity, sizeof(*m->packs));
	m->packs[m->pack_count++] = p;
	if (!p->is_whole)
		texts_add(&m->problems, "%s: truncated, its end is missing", path);
	if (p->damaged_bytes)
		texts_add(&m->problems, "%s: damaged, %llu bytes cannot be read", path, (unsigned long long)p->damaged_bytes);
	for (size_t i = 0; i < p->file_count && !code; i++)
		code = open_packed_file(m, p->files[i], err);
	return code;
}

static int open_single(struct model *m, const char *path, struct err *err)
{
	struct trace *t;
	int code = reader_open(path, &t, err);

	if (!code)
		add_trace(m, t);
	return code;
}

static int open_path(struct model *m, const char *path, struct err *err)
{
	static const char *const endings[] = {".pillion", ".pillpack"};
	struct buffer longer = {0};
	struct stat st;
	int code = stat(path, &st) < 0 ? -errno : 0;

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings) && code == -ENOENT && path[0]; i++) {
		buffer_clear(&longer);
		buffer_print(&longer, "%s%s", path, endings[i]);
		if (!stat(longer.data, &st)) {
			path = longer.data;
			code = 0;
		}
	}
	if (code)
		code = err_set(err, code, "%s: %s", path, strerror(-code));
	else if (S_ISDIR(st.st_mode))
		code = open_directory(m, path, err);
	else if (pack_is_one(path))
		code = open_packed(m, path, err);
	else
		code = open_single(m, path, err);
	buffer_done(&longer);
	return code;
}

int model_open(struct model *m, char *const *paths, size_t count, struct err *err)
{
	*m = (struct model){0};
	for (size_t i = 0; i < count; i++) {
		int code = open_path(m, paths[i], err);

		if (code)
			return code;
	}
	model_link(m);
	return 0;
}

int model_open_bytes(struct model *m, const void *data, size_t size, struct err *err)
{
	struct trace *t;
	int code;

	*m = (struct model){0};
	code = reader_open_bytes(data, size, &t, err);
	if (code)
		return code;
	add_trace(m, t);
	model_link(m);
	return 0;
}

static void image_done(struct image *image)
{
	reader_close(image->trace);
	free(image->executable);
	free(image->command);
	free(image->variables);
	for (size_t i = 0; i < image->short_count; i++)
		free(image->shorts[i].name);
	free(image->shorts);
}

void model_done(struct model *m)
{
	for (size_t i = 0; i < m->machine_count; i++) {
		free(m->machines[i].host);
		free(m->machines[i].boot);
		free(m->machines[i].rough);
		axis_done(&m->machines[i].axis);
	}
	for (size_t i = 0; i < m->image_count; i++)
		image_done(&m->images[i]);
	for (size_t i = 0; i < m->pack_count; i++) /* after the traces in them */
		pack_close(m->packs[i]);
	free(m->packs);
	for (size_t i = 0; i < m->bare_count; i++) {
		free(m->bare[i].executable);
		free(m->bare[i].reason);
	}
	for (size_t i = 0; i < m->launch_count; i++) {
		free(m->launches[i].command);
		free(m->launches[i].options);
		free(m->launches[i].version);
	}
	for (size_t i = 0; i < m->note_count; i++)
		free(m->notes[i].text);
	for (size_t i = 0; i < m->ranges_count; i++)
		free(m->ranges[i].items);
	map_done(&m->by_nonce);
	texts_done(&m->problems);
	free(m->machines);
	free(m->images);
	free(m->processes);
	free(m->bare);
	free(m->launches);
	free(m->notes);
	texts_done(&m->seen);
	free(m->ranges);
	free(m->told);
	*m = (struct model){0};
}
