/* SPDX-License-Identifier: Apache-2.0 */
/* A line is counted when it begins; its time is added when the next line of its function begins in the same thread, or
 * the function returns, yields or is left by an exception. The counts are in the thread's chunk, so they survive the
 * process however it ends. */
#include "preload/python/lines.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "preload/heap/heap_table.h"
#include "preload/hook/hook.h"
#include "preload/nvtx/nvtx_tool.h"
#include "preload/python/lines_frames.h"
#include "preload/python/python_api.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/names.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/sys.h"

/* CODES, BLOCKS: of the process; functions and blocks of lines beyond these are not recorded, which a note says. */
enum { CODES = 1024, BLOCKS = 4096 };

struct line_code {
	uint32_t number;
	uint32_t size; /* of the definition */
	bool is_entered; /* in this process or a parent of it, with --memory */
	uint8_t definition[]; /* struct tf_line_code, then the file and the name */
};

/* The line of a function that a thread executes. */
struct line_now {
	uint64_t ticks;
	uint32_t line; /* 0: none */
	struct line_memory {
		int64_t resident, allocated; /* KiB, of the process */
	} memory; /* when it began */
};

/* What is counted of lines; the numbers of enum tf_lines_number and enum tf_line_memory_number. */
enum line_kind { TIMES, MEMORY, KINDS };
static const struct {
	unsigned blob, numbers, values;
} kinds[KINDS] = {{TF_BLOB_LINES, TF_LINES_NUMBERS, 2}, {TF_BLOB_LINE_MEMORY, TF_LINE_MEMORY_NUMBERS, 4}};
enum { PEAK = 3 }; /* the one of the values of MEMORY that is not a sum */

/* The counts of a block of lines; valid while the thread has the same chunk in the same turn of the ring. */
struct line_block {
	uint64_t *slots;
	uint32_t chunks, turn;
};

struct line_thread {
	uint64_t generation; /* of the image; a forked child begins anew */
	struct line_now now[CODES];
	struct line_block blocks[KINDS][BLOCKS];
	bool is_entered; /* the line that begins is the first one of a call */
};

static __thread struct line_thread *thread_lines __attribute__((tls_model("initial-exec")));
static struct line_code unwanted;
static struct intern_table block_numbers; /* function and block -> 1 + place in struct line_thread */
static uint32_t code_count, block_count;
static long code_index; /* of our pointer in each code object */
static void *set_local_events, *disable;
static unsigned tool, local_events, page_kb;
static bool is_open, has_memory;

/* ---- counts ---- */

static __attribute__((noinline, cold)) struct line_thread *thread_begin(struct thread *t)
{
	struct thread_guard guard;

	thread_guard_enter(t, &guard);
	if (!thread_lines && !sys_is_silent)
		thread_lines = sys_mmap(NULL, sizeof(*thread_lines), PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else if (thread_lines)
		memset(thread_lines, 0, sizeof(*thread_lines));
	if (thread_lines) {
		thread_lines->generation = process.generation;
		thread_settle(t);
	} else {
		thread_lose(t, 1);
	}
	thread_guard_leave(t, &guard);
	return thread_lines;
}

static void thread_end(struct thread *t)
{
	struct line_thread *mine = thread_lines;

	thread_lines = NULL;
	if (mine)
		sys_munmap(mine, sizeof(*mine));
}

/* NULL: the calling thread does not record now. */
static struct line_thread *thread_of(struct thread *t)
{
	struct line_thread *mine = thread_lines;

	if (!hook_attached() || !*process_gate.recording)
		return NULL;
	return __builtin_expect(mine && mine->generation == process.generation, 1) ? mine : thread_begin(t);
}

/* The place of a block; BLOCKS: there is no room. */
static uint32_t block_number(const struct line_code *c, uint32_t block)
{
	static uint64_t noted;
	uint64_t key = intern_fold(c->number + 1, block + 1), known = intern_get(&block_numbers, key);
	uint32_t number;

	if (__builtin_expect(known != 0, 1))
		return (uint32_t)known - 1;
	number = __atomic_fetch_add(&block_count, 1, __ATOMIC_RELAXED);
	if (number >= BLOCKS) {
		__atomic_store_n(&block_count, BLOCKS, __ATOMIC_RELAXED);
		nvtx_note_once(&noted, "--lines-of: the chosen functions have too many lines: some of them are not "
			       "recorded");
		return BLOCKS;
	}
	intern_set(&block_numbers, key, number + 1);
	return number;
}

static bool block_is_valid(const struct thread *t, const struct line_block *b)
{
	return b->slots && b->chunks == t->chunks && b->turn == (uint32_t)(process.defined_in / PROCESS_TURN);
}

static __attribute__((noinline)) void block_begin(struct thread *t, const struct line_code *c, uint32_t block,
						  enum line_kind kind, struct line_block *b)
{
	uint64_t numbers[TF_LINE_MEMORY_NUMBERS];
	uint32_t id = event_intern(TF_BLOB_LINE_CODE, c->definition, c->size);

	for (unsigned i = 0; i < kinds[kind].numbers; i++)
		numbers[i] = TF_DATA;
	numbers[TF_LINES_KEY] |= ((uint64_t)id | (uint64_t)block << 32) << 8;
	b->slots = NULL;
	if (!id)
		return;
	event_blob_in_place(kinds[kind].blob, t->number, numbers, kinds[kind].numbers, &b->slots);
	b->chunks = t->chunks;
	b->turn = (uint32_t)(process.defined_in / PROCESS_TURN);
}

static inline __attribute__((always_inline)) void line_add(struct thread *t, struct line_thread *mine,
							   const struct line_code *c, uint32_t line,
							   enum line_kind kind, const int64_t *values)
{
	uint32_t block = line / TF_LINES_BLOCK, number = block_number(c, block);
	uint64_t *slot;
	struct line_block *b;

	if (number == BLOCKS)
		return;
	b = &mine->blocks[kind][number];
	if (__builtin_expect(!block_is_valid(t, b), 0))
		block_begin(t, c, block, kind, b);
	/* If a handler replaces the chunk now, it stays mapped, and the counts are in the file. */
	t->writing++;
	EVENT_BARRIER();
	if (__builtin_expect(block_is_valid(t, b), 1)) {
		for (unsigned i = 0; i < kinds[kind].values; i++) {
			slot = &b->slots[1 + 1 + i * TF_LINES_BLOCK + line % TF_LINES_BLOCK];
			if (i < PEAK)
				*slot += (uint64_t)values[i] << 8;
			else if (*slot >> 8 < (uint64_t)values[i])
				*slot = (uint64_t)values[i] << 8 | (*slot & 0xff);
		}
		event_taken(t);
	} else {
		event_taken(t);
		thread_lose(t, 1);
	}
}

/* ---- memory ---- */

/* The second number of statm is that of resident pages. */
static struct line_memory memory_now(void)
{
	struct line_memory now = {.allocated = __atomic_load_n(&heap_in_use, __ATOMIC_RELAXED) / 1024};
	char text[128];
	const char *at = !sys_is_silent && sys_read_file("/proc/self/statm", text, sizeof(text)) > 0
				 ? strchr(text, ' ')
				 : NULL;

	while (at && *++at >= '0' && *at <= '9')
		now.resident = now.resident * 10 + (*at - '0');
	now.resident *= page_kb;
	return now;
}

/* The end of the thread's line of the function, if there is one, and the begin of the next one. */
static __attribute__((noinline)) void memory_end(struct thread *t, struct line_thread *mine, const struct line_code *c)
{
	struct line_now *last = &mine->now[c->number];
	struct line_memory now = memory_now(), then = last->memory;
	int64_t values[] = {1, now.resident - then.resident, now.allocated - then.allocated, now.resident};

	mine->is_entered = !last->line;
	last->memory = now;
	if (last->line)
		line_add(t, mine, c, last->line, MEMORY, values);
}

static __attribute__((noinline)) void memory_begin(struct thread *t, struct line_thread *mine, struct line_code *c,
						   uint32_t line)
{
	struct line_memory now = mine->now[c->number].memory;
	bool is_first = mine->is_entered && !__atomic_exchange_n(&c->is_entered, true, __ATOMIC_RELAXED);
	int64_t values[] = {1, is_first ? now.resident : 0, is_first ? now.allocated : 0, now.resident};
	struct tf_line_code head;

	memcpy(&head, c->definition, sizeof(head));
	if (mine->is_entered && line != head.first_line)
		line_add(t, mine, c, head.first_line, MEMORY, values);
}

static void line_end(struct thread *t, struct line_thread *mine, const struct line_code *c, uint64_t now)
{
	struct line_now *last = &mine->now[c->number];

	if (last->line)
		line_add(t, mine, c, last->line, TIMES, (int64_t[]){0, (int64_t)(now - last->ticks)});
	last->line = 0;
}

/* ---- functions ---- */

static bool is_name(const char *word, size_t length, const char *text)
{
	return !strncmp(text, word, length) && !text[length];
}

/* The word is the qualified name, or what that has after one of its "<locals>.". */
static bool is_name_of(const char *word, size_t length, const char *name)
{
	static const char locals[] = "<locals>.";

	for (; name; name = strstr(name, locals), name = name ? name + strlen(locals) : NULL)
		if (is_name(word, length, name))
			return true;
	return false;
}

/* An entry of the option is NAME, MODULE:NAME or MODULE:*. */
static bool is_chosen(const char *module, const char *name)
{
	const char *entry = process_options.lines_of;

	for (size_t length; entry; entry = entry[length] ? entry + length + 1 : NULL) {
		const char *colon, *chosen = entry;
		size_t chosen_length;

		length = strcspn(entry, ",");
		colon = memchr(entry, ':', length);
		if (colon && !is_name(entry, (size_t)(colon - entry), module))
			continue;
		chosen = colon ? colon + 1 : entry;
		chosen_length = length - (size_t)(chosen - entry);
		if ((colon && chosen_length == 1 && *chosen == '*') || is_name_of(chosen, chosen_length, name))
			return true;
	}
	return false;
}

static struct line_code *code_make(const char *name, const char *file, uint32_t first_line)
{
	static uint64_t noted;
	size_t file_length = strnlen(file, 4096), name_length = strnlen(name, 1024);
	struct tf_line_code head = {.first_line = first_line, .file_length = (uint32_t)file_length};
	struct line_code *c = code_count < CODES ? names_take(sizeof(*c) + sizeof(head) + file_length + name_length)
						 : NULL;

	if (!c) {
		nvtx_note_once(&noted, "--lines-of: too many functions are chosen: some of them are not recorded");
		return NULL;
	}
	c->number = code_count++;
	c->size = (uint32_t)(sizeof(head) + file_length + name_length);
	memcpy(c->definition, &head, sizeof(head));
	memcpy(c->definition + sizeof(head), file, file_length);
	memcpy(c->definition + sizeof(head) + file_length, name, name_length);
	return c;
}

/* Bodies of modules and classes are not functions. is_decorated: whatever its name is. */
struct line_code *lines_describe(void *code, const char *module, const char *known_name, bool is_decorated)
{
	enum { IS_FUNCTION = 1 }; /* CO_OPTIMIZED */
	void *qualified = known_name ? NULL : python_code_bytes(code, "co_qualname");
	void *bytes = qualified || known_name ? qualified : python_code_bytes(code, "co_name");
	void *file = python_code_bytes(code, "co_filename");
	const char *name = bytes ? python.PyBytes_AsString(bytes) : known_name;
	struct line_code *c = NULL;

	if (name && file && python_code_number(code, "co_flags") & IS_FUNCTION &&
	    strcmp(python.PyBytes_AsString(file), "<pillion>") != 0 && (is_decorated || is_chosen(module, name)))
		c = code_make(name, python.PyBytes_AsString(file), python_code_number(code, "co_firstlineno"));
	python.PyErr_Clear();
	python.Py_DecRef(bytes);
	python.Py_DecRef(file);
	return c ? c : &unwanted;
}

/* Its lines are events from here on. */
static void code_watch(void *code)
{
	void *result = python.PyObject_CallFunction(set_local_events, "IOI", tool, code, local_events);

	if (!result)
		python.PyErr_Clear();
	python.Py_DecRef(result);
}

struct line_code *lines_known(void *code)
{
	void *c = NULL;

	python.PyUnstable_Code_GetExtra(code, code_index, &c);
	return c;
}

void lines_know(void *code, struct line_code *c)
{
	python.PyUnstable_Code_SetExtra(code, code_index, c);
}

bool lines_wants(const struct line_code *c)
{
	return c && c != &unwanted;
}

/* NULL: it is not chosen. */
static struct line_code *code_of(void *code)
{
	struct line_code *c = lines_known(code);

	return lines_wants(c) ? c : NULL;
}

/* The function in Python that a decorator is applied to, as a new reference; NULL: there is none. */
static void *function_within(void *object, unsigned depth)
{
	static const char *const parts[] = {"__code__", "__func__", "fget", "func"};
	void *part = NULL, *function;

	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts) && depth < 4; i++) {
		part = python.PyObject_GetAttrString(object, parts[i]);
		if (part) {
			function = i ? function_within(part, depth + 1) : object;
			if (!i)
				python.Py_IncRef(object);
			python.Py_DecRef(part);
			return function;
		}
		python.PyErr_Clear();
	}
	return NULL;
}

/* Before 3.11, its code has no qualified name; the function's may be that of what it wraps. */
static struct line_code *function_describe(void *function, void *code)
{
	void *name = python_code_bytes(code, "co_name"), *qualified = python_code_bytes(function, "__qualname__");
	const char *path = name && qualified ? python.PyBytes_AsString(qualified) : "", *last = strrchr(path, '.');
	bool is_known = name && !strcmp(last ? last + 1 : path, python.PyBytes_AsString(name));
	struct line_code *c = lines_describe(code, "", is_known ? path : NULL, true);

	python.Py_DecRef(name);
	python.Py_DecRef(qualified);
	return c;
}

HOOK_EXPORT int pillion_lines_of(void *object)
{
	void *function = is_open ? function_within(object, 0) : NULL;
	void *code = function ? python.PyObject_GetAttrString(function, "__code__") : NULL;
	struct line_code *c = code ? code_of(code) : &unwanted;

	if (!c) {
		c = function_describe(function, code);
		if (c != &unwanted) {
			lines_know(code, c);
			if (set_local_events)
				code_watch(code);
		}
	}
	python.PyErr_Clear();
	python.Py_DecRef(code);
	python.Py_DecRef(function);
	return c != &unwanted;
}

/* The builtin function `profile`, as kernprof provides it, for --lines-of=@profile. */
static void *lines_profile(void *self, void *decorated)
{
	pillion_lines_of(decorated);
	python.Py_IncRef(decorated);
	return decorated;
}

/* ---- events ---- */

void lines_line(struct line_code *c, uint32_t line)
{
	struct thread *t = &thread_self;
	struct line_thread *mine = thread_of(t);

	if (!mine)
		return;
	if (has_memory)
		memory_begin(t, mine, c, line);
	line_add(t, mine, c, line, TIMES, (int64_t[]){1, 0});
	mine->now[c->number].line = line;
	mine->now[c->number].ticks = clock_now();
}

void lines_leave(const struct line_code *c)
{
	uint64_t now = clock_now();
	struct line_thread *mine = thread_of(&thread_self);

	if (!mine)
		return;
	if (has_memory)
		memory_end(&thread_self, mine, c);
	line_end(&thread_self, mine, c, now);
}

static void *on_start(void *self, void *arguments)
{
	void *type, *value, *traceback, *code = load(arguments, 0);
	struct line_code *known = lines_known(code);
	int error = errno;

	python.PyErr_Fetch(&type, &value, &traceback);
	if (!known) {
		known = lines_describe(code, python_module_of(python.PyEval_GetGlobals()), NULL, false);
		lines_know(code, known);
	}
	if (known != &unwanted)
		code_watch(code);
	python.PyErr_Restore(type, value, traceback);
	errno = error;
	return python_answer(false, disable);
}

static void *on_line(void *self, void *arguments)
{
	struct line_code *c = code_of(load(arguments, 0));

	if (c) {
		lines_leave(c);
		lines_line(c, (uint32_t)(uintptr_t)python.PyLong_AsVoidPtr(load(arguments, sizeof(void *))));
	}
	return python_answer(c, disable);
}

static void *on_leave(void *self, void *arguments)
{
	struct line_code *c = code_of(load(arguments, 0));

	if (c)
		lines_leave(c);
	return python_answer(true, disable);
}

/* ---- beginning ---- */

/* (set_local_events, DISABLE, tool, local events) */
static void *lines_open(void *self, void *arguments)
{
	if (!python.PyArg_ParseTuple(arguments, "OOII", &set_local_events, &disable, &tool, &local_events))
		return NULL;
	python.Py_IncRef(set_local_events);
	python.Py_IncRef(disable);
	return python_none();
}

/* (sys.settrace, minor version) -> whether it is possible */
static void *lines_open_frames(void *self, void *arguments)
{
	void *settrace;
	unsigned minor;

	if (!python.PyArg_ParseTuple(arguments, "OI", &settrace, &minor))
		return NULL;
	return python.Py_BuildValue("i", lines_frames_begin(settrace, minor));
}

static const struct method natives[] = {
	{"open", lines_open, TAKES_TUPLE, NULL},
	{"open_frames", lines_open_frames, TAKES_TUPLE, NULL},
	{"start", on_start, TAKES_ARRAY, NULL},
	{"line", on_line, TAKES_ARRAY, NULL},
	{"leave", on_leave, TAKES_ARRAY, NULL},
	{"profile", lines_profile, TAKES_ONE, NULL},
};

static const char source[] =
	"import sys\n"
	"def begin(m, e):\n"
	"    tool = next(t for t in (3, 4) if m.get_tool(t) is None)\n"
	"    open(m.set_local_events, m.DISABLE, tool, e.LINE | e.PY_RETURN | e.PY_YIELD)\n"
	"    m.use_tool_id(tool, 'pillion')\n"
	"    for event, call in (e.PY_START, start), (e.LINE, line), (e.PY_RETURN, leave), (e.PY_YIELD, leave), "
	"(e.PY_UNWIND, leave):\n"
	"        m.register_callback(tool, event, call)\n"
	"    m.set_events(tool, e.PY_START | e.PY_UNWIND)\n"
	"if object.__basicsize__ != 16:\n"
	"    raise ValueError\n"
	"if hasattr(sys, 'monitoring'):\n"
	"    begin(sys.monitoring, sys.monitoring.events)\n"
	"elif not open_frames(sys.settrace, sys.version_info[1]):\n"
	"    raise ValueError\n"
	"if is_decorated:\n"
	"    __builtins__.setdefault('profile', profile)\n";

void lines_init(void)
{
	thread_watch(&(struct thread_watch){.end = thread_end});
}

const char *lines_begin(void)
{
	void *space = python.PyDict_New(), *code, *result = NULL;

	has_memory = process_options.memory != MEMORY_NONE;
	page_kb = (unsigned)(getauxval(AT_PAGESZ) / 1024);
	code_index = python.has_code_functions ? python.PyUnstable_Eval_RequestCodeExtraIndex(NULL) : -1;
	if (!space)
		return "--lines-of: no memory";
	python.PyDict_SetItemString(space, "__builtins__", python.PyEval_GetBuiltins());
	python_offer(space, natives, sizeof(natives) / sizeof(*natives));
	python_set_item(space, "is_decorated", python.Py_BuildValue("z", strchr(process_options.lines_of, '@')));
	code = code_index >= 0 ? python.Py_CompileString(source, "<pillion>", FILE_INPUT) : NULL;
	if (code)
		result = python.PyEval_EvalCode(code, space, space);
	if (!result)
		python.PyErr_Clear();
	is_open = result != NULL;
	python.Py_DecRef(result);
	python.Py_DecRef(code);
	python.Py_DecRef(space);
	return is_open ? NULL : "--lines-of: not possible in this interpreter";
}
