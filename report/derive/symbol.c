/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols: what the files of the modules call their addresses, else module and offset. */
#include "symbol.h"

#include <stdlib.h>
#include <string.h>

#include "python.h"
#include "demangle.h"
#include "symbol_file.h"

/* A module's file, shared by all images that map it. */
struct module_file {
	char *path;
	uint8_t build_id[20];
	uint8_t build_id_length;
	struct symbol_file *file; /* NULL: cannot be used */
	bool is_recorder;
};

struct mapped_module {
	uint64_t start, end, bias;
	unsigned unloads;
	size_t file;
};

/* The modules of one image. */
struct space {
	struct mapped_module *modules;
	size_t count, capacity;
};

/* No stack has more. */
enum { STACK_FRAMES = TF_BLOB_BYTES / sizeof(uint64_t) };

struct symbols {
	const struct model *model;
	bool opens_files;
	struct module_file *files;
	size_t file_count, file_capacity;
	struct map spaces; /* image -> position in all_spaces + 1 */
	struct space *all_spaces;
	size_t space_count, space_capacity;
	struct map frames; /* (file + 1, address in it) or (0, address) -> position in texts + 1 */
	struct texts texts, problems;
};

struct symbols *symbols_new(const struct model *m, bool opens_files)
{
	struct symbols *s = mem_alloc(sizeof(*s));

	s->model = m;
	s->opens_files = opens_files;
	return s;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->file_count; i++) {
		symbol_file_close(s->files[i].file);
		free(s->files[i].path);
	}
	for (size_t i = 0; i < s->space_count; i++)
		free(s->all_spaces[i].modules);
	free(s->files);
	free(s->all_spaces);
	map_done(&s->spaces);
	map_done(&s->frames);
	texts_done(&s->texts);
	texts_done(&s->problems);
	free(s);
}

const struct texts *symbols_problems(const struct symbols *s)
{
	return &s->problems;
}

static size_t find_file(struct symbols *s, const char *path, const struct tf_module *m)
{
	uint8_t length = m->build_id_length <= sizeof(m->build_id) ? m->build_id_length : 0;
	const char *base = strrchr(path, '/');
	struct module_file *file;

	for (size_t i = 0; i < s->file_count; i++)
		if (!strcmp(s->files[i].path, path) && s->files[i].build_id_length == length &&
		    !memcmp(s->files[i].build_id, m->build_id, length))
			return i;
	s->files = mem_grow(s->files, s->file_count, &s->file_capacity, sizeof(*s->files));
	file = &s->files[s->file_count];
	*file = (struct module_file){.path = mem_copy_text(path, strlen(path)), .build_id_length = length};
	memcpy(file->build_id, m->build_id, length);
	file->is_recorder = !strncmp(base ? base + 1 : path, "libpillion.so", strlen("libpillion.so"));
	if (s->opens_files && path[0] == '/') /* the vdso has none */
		file->file = symbol_file_open(path, file->build_id, length, &s->problems);
	return s->file_count++;
}

static void add_module(struct symbols *s, struct space *space, const struct image *image, const struct blob *b)
{
	char bytes[TF_BLOB_BYTES + 1];
	size_t size = trace_blob(image->trace, b, bytes, TF_BLOB_BYTES);
	struct tf_module module;
	const char *path = bytes + sizeof(module);

	if (size < sizeof(module))
		return;
	bytes[size] = 0;
	memcpy(&module, bytes, sizeof(module));
	if (!*path)
		path = image->executable;
	space->modules = mem_grow(space->modules, space->count, &space->capacity, sizeof(*space->modules));
	space->modules[space->count++] =
		(struct mapped_module){module.start, module.end, module.bias, module.unloads, find_file(s, path, &module)};
}

static const struct image *image_by_nonce(const struct model *m, uint64_t nonce)
{
	for (size_t i = 0; nonce && i < m->image_count; i++)
		if (m->images[i].nonce == nonce)
			return &m->images[i];
	return NULL;
}

/* What the image itself names comes last, so that it is found first; a forked one starts with its parent's. */
static void fill_space(struct symbols *s, struct space *space, const struct image *image, int depth)
{
	const struct image *parent =
		image->via == TF_VIA_FORK && depth < 64 ? image_by_nonce(s->model, image->parent_nonce) : NULL;

	if (parent && parent != image)
		fill_space(s, space, parent, depth + 1);
	for (size_t i = 0; image->trace && i < image->trace->blob_count; i++)
		if (image->trace->blobs[i].type == TF_BLOB_MODULE)
			add_module(s, space, image, &image->trace->blobs[i]);
}

/* unloads: as TF_STACK_UNLOADS has it, of the stack that the address stands in. */
static const struct mapped_module *find_module(struct symbols *s, const struct image *image, uint64_t address, unsigned unloads)
{
	uint64_t *place = map_put(&s->spaces, (uint64_t)(image - s->model->images), 0, NULL);
	const struct mapped_module *latest = NULL;
	const struct space *space;

	if (!*place) {
		s->all_spaces = mem_grow(s->all_spaces, s->space_count, &s->space_capacity, sizeof(*s->all_spaces));
		s->all_spaces[s->space_count] = (struct space){0};
		*place = ++s->space_count;
		fill_space(s, &s->all_spaces[s->space_count - 1], image, 0);
	}
	space = &s->all_spaces[*place - 1];
	for (size_t i = space->count; i-- > 0;) {
		const struct mapped_module *m = &space->modules[i];

		if (address >= m->start && address < m->end && m->unloads <= unloads && (!latest || m->unloads > latest->unloads))
			latest = m;
	}
	return latest;
}

static void describe(const struct module_file *file, uint64_t address, struct buffer *ret)
{
	const char *name = file->file ? symbol_file_name(file->file, address) : NULL, *base;
	int number = 0;
	const char *source = file->file ? symbol_file_source(file->file, address, &number) : NULL;

	if (!name && !source) {
		base = strrchr(file->path, '/');
		/* The return address, as it stands in the stack, not one less. */
		buffer_print(ret, "%s+0x%llx", base ? base + 1 : file->path, (unsigned long long)address + 1);
		return;
	}
	if (name) {
		/* The symbol table's versions, as in name@@GLIBC_2.34, are no part of the name. */
		char *plain = mem_copy_text(name, strcspn(name, "@"));

		demangle(ret, *plain ? plain : name);
		free(plain);
	} else {
		buffer_text(ret, "?");
	}
	if (source)
		buffer_print(ret, " (%s:%d)", source, number);
}

static const struct mapped_module *frame_module(struct symbols *s, const struct image *image, uint64_t address, unsigned unloads)
{
	/* Return addresses point after the call; step back so that a call that ends its function is not blamed on the
	 * next. */
	return find_module(s, image, address - 1, unloads);
}

static const char *module_frame(struct symbols *s, const struct mapped_module *module, uint64_t address)
{
	uint64_t in_file = module ? address - 1 - module->bias : address;
	uint64_t *place = map_put(&s->frames, module ? module->file + 1 : 0, in_file, NULL);
	struct buffer text = {0};

	if (!*place) {
		if (module)
			describe(&s->files[module->file], in_file, &text);
		else
			buffer_print(&text, "0x%llx", (unsigned long long)address);
		texts_add(&s->texts, "%s", text.data);
		buffer_done(&text);
		*place = s->texts.count;
	}
	return s->texts.items[*place - 1];
}

const char *symbols_frame(struct symbols *s, const struct image *image, uint64_t address)
{
	return module_frame(s, frame_module(s, image, address, UINT16_MAX), address);
}

/* ---- Python ---- */

/* The code that a Python frame runs, as "function (file:line)". */
static void describe_code(const struct trace *t, const struct tf_python_frame *f, struct buffer *ret)
{
	const struct blob *b = trace_definition(t, TF_BLOB_PYTHON_CODE, f->code);
	char *bytes = mem_alloc(TF_BLOB_BYTES);
	size_t size = b ? trace_blob(t, b, bytes, TF_BLOB_BYTES) : 0;
	struct tf_python_code code;
	const char *file = bytes + sizeof(code);
	int64_t line;

	if (size >= sizeof(code))
		memcpy(&code, bytes, sizeof(code));
	if (size < sizeof(code) || size - sizeof(code) < (size_t)code.file_bytes + code.name_bytes) {
		buffer_text(ret, "Python code that could not be read");
	} else {
		const char *name = file + code.file_bytes, *lines = name + code.name_bytes;

		line = python_line(code.version, (const uint8_t *)lines, (size_t)(bytes + size - lines), code.first_line,
				   f->place & ~TF_PYTHON_ENTRY);
		buffer_print(ret, "%.*s (%.*s:%lld)", (int)code.name_bytes, name, (int)code.file_bytes, file,
			     (long long)(line ? line : code.first_line));
	}
	free(bytes);
}

static const char *python_frame(struct symbols *s, const struct image *image, const struct tf_python_frame *f)
{
	uint64_t *place = map_put(&s->frames, 1ull << 63 | (uint64_t)(image - s->model->images),
				  (uint64_t)f->code << 32 | (f->place & ~TF_PYTHON_ENTRY), NULL);
	struct buffer text = {0};

	if (!*place) {
		describe_code(image->trace, f, &text);
		texts_add(&s->texts, "%s", text.data);
		buffer_done(&text);
		*place = s->texts.count;
	}
	return s->texts.items[*place - 1];
}

static uint32_t first_line(const struct trace *t, uint32_t id)
{
	const struct blob *b = trace_definition(t, TF_BLOB_PYTHON_CODE, id);
	struct tf_python_code code;

	return b && trace_blob(t, b, &code, sizeof(code)) == sizeof(code) ? code.first_line : 0;
}

/* The Python side of a stack, from its innermost frame on. */
struct python_side {
	struct tf_python_frame frames[STACK_FRAMES];
	size_t count, next;
};

/* Those that one C invocation of the interpreter, the native frame `native`, ran. Returns how many now. */
static size_t add_python(struct symbols *s, const struct image *image, struct python_side *p, struct symbol_frame native,
			 struct symbol_frame *ret, size_t used, size_t size)
{
	bool is_last = false;

	for (; p->next < p->count && !is_last; p->next++) {
		const struct tf_python_frame *f = &p->frames[p->next];

		is_last = f->place & TF_PYTHON_ENTRY;
		if (f->code && used < size) {
			native.text = python_frame(s, image, f);
			native.first_line = first_line(image->trace, f->code);
			ret[used++] = native;
		}
	}
	return used;
}

static bool is_evaluation(const char *text)
{
	return !strncmp(text, "_PyEval_EvalFrameDefault", strlen("_PyEval_EvalFrameDefault"));
}

static bool is_end(const struct tf_python_frame *f)
{
	return !f->code && !(f->place & TF_PYTHON_ENTRY);
}

/* Native frames of the interpreter's loop that have no Python frames: the innermost, where a sample came while an invocation
 * began or ended. Where the Python side has been cut, they are the outermost, and not looked for. */
static size_t bare_evaluations(const struct python_side *p, const struct symbol_frame *native, size_t count)
{
	size_t evaluations = 0, entries = 0;

	if (!p->count || is_end(&p->frames[p->count - 1]))
		return 0;
	for (size_t i = 0; i < count; i++)
		evaluations += is_evaluation(native[i].text);
	for (size_t i = 0; i < p->count; i++)
		entries += (p->frames[i].place & TF_PYTHON_ENTRY) != 0;
	return evaluations > entries ? evaluations - entries : 0;
}

/* What finds no place, where the unwinder ended early, comes below the native frames, and below a line that says so. */
static size_t add_left_over(struct symbols *s, const struct image *image, struct python_side *p, struct symbol_frame *ret,
			    size_t used, size_t size)
{
	static const struct symbol_frame mark = {.text = "(Python frames whose place is not known)", .module = ""};
	struct symbol_frame frame = {.text = "", .module = "", .is_python = true};
	size_t before = used;

	if (used < size)
		ret[used++] = mark;
	while (p->next < p->count && used < size)
		used = add_python(s, image, p, frame, ret, used, size);
	return used > before + 1 ? used : before;
}

/* Puts each invocation's Python frames in the place of its native frame. None is lost. */
static size_t merge_python(struct symbols *s, const struct image *image, struct python_side *p, struct symbol_frame *ret,
			   size_t count, size_t size)
{
	struct symbol_frame *native = mem_alloc(count * sizeof(*native) + 1);
	const char *interpreter = NULL;
	size_t used = 0, bare;

	memcpy(native, ret, count * sizeof(*native));
	bare = bare_evaluations(p, native, count);
	for (size_t i = 0; i < count && !interpreter; i++)
		interpreter = is_evaluation(native[i].text) ? native[i].module : NULL;
	for (size_t i = 0; i < count && used < size; i++) {
		struct symbol_frame f = native[i];
		bool is_place = is_evaluation(f.text);

		f.is_interpreter = interpreter && f.module == interpreter;
		if (is_place && bare) {
			bare--;
			ret[used++] = f;
		} else if (is_place && p->next < p->count) {
			f.is_interpreter = false;
			f.is_python = true;
			used = add_python(s, image, p, f, ret, used, size);
		} else {
			ret[used++] = f;
		}
	}
	free(native);
	return p->next < p->count ? add_left_over(s, image, p, ret, used, size) : used;
}

static size_t add_python_side(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
			      size_t count, size_t size)
{
	const struct blob *b = trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack);
	struct python_side *p = b ? mem_alloc(sizeof(*p)) : NULL;

	if (p) {
		p->count = trace_blob(image->trace, b, p->frames, sizeof(p->frames)) / sizeof(*p->frames);
		p->next = 0;
		count = merge_python(s, image, p, ret, count, size);
	}
	free(p);
	return count;
}

size_t symbols_frames(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		      size_t size)
{
	const struct blob *b = trace_definition(image->trace, TF_BLOB_STACK, stack);
	uint64_t addresses[STACK_FRAMES];
	size_t count = b ? trace_blob(image->trace, b, addresses, sizeof(addresses)) / sizeof(uint64_t) : 0, used = 0;
	bool has_unloads = count && addresses[0] & TF_STACK_UNLOADS;
	unsigned unloads = has_unloads ? (uint16_t)addresses[0] : 0;

	for (size_t i = has_unloads; i < count && used < size; i++) {
		const struct mapped_module *module = frame_module(s, image, addresses[i], unloads);

		if (!module || !s->files[module->file].is_recorder)
			ret[used++] = (struct symbol_frame){.text = module_frame(s, module, addresses[i]),
							    .module = module ? s->files[module->file].path : "",
							    .address = addresses[i]};
	}
	return add_python_side(s, image, stack, ret, used, size);
}

void symbols_stack(struct symbols *s, const struct image *image, uint32_t stack, struct buffer *ret)
{
	struct symbol_frame *frames = mem_alloc(STACK_FRAMES * sizeof(*frames));
	size_t count = symbols_frames(s, image, stack, frames, STACK_FRAMES);

	for (size_t i = 0, shown = 0; i < count; i++) {
		if (frames[i].is_interpreter)
			continue;
		if (shown++)
			buffer_text(ret, " <- ");
		buffer_text(ret, frames[i].text);
	}
	if (!count)
		buffer_text(ret, trace_definition(image->trace, TF_BLOB_STACK, stack) ? "(empty)" : "(stack lost)");
	free(frames);
}
