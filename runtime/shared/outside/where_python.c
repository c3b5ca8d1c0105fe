/* SPDX-License-Identifier: Apache-2.0 */
/* Python frames of another process: its interpreter's thread states, their frames, code objects, and the locks that the
 * frames refer to. The process runs meanwhile, so that every object may have changed: types are compared, lists are
 * bounded, and what is not as expected ends the walk. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/shared/base/utf8.h"
#include "runtime/shared/outside/where_python.h"

enum { NONE = PYSTACK_NONE, INTERPRETERS = 64, LOCALS = 128 };
enum { FRAME_BYTES = PYSTACK_FRAME_BYTES, CODE_BYTES = PYSTACK_CODE_BYTES, LOCK_FRAMES = 32 };
enum { STEPS = 4 * PYTHON_FRAMES, FILE_BYTES = 1024, NAME_BYTES = 512, TABLE_BYTES = 60000 };
enum { LINES = 10000000, UNIT = 2 };
enum { OWNED_BY_GENERATOR = 1, OWNED_BY_C = 3, RUNTIME_BYTES = 64 * 8 };
/* Offsets: in a thread state, an object, a built-in method, a type, a lock. */
enum { STATE_NEXT = 8, TYPE = PYSTACK_TYPE, METHOD_DEFINITION = 16, METHOD_SELF = 24, TYPE_NAME = 24 };
enum { LOCK_LOCK = 16, LOCK_OWNER = 24 };
/* Where glibc has the TID in what pthread_self() points to: x86-64, aarch64. */
enum { PTHREAD_TID = sizeof(void *) == 8 ? 0x2d0 : 0 };

/* Of builds before 3.13; those from 3.13 on are published. */
static const struct python_offsets states_by_version[] = {
	{0x308, 32, 8, 176, NONE}, {0x309, 32, 8, 176, NONE}, {0x30a, 32, 8, 176, NONE},
	{0x30b, 40, 16, 152, 160}, {0x30c, 40, 72, 136, 144},
};
/* In words of _Py_DebugOffsets: see pystack_layout.c. */
enum { WORD_INTERPRETERS = 5, WORD_NEXT_INTERPRETER = 8, WORD_THREADS = 9 };
enum { WORD_THREAD_OF_13 = 24, WORD_THREAD_OF_14 = 27, WORD_THREAD_OF_15 = 30, LOCALS_OF_13 = 72 };

struct python python;

uint64_t python_word_at(uint64_t address)
{
	uint64_t word = 0;

	where_copy(python.pid, address, &word, sizeof(word));
	return word;
}

/* ---- the interpreter ---- */

enum { RUNTIME, VERSION, CODE, TEXT, BYTES, METHOD, COROUTINE, SET, SINCE_8, SINCE_9, SINCE_10, SYMBOLS };

static unsigned version_find(const struct where_symbol *s)
{
	uint32_t number = 0;

	if (s[VERSION].address)
		return where_copy_all(python.pid, s[VERSION].address, &number, sizeof(number)) ? number >> 16 : 0;
	return s[SINCE_10].address ? 0x30a : s[SINCE_9].address ? 0x309 : s[SINCE_8].address ? 0x308 : 0;
}

static void offsets_find(unsigned version, const char *runtime)
{
	unsigned thread = version >= 0x30f   ? WORD_THREAD_OF_15
			  : version == 0x30e ? WORD_THREAD_OF_14
					     : WORD_THREAD_OF_13;

	for (size_t i = 0; i < sizeof(states_by_version) / sizeof(*states_by_version); i++) {
		if (states_by_version[i].version != version)
			continue;
		python.offsets = states_by_version[i];
		python.threads = python.offsets.threads;
		return;
	}
	python.offsets =
		(struct python_offsets){(uint16_t)version, (uint16_t)python_word_in(runtime, WORD_INTERPRETERS * 8), 0,
					(uint16_t)python_word_in(runtime, thread * 8),
					(uint16_t)python_word_in(runtime, (thread + 1) * 8)};
	python.next_interpreter = (uint32_t)python_word_in(runtime, WORD_NEXT_INTERPRETER * 8);
	python.threads = (uint32_t)python_word_in(runtime, WORD_THREADS * 8);
}

/* NULL, or why the frames cannot be read. */
static const char *interpreter_open(struct where_symbol *s, uint64_t *ret_runtime)
{
	char runtime[RUNTIME_BYTES];
	unsigned version = version_find(s);
	const char *why;

	python.code_type = s[CODE].address;
	python.text_type = s[TEXT].address;
	python.bytes_type = s[BYTES].address;
	python.method_type = s[METHOD].address;
	python.coroutine_type = s[COROUTINE].address;
	python.set_type = s[SET].address;
	*ret_runtime = s[RUNTIME].address;
	if (!where_copy_all(python.pid, s[RUNTIME].address, runtime, sizeof(runtime)))
		return "its memory cannot be read";
	why = pystack_layout_find(version, runtime, &python.layout);
	if (!why)
		offsets_find(version, runtime);
	return why;
}

/* Whether a mapped file may be an interpreter: by its name, or the executable, into which one may be linked. */
static bool is_candidate(const char *path, bool is_first)
{
	const char *base = strrchr(path, '/');

	return *path == '/' && (is_first || strstr(base, "python"));
}

/* Looks for an interpreter in the files that are mapped from their first byte on. The executable is the first. */
static bool interpreter_find(const struct where_process *p, struct where_symbol *symbols)
{
	bool is_first = true;

	for (const char *line = p->maps; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		unsigned long long start, offset;
		char one[PATH_MAX + 128], path[PATH_MAX] = "";

		snprintf(one, sizeof(one), "%.*s", (int)strcspn(line, "\n"), line);
		if (sscanf(one, "%llx-%*x %*s %llx %*s %*s %4095[^\n]", &start, &offset, path) != 3 || offset ||
		    !is_candidate(path, is_first))
			continue;
		is_first = false;
		if (where_symbols(path, start, symbols, SYMBOLS) && symbols[RUNTIME].address)
			return true;
		for (int i = 0; i < SYMBOLS; i++)
			symbols[i].address = 0;
	}
	return false;
}

/* ---- thread states ---- */

static uint32_t tid_of(uint64_t state, uint64_t thread)
{
	uint32_t tid = 0;

	if (python.offsets.native != NONE)
		return (uint32_t)python_word_at(state + python.offsets.native);
	where_copy(python.pid, thread + PTHREAD_TID, &tid, sizeof(tid));
	return tid;
}

static void states_read(uint64_t runtime)
{
	uint64_t interpreter = python_word_at(runtime + python.offsets.interpreters);

	for (int i = 0; interpreter && i < INTERPRETERS; i++) {
		uint64_t state = python_word_at(interpreter + python.threads);

		while (state && python.count < PYTHON_STATES) {
			uint64_t thread = python_word_at(state + python.offsets.thread);

			python.states[python.count++] = (struct python_state){state, thread, tid_of(state, thread)};
			state = python_word_at(state + STATE_NEXT);
		}
		interpreter = python_word_at(interpreter + python.next_interpreter);
	}
}

static uint32_t tid_of_thread(uint64_t thread)
{
	for (size_t i = 0; i < python.count; i++)
		if (python.states[i].thread == thread)
			return python.states[i].tid;
	return 0;
}

/* ---- code objects ---- */

int python_text_read(uint64_t text, char *ret, unsigned size)
{
	const struct pystack_layout *l = &python.layout;
	char head[64];
	uint32_t characters[NAME_BYTES * 2], state, kind;
	uint64_t length;
	unsigned used = 0;

	if (!where_copy_all(python.pid, text, head, PYSTACK_STATE + l->head + 8) ||
	    python_word_in(head, TYPE + l->head) != python.text_type)
		return -1;
	length = python_word_in(head, PYSTACK_LENGTH + l->head);
	memcpy(&state, head + PYSTACK_STATE + l->head, sizeof(state));
	state = pystack_text_state(l, state);
	kind = state >> 2 & 7;
	if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4))
		return -1;
	length = length < size ? length : size;
	if (!where_copy_all(python.pid, text + (state >> 6 & 1 ? l->ascii : l->compact), characters, length * kind))
		return length ? -1 : 0;
	for (uint64_t i = 0; i < length && used + 4 <= size; i++)
		used += utf8_write(ret + used, kind == 1   ? ((const uint8_t *)characters)[i]
						: kind == 2 ? ((const uint16_t *)characters)[i]
							    : characters[i]);
	return (int)used;
}

static void code_record(uint32_t id, const char *code)
{
	static char text[FILE_BYTES + NAME_BYTES + TABLE_BYTES];
	const struct pystack_layout *l = &python.layout;
	struct {
		uint32_t id;
		struct tf_python_code code;
	} head = {id, {.version = l->version}};
	uint64_t table = python_word_in(code, l->lines);
	char bytes[40];
	size_t size;
	int file, name;

	memcpy(&head.code.first_line, code + l->first_line, sizeof(head.code.first_line));
	file = python_text_read(python_word_in(code, l->file), text, FILE_BYTES);
	name = file < 0 ? -1 : python_text_read(python_word_in(code, l->name), text + file, NAME_BYTES);
	if (name < 0 || head.code.first_line > LINES ||
	    !where_copy_all(python.pid, table, bytes, PYSTACK_LENGTH + l->head + 8) ||
	    python_word_in(bytes, TYPE + l->head) != python.bytes_type)
		return;
	head.code.file_bytes = (uint16_t)file;
	head.code.name_bytes = (uint16_t)name;
	size = python_word_in(bytes, PYSTACK_LENGTH + l->head);
	size = size < TABLE_BYTES ? size : TABLE_BYTES;
	size = where_copy(python.pid, table + PYSTACK_BYTES_DATA + l->head, text + file + name, size);
	where_record(TF_WHERE_PYTHON_CODE, &head, sizeof(head), text, (size_t)(file + name) + size);
}

/* The id of a code object, which is recorded if it is new. 0: there are too many. */
static uint32_t code_id(uint64_t address, const char *code)
{
	for (size_t i = python.code_count; i-- > 0;)
		if (python.codes[i] == address)
			return (uint32_t)i + 1;
	if (python.code_count == PYTHON_CODES)
		return 0;
	python.codes[python.code_count++] = address;
	code_record((uint32_t)python.code_count, code);
	return (uint32_t)python.code_count;
}

/* ---- locks ---- */

static bool is_waited_for(uint64_t semaphore)
{
	for (size_t i = 0; semaphore && i < python.futex_count; i++)
		if (python.futexes[i] == semaphore)
			return true;
	return false;
}

bool python_is_type(uint64_t type, const char *name)
{
	char text[32] = "";

	where_copy(python.pid, python_word_at(type + TYPE_NAME), text, strlen(name) + 1);
	return !strncmp(text, name, sizeof(text));
}

/* A lock object has the address of its semaphore in its first field. */
static void lock_check(uint32_t tid, uint32_t frame, uint64_t object, bool is_entered)
{
	struct tf_where_lock lock = {.tid = tid, .object = object, .frame = frame};
	char bytes[40];
	bool is_recursive;

	if (!where_copy_all(python.pid, object, bytes, sizeof(bytes)) ||
	    !is_waited_for(python_word_in(bytes, LOCK_LOCK)))
		return;
	is_recursive = python_is_type(python_word_in(bytes, TYPE), "_thread.RLock");
	if (!is_recursive && !python_is_type(python_word_in(bytes, TYPE), "_thread.lock"))
		return;
	lock.semaphore = python_word_in(bytes, LOCK_LOCK);
	lock.flags = (is_recursive ? TF_WHERE_LOCK_IS_RECURSIVE : 0) | (is_entered ? TF_WHERE_LOCK_IS_ENTERED : 0);
	if (is_recursive && python_word_in(bytes, LOCK_OWNER))
		lock.owner = tid_of_thread(python_word_in(bytes, LOCK_OWNER));
	where_record(TF_WHERE_PYTHON_LOCK, &lock, sizeof(lock), NULL, 0);
}

static uint64_t tuple_length(uint64_t tuple)
{
	return tuple ? python_word_at(tuple + PYSTACK_LENGTH + python.layout.head) : 0;
}

/* The number of words that a frame of the code object has for local variables and temporaries. Behind them are other
 * frames or freed memory, whose locks are not the frame's. */
static uint64_t locals_count(const char *code)
{
	const struct pystack_layout *l = &python.layout;
	bool is_divided = l->version < 0x30b; /* cells and free variables are counted by their names */
	int32_t variables, stack;
	uint64_t count;

	memcpy(&variables, code + l->first_line + (is_divided ? -12 : 4), sizeof(variables));
	memcpy(&stack, code + l->first_line - (is_divided ? 8 : 4), sizeof(stack));
	count = variables > 0 ? (uint64_t)variables : 0;
	count += stack > 0 ? (uint64_t)stack : 0;
	if (is_divided)
		count += tuple_length(python_word_in(code, l->file - 24)) +
			 tuple_length(python_word_in(code, l->file - 16));
	return count < LOCALS ? count : LOCALS;
}

/* The local variables and temporaries of a frame: locks, and methods that are bound to locks. A `with` statement keeps
 * the lock's method __exit__ on the frame's stack, some versions while __enter__ still waits. */
static void locks_find(uint32_t tid, uint32_t frame_number, uint64_t frame, uint64_t code_address)
{
	uint64_t words[LOCALS];
	char code[CODE_BYTES];
	size_t size = 0, count;

	frame += python.layout.locals ? python.layout.locals : LOCALS_OF_13;
	if (where_copy_all(python.pid, code_address, code, sizeof(code)) &&
	    python_word_in(code, TYPE + python.layout.head) == python.code_type)
		size = where_copy(python.pid, frame, words, 8 * locals_count(code));
	count = size / 8;

	for (size_t i = 0; i < count; i++) {
		char object[40], name[16] = "";

		if (words[i] < 4096 || words[i] & 7 || words[i] >> 47 ||
		    !where_copy_all(python.pid, words[i], object, sizeof(object)))
			continue;
		if (is_waited_for(python_word_in(object, LOCK_LOCK))) {
			lock_check(tid, frame_number, words[i], false);
			continue;
		}
		/* A freed object has no references. */
		if (python_word_in(object, TYPE) != python.method_type || !(uint32_t)python_word_in(object, 0) ||
		    python_word_in(object, 0) >> 32)
			continue;
		where_copy(python.pid, python_word_at(python_word_in(object, METHOD_DEFINITION)), name,
			   sizeof(name) - 1);
		lock_check(tid, frame_number, python_word_in(object, METHOD_SELF), !strcmp(name, "__exit__"));
	}
}

/* ---- frames ---- */

/* 3.12 and later: marks the start of a C invocation of the interpreter. */
static bool is_shim(const struct pystack_layout *l, const char *frame)
{
	return l->owner != NONE && l->is_entry == NONE && frame[l->owner] >= OWNED_BY_C;
}

/* Offset in the copy of the bytecode that the frame executes; the first one is that of the code object itself. If the
 * instruction is in none: the function's first one. */
static int64_t copy_offset(const struct pystack_layout *l, const char *frame, uint64_t address, const char *code)
{
	uint64_t size = python_word_in(code, PYSTACK_LENGTH + l->head) * UNIT;
	uint64_t at = python_word_in(frame, l->instruction);
	uint64_t start = address + l->start;
	uint32_t copy;
	int32_t first;

	memcpy(&copy, frame + l->copy, sizeof(copy));
	if (at - start >= size)
		start = python_word_at(python_word_in(code, l->copies) + (1 + (uint64_t)copy) * sizeof(start));
	memcpy(&first, code + l->traceable, sizeof(first));
	return at - start < size ? (int64_t)(at - start) : (int64_t)first * UNIT;
}

/* Offset of the instruction in bytes; negative: the frame has not started. */
static int64_t instruction_offset(const struct pystack_layout *l, const char *frame, uint64_t address,
				  const char *code)
{
	int32_t number;

	if (l->start != NONE)
		return l->copies ? copy_offset(l, frame, address, code)
				 : (int64_t)(python_word_in(frame, l->instruction) - (address + l->start));
	memcpy(&number, frame + l->instruction, sizeof(number));
	return (int64_t)number * (l->version == 0x30a ? UNIT : 1);
}

/* CPython's own rule: frames that are still being set up are hidden. */
static bool is_hidden(const struct pystack_layout *l, const char *frame, const char *code, int64_t offset)
{
	int32_t first;

	if (l->traceable == NONE || frame[l->owner] == OWNED_BY_GENERATOR)
		return false;
	memcpy(&first, code + l->traceable, sizeof(first));
	return offset < (int64_t)first * UNIT;
}

static void invocation_close(struct python_walk *w)
{
	if (w->is_open)
		w->frames[w->count - 1].place |= TF_PYTHON_ENTRY;
	else
		w->frames[w->count++] = (struct tf_python_frame){0, TF_PYTHON_ENTRY};
	w->is_open = false;
}

bool python_frame_add(struct python_walk *w, const char *frame)
{
	const struct pystack_layout *l = &python.layout;
	uint64_t address = python_word_in(frame, l->code) & ~(uint64_t)l->tags;
	bool is_entry = l->is_entry != NONE && frame[l->is_entry];
	char code[CODE_BYTES];
	int64_t offset;

	if (is_shim(l, frame)) {
		/* The last one of a thread is no invocation. */
		if (!l->has_base || python_word_in(frame, l->previous))
			invocation_close(w);
		return true;
	}
	if (!where_copy_all(python.pid, address, code, sizeof(code)) ||
	    python_word_in(code, TYPE + l->head) != python.code_type)
		return false;
	offset = instruction_offset(l, frame, address, code);
	if (is_hidden(l, frame, code, offset)) {
		if (is_entry)
			invocation_close(w);
		return true;
	}
	is_entry |= l->owner == NONE;
	w->is_open = !is_entry;
	w->frames[w->count++] = (struct tf_python_frame){
		code_id(address, code), (offset < 0 ? 0 : (uint32_t)offset) | (is_entry ? TF_PYTHON_ENTRY : 0)};
	return true;
}

static bool name_copy(const struct pystack_memory *m, uint64_t from, void *ret, size_t size)
{
	return where_copy_all(m->pid, from, ret, size);
}

static void name_record(const struct python_state *s, uint64_t outermost)
{
	const struct pystack_memory memory = {name_copy, python.text_type, python.pid};
	struct tf_where_python head = {.tid = s->tid};
	char text[NAME_BYTES];
	int size = python_text_read(pystack_thread_name(&python.layout, &memory, outermost), text, sizeof(text));

	if (size > 0)
		where_record(TF_WHERE_PYTHON_NAME, &head, sizeof(head), text, (size_t)size);
}

/* Whether the thread may be that of an event loop. */
static bool is_polling(const struct where_process *p, uint32_t tid)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct tf_where_thread *t = &p->threads[i];

		if (t->tid == tid && t->flags & TF_WHERE_IN_CALL)
			return t->call == SYS_epoll_pwait || t->call == SYS_pselect6 || t->call == SYS_ppoll ||
#ifdef SYS_poll
			       t->call == SYS_epoll_wait || t->call == SYS_select || t->call == SYS_poll ||
#endif
			       false;
	}
	return false;
}

static void stack_walk(const struct where_process *p, const struct python_state *s,
		       bool (*tasks)(uint32_t tid, const char *frame))
{
	static struct python_walk w;
	const struct pystack_layout *l = &python.layout;
	struct tf_where_python head = {.tid = s->tid};
	uint64_t state = s->address, at, outermost = 0;
	bool may_have_tasks = !(p->flags & WHERE_PYTHON_ONLY) && is_polling(p, s->tid);

	w.count = 0;
	w.is_open = false;
	if (l->state_cframe != NONE)
		state = python_word_at(state + l->state_cframe);
	at = python_word_at(state + l->state_frame);
	/* The number is limited, too, because frames that are not shown may refer to each other. */
	for (uint32_t number = 0; at && w.count + 1 < PYTHON_FRAMES && number < STEPS; number++) {
		char frame[FRAME_BYTES] = "";

		/* The end of the memory may follow the frame. */
		if (at & 7 || where_copy(python.pid, at, frame, sizeof(frame)) < sizeof(frame) * 5 / 8 ||
		    !python_frame_add(&w, frame))
			break;
		if (number < LOCK_FRAMES && python.futex_count)
			locks_find(s->tid, number, at, python_word_in(frame, l->code) & ~(uint64_t)l->tags);
		if (may_have_tasks && tasks(s->tid, frame))
			may_have_tasks = false;
		outermost = is_shim(l, frame) ? outermost : at;
		at = python_word_in(frame, l->previous);
	}
	if (!at && s->tid != python.pid)
		name_record(s, outermost);
	if (at)
		w.frames[w.count++] = (struct tf_python_frame){0};
	where_record(TF_WHERE_PYTHON_STACK, &head, sizeof(head), w.frames, w.count * sizeof(*w.frames));
}

void where_python(const struct where_process *p, bool (*tasks)(uint32_t tid, const char *frame))
{
	struct where_symbol symbols[SYMBOLS] = {
		[RUNTIME] = {"_PyRuntime", 0},
		[VERSION] = {"Py_Version", 0},
		[CODE] = {"PyCode_Type", 0},
		[TEXT] = {"PyUnicode_Type", 0},
		[BYTES] = {"PyBytes_Type", 0},
		[METHOD] = {"PyCFunction_Type", 0},
		[COROUTINE] = {"PyCoro_Type", 0},
		[SET] = {"PySet_Type", 0},
		[SINCE_8] = {"PyCode_NewWithPosOnlyArgs", 0},
		[SINCE_9] = {"PyObject_GC_IsTracked", 0},
		[SINCE_10] = {"Py_NewRef", 0},
	};
	const char *problem;
	char note[128];
	uint64_t runtime;

	if (!interpreter_find(p, symbols))
		return;
	python.pid = p->pid;
	python.count = python.code_count = python.futex_count = 0;
	python.next_interpreter = 0;
	for (size_t i = 0; i < p->count && python.futex_count < PYTHON_FUTEXES; i++)
		if (where_futex(&p->threads[i]))
			python.futexes[python.futex_count++] = where_futex(&p->threads[i]);
	problem = interpreter_open(symbols, &runtime);
	if (problem) {
		snprintf(note, sizeof(note), "no Python frames: %s", problem);
		where_record(TF_WHERE_PYTHON_NOTE, NULL, 0, note, strlen(note));
		return;
	}
	states_read(runtime);
	for (size_t i = 0; i < python.count; i++)
		stack_walk(p, &python.states[i], tasks);
}
