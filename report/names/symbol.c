/* SPDX-License-Identifier: Apache-2.0 */
/* Names addresses by the symbols of their modules, else by module and offset. */
#include "report/names/symbol.h"

#include <stdlib.h>
#include <string.h>

#include "report/names/demangle.h"
#include "report/names/python.h"
#include "report/names/symbol_module.h"

/* The place of a frame: an address in a file, or an instruction of Python code. */
struct symbol_key {
	size_t file;	  /* NO_FILE: the address is one of the image */
	uint64_t address; /* in the file */
	const struct image *image; /* NULL: it is not Python code */
	struct tf_python_frame python;
	const struct code_line *line, *exact; /* NULL: not looked up yet */
	struct symbol_line found; /* by debug information */
	uint32_t caller; /* 1 + the place of the function into which it was inlined; 0: it was not */
	bool knows_source;
};

#define NO_FILE SIZE_MAX

enum { STACK_FRAMES = TF_BLOB_BYTES / sizeof(uint64_t) }; /* the most that a stack has */

struct symbols {
	struct modules modules;
	struct map ranks; /* image and Python code -> 1 + enum python_rank, by symbols_python */
	struct map recorders; /* image and Python code -> 1 + whether it is the recorder's */
	/* (file + 1, address in it), (0, address) or what Python code runs -> position in places; that of a function
	 * into which others were inlined has their number in the upper half of the first word */
	struct map frames;
	struct code_lines lines;
	struct symbol_key *places;
	size_t place_count, place_capacity;
	size_t names; /* number of addresses that were looked up in symbol tables */
};

struct symbols *symbols_new(const struct model *m, bool opens_files)
{
	struct symbols *s = mem_alloc(sizeof(*s));

	modules_init(&s->modules, m, opens_files);
	return s;
}

void symbols_skip_c_library(struct symbols *s)
{
	s->modules.skips_c_library = true;
}

bool symbols_skips_c_library(const struct symbols *s)
{
	return s->modules.skips_c_library;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	free(s->places);
	code_lines_done(&s->lines);
	map_done(&s->ranks);
	map_done(&s->recorders);
	map_done(&s->frames);
	modules_done(&s->modules);
	free(s);
}

const struct texts *symbols_problems(const struct symbols *s)
{
	return &s->modules.problems;
}

void symbols_unusable(struct symbols *s, struct texts *ret_changed, struct texts *ret_missing)
{
	modules_unusable(&s->modules, ret_changed, ret_missing);
}

struct symbols_cost symbols_cost(const struct symbols *s)
{
	return (struct symbols_cost){s->modules.opened, s->names};
}

/* ---- places ---- */

static uint32_t place_number(struct symbols *s, uint64_t a, uint64_t b, struct symbol_key place)
{
	return (uint32_t)map_place(&s->frames, a, b, s->places, s->place_count, s->place_capacity, place);
}

/* Also makes the places of the functions into which the one at the address was inlined. */
static void find_source(struct symbols *s, uint32_t number)
{
	const struct symbol_key p = s->places[number];
	struct symbol_line lines[SYMBOL_LINES];
	size_t count = p.file == NO_FILE || p.knows_source ? 0 : modules_lines(&s->modules, p.file, p.address, lines);

	s->places[number].knows_source = true;
	for (size_t i = 0; i < count; i++) {
		uint32_t caller;

		s->places[number].found = lines[i];
		if (i + 1 == count)
			break;
		caller = place_number(s, (p.file + 1) | (uint64_t)(i + 1) << 32, p.address,
				      (struct symbol_key){.file = p.file, .address = p.address, .knows_source = true});
		s->places[number].caller = caller + 1;
		number = caller;
	}
}

/* The name of an inlined function, else the one that the symbol table has for the address. */
static const char *symbol_name(struct symbols *s, const struct symbol_key *p)
{
	if (p->caller)
		return p->found.name ? p->found.name : "?";
	s->names += modules_open(&s->modules, p->file);
	return modules_name(&s->modules, p->file, p->address);
}

/* Of a place without names the exact line is its address: as recorded in the stack, not decremented. */
static void name_address(struct symbols *s, struct symbol_key *p)
{
	const char *module = p->file == NO_FILE ? NULL : modules_called(&s->modules, p->file);
	SCOPED(buffer) text = {0};

	buffer_print(&text, "[%s]", module ? module : "unknown");
	p->line = symbols_line(s, text.data, NULL, 0);
	buffer_set(&text, "%s%s0x%llx", module ? module : "", module ? "+" : "",
		   (unsigned long long)p->address + (module != NULL));
	p->exact = symbols_line(s, text.data, NULL, 0);
}

static uint32_t native_place(struct symbols *s, const struct mapped_module *m, uint64_t address)
{
	uint64_t in_file = m ? address - 1 - m->bias : address;

	return place_number(s, m ? m->file + 1 : 0, in_file,
			    (struct symbol_key){.file = m ? m->file : NO_FILE, .address = in_file});
}

/* ---- Python ---- */

static uint32_t python_place(struct symbols *s, const struct image *image, const struct tf_python_frame *f)
{
	return place_number(s, 1ull << 63 | (uint64_t)(image - s->modules.model->images),
			    (uint64_t)f->code << 32 | (f->place & ~TF_PYTHON_ENTRY),
			    (struct symbol_key){.file = NO_FILE, .image = image, .python = *f});
}

const struct code_line *symbols_line(struct symbols *s, const char *function, const char *file, uint32_t line)
{
	return code_lines_of(&s->lines, function, file, line);
}

/* Borrowed until there is another place. */
static const struct symbol_key *named_place(struct symbols *s, uint32_t number)
{
	SCOPED(buffer) function = {0}, file = {0};
	struct symbol_key *p = &s->places[number];
	const char *name;
	uint32_t line;

	if (p->line)
		return p;
	find_source(s, number); /* may move the places */
	p = &s->places[number];
	name = p->file == NO_FILE ? NULL : symbol_name(s, p);
	if (p->image) {
		line = python_describe(p->image->trace, p->python.code, p->python.place & ~TF_PYTHON_ENTRY, &function,
				       &file);
		p->line = symbols_line(s, buffer_string(&function), file.data, line);
	} else if (name || p->found.file) {
		demangle_symbol(&function, name ? name : "?");
		p->line = symbols_line(s, buffer_string(&function), p->found.file, (uint32_t)p->found.line);
	} else {
		name_address(s, p);
	}
	p->exact = p->exact ? p->exact : p->line;
	return p;
}

const struct code_line *symbols_frame(struct symbols *s, const struct image *image, uint64_t address)
{
	return named_place(s, native_place(s, modules_find(&s->modules, image, address - 1, UINT16_MAX), address))
		->exact;
}

void symbols_name(struct symbols *s, struct symbol_frame *f)
{
	const struct symbol_key *p;

	if (f->place == SYMBOL_NO_PLACE)
		return;
	p = named_place(s, f->place);
	f->line = p->line;
	f->exact = p->exact;
	if (p->image)
		f->first_line = python_first_line(p->image->trace, p->python.code);
}

const char *symbols_source(struct symbols *s, const struct symbol_frame *f, uint32_t *ret_line)
{
	const struct symbol_key *p;

	*ret_line = 0;
	if (f->place >= s->place_count)
		return NULL;
	find_source(s, f->place);
	p = &s->places[f->place];
	*ret_line = p->found.line > 0 ? (uint32_t)p->found.line : 0;
	return p->found.file;
}

const char *symbols_compiler(struct symbols *s, const struct symbol_frame *f)
{
	return symbols_source(s, f, &(uint32_t){0}) ? s->places[f->place].found.compiler : NULL;
}

const char *symbols_function(struct symbols *s, const struct symbol_frame *f)
{
	if (f->place >= s->place_count || s->places[f->place].file == NO_FILE)
		return NULL;
	find_source(s, f->place);
	return s->places[f->place].found.name ?: symbol_name(s, &s->places[f->place]);
}

const char *symbols_symbol(struct symbols *s, const struct symbol_frame *f)
{
	if (f->place >= s->place_count || s->places[f->place].file == NO_FILE)
		return NULL;
	s->names += modules_open(&s->modules, s->places[f->place].file);
	return modules_name(&s->modules, s->places[f->place].file, s->places[f->place].address);
}

bool symbols_inlined_in(struct symbols *s, struct symbol_frame *f)
{
	uint32_t caller;

	if (f->is_python || f->place >= s->place_count)
		return false;
	find_source(s, f->place);
	caller = s->places[f->place].caller;
	if (!caller)
		return false;
	f->place = caller - 1;
	f->line = f->exact = NULL;
	return true;
}

/* Adds the functions into which the named frames were inlined. */
static size_t add_inlined(struct symbols *s, struct symbol_frame *ret, size_t count, size_t size)
{
	SCOPED_MEMORY struct symbol_frame *native = NULL;
	size_t used, at = 0;

	while (at < count && !s->places[ret[at].place].caller)
		at++;
	if (at == count)
		return count;
	native = mem_alloc(count * sizeof(*native));
	memcpy(native, ret, count * sizeof(*native));
	for (used = at; at < count; at++) {
		struct symbol_frame f = native[at];

		do {
			if (used < size) {
				symbols_name(s, &f);
				ret[used++] = f;
			}
		} while (symbols_inlined_in(s, &f));
	}
	return used;
}

/* The Python frames of a stack, from the innermost one on. */
struct python_side {
	struct tf_python_frame frames[STACK_FRAMES];
	size_t count, next;
};

static bool is_recorder_code(struct symbols *s, const struct image *image, uint32_t code)
{
	uint64_t *known = map_put(&s->recorders, (uint64_t)(image - s->modules.model->images), code, NULL);

	if (!*known)
		*known = 1 + python_is_recorders(image->trace, code);
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

/* How many native frames of the interpreter's loop have no Python frames. They are the innermost ones if a sample
 * was taken while an invocation began or ended. If the Python frames were truncated they are the outermost ones,
 * which are not searched for. */
static size_t bare_evaluations(const struct python_side *p, const struct symbol_frame *native, size_t count)
{
	const struct tf_python_frame *last = p->count ? &p->frames[p->count - 1] : NULL;

	if (!last || (!last->code && !(last->place & TF_PYTHON_ENTRY))) /* the end of an invocation */
		return 0;
	return rest_of(array_sum(one, native, count, symbol_is_evaluation(one->line->function)),
		       array_sum(frame, p->frames, p->count, (frame->place & TF_PYTHON_ENTRY) != 0));
}

/* Python frames without a native frame, because the unwinder stopped early, are put below the native frames, after a
 * line that states this, which is not needed without native frames. */
static size_t add_left_over(struct symbols *s, const struct image *image, struct python_side *p,
			    struct symbol_frame *ret, size_t used, size_t size)
{
	static const struct code_line remark = {.function = "(Python frames whose position is unknown)"};
	static const struct symbol_frame mark = {&remark, &remark, .module = "", .place = SYMBOL_NO_PLACE};
	struct symbol_frame frame = {.module = "", .is_python = true};
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
	SCOPED_MEMORY struct symbol_frame *native = mem_alloc(count * sizeof(*native) + 1);
	const char *interpreter = NULL;
	size_t used = 0, bare;

	memcpy(native, ret, count * sizeof(*native));
	bare = bare_evaluations(p, native, count);
	for (size_t i = 0; i < count && !interpreter; i++)
		interpreter = symbol_is_evaluation(native[i].line->function) ? native[i].module : NULL;
	for (size_t i = 0; i < count && used < size; i++) {
		struct symbol_frame f = native[i];
		bool is_place = symbol_is_evaluation(f.line->function);

		/* `python -X perf` compiles "py::work:/srv/job.py" for each function, around the loop */
		if (text_begins_with(f.line->function, "py::"))
			continue;
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
		/* A return address is that of the instruction after the call; one byte less is within the call, also
		 * if the call is the last instruction of its function. */
		const struct mapped_module *module = modules_find(&s->modules, image, addresses[i] - 1, unloads);
		const struct module_file *file = module ? &s->modules.files[module->file] : NULL;

		if (!file || !file->is_recorder)
			ret[used++] = (struct symbol_frame){.place = native_place(s, module, addresses[i]),
							    .module = file && !file->compiled_by ? file->shown : "",
							    .address = addresses[i]};
	}
	return used;
}

static enum python_rank code_rank(struct symbols *s, const struct image *image, uint32_t code, python_ranking *rank_of)
{
	uint64_t *known = map_put(&s->ranks, (uint64_t)(image - s->modules.model->images), code, NULL);
	SCOPED(buffer) function = {0}, file = {0};

	if (!*known) {
		python_describe(image->trace, code, 0, &function, &file);
		buffer_clear(&file);
		*known = 1 + (python_file(image->trace, code, &file)
				      ? rank_of(buffer_string(&file), buffer_string(&function))
				      : PYTHON_UNWANTED);
	}
	return (enum python_rank)(*known - 1);
}

bool symbols_python(struct symbols *s, const struct image *image, uint32_t stack, python_ranking *rank_of,
		    struct symbol_frame *ret, enum python_rank *ret_rank)
{
	const struct tf_python_frame *best = NULL;
	enum python_rank rank = PYTHON_UNWANTED;
	struct python_side side;

	read_python(image, stack, &side);
	*ret_rank = PYTHON_UNWANTED;
	for (size_t i = 0; i < side.count && *ret_rank < PYTHON_WANTED && rank != PYTHON_BEGINS; i++) {
		const struct tf_python_frame *f = &side.frames[i];

		if (!f->code || is_recorder_code(s, image, f->code))
			continue;
		rank = rank_of ? code_rank(s, image, f->code, rank_of) : PYTHON_WANTED;
		best = !best || rank > *ret_rank ? f : best;
		*ret_rank = rank > *ret_rank ? rank : *ret_rank;
	}
	if (best)
		*ret = (struct symbol_frame){.place = python_place(s, image, best), .module = "", .is_python = true};
	return best;
}

size_t symbols_pythons(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		       size_t size)
{
	struct python_side side;
	size_t used = 0;

	read_python(image, stack, &side);
	for (size_t i = 0; i < side.count && used < size; i++)
		if (side.frames[i].code && !is_recorder_code(s, image, side.frames[i].code))
			ret[used++] = (struct symbol_frame){.place = python_place(s, image, &side.frames[i]),
							    .module = "", .is_python = true};
	return used;
}

size_t symbols_frames(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		      size_t size)
{
	size_t count = symbols_native(s, image, stack, ret, size);
	struct python_side side;

	for (size_t i = 0; i < count; i++)
		symbols_name(s, &ret[i]);
	count = add_inlined(s, ret, count, size);
	return read_python(image, stack, &side) ? merge_python(s, image, &side, ret, count, size) : count;
}

/* Whether one of the frames is the interpreter's loop; its file is then the interpreter. Only files with a matching
 * name are examined, from the outermost frame on, where every interpreter has such a frame. */
static bool finds_interpreter(struct symbols *s, struct symbol_frame *frames, size_t count, const char *called)
{
	while (count-- > 0) {
		struct symbol_frame *f = &frames[count];

		if (!*f->module || !strstr(path_name(f->module), called))
			continue;
		while (symbols_inlined_in(s, f))
			;
		symbols_name(s, f);
		if (symbol_is_evaluation(f->line->function)) {
			s->modules.files[s->places[f->place].file].is_interpreter = true;
			return true;
		}
	}
	return false;
}

static void search_interpreter(struct symbols *s, const struct image *image, uint32_t stack)
{
	SCOPED_MEMORY struct symbol_frame *frames = mem_alloc(STACK_FRAMES * sizeof(*frames));
	size_t count = symbols_native(s, image, stack, frames, STACK_FRAMES);
	bool is_found = finds_interpreter(s, frames, count, "python");
	struct module_space *space = modules_of(&s->modules, image);

	/* For a program with a built-in interpreter: examines any file, but for only one stack of each image. */
	if (!is_found && !space->was_searched)
		is_found = finds_interpreter(s, frames, count, "");
	space->was_searched = true;
	space->has_interpreter |= is_found;
}

bool symbols_ends_in_interpreter(struct symbols *s, const struct image *image, uint32_t stack)
{
	struct symbol_frame innermost;
	size_t file;

	if (!trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack) ||
	    !symbols_native(s, image, stack, &innermost, 1))
		return false;
	file = s->places[innermost.place].file;
	if (!modules_of(&s->modules, image)->has_interpreter)
		search_interpreter(s, image, stack);
	return file != NO_FILE && s->modules.files[file].is_interpreter;
}

void symbols_stack(struct symbols *s, const struct image *image, uint32_t stack, struct buffer *ret)
{
	SCOPED_MEMORY struct symbol_frame *frames = mem_alloc(STACK_FRAMES * sizeof(*frames));
	size_t count = symbols_frames(s, image, stack, frames, STACK_FRAMES);

	for (size_t i = 0, shown = 0; i < count; i++) {
		if (frames[i].is_interpreter)
			continue;
		if (shown++)
			buffer_text(ret, " <- ");
		code_line_text(frames[i].exact, ret);
	}
	if (!count)
		buffer_text(ret, trace_definition(image->trace, TF_BLOB_STACK, stack) ? "(empty)" : "(stack lost)");
}

/* ---- names to keep ---- */

PLACE_COMPARATOR(places_by_address, struct symbol_key,
		 order_of(a->file, b->file) ?: order_of(a->address, b->address))

static void keep_place(struct symbols *s, uint32_t number, struct buffer *ret)
{
	struct symbol_line line = {0};
	const struct symbol_key *p;

	find_source(s, number);
	do {
		p = &s->places[number];
		line = (struct symbol_line){symbol_name(s, p), p->found.file, p->found.line};
		if (line.name || line.file)
			kept_write_line(ret, p->address, &line);
		number = p->caller - 1;
	} while (p->caller);
}

/* Makes the places of all addresses of an image's stacks. */
static void read_stacks(struct symbols *s, const struct image *image, struct symbol_frame *frames)
{
	blobs_each(b, image->trace, TF_BLOB_STACK)
		symbols_native(s, image, b->id, frames, STACK_FRAMES);
}

void symbols_keep(struct symbols *s, struct buffer *ret)
{
	SCOPED_MEMORY struct symbol_frame *frames = mem_alloc(STACK_FRAMES * sizeof(*frames));
	size_t count, *order, file = NO_FILE;

	for (size_t i = 0; i < s->modules.model->image_count; i++)
		read_stacks(s, &s->modules.model->images[i], frames);
	count = s->place_count; /* naming them adds those of callers */
	order = places_in_order(count, places_by_address, s->places);
	for (size_t i = 0; i < count; i++) {
		const struct symbol_key *p = &s->places[order[i]];
		const struct module_file *f = p->file != NO_FILE ? &s->modules.files[p->file] : NULL;

		if (!f || !modules_open(&s->modules, p->file))
			continue;
		if (p->file != file)
			kept_write_module(ret, f->path, &f->build);
		file = p->file;
		keep_place(s, (uint32_t)order[i], ret);
	}
	free(order);
}
