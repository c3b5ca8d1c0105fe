/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/symbol_module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/shared/base/object_name.h"

enum { BUILD_ID_SHOWN = 4 };

void modules_init(struct modules *m, const struct model *model, bool opens_files)
{
	*m = (struct modules){.model = model, .opens_files = opens_files};
	for (size_t i = 0; i < model->symbols.count && opens_files; i++)
		kept_read(&m->kept, model->symbols.items[i]);
}

void modules_done(struct modules *m)
{
	for (size_t i = 0; i < m->file_count; i++) {
		symbol_file_close(m->files[i].file);
		symbol_map_close(m->files[i].map);
		free(m->files[i].path);
		free(m->files[i].shown);
		free(m->files[i].called);
	}
	array_free(one, m->spaces, m->space_count, free(one->modules));
	free(m->files);
	map_done(&m->by_identity);
	map_done(&m->by_image);
	kept_done(&m->kept);
	texts_done(&m->problems);
}

/* ---- files ---- */

/* "./libx.so" or "lib/libx.so". A name without a slash is not one of a file, as that of the vdso. */
static bool is_relative(const char *path)
{
	return path[0] != '/' && strchr(path, '/');
}

static char *shown_path(const struct module_file *f)
{
	struct buffer text = {0};

	buffer_text(&text, f->path);
	for (size_t i = 0; is_relative(f->path) && i < f->build.id_length && i < BUILD_ID_SHOWN; i++)
		buffer_print(&text, "%s%02x", i ? "" : "@", f->build.id[i]);
	if (!text.data)
		buffer_text(&text, "");
	return text.data;
}

static size_t add_file(struct modules *m, const char *path, const struct symbol_build *build)
{
	struct module_file *f;

	m->files = mem_grow(m->files, m->file_count, &m->file_capacity, sizeof(*m->files));
	f = &m->files[m->file_count];
	*f = (struct module_file){.path = mem_copy_text(path, strlen(path)), .build = *build};
	f->shown = shown_path(f);
	f->is_recorder = text_any(text_begins_with, path_name(path), "libpillion.so", "libpillion-lines.so",
				  "libpillion-openmp.so", "libpillion-memory.so");
	return m->file_count++;
}

/* The last part of the first word of the command line; 0: it is no name of a program. */
static size_t executed_as(const struct image *image, const char **ret)
{
	size_t length = model_command_word(image->command, 0, ret);

	for (const char *slash; (slash = memchr(*ret, '/', length));) {
		length -= (size_t)(slash + 1 - *ret);
		*ret = slash + 1;
	}
	return length && **ret != '-' && !memchr(*ret, ':', length) ? length : 0;
}

const char *modules_called(struct modules *m, size_t file)
{
	struct module_file *f = &m->files[file];
	const char *base = path_name(f->shown), *name = NULL, *word;
	size_t length = 0;

	for (size_t i = 0; !f->called && i < m->model->image_count; i++) {
		const struct image *image = &m->model->images[i];
		size_t other = image->executable && !strcmp(image->executable, f->path) ? executed_as(image, &word) : 0;

		if (other && name && (other != length || strncmp(name, word, length))) {
			name = NULL;
			break;
		}
		name = other ? word : name;
		length = other ? other : length;
	}
	if (!f->called)
		f->called = name ? mem_copy_text(name, length) : mem_copy_text(base, strlen(base));
	return f->called;
}

/* Without a build id, a relative path may name another file in each image. */
static size_t find_file(struct modules *m, const char *path, const struct symbol_build *build)
{
	uint64_t *known;

	if (!build->id_length && is_relative(path))
		return add_file(m, path, build);
	known = map_put(&m->by_identity, hash_bytes(path, strlen(path)), hash_bytes(build, sizeof(*build)), NULL);
	if (!*known)
		*known = add_file(m, path, build) + 1;
	return *known - 1;
}

static void note_problem(struct modules *m, const struct module_file *f)
{
	if (f->code == -ENOTSUP && !m->problems.count)
		texts_add(&m->problems, "built without elfutils: functions in stacks have no names");
	else if (f->code == -ESTALE)
		texts_add(&m->problems, "%s: changed since it was recorded, its functions have no names", f->path);
	else if (f->code && f->code != -ENOTSUP && f->code != -ENOEXEC)
		texts_add(&m->problems, "%s: %s, its functions have no names", f->path, strerror(-f->code));
}

/* What the capture has of a file that may be gone. */
static int open_object(const struct modules *m, struct module_file *f)
{
	const struct texts *objects = &m->model->objects;
	char name[OBJECT_NAME_BYTES];
	int code = -ENOENT;

	if (f->build.file.size == TF_MODULE_GONE || !(f->build.id_length | f->build.file.size))
		return code;
	object_name(name, f->build.id, f->build.id_length, f->build.file.size, f->build.file.mtime_ns);
	for (size_t i = 0; i < objects->count && code; i++) {
		if (!strcmp(path_name(objects->items[i]), name))
			code = symbol_file_open(objects->items[i], NULL, &f->file);
	}
	return code;
}

/* A relative path may name the file from here as well: the build id tells. */
static void find_names(struct modules *m, struct module_file *f)
{
	f->code = symbol_file_open(f->path, &f->build, &f->file);
	if (f->code && f->code != -ENOTSUP && !open_object(m, f))
		f->code = 0;
	if (f->code)
		f->kept = kept_find(&m->kept, f->path, &f->build);
	if (!f->kept)
		note_problem(m, f);
	m->opened++;
}

/* The file's times are those of this machine's clock, which may differ from the common time. */
static void find_compiled(struct modules *m, struct module_file *f)
{
	const struct process *p = &m->model->processes[f->compiled_by->process];
	const struct machine *machine = &m->model->machines[p->machine];
	uint64_t slack = 2000000000u + machine->clock.error_ns;

	if (machine->is_this)
		f->map = symbol_map_open(f->path, p->start_ns - slack,
					 p->end_is_known ? p->end_ns + slack : UINT64_MAX);
	if (!f->map)
		f->kept = kept_find(&m->kept, f->path, &f->build);
}

bool modules_open(struct modules *m, size_t file)
{
	struct module_file *f = &m->files[file];
	bool is_file = f->path[0] == '/' || (is_relative(f->path) && f->build.id_length);

	if (!f->is_opened && m->opens_files && f->compiled_by)
		find_compiled(m, f);
	else if (!f->is_opened && m->opens_files && is_file)
		find_names(m, f);
	f->is_opened = true;
	return f->file || f->kept || f->map;
}

const char *modules_name(struct modules *m, size_t file, uint64_t address)
{
	const struct module_file *f = &m->files[file];
	struct symbol_line line;

	if (!modules_open(m, file))
		return NULL;
	if (f->map)
		return symbol_map_find(f->map, address, &line) ? line.name : NULL;
	return f->file ? symbol_file_name(f->file, address) : kept_name(f->kept, address);
}

bool module_is_interpreter(const char *module)
{
	return text_any(text_begins_with, path_name(module), "python", "libpython");
}

bool module_is_c_library(const char *module)
{
	const char *name = path_name(module);

	return text_has(name, ".so") && text_any(text_begins_with, name, "libc.", "libc-", "libpthread", "ld-",
						 "libstdc++.", "libm.", "libm-");
}

size_t modules_lines(struct modules *m, size_t file, uint64_t address, struct symbol_line ret[SYMBOL_LINES])
{
	const struct module_file *f = &m->files[file];

	if ((m->skips_c_library && module_is_c_library(f->path)) || !modules_open(m, file))
		return 0;
	if (m->skips_c_library && f->file && module_is_interpreter(f->path) &&
	    symbol_file_is_interpreter(f->file))
		return 0;
	if (f->map)
		return symbol_map_find(f->map, address, ret);
	return f->file ? symbol_file_lines(f->file, address, ret) : kept_lines(f->kept, address, ret);
}

/* ---- images ---- */

/* The file of a relative path can be told by a build id only. An inode means nothing on another machine. */
static struct symbol_build build_of(const struct model *m, const struct image *image, const struct tf_module *module,
				    const char *path, const char *end)
{
	const char *more = path + strlen(path) + 1;
	struct symbol_build build;

	memset(&build, 0, sizeof(build)); /* it is hashed as a whole */
	build.id_length = module->build_id_length <= sizeof(build.id) ? module->build_id_length : 0;
	memcpy(build.id, module->build_id, build.id_length);
	if (!build.id_length && end - more == (ptrdiff_t)sizeof(build.file))
		memcpy(&build.file, more, sizeof(build.file));
	if (!m->machines[image->machine].is_this)
		build.file.inode = 0;
	return build;
}

static void add_module(struct modules *m, struct module_space *space, const struct image *image, const struct blob *b)
{
	char bytes[TF_BLOB_BYTES + 1];
	size_t size = trace_blob(image->trace, b, bytes, TF_BLOB_BYTES);
	struct tf_module module;
	const char *path = bytes + sizeof(module);
	struct symbol_build build;

	if (size < sizeof(module))
		return;
	bytes[size] = 0;
	memcpy(&module, bytes, sizeof(module));
	build = build_of(m->model, image, &module, path, bytes + size);
	if (!*path)
		path = image->executable;
	mem_append(space->modules, space->count, space->capacity,
		   (struct mapped_module){module.start, module.end, module.bias, module.unloads,
					  find_file(m, path, &build)});
}

static const struct image *image_by_nonce(const struct model *m, uint64_t nonce)
{
	return nonce ? array_find(image, m->images, m->image_count, image->nonce == nonce) : NULL;
}

/* Modules that the image itself recorded are added last, so that they are found first; a forked image starts with
 * its parent's. */
static void add_modules(struct modules *m, struct module_space *space, const struct image *image, int depth)
{
	const struct image *parent =
		image->via == TF_VIA_FORK && depth < 64 ? image_by_nonce(m->model, image->parent_nonce) : NULL;

	if (parent && parent != image)
		add_modules(m, space, parent, depth + 1);
	blobs_each(b, image->trace, TF_BLOB_MODULE)
		add_module(m, space, image, b);
}

/* What the image compiled: its addresses lie in any place that no file has. */
static void add_compiled(struct modules *m, struct module_space *space, const struct image *image)
{
	struct symbol_build build = {.id_length = sizeof(image->nonce)};
	char path[64];

	memcpy(build.id, &image->nonce, sizeof(image->nonce));
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", image->pid);
	space->compiled = (struct mapped_module){.end = UINT64_MAX, .file = add_file(m, path, &build)};
	space->has_compiled = true;
	m->files[space->compiled.file].compiled_by = image;
}

struct module_space *modules_of(struct modules *m, const struct image *image)
{
	uint64_t *place = map_put(&m->by_image, (uint64_t)(image - m->model->images), 0, NULL);

	if (!*place) {
		mem_append(m->spaces, m->space_count, m->space_capacity, (struct module_space){0});
		*place = m->space_count;
		add_modules(m, &m->spaces[m->space_count - 1], image, 0);
	}
	return &m->spaces[*place - 1];
}

static const struct mapped_module *find_in_compiled(struct modules *m, struct module_space *space,
						   const struct image *image, uint64_t address)
{
	if (!space->has_compiled)
		add_compiled(m, space, image);
	return modules_open(m, space->compiled.file) && modules_name(m, space->compiled.file, address)
		       ? &space->compiled
		       : NULL;
}

const struct mapped_module *modules_find(struct modules *m, const struct image *image, uint64_t address,
					 unsigned unloads)
{
	struct module_space *space = modules_of(m, image);
	const struct mapped_module *latest = NULL;

	for (size_t i = space->count; i-- > 0;) {
		const struct mapped_module *module = &space->modules[i];

		if (address >= module->start && address < module->end && module->unloads <= unloads &&
		    (!latest || module->unloads > latest->unloads))
			latest = module;
	}
	return latest || !m->opens_files ? latest : find_in_compiled(m, space, image, address);
}

void modules_unusable(struct modules *m, struct texts *ret_changed, struct texts *ret_missing)
{
	for (size_t i = 0; i < m->model->image_count; i++)
		modules_of(m, &m->model->images[i]);
	for (size_t i = 0; i < m->file_count; i++) {
		const struct module_file *f = &m->files[i];
		bool has_names = f->compiled_by || modules_open(m, i);

		if (f->code == -ESTALE)
			texts_add(ret_changed, "%s is not the build that was recorded: not used%s", f->shown,
				  has_names ? ", the capture has kept names" : "");
		else if (!has_names && f->code && f->code != -ENOTSUP && f->code != -ENOEXEC)
			texts_add(ret_missing, "%s cannot be opened here: its functions have no names", f->shown);
	}
}
