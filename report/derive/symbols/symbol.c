/* SPDX-License-Identifier: Apache-2.0 */
/* Names addresses by the symbols of their modules, else by module and offset. */
#include "report/derive/symbols/symbol.h"

#include <stdlib.h>
#include <string.h>

#include "report/derive/symbols/python.h"
#include "report/derive/symbols/demangle.h"
#include "report/derive/symbols/symbol_file.h"

/* The file of a module, shared by all images that map it. */
struct module_file {
	char *path;
	uint8_t build_id[20];
	uint8_t build_id_length;
	struct symbol_file *file; /* valid once is_opened; NULL: it cannot be used */
	bool is_opened, is_recorder, is_interpreter;
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
	bool has_interpreter; /* of the build that was recorded */
	bool was_searched;    /* number of candidates for it, in files of any name */
};

/* The place of a frame: an address in a file, or an instruction of Python code. */
struct place {
	size_t file;	  /* NO_FILE: the address is one of the image */
	uint64_t address; /* in the file */
	const struct image *image; /* NULL: it is not Python code */
	struct tf_python_frame python;
	char *text;	    /* NULL: not looked up yet */
	const char *source; /* NULL: not known */
	int line;
	bool knows_source;
};

#define NO_FILE SIZE_MAX

/* the most that a stack has */
enum { STACK_FRAMES = TF_BLOB_BYTES / sizeof(uint64_t) };

struct symbols {
	const struct model *model;
	bool opens_files;
	struct module_file *files;
	size_t file_count, file_capacity;
	struct map spaces; /* image -> position in all_spaces + 1 */
	struct space *all_spaces;
	size_t space_count, space_capacity;
	struct map wanted; /* image and Python code -> 1 + the answer of is_wanted in symbols_python */
	struct map recorders; /* image and Python code -> 1 + whether it is the recorder's */
	/* (file + 1, address in it), (0, address) or what Python code runs -> position in places + 1 */
	struct map frames;
	struct place *places;
	size_t place_count, place_capacity;
	struct texts problems;
	struct symbols_cost cost;
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
	for (size_t i = 0; i < s->place_count; i++)
		free(s->places[i].text);
	free(s->places);
	free(s->files);
	free(s->all_spaces);
	map_done(&s->spaces);
	map_done(&s->wanted);
	map_done(&s->recorders);
	map_done(&s->frames);
	texts_done(&s->problems);
	free(s);
}

const struct texts *symbols_problems(const struct symbols *s)
{
	return &s->problems;
}

struct symbols_cost symbols_cost(const struct symbols *s)
{
	return s->cost;
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
	return s->file_count++;
}

/* Opens the file when a name in it is first requested. NULL: it cannot be used. */
static struct symbol_file *open_file(struct symbols *s, struct module_file *f)
{
	if (!f->is_opened && s->opens_files && f->path[0] == '/') { /* the vdso has no file */
		f->file = symbol_file_open(f->path, f->build_id, f->build_id_length, &s->problems);
		s->cost.files++;
	}
	f->is_opened = true;
	return f->file;
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
	space->modules[space->count++] = (struct mapped_module){module.start, module.end, module.bias, module.unloads,
								find_file(s, path, &module)};
}

static const struct image *image_by_nonce(const struct model *m, uint64_t nonce)
{
	for (size_t i = 0; nonce && i < m->image_count; i++)
		if (m->images[i].nonce == nonce)
			return &m->images[i];
	return NULL;
}

/* Modules that the image itself recorded are added last, so that they are found first; a forked image starts with
 * its parent's. */
static void add_modules(struct symbols *s, struct space *space, const struct image *image, int depth)
{
	const struct image *parent =
		image->via == TF_VIA_FORK && depth < 64 ? image_by_nonce(s->model, image->parent_nonce) : NULL;

	if (parent && parent != image)
		add_modules(s, space, parent, depth + 1);
	for (size_t i = 0; image->trace && i < image->trace->blob_count; i++)
		if (image->trace->blobs[i].type == TF_BLOB_MODULE)
			add_module(s, space, image, &image->trace->blobs[i]);
}

static struct space *space_of(struct symbols *s, const struct image *image)
{
	uint64_t *place = map_put(&s->spaces, (uint64_t)(image - s->model->images), 0, NULL);

	if (!*place) {
		s->all_spaces = mem_grow(s->all_spaces, s->space_count, &s->space_capacity, sizeof(*s->all_spaces));
		s->all_spaces[s->space_count] = (struct space){0};
		*place = ++s->space_count;
		add_modules(s, &s->all_spaces[s->space_count - 1], image, 0);
	}
	return &s->all_spaces[*place - 1];
}

/* unloads: the value of TF_STACK_UNLOADS of the stack that contains the address. */
static const struct mapped_module *find_module(struct symbols *s, const struct image *image, uint64_t address,
					       unsigned unloads)
{
	const struct space *space = space_of(s, image);
	const struct mapped_module *latest = NULL;

	for (size_t i = space->count; i-- > 0;) {
		const struct mapped_module *m = &space->modules[i];

		if (address >= m->start && address < m->end && m->unloads <= unloads &&
		    (!latest || m->unloads > latest->unloads))
			latest = m;
	}
	return latest;
}

/* ---- places ---- */

static uint32_t place_number(struct symbols *s, uint64_t a, uint64_t b, struct place place)
{
	bool is_new;
	uint64_t *known = map_put(&s->frames, a, b, &is_new);

	if (is_new) {
		s->places = mem_grow(s->places, s->place_count, &s->place_capacity, sizeof(*s->places));
		s->places[s->place_count] = place;
		*known = s->place_count++;
	}
	return (uint32_t)*known;
}

static void find_source(struct symbols *s, struct place *p)
{
	struct symbol_file *file = p->file != NO_FILE ? open_file(s, &s->files[p->file]) : NULL;

	if (file && !p->knows_source)
		p->source = symbol_file_source(file, p->address, &p->line);
	p->knows_source = true;
}

static void describe_place(struct symbols *s, struct place *p, struct buffer *ret)
{
	const struct module_file *module = &s->files[p->file];
	struct symbol_file *file = open_file(s, &s->files[p->file]);
	const char *name = file ? symbol_file_name(file, p->address) : NULL, *base;

	s->cost.names += file != NULL;
	find_source(s, p);
	if (!name && !p->source) {
		base = strrchr(module->path, '/');
		/* The return address as recorded in the stack, not decremented. */
		buffer_print(ret, "%s+0x%llx", base ? base + 1 : module->path, (unsigned long long)p->address + 1);
		return;
	}
	if (name) {
		/* Symbol versions, as in name@@GLIBC_2.34, are not part of the name. */
		char *plain = mem_copy_text(name, strcspn(name, "@"));

		demangle(ret, *plain ? plain : name);
		free(plain);
	} else {
		buffer_text(ret, "?");
	}
	if (p->source)
		buffer_print(ret, " (%s:%d)", p->source, p->line);
}

static const struct mapped_module *frame_module(struct symbols *s, const struct image *image, uint64_t address,
						unsigned unloads)
{
	/* A return address is that of the instruction after the call; one byte less is within the call, also if the
	 * call is the last instruction of its function. */
	return find_module(s, image, address - 1, unloads);
}

static uint32_t native_place(struct symbols *s, const struct mapped_module *m, uint64_t address)
{
	uint64_t in_file = m ? address - 1 - m->bias : address;

	return place_number(s, m ? m->file + 1 : 0, in_file,
			    (struct place){.file = m ? m->file : NO_FILE, .address = in_file});
}

/* ---- Python ---- */

static uint32_t python_place(struct symbols *s, const struct image *image, const struct tf_python_frame *f)
{
	return place_number(s, 1ull << 63 | (uint64_t)(image - s->model->images),
			    (uint64_t)f->code << 32 | (f->place & ~TF_PYTHON_ENTRY),
			    (struct place){.file = NO_FILE, .image = image, .python = *f});
}

static const char *place_text(struct symbols *s, uint32_t number)
{
	struct place *p = &s->places[number];
	struct buffer text = {0};

	if (p->text)
		return p->text;
	if (p->image)
		python_describe(p->image->trace, p->python.code, p->python.place & ~TF_PYTHON_ENTRY, &text);
	else if (p->file != NO_FILE)
		describe_place(s, p, &text);
	else
		buffer_print(&text, "0x%llx", (unsigned long long)p->address);
	p->text = mem_copy_text(buffer_string(&text), text.size);
	buffer_done(&text);
	return p->text;
}

const char *symbols_frame(struct symbols *s, const struct image *image, uint64_t address)
{
	return place_text(s, native_place(s, frame_module(s, image, address, UINT16_MAX), address));
}

void symbols_name(struct symbols *s, struct symbol_frame *f)
{
	const struct place *p;

	if (f->place == SYMBOL_NO_PLACE)
		return;
	p = &s->places[f->place];
	f->text = place_text(s, f->place);
	if (p->image)
		f->first_line = python_first_line(p->image->trace, p->python.code);
}

const char *symbols_source(struct symbols *s, const struct symbol_frame *f, uint32_t *ret_line)
{
	struct place *p = f->place < s->place_count ? &s->places[f->place] : NULL;

	*ret_line = 0;
	if (!p)
		return NULL;
	find_source(s, p);
	*ret_line = p->line > 0 ? (uint32_t)p->line : 0;
	return p->source;
}

/* The Python frames of a stack, from the innermost one on. */
struct python_side {
	struct tf_python_frame frames[STACK_FRAMES];
	size_t count, next;
};

/* Whether preload/python/annotate.c compiled the code. */
static bool is_recorder_code(struct symbols *s, const struct image *image, uint32_t code)
{
	uint64_t *known = map_put(&s->recorders, (uint64_t)(image - s->model->images), code, NULL);
	struct buffer file = {0};

	if (!*known)
		*known = 1 + (python_file(image->trace, code, &file) && !strcmp(file.data, "<pillion>"));
	buffer_done(&file);
	return *known > 1;
}

/* Adds the frames that one C invocation of the interpreter, the native frame `native`, executed. Returns how many
 * there are now. */
static size_t add_python(struct symbols *s, const struct image *image, struct python_side *p,
			 struct symbol_frame native, struct symbol_frame *ret, size_t used, size_t size)
{
	bool is_last = false;

	for (; p->next < p->count && !is_last; p->next++) {
		const struct tf_python_frame *f = &p->frames[p->next];

		is_last = f->place & TF_PYTHON_ENTRY;
		if (f->code && used < size && !is_recorder_code(s, image, f->code)) {
			native.place = python_place(s, image, f);
			symbols_name(s, &native);
			ret[used++] = native;
		}
	}
	return used;
}

static bool is_evaluation(const char *text)
{
	return !strncmp(text, "_PyEval_EvalFrameDefault", strlen("_PyEval_EvalFrameDefault"));
}

static bool is_invocation_end(const struct tf_python_frame *f)
{
	return !f->code && !(f->place & TF_PYTHON_ENTRY);
}

/* How many native frames of the interpreter's loop have no Python frames. They are the innermost ones if a sample
 * was taken while an invocation began or ended. If the Python frames were truncated they are the outermost ones,
 * which are not searched for. */
static size_t bare_evaluations(const struct python_side *p, const struct symbol_frame *native, size_t count)
{
	size_t evaluations = 0, entries = 0;

	if (!p->count || is_invocation_end(&p->frames[p->count - 1]))
		return 0;
	for (size_t i = 0; i < count; i++)
		evaluations += is_evaluation(native[i].text);
	for (size_t i = 0; i < p->count; i++)
		entries += (p->frames[i].place & TF_PYTHON_ENTRY) != 0;
	return evaluations > entries ? evaluations - entries : 0;
}

/* Python frames without a matching native frame, because the unwinder stopped early, are put below the native
 * frames, after a line that states this; without any native frames that line is not needed. */
static size_t add_left_over(struct symbols *s, const struct image *image, struct python_side *p,
			    struct symbol_frame *ret, size_t used, size_t size)
{
	static const struct symbol_frame mark = {
		.text = "(Python frames whose position is unknown)", .module = "", .place = SYMBOL_NO_PLACE};
	struct symbol_frame frame = {.text = "", .module = "", .is_python = true};
	size_t before = used, first;

	if (used && used < size)
		ret[used++] = mark;
	first = used;
	while (p->next < p->count && used < size)
		used = add_python(s, image, p, frame, ret, used, size);
	return used > first ? used : before;
}

/* Replaces the native frames of each invocation by its Python frames. None is lost. */
static size_t merge_python(struct symbols *s, const struct image *image, struct python_side *p,
			   struct symbol_frame *ret, size_t count, size_t size)
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

/* False: the stack has no Python frames. */
static bool read_python(const struct image *image, uint32_t stack, struct python_side *ret)
{
	const struct blob *b = trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack);

	ret->next = 0;
	ret->count = b ? trace_blob(image->trace, b, ret->frames, sizeof(ret->frames)) / sizeof(*ret->frames) : 0;
	return b;
}

size_t symbols_native(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
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
			ret[used++] = (struct symbol_frame){.place = native_place(s, module, addresses[i]),
							    .module = module ? s->files[module->file].path : "",
							    .address = addresses[i]};
	}
	return used;
}

static bool is_code_wanted(const struct trace *t, uint32_t code, bool (*is_wanted)(const char *file))
{
	struct buffer file = {0};
	bool is = python_file(t, code, &file) && is_wanted(file.data);

	buffer_done(&file);
	return is;
}

bool symbols_python(struct symbols *s, const struct image *image, uint32_t stack, bool (*is_wanted)(const char *file),
		    struct symbol_frame *ret, bool *ret_is_wanted)
{
	const struct tf_python_frame *innermost = NULL, *f;
	struct python_side side;

	read_python(image, stack, &side);
	*ret_is_wanted = false;
	for (f = side.frames; f < side.frames + side.count && !*ret_is_wanted; f++) {
		bool is_shown = f->code && !is_recorder_code(s, image, f->code);
		uint64_t *known =
			is_shown ? map_put(&s->wanted, (uint64_t)(image - s->model->images), f->code, NULL) : NULL;

		if (known && !is_wanted) {
			innermost = f;
			break;
		}
		if (known && !*known)
			*known = 1 + is_code_wanted(image->trace, f->code, is_wanted);
		*ret_is_wanted = known && *known > 1;
		innermost = known && (!innermost || *ret_is_wanted) ? f : innermost;
	}
	if (innermost)
		*ret = (struct symbol_frame){
			.place = python_place(s, image, innermost), .module = "", .is_python = true};
	return innermost;
}

bool symbols_has_python(const struct image *image, uint32_t stack, bool (*is_wanted)(const char *file))
{
	struct python_side side;
	bool has = false;

	read_python(image, stack, &side);
	for (size_t i = 0; i < side.count && !has; i++)
		has = is_code_wanted(image->trace, side.frames[i].code, is_wanted);
	return has;
}

size_t symbols_frames(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		      size_t size)
{
	size_t count = symbols_native(s, image, stack, ret, size);
	struct python_side side;

	for (size_t i = 0; i < count; i++)
		symbols_name(s, &ret[i]);
	return read_python(image, stack, &side) ? merge_python(s, image, &side, ret, count, size) : count;
}

/* Whether one of the frames is the interpreter's loop; its file is then the interpreter. Only files with a matching
 * name are examined, from the outermost frame on, where every interpreter has such a frame. */
static bool finds_interpreter(struct symbols *s, struct symbol_frame *frames, size_t count, const char *called)
{
	while (count-- > 0) {
		struct symbol_frame *f = &frames[count];
		const char *base = strrchr(f->module, '/');

		if (!*f->module || !strstr(base ? base : f->module, called))
			continue;
		symbols_name(s, f);
		if (is_evaluation(f->text)) {
			s->files[s->places[f->place].file].is_interpreter = true;
			return true;
		}
	}
	return false;
}

static void search_interpreter(struct symbols *s, const struct image *image, uint32_t stack)
{
	struct symbol_frame *frames = mem_alloc(STACK_FRAMES * sizeof(*frames));
	size_t count = symbols_native(s, image, stack, frames, STACK_FRAMES);
	bool is_found = finds_interpreter(s, frames, count, "python");
	struct space *space = space_of(s, image);

	/* For a program with a built-in interpreter: examines any file, but for only one stack of each image. */
	if (!is_found && !space->was_searched)
		is_found = finds_interpreter(s, frames, count, "");
	space->was_searched = true;
	space->has_interpreter |= is_found;
	free(frames);
}

bool symbols_ends_in_interpreter(struct symbols *s, const struct image *image, uint32_t stack)
{
	struct symbol_frame innermost;
	size_t file;

	if (!trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack) ||
	    !symbols_native(s, image, stack, &innermost, 1))
		return false;
	file = s->places[innermost.place].file;
	if (!space_of(s, image)->has_interpreter)
		search_interpreter(s, image, stack);
	return file != NO_FILE && s->files[file].is_interpreter;
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
