/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/own_stack.h"

#include <stdlib.h>
#include <string.h>

#include "report/names/attribution.h"
#include "report/names/symbol_module.h"

enum { STACK_FRAMES = TF_BLOB_BYTES / sizeof(uint64_t) };

void own_stacks_init(struct own_stacks *o, struct symbols *symbols)
{
	*o = (struct own_stacks){.attribution = {.symbols = symbols},
				 .read = mem_alloc(STACK_FRAMES * sizeof(*o->read))};
	texts_add(&o->texts, "%s", "");
}

void own_function_done(struct own_function *f)
{
	free(f->name);
	free(f->file);
}

void own_stacks_done(struct own_stacks *o)
{
	array_free(function, o->functions, o->function_count, own_function_done(function));
	free(o->frames);
	free(o->stacks);
	free(o->read);
	texts_done(&o->texts);
	map_done(&o->by_name);
	map_done(&o->by_place);
	map_done(&o->by_stack);
	map_done(&o->by_text);
	attribution_done(&o->attribution);
}

/* ---- functions ---- */

/* With a dot, which "f.<locals>.<genexpr>" has. */
static const char *const comprehensions[] = {".<genexpr>", ".<listcomp>", ".<setcomp>", ".<dictcomp>", ".<locals>"};

/* "f.<locals>.<genexpr>" -> "f": what it is written in. */
static void strip_comprehensions(char *name)
{
	bool is_comprehension = true;

	while (is_comprehension) {
		is_comprehension = false;
		for (size_t i = 0; i < sizeof(comprehensions) / sizeof(*comprehensions); i++)
			if (text_ends_with(name, comprehensions[i]) && strlen(name) > strlen(comprehensions[i])) {
				name[strlen(name) - strlen(comprehensions[i])] = '\0';
				is_comprehension = true;
			}
	}
}

/* Without the name of what it is written in: at the top of a file, and in all of Python before 3.11. */
static bool is_comprehension(const char *name)
{
	return array_find(word, comprehensions, sizeof(comprehensions) / sizeof(*comprehensions),
			  !strcmp(name, *word + 1)) != NULL;
}

static uint32_t function_of(struct own_stacks *o, const char *of, const char *file)
{
	char *name = mem_copy_text(of, strlen(of));
	bool is_new;
	uint64_t *known;

	strip_comprehensions(name);
	known = map_put(&o->by_name, hash_bytes(name, strlen(name)), hash_bytes(file, strlen(file)), &is_new);
	if (is_new) {
		o->functions = mem_grow(o->functions, o->function_count, &o->function_capacity,
					sizeof(*o->functions));
		o->functions[o->function_count] = (struct own_function){name, mem_copy_text(file, strlen(file))};
		*known = o->function_count++;
	} else {
		free(name);
	}
	return (uint32_t)*known;
}

static void push_frame(struct own_stacks *o, uint32_t function, uint32_t line)
{
	mem_append(o->frames, o->frame_count, o->frame_capacity, (struct own_frame){function, line});
}

static void add_frame(struct own_stacks *o, struct symbol_frame *f)
{
	bool is_new;
	uint64_t *known = map_put(&o->by_place, f->place, 0, &is_new);

	if (is_new) {
		symbols_name(o->attribution.symbols, f);
		*known = (uint64_t)function_of(o, f->line->function, f->line->file ? f->line->file : "") << 32 |
			 f->line->line;
	}
	push_frame(o, (uint32_t)(*known >> 32), (uint32_t)*known);
}

/* ---- what the innermost own frame calls ---- */

#define MODULE_CALL "/torch/nn/modules/module.py"

/* Code of frameworks around the work of a model: what it calls is the network, its gradients, its optimizer. */
static bool is_model(const char *file)
{
	return text_any(text_has, file, "/torch/optim/", "/torch/_dynamo/", "/torchinductor_") ||
	       text_any(text_ends_with, file, MODULE_CALL, "/torch/autograd/graph.py", "/torch/autograd/__init__.py",
			"/torch/_tensor.py");
}

/* "torch.optim" for .../site-packages/torch/optim/__init__.py. */
static void add_module(const char *file, struct buffer *ret)
{
	static const char *const marks[] = {"/site-packages/", "/dist-packages/", "/lib-dynload/"};
	const char *name = path_name(file), *end;

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (strstr(file, marks[i]))
			name = strstr(file, marks[i]) + strlen(marks[i]);
	end = name + strlen(name);
	if (text_ends_with(name, "/__init__.py"))
		end -= strlen("/__init__.py");
	else
		end = path_name(name) + strcspn(path_name(name), ".");
	for (; name < end; name++)
		buffer_print(ret, "%c", *name == '/' ? '.' : *name);
}

/* "copy.deepcopy" for deepcopy (/usr/lib/python3.11/copy.py:12), "PIL.load" for that of PIL/__init__.py. */
static void callee_words(const struct code_line *f, struct buffer *ret)
{
	size_t length = strlen(f->file);
	const char *end = f->file + length, *base;

	if (text_ends_with(f->file, "/__init__.py"))
		end = f->file + length - strlen("/__init__.py");
	else if (text_ends_with(f->file, ".py"))
		end -= strlen(".py");
	for (base = end; base > f->file && base[-1] != '/'; base--)
		;
	if (function_is_module(f->function)) {
		buffer_text(ret, "imports ");
		add_module(f->file, ret);
	} else if (*f->file == '<') /* a frozen module: "<frozen os>" */
		buffer_text(ret, f->function);
	else
		buffer_print(ret, "%.*s.%s", (int)(end - base), base, f->function);
}

static bool is_libc(const char *module)
{
	return module_is_c_library(module) && !text_begins_with(path_name(module), "libstdc++");
}

/* Functions of the interpreter in C, as symbol tables name them, and what Python calls them. */
static const char *builtin_name(const char *symbol)
{
	static const char builtin[] = "builtin_";

	if (!strcmp(symbol, "gc_collect"))
		return "gc.collect";
	if (text_begins_with(symbol, "gc_collect_") || !strcmp(symbol, "_Py_RunGC"))
		return "garbage collection";
	return text_begins_with(symbol, builtin) ? symbol + strlen(builtin) : NULL;
}

/* The extension module, or the builtin function, that the innermost Python frame calls: the outermost one inside of
 * the interpreter's loop. */
static void native_callee_words(struct own_stacks *o, const struct image *image, uint32_t stack, struct buffer *ret)
{
	struct symbols *symbols = o->attribution.symbols;
	size_t count = symbols_native(symbols, image, stack, o->read, STACK_FRAMES);

	for (size_t i = 0; i < count; i++) {
		const struct symbol_frame *f = &o->read[i];
		bool is_extension = text_any(text_has, f->module, ".cpython-", ".abi3.");
		const char *symbol = is_extension || is_libc(f->module) ? NULL : symbols_symbol(symbols, f), *name;

		if (symbol && text_begins_with(symbol, "_PyEval_EvalFrame"))
			return;
		name = symbol ? builtin_name(symbol) : NULL;
		if (!is_extension && !name)
			continue;
		buffer_clear(ret);
		if (is_extension)
			add_module(f->module, ret);
		else
			buffer_text(ret, name);
	}
	buffer_clear(ret); /* what has called it is not known */
}

static uint32_t text_of(struct own_stacks *o, const struct buffer *text)
{
	bool is_new;
	uint64_t *known = map_put(&o->by_text, hash_bytes(buffer_string(text), text->size), 0, &is_new);

	if (is_new) {
		*known = o->texts.count;
		texts_add(&o->texts, "%s", buffer_string(text));
	}
	return (uint32_t)*known;
}

/* ---- stacks ---- */

/* What is written in the frame outside of it, which mostly executes it, is of that one's function. */
static void add_python(struct own_stacks *o, size_t count, size_t at)
{
	struct symbol_frame *f = &o->read[at];
	size_t outer = at;

	while (outer + 1 < count && is_comprehension(o->read[outer].line->function)) {
		symbols_name(o->attribution.symbols, &o->read[outer + 1]);
		if (!o->read[outer + 1].line->file || strcmp(o->read[outer + 1].line->file, f->line->file) != 0)
			break;
		outer++;
	}
	if (outer == at)
		add_frame(o, f);
	else
		push_frame(o, function_of(o, o->read[outer].line->function, f->line->file), f->line->line);
}

/* Of an import: the outermost module, not how it is found and what has asked for it. Else no function that is made in
 * another one, as what a decorator puts around a function, but the comprehensions of one; nor what calls forward(). */
static bool is_callee(const struct code_line *f, bool is_import)
{
	if (is_import)
		return function_is_module(f->function);
	return (!strstr(f->function, "<locals>.") || text_ends_with(f->function, ">")) &&
	       !text_ends_with(f->file, MODULE_CALL);
}

/* What was given to exec() is the program's own only if nothing else is, as the text of `python -c`. */
static uint32_t add_pythons(struct own_stacks *o, size_t count, struct own_stack *ret, bool with_generated)
{
	const struct code_line *callee = NULL;
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < count; i++) {
		const char *file;

		symbols_name(o->attribution.symbols, &o->read[i]);
		file = o->read[i].line->file;
		if (file && attribution_begins_process(file, o->read[i].line->function))
			break;
		if (file && !attribution_is_library(file) && (with_generated || !attribution_is_generated(file))) {
			if (!ret->count && callee) {
				callee_words(callee, &text);
				ret->callee = text_of(o, &text);
			}
			add_python(o, count, i);
			ret->count++;
		} else if (!ret->count && file) {
			ret->is_model |= is_model(file);
			if (is_callee(o->read[i].line, ret->is_import) || (!callee && !ret->is_import))
				callee = o->read[i].line;
		}
	}
	return ret->count;
}

static void add_natives(struct own_stacks *o, const struct image *image, uint32_t stack, struct own_stack *ret)
{
	const struct symbol_frame *frames;

	ret->count = (uint32_t)attribution_users(&o->attribution, image, stack, &frames);
	for (uint32_t i = 0; i < ret->count; i++) {
		struct symbol_frame f = frames[i];

		add_frame(o, &f);
	}
}

/* Code that was compiled at run time is the program's, whatever it calls in the machine that runs it. */
static bool find_compiled(struct own_stacks *o, const struct image *image, uint32_t stack, struct symbol_frame *ret)
{
	size_t count = symbols_frames(o->attribution.symbols, image, stack, o->read, STACK_FRAMES);

	for (size_t i = 0; i < count; i++)
		if (!o->read[i].is_python && o->read[i].place != SYMBOL_NO_PLACE && !*o->read[i].module) {
			*ret = o->read[i];
			return true;
		}
	return false;
}

/* Of a stack of native code: the innermost function with a name, not of libc, which any program calls. What has no name
 * is a part of what calls it; of a library where nothing has one, the library. */
static bool find_named(struct own_stacks *o, const struct image *image, uint32_t stack, struct symbol_frame *ret)
{
	size_t count = symbols_native(o->attribution.symbols, image, stack, o->read, STACK_FRAMES), library = count;

	for (size_t i = 0; i < count; i++) {
		*ret = o->read[i];
		if (is_libc(ret->module) || !*ret->module)
			continue;
		symbols_name(o->attribution.symbols, ret);
		if (*ret->line->function != '[' && strcmp(ret->line->function, "_start") != 0)
			return true;
		if (library == count && strcmp(ret->module, image->executable) != 0)
			library = i;
	}
	if (library < count)
		*ret = o->read[library];
	return library < count;
}

static void add_foreign_frame(struct own_stacks *o, const struct image *image, struct symbol_frame *f, bool is_users,
			      struct own_stack *ret)
{
	SCOPED(buffer) library = {0};

	add_frame(o, f);
	ret->count++;
	symbols_name(o->attribution.symbols, f);
	if (is_users || !*f->module || *f->line->function == '[' ||
	    (image->executable && !strcmp(f->module, image->executable)))
		return;
	buffer_text(&library, path_name(f->module));
	ret->callee = text_of(o, &library);
}

static void add_foreign(struct own_stacks *o, const struct image *image, uint32_t stack, bool is_python,
			struct own_stack *ret)
{
	struct symbol_frame one;
	char program[64];
	bool is_users;

	ret->is_foreign = attribution_stack(&o->attribution, image, stack, &one, &is_users);
	if (!ret->is_foreign)
		return;
	is_users |= find_compiled(o, image, stack, &one);
	if (is_python || is_users || !image->executable) {
		add_foreign_frame(o, image, &one, is_users, ret);
		return;
	}
	if (find_named(o, image, stack, &one))
		add_foreign_frame(o, image, &one, false, ret);
	image_program(image, program, sizeof(program));
	push_frame(o, function_of(o, program, ""), 0);
	ret->count++;
}

/* Of the interpreter, and of libc. */
static bool is_end(struct own_stacks *o, const struct image *image, uint32_t stack)
{
	size_t count = symbols_native(o->attribution.symbols, image, stack, o->read, STACK_FRAMES);

	for (size_t i = 0; i < count; i++) {
		const char *function = symbols_function(o->attribution.symbols, &o->read[i]);

		if (function && function_ends_program(function))
			return true;
	}
	return false;
}

/* The innermost frame is in a library of linear algebra, and not in the program. */
static bool is_algebra(struct own_stacks *o, const struct image *image, uint32_t stack)
{
	size_t count = symbols_native(o->attribution.symbols, image, stack, o->read, STACK_FRAMES);

	return count && !(image->executable && text_is(o->read->module, image->executable)) &&
	       attribution_is_algebra(o->read->module);
}

uint32_t own_stack_of(struct own_stacks *o, const struct image *image, uint32_t stack)
{
	bool is_new;
	uint64_t *known = map_put(&o->by_stack, stack, (uint64_t)(uintptr_t)image, &is_new);
	struct own_stack now = {.first = o->frame_count};
	size_t count;

	if (!is_new)
		return (uint32_t)*known;
	*known = o->stack_count;
	count = stack ? symbols_pythons(o->attribution.symbols, image, stack, o->read, STACK_FRAMES) : 0;
	now.is_import = count && attribution_has_import(image, stack);
	if (count && !add_pythons(o, count, &now, false) && !attribution_is_worker(image))
		add_pythons(o, count, &now, true);
	if (count && now.count && !now.callee && !now.is_import) {
		SCOPED(buffer) callee = {0};

		native_callee_words(o, image, stack, &callee);
		now.callee = callee.size ? text_of(o, &callee) : 0;
	} else if (stack && !count) {
		add_natives(o, image, stack, &now);
	}
	now.is_algebra = now.count && !now.is_model && !now.is_import && is_algebra(o, image, stack);
	if (stack && !now.count) {
		add_foreign(o, image, stack, count, &now);
		now.is_end = is_end(o, image, stack);
	}
	mem_append(o->stacks, o->stack_count, o->stack_capacity, now);
	return (uint32_t)(o->stack_count - 1);
}

bool own_is_top(const struct own_stacks *o, uint32_t function)
{
	return function_is_module(o->functions[function].name);
}
