/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/where/stack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/names/attribution.h"
#include "report/names/demangle.h"
#include "report/names/python.h"
#include "report/names/symbol_module.h"
#include "report/names/unwind.h"

enum { FRAMES = 256 };

struct where_files {
	struct {
		char *path;
		struct symbol_file *file; /* NULL: it cannot be used */
	} *items;
	size_t count, capacity;
	struct texts problems;
	struct code_lines lines;
	uint64_t realtime_ns; /* of the look */
	bool skips_c_library; /* reads no debug information of it */
};

struct where_files *where_files_new(void)
{
	return mem_alloc(sizeof(struct where_files));
}

void where_files_skip_c_library(struct where_files *f)
{
	f->skips_c_library = true;
}

void where_files_free(struct where_files *f)
{
	for (size_t i = 0; i < f->count; i++) {
		symbol_file_close(f->items[i].file);
		free(f->items[i].path);
	}
	free(f->items);
	texts_done(&f->problems);
	code_lines_done(&f->lines);
	free(f);
}

const struct texts *where_files_problems(const struct where_files *f)
{
	return &f->problems;
}

/* A file that was replaced would give wrong names. */
static bool has_changed(const struct where_files *f, const char *path)
{
	struct stat st;

	return !stat(path, &st) && (uint64_t)st.st_mtime > f->realtime_ns / 1000000000u;
}

static struct symbol_file *file_open(struct where_files *f, const char *path)
{
	int code = 0;

	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->items[i].path, path))
			return f->items[i].file;
	f->items = mem_grow(f->items, f->count, &f->capacity, sizeof(*f->items));
	f->items[f->count].path = mem_copy_text(path, strlen(path));
	f->items[f->count].file = NULL;
	if (has_changed(f, path))
		texts_add(&f->problems, "%s: changed after the look, its functions have no names", path);
	else
		code = symbol_file_open(path, NULL, &f->items[f->count].file);
	if (code)
		texts_add(&f->problems, "%s: %s, its functions have no names", path, strerror(-code));
	return f->items[f->count++].file;
}

/* ---- frames ---- */

static struct where_frame *frame_add(struct where_stack *s)
{
	mem_append(s->frames, s->count, s->capacity, (struct where_frame){.path = ""});
	return &s->frames[s->count - 1];
}

/* `name`: mangled, NULL: not known; `address`: in the file. */
static void named_add(struct where_stack *s, const struct look_module *m, const char *name, uint64_t address,
		      const struct symbol_line *line)
{
	struct where_frame *f = frame_add(s);
	SCOPED(buffer) function = {0};

	if (name)
		demangle_symbol(&function, name);
	else
		buffer_print(&function, "%s+0x%llx", path_name(m->path), (unsigned long long)address);
	f->path = m->path;
	f->is_named = name;
	f->is_library = line->file && attribution_is_header(line->file);
	f->line = code_lines_of(s->lines, buffer_string(&function), line->file, (uint32_t)line->line);
}

/* The functions that were inlined at the address, then the one that has it. The interpreter's code is hidden: its debug
 * information, of tens of MB, is not read. That of a program that embeds it is hidden beside Python frames only. */
static void native_add(struct where_stack *s, const struct look_module *m, struct symbol_file *file, uint64_t address,
		       bool has_python, bool skips_c_library)
{
	struct symbol_line lines[SYMBOL_LINES] = {0};
	bool is_hidden = (has_python || module_is_interpreter(m->path)) && symbol_file_is_interpreter(file);
	bool is_skipped = is_hidden || (skips_c_library && module_is_c_library(m->path));
	size_t count = is_skipped ? 1 : symbol_file_lines(file, address, lines);

	for (size_t i = 0; i < count; i++) {
		named_add(s, m, i + 1 < count ? lines[i].name : symbol_file_name(file, address), address, &lines[i]);
		s->frames[s->count - 1].is_hidden = is_hidden;
	}
}

static void address_add(struct where_stack *s, uint64_t address)
{
	SCOPED(buffer) text = {0};

	buffer_print(&text, "0x%llx", (unsigned long long)address);
	frame_add(s)->line = code_lines_of(s->lines, text.data, NULL, 0);
}

struct stack_reader {
	struct where_files *files;
	const struct look_process *process;
};

static bool memory_word(void *context, uint64_t address, uint64_t *ret)
{
	const struct stack_reader *r = context;

	return look_memory(r->process, address, ret, sizeof(*ret));
}

/* The file of the code at an address in memory, and its address there. NULL: there is none. A word of a stack may point
 * into any mapping; a file of data has no symbols, and is not opened. */
static struct symbol_file *file_of(struct where_files *files, const struct look_process *p, uint64_t address,
				   const struct look_module **ret_module, uint64_t *ret)
{
	const struct look_module *m = look_module(p, address);
	struct symbol_file *file = m && m->is_executable ? file_open(files, m->path) : NULL;

	*ret_module = m;
	return file && symbol_file_address(file, address - m->start + m->offset, ret) ? file : NULL;
}

static bool is_return(void *context, uint64_t address, uint64_t function)
{
	const struct stack_reader *r = context;
	const struct look_module *m;
	uint8_t code[CALL_BYTES];
	uint64_t in_file;
	struct symbol_file *file = file_of(r->files, r->process, address - 1, &m, &in_file);

	return file && in_file + 1 >= sizeof(code) &&
	       symbol_file_code(file, in_file + 1 - sizeof(code), code, sizeof(code)) &&
	       (function ? prologue_calls(code, (int64_t)(function - address)) : prologue_is_call(code));
}

static bool is_recorder(const char *path)
{
	return text_begins_with(path_name(path), "libpillion");
}

static struct unwind_registers registers_of(const struct look_thread *t)
{
	struct unwind_registers r = {.known = t->head.flags & TF_WHERE_HAS_REGISTERS ? (1u << UNWIND_REGISTERS) - 1
									     : 1u << UNWIND_SP | 1u << UNWIND_PC};

	memcpy(r.value, t->head.registers, sizeof(r.value));
	return r;
}

/* The registers of the caller of a call of MPI or NCCL that is in progress, in the instruction that calls. */
static bool caller_registers(const struct look_process *p, const struct look_thread *t, struct unwind_registers *ret)
{
	const struct tf_where_arguments *a = look_arguments(p, t->head.tid);
	uint64_t words[2]; /* its frame pointer, and where it goes on */

	if (!a || !look_memory(p, a->frame, words, sizeof(words)))
		return false;
	*ret = (struct unwind_registers){.known = 1u << UNWIND_SP | 1u << UNWIND_PC | 1u << UNWIND_FP};
	ret->value[UNWIND_SP] = a->frame + sizeof(words);
	ret->value[UNWIND_FP] = words[0];
	ret->value[UNWIND_PC] = words[1] - 1;
	return true;
}

static void native_read(struct where_files *files, const struct look_process *p, const struct look_thread *t,
			struct unwind_registers r, struct where_stack *s)
{
	struct stack_reader reader = {files, p};
	const struct unwind_memory memory = {memory_word, is_return, &reader};
	enum unwind_outcome outcome = UNWIND_GOES_ON;
	bool is_call = false;

	for (int i = 0; i < FRAMES && outcome == UNWIND_GOES_ON; i++) {
		uint64_t pc = r.value[UNWIND_PC] - is_call, address;
		const struct look_module *m;
		struct symbol_file *file = file_of(files, p, pc, &m, &address);

		if (!file) {
			address_add(s, r.value[UNWIND_PC]);
			return;
		}
		if (!is_recorder(m->path))
			native_add(s, m, file, address, t->python_count, files->skips_c_library);
		outcome = unwind_step(file, pc - address, &memory, &r, &is_call);
	}
	s->is_complete = outcome == UNWIND_ENDED;
}

/* ---- Python ---- */

static void python_add(struct where_stack *s, const struct look_process *p, const struct tf_python_frame *frame)
{
	const struct look_code *code = look_code(p, frame->code);
	SCOPED(buffer) function = {0}, file = {0};
	struct where_frame *f;
	uint32_t line;

	if (!frame->code)
		return;
	line = python_describe_code(code ? code->bytes : (const uint8_t *)"", code ? code->size : 0,
				    frame->place & ~TF_PYTHON_ENTRY, &function, &file);
	if (!file.data || strcmp(file.data, "<pillion>")) {
		f = frame_add(s);
		f->is_python = f->is_named = true;
		f->is_library = file.data && attribution_is_library(file.data);
		f->line = code_lines_of(s->lines, buffer_string(&function), file.data, line);
	}
}

/* Replaces each native frame of the interpreter's loop by the Python frames of that invocation. Those that remain,
 * because the native stack is not complete, follow. */
static void python_merge(const struct look_process *p, const struct look_thread *t, struct where_stack *s)
{
	struct where_stack native = *s;
	const char *interpreter = NULL;
	size_t next = 0;

	*s = (struct where_stack){.lines = native.lines, .is_complete = native.is_complete};
	for (size_t i = 0; i < native.count && !interpreter; i++)
		if (symbol_is_evaluation(native.frames[i].line->function))
			interpreter = native.frames[i].path;
	for (size_t i = 0; i < native.count; i++) {
		bool is_last = !symbol_is_evaluation(native.frames[i].line->function);

		native.frames[i].is_hidden = interpreter && !strcmp(native.frames[i].path, interpreter);
		*frame_add(s) = native.frames[i];
		for (; next < t->python_count && !is_last; next++) {
			is_last = t->python[next].place & TF_PYTHON_ENTRY;
			python_add(s, p, &t->python[next]);
		}
	}
	for (; next < t->python_count; next++)
		python_add(s, p, &t->python[next]);
	free(native.frames);
}

void where_stack_read(struct where_files *files, const struct look *l, const struct look_process *p,
		      const struct look_thread *t, struct where_stack *ret)
{
	struct unwind_registers r;

	*ret = (struct where_stack){.lines = &files->lines};
	files->realtime_ns = p->realtime_ns;
	if (l->has_registers && t->head.flags & TF_WHERE_HAS_STACK)
		native_read(files, p, t, registers_of(t), ret);
	if (l->has_registers && !ret->is_complete && caller_registers(p, t, &r)) {
		free(ret->frames);
		*ret = (struct where_stack){.lines = &files->lines};
		native_read(files, p, t, r, ret);
	}
	if (t->python_count)
		python_merge(p, t, ret);
}

void where_stack_of_task(const struct where_stack *other, const struct look_process *p, const struct look_task *task,
			 struct where_stack *ret)
{
	*ret = (struct where_stack){.lines = other->lines, .is_complete = true};
	for (size_t i = 0; i < task->count; i++)
		python_add(ret, p, &task->frames[i]);
}

void where_stack_done(struct where_stack *s)
{
	free(s->frames);
	*s = (struct where_stack){0};
}

const struct where_frame *where_stack_line(const struct where_stack *s)
{
	const struct where_frame *named = NULL, *library = NULL;

	array_each(const struct where_frame, f, s->frames, s->count) {
		/* The line of queue.get() is wanted, not that of queue.py; of std::mutex::lock(), not the header's. */
		if (f->is_library) {
			library = library ? library : f;
			continue;
		}
		if (!f->is_python && strstr(f->path, "/lib-dynload/")) /* of Python's own modules in C */
			continue;
		if (f->is_python || (f->line->file && !f->is_hidden && !module_is_c_library(f->path)))
			return f;
		if (!named && f->is_named && !f->is_hidden && !module_is_c_library(f->path))
			named = f;
	}
	return library ? library : named;
}
