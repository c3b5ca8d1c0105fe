/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tasks of an event loop wait, or what ended them. asyncio.tasks has them in a set of weak references. Each
 * task refers to its coroutine, which has the frame in which it was suspended, on whose stack is the coroutine that it
 * awaits. Objects in others are found by their types where their positions differ between versions. 3.14 has its tasks
 * elsewhere. */
#include <string.h>

#include "runtime/shared/outside/where_python.h"

enum { TYPE = PYSTACK_TYPE, MODULE_DICT = 16, DICT_KEYS = 32, SET_MASK = 32, SET_TABLE = 40, REFERENT = 16 };
/* Words of a task, the same in 3.8 to 3.13; offsets in a type, an exception, a traceback, a frame object, a tuple. */
enum { TASK_EXCEPTION = 6, TYPE_FLAGS = 168, IS_EXCEPTION = 1 << 30, TYPE_NAME = 24, RAISED_ARGUMENTS = 24 };
enum { TRACE_NEXT = 16, TRACE_FRAME = 24, TRACE_INSTRUCTION = 32, FRAME_INNER = 24, TUPLE_ITEMS = 24 };
enum { ENTRIES = 1024, TASKS = 4096, SLOTS = 16 * TASKS, AWAITS = 32, TASK_BYTES = 256, NAME_BYTES = 128 };
enum { TASK_FINISHED = 2 }; /* a state */
/* The attributes of an object are before it, or behind it, or in a dict to which it refers. */
enum { BEFORE = 32, AROUND = 96, ATTRIBUTES = 8 };

static bool is_address(uint64_t word)
{
	return word >= 4096 && !(word & 7) && !(word >> 47);
}

static bool is_of_type(uint64_t object, uint64_t type)
{
	return is_address(object) && type && python_word_at(object + TYPE) == type;
}

/* ---- dicts ---- */

/* The entries of a dict, of `ret_size` bytes each, with the key at `ret_key` and the value behind it. */
static uint64_t entries_find(uint64_t keys, uint64_t *ret_count, unsigned *ret_size, unsigned *ret_key)
{
	char head[40];
	uint64_t size;

	if (!where_copy_all(python.pid, keys, head, sizeof(head)))
		return 0;
	*ret_size = 24;
	*ret_key = 8;
	if (python.layout.version < 0x30b) {
		size = python_word_in(head, 8);
		*ret_count = python_word_in(head, 32);
		return keys + 40 + size * (size <= 0xff ? 1 : size <= 0xffff ? 2 : size <= 0xffffffff ? 4 : 8);
	}
	if (head[10]) { /* all keys are texts: without their hashes */
		*ret_size = 16;
		*ret_key = 0;
	}
	*ret_count = python_word_in(head, 24);
	return keys + 32 + (1ull << (head[9] & 31));
}

/* 0: it has no such key. */
static uint64_t dict_get(uint64_t dict, const char *name)
{
	unsigned size, key;
	uint64_t count, at = entries_find(python_word_at(dict + DICT_KEYS), &count, &size, &key);
	char text[NAME_BYTES], entry[24];

	for (uint64_t i = 0; at && i < count && i < ENTRIES; i++, at += size) {
		int length;

		if (!where_copy_all(python.pid, at, entry, size))
			return 0;
		length = python_text_read(python_word_in(entry, key), text, sizeof(text));
		if (length == (int)strlen(name) && !memcmp(text, name, (size_t)length))
			return python_word_in(entry, key + 8);
	}
	return 0;
}

/* ---- tasks ---- */

static uint64_t first_set(const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_of_type(words[i], python.set_type))
			return words[i];
	return 0;
}

/* The set that a WeakSet wraps is the first one among its attributes. */
static uint64_t wrapped_set(uint64_t weak)
{
	uint64_t words[AROUND / 8] = {0}, attributes[ATTRIBUTES], set;
	size_t count = where_copy(python.pid, weak - BEFORE, words, sizeof(words)) / 8;

	for (size_t i = 0; i < count; i++) {
		uint64_t at = words[i] + (words[i] & 1); /* 3.12 marks the pointer */

		set = first_set(&words[i], 1);
		if (!set && is_address(at))
			set = first_set(attributes, where_copy(python.pid, at, attributes, sizeof(attributes)) / 8);
		/* a dict, whose values may be elsewhere */
		if (!set && is_address(at) && python_is_type(python_word_at(at + TYPE), "dict")) {
			uint64_t values = python_word_at(at + DICT_KEYS + 8);

			set = values ? first_set(attributes,
						 where_copy(python.pid, values, attributes, sizeof(attributes)) / 8)
				     : dict_get(at, "data");
		}
		if (set)
			return set;
	}
	return 0;
}

/* The frame of a suspended coroutine; 0: it is not suspended. */
static uint64_t frame_of(uint64_t coroutine)
{
	unsigned version = python.layout.version, at = version == 0x30b ? 80 : 72;
	int8_t state = 0;

	if (version < 0x30b)
		return python_word_at(coroutine + 16);
	where_copy(python.pid, coroutine + at - 5, &state, sizeof(state));
	return state == -1 || (version >= 0x30d && state == -2) ? coroutine + at : 0;
}

/* What a frame awaits is at the top of its stack. 0: no coroutine that is suspended, too. */
static uint64_t awaited_by(uint64_t frame)
{
	unsigned version = python.layout.version, locals = python.layout.locals;
	uint64_t top = frame + locals, awaited;
	int32_t depth = 0;

	where_copy(python.pid, frame + (version == 0x30a ? 80 : locals - 8), &depth, sizeof(depth));
	if (version < 0x30a)
		top = python_word_at(frame + 72);
	else
		top = (version == 0x30a ? python_word_at(frame + 64) : top) + 8 * (uint64_t)depth;
	awaited = python_word_at(top - 8);
	return is_of_type(awaited, python.coroutine_type) && frame_of(awaited) ? awaited : 0;
}

/* Records the frames of a task that waits, innermost first. */
static void task_record(uint32_t tid, uint64_t coroutine)
{
	static struct python_walk w;
	struct tf_where_python head = {.tid = tid};
	uint64_t frames[AWAITS];
	size_t count = 0;

	w.count = 0;
	w.is_open = false;
	while (coroutine && count < AWAITS && frame_of(coroutine)) {
		frames[count] = frame_of(coroutine);
		coroutine = awaited_by(frames[count++]);
	}
	while (count--) {
		char frame[PYSTACK_FRAME_BYTES] = "";

		if (where_copy(python.pid, frames[count], frame, sizeof(frame)) < sizeof(frame) * 5 / 8 ||
		    !python_frame_add(&w, frame))
			return;
	}
	if (w.count)
		where_record(TF_WHERE_PYTHON_TASK, &head, sizeof(head), w.frames, w.count * sizeof(*w.frames));
}

/* ---- what ended a task ---- */

/* "ValueError: message": of an exception with one argument, a text. False: it is none. */
static bool describe_raised(uint64_t exception, char *ret, size_t size)
{
	uint64_t type = is_address(exception) ? python_word_at(exception + TYPE) : 0, arguments;
	size_t used;
	int length;

	if (!is_address(type) || !(python_word_at(type + TYPE_FLAGS) & IS_EXCEPTION))
		return false;
	used = where_copy(python.pid, python_word_at(type + TYPE_NAME), ret, NAME_BYTES - 1);
	ret[used] = '\0';
	used = strlen(ret);
	arguments = python_word_at(exception + RAISED_ARGUMENTS);
	if (!used || python_word_at(arguments + PYSTACK_LENGTH) != 1)
		return used;
	length = python_text_read(python_word_at(arguments + TUPLE_ITEMS), ret + used + 2, (unsigned)(size - used - 2));
	if (length > 0) {
		memcpy(ret + used, ": ", 2);
		ret[used + 2 + (size_t)length] = '\0';
	}
	return true;
}

/* The frame of a traceback at the instruction that raised; it may have gone on since. */
static bool raised_frame_add(struct python_walk *w, uint64_t trace)
{
	const struct pystack_layout *l = &python.layout;
	uint64_t at = python_word_at(trace + TRACE_FRAME), word;
	char frame[PYSTACK_FRAME_BYTES] = "";
	int32_t offset = 0, number;

	if (l->version >= 0x30b)
		at = python_word_at(at + FRAME_INNER);
	where_copy(python.pid, trace + TRACE_INSTRUCTION, &offset, sizeof(offset));
	if (where_copy(python.pid, at, frame, sizeof(frame)) < sizeof(frame) * 5 / 8)
		return false;
	word = (python_word_in(frame, l->code) & ~(uint64_t)l->tags) + l->start + (uint64_t)offset;
	number = l->version == 0x30a ? offset / 2 : offset;
	if (l->start != PYSTACK_NONE)
		memcpy(frame + l->instruction, &word, sizeof(word));
	else
		memcpy(frame + l->instruction, &number, sizeof(number));
	return python_frame_add(w, frame);
}

/* Records the traceback of a task, innermost first, and what it raised. */
static void raised_record(uint32_t tid, uint64_t exception)
{
	static struct python_walk w;
	struct tf_where_python head = {.tid = tid};
	uint64_t traces[AWAITS], trace = python_word_at(exception + (python.layout.version < 0x30b ? 32 : 40));
	char text[2 * NAME_BYTES];
	size_t count = 0;

	if (!describe_raised(exception, text, sizeof(text) - 1))
		return;
	for (; is_address(trace) && count < AWAITS; trace = python_word_at(trace + TRACE_NEXT))
		traces[count++] = trace;
	w.count = 0;
	w.is_open = false;
	while (count && raised_frame_add(&w, traces[count - 1]))
		count--;
	where_record(TF_WHERE_PYTHON_TASK, &head, sizeof(head), w.frames, w.count * sizeof(*w.frames));
	where_record(TF_WHERE_TASK_RAISED, &head, sizeof(head), text, strlen(text));
}

/* Whether asyncio would log it: nobody has retrieved it. The flag is in the upper half of the word with the state,
 * before which are pointers only: their lower halves are other numbers. */
static bool is_unretrieved(const uint64_t *words, size_t count)
{
	for (size_t i = TASK_EXCEPTION + 1; i < count; i++)
		if ((uint32_t)words[i] == TASK_FINISHED)
			return words[i] >> 32 & 1;
	return false;
}

static void object_record(uint32_t tid, uint64_t task, size_t *found)
{
	uint64_t words[TASK_BYTES / 8];
	size_t count = where_copy(python.pid, task, words, sizeof(words)) / 8;

	if (count <= TASK_EXCEPTION || !is_address(words[1]) || !python_is_type(words[1], "_asyncio.Task"))
		return;
	++*found;
	if (words[TASK_EXCEPTION] && is_unretrieved(words, count))
		raised_record(tid, words[TASK_EXCEPTION]);
	for (size_t i = 2; i < count; i++)
		if (is_of_type(words[i], python.coroutine_type)) {
			task_record(tid, words[i]);
			return;
		}
}

static void set_record(uint32_t tid, uint64_t set)
{
	uint64_t slots = python_word_at(set + SET_MASK) + 1, table = python_word_at(set + SET_TABLE);
	size_t found = 0;

	for (uint64_t i = 0; i < slots && i < SLOTS && found < TASKS; i++) {
		uint64_t reference = python_word_at(table + 16 * i);

		if (is_address(reference))
			object_record(tid, python_word_at(reference + REFERENT), &found);
	}
}

/* The distance of a frame's globals from its code object. */
static int globals_distance(void)
{
	return python.layout.version < 0x30b ? 16 : python.layout.version == 0x30b ? -24 : 24;
}

bool where_tasks(uint32_t tid, const char *frame)
{
	const struct pystack_layout *l = &python.layout;
	char code[PYSTACK_CODE_BYTES], file[1024];
	uint64_t module, tasks, weak;
	int length;

	if (l->head || l->version > 0x30d ||
	    !where_copy_all(python.pid, python_word_in(frame, l->code) & ~(uint64_t)l->tags, code, sizeof(code)) ||
	    python_word_in(code, TYPE) != python.code_type)
		return false;
	length = python_text_read(python_word_in(code, l->file), file, sizeof(file));
	if (length < 0 || !memmem(file, (size_t)length, "/asyncio/", strlen("/asyncio/")))
		return false;
	module = dict_get(python_word_in(frame, (unsigned)(l->code + globals_distance())), "tasks");
	tasks = module ? python_word_at(module + MODULE_DICT) : 0;
	weak = tasks ? dict_get(tasks, l->version >= 0x30c ? "_scheduled_tasks" : "_all_tasks") : 0;
	if (weak)
		set_record(tid, wrapped_set(weak));
	return weak;
}
