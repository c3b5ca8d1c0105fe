/* SPDX-License-Identifier: Apache-2.0 */
/* CPython's frames by their offsets in each version (Include/internal/pycore_frame.h, pycore_code.h and cpython/pystate.h of that
 * version). A thread that is in a call of its own keeps its frames and their code objects alive, so no GIL is needed. */
#include "pystack.h"

#include <string.h>

#include "event.h"
#include "loaded.h"
#include "stack.h"
#include "sys.h"

enum { NONE = 0xffff, OWNED_BY_GENERATOR = 1, OWNED_BY_C = 3, CHECKED_STACKS = 16, FILE_BYTES = 1024, NAME_BYTES = 512,
       TABLE_BYTES = 60000, LINES = 10000000, UNIT = 2 };

/* Offsets in bytes. `state_frame`: from the thread state, by way of `state_cframe` in 3.11 and 3.12. */
struct layout {
	uint16_t version, state_cframe, state_frame, previous, code, instruction, owner, is_entry;
	uint16_t file, name, first_line, lines, start, traceable, ascii, compact;
};

static const struct layout layouts[] = {
	{0x308, NONE, 24, 24, 32, 104, NONE, NONE, 104, 112, 40, 120, NONE, NONE, 48, 72},
	{0x309, NONE, 24, 24, 32, 104, NONE, NONE, 104, 112, 40, 120, NONE, NONE, 48, 72},
	{0x30a, NONE, 24, 24, 32, 96, NONE, NONE, 104, 112, 40, 120, NONE, NONE, 48, 72},
	{0x30b, 56, 8, 48, 32, 56, 69, 68, 112, 128, 72, 136, 184, 168, 48, 72},
	{0x30c, 56, 0, 8, 0, 56, 70, NONE, 112, 128, 68, 136, 192, 176, 40, 56},
	{0x30d, NONE, 72, 8, 0, 56, 70, NONE, 112, 128, 68, 136, 200, 184, 40, 56},
};

/* One interpreter per process, the first that is met. */
static struct {
	const struct layout *layout; /* NULL: none, or not to be read */
	void *(*state)(void);
	int (*is_finalizing)(void);
	const char *code_type, *text_type, *bytes_type;
	uintptr_t base;
	const void *dynamic; /* its object's; NULL: none was met */
	bool is_started;
	uint32_t unchecked; /* stacks yet to be walked with a look at each pointer */
} python;

static uint64_t word(const char *object, unsigned offset)
{
	return *(const uint64_t *)(object + offset);
}

static const char *pointer(const char *object, unsigned offset)
{
	return (const char *)word(object, offset);
}

/* Not what we take it for: no Python frames from here on. */
static void refuse(const char *why)
{
	__atomic_store_n(&python.layout, NULL, __ATOMIC_RELEASE);
	process_note(why);
}

/* ---- finding it ---- */

/* "3.11.2 (main, ...": sys.version, from a function that takes no lock and, once Python runs, allocates nothing. */
static unsigned parse_version(const char *text)
{
	unsigned major = 0, minor = 0;

	for (; *text >= '0' && *text <= '9' && major < 256; text++)
		major = major * 10 + (unsigned)(*text - '0');
	if (*text++ != '.')
		return 0;
	for (; *text >= '0' && *text <= '9' && minor < 256; text++)
		minor = minor * 10 + (unsigned)(*text - '0');
	return major << 8 | (minor & 0xff);
}

/* From 3.13 on the runtime says of itself whether it runs without a GIL. */
static bool is_free_threaded(const char *runtime)
{
	return !runtime || memcmp(runtime, "xdebugpy", 8) != 0 || word(runtime, 16) != 0;
}

/* At a call, not in a handler: the functions asked here are the interpreter's own. */
static void start(uintptr_t base, const void *dynamic)
{
	const uint32_t *number = loaded_symbol(base, dynamic, "Py_Version");
	const char *(*text)(void) = (const char *(*)(void))loaded_symbol(base, dynamic, "Py_GetVersion");
	const struct layout *found = NULL;
	/* The number is 3.11's; before it the text is a static buffer, filled with the same bytes at each call. */
	unsigned version = number ? *number >> 16 : text ? parse_version(text()) : 0;

	for (unsigned i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].version == version)
			found = &layouts[i];
	python.state = (void *(*)(void))loaded_symbol(base, dynamic, "PyGILState_GetThisThreadState");
	python.is_finalizing = (int (*)(void))loaded_symbol(base, dynamic, version >= 0x30d ? "Py_IsFinalizing" : "_Py_IsFinalizing");
	python.code_type = loaded_symbol(base, dynamic, "PyCode_Type");
	python.text_type = loaded_symbol(base, dynamic, "PyUnicode_Type");
	python.bytes_type = loaded_symbol(base, dynamic, "PyBytes_Type");
	if (!found || !python.state || !python.is_finalizing || !python.code_type || !python.text_type || !python.bytes_type)
		process_note("stacks have no Python frames: not a CPython from 3.8 to 3.13");
	else if (version >= 0x30d && is_free_threaded(loaded_symbol(base, dynamic, "_PyRuntime")))
		process_note("stacks have no Python frames: a free-threaded CPython");
	else {
		python.unchecked = CHECKED_STACKS;
		__atomic_store_n(&python.layout, found, __ATOMIC_RELEASE);
	}
}

void pystack_look(uintptr_t base, const void *dynamic)
{
	if (process_options.python_backtrace && !python.dynamic && loaded_symbol(base, dynamic, "PyGILState_GetThisThreadState")) {
		python.base = base;
		__atomic_store_n(&python.dynamic, dynamic, __ATOMIC_RELEASE);
	}
}

/* The interpreter's layout; NULL: there is none, or none that we can read. */
static const struct layout *layout(void)
{
	const void *dynamic = __atomic_load_n(&python.dynamic, __ATOMIC_ACQUIRE);

	if (dynamic && !python.is_started && !__atomic_exchange_n(&python.is_started, true, __ATOMIC_ACQ_REL))
		start(python.base, dynamic);
	return __atomic_load_n(&python.layout, __ATOMIC_ACQUIRE);
}

/* ---- walking ---- */

/* Where the kernel may not be asked any more, only what has been walked with a look before is walked. */
static bool may_read(const void *from, uint64_t size)
{
	return sys_is_silent || stack_is_readable(from, size);
}

static bool is_object(const char *object, unsigned size, const char *type)
{
	return object && !((uintptr_t)object & 7) && may_read(object, size) && pointer(object, 8) == type;
}

/* What every load of the walk relies on, looked at before it is made. */
static bool is_frame(const struct layout *l, const char *frame)
{
	return !((uintptr_t)frame & 7) && may_read(frame, 128) &&
	       (l->owner != NONE && frame[l->owner] >= OWNED_BY_C ? true : is_object(pointer(frame, l->code), 208, python.code_type));
}

static bool has_code(const struct layout *l, const char *frame)
{
	return l->version < 0x30d || pointer(pointer(frame, l->code), 8) == python.code_type;
}

/* Bytes into the code; below 0: the frame has not begun. */
static int64_t offset_of(const struct layout *l, const char *frame, const char *code)
{
	if (l->start != NONE)
		return (int64_t)(word(frame, l->instruction) - (uint64_t)(code + l->start));
	return (int64_t)*(const int32_t *)(frame + l->instruction) * (l->version == 0x30a ? UNIT : 1);
}

/* CPython's own rule of frames that it does not show: still on their way in. */
static bool is_hidden(const struct layout *l, const char *frame, const char *code, int64_t offset)
{
	return l->traceable != NONE && frame[l->owner] != OWNED_BY_GENERATOR &&
	       offset < (int64_t)*(const int32_t *)(code + l->traceable) * UNIT;
}

/* The line table and the first line, too: an address may be used again for other code. */
static uint64_t identity(const struct layout *l, const char *code)
{
	return (uint64_t)code + word(code, l->lines) * 0x9fb21c651e98df25ull + *(const uint32_t *)(code + l->first_line);
}

static const char *innermost(const struct layout *l, const char *state)
{
	return pointer(l->state_cframe == NONE ? state : pointer(state, l->state_cframe), l->state_frame);
}

static bool may_be_walked(const struct layout *l, const char *state)
{
	/* States of other threads are freed while the interpreter ends. */
	if (!state || (python.unchecked && sys_is_silent) || (python.is_finalizing() && sys_gettid() != sys_getpid()))
		return false;
	return !python.unchecked || (may_read(state, 128) &&
				     (l->state_cframe == NONE || may_read(pointer(state, l->state_cframe), 64)));
}

/* One C invocation of the interpreter ends here, perhaps without a frame to show. */
static void close_entry(struct pystack_frame *ret, unsigned *count, bool *is_open)
{
	if (*is_open)
		ret[*count - 1].is_entry = true;
	else
		ret[(*count)++] = (struct pystack_frame){.is_entry = true};
	*is_open = false;
}

unsigned pystack_take(struct pystack_frame *ret, unsigned size, uint64_t *hash)
{
	const struct layout *l = layout();
	const char *state = l ? python.state() : NULL, *frame;
	bool is_checked = python.unchecked && l, is_open = false;
	unsigned count = 0;

	if (!l || !may_be_walked(l, state))
		return 0;
	for (frame = innermost(l, state); frame && count < size; frame = pointer(frame, l->previous)) {
		const char *code;
		int64_t offset;

		if (is_checked && !is_frame(l, frame)) {
			refuse("stacks have no Python frames: this build of CPython is laid out in a way of its own");
			return 0;
		}
		if (l->owner != NONE && l->is_entry == NONE && frame[l->owner] >= OWNED_BY_C) {
			close_entry(ret, &count, &is_open);
			continue;
		}
		code = pointer(frame, l->code);
		offset = has_code(l, frame) ? offset_of(l, frame, code) : -1;
		if (!has_code(l, frame) || is_hidden(l, frame, code, offset)) {
			if (l->is_entry != NONE && frame[l->is_entry])
				close_entry(ret, &count, &is_open);
			continue;
		}
		is_open = l->is_entry == NONE || !frame[l->is_entry];
		ret[count] = (struct pystack_frame){code, offset < 0 ? 0 : (uint32_t)offset,
						    l->owner == NONE || (l->is_entry != NONE && frame[l->is_entry])};
		*hash = (*hash ^ (identity(l, code) + ((uint64_t)ret[count].offset << 32 | ret[count].is_entry))) * 0xff51afd7ed558ccdull;
		*hash ^= *hash >> 29;
		count++;
	}
	if (is_checked)
		python.unchecked--;
	return count;
}

/* ---- decoding ---- */

static unsigned add_utf8(char *at, uint32_t c)
{
	if (c < 0x80) {
		at[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		at[0] = (char)(0xc0 | c >> 6);
		at[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		at[0] = (char)(0xe0 | c >> 12);
		at[1] = (char)(0x80 | (c >> 6 & 63));
		at[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	at[0] = (char)(0xf0 | (c >> 18 & 7));
	at[1] = (char)(0x80 | (c >> 12 & 63));
	at[2] = (char)(0x80 | (c >> 6 & 63));
	at[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* A str in its compact form (all that the compiler makes) as UTF-8, cut to `size`. */
static bool copy_text(const struct layout *l, const char *text, char *ret, unsigned size, uint16_t *ret_length)
{
	uint32_t state, kind;
	uint64_t length;
	unsigned used = 0;
	const char *data;

	if (!is_object(text, 72, python.text_type))
		return false;
	length = word(text, 16);
	state = *(const uint32_t *)(text + 32);
	kind = state >> 2 & 7;
	if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4))
		return false;
	data = text + (state >> 6 & 1 ? l->ascii : l->compact);
	length = length < size ? length : size;
	if (!may_read(data, length * kind))
		return false;
	for (uint64_t i = 0; i < length && used + 4 <= size; i++)
		used += add_utf8(ret + used, kind == 1   ? ((const uint8_t *)data)[i]
					     : kind == 2 ? ((const uint16_t *)data)[i]
							 : ((const uint32_t *)data)[i]);
	*ret_length = (uint16_t)used;
	return true;
}

static bool write_code(const struct layout *l, uint32_t id, const char *code)
{
	struct {
		struct tf_python_code head;
		char text[FILE_BYTES + NAME_BYTES];
	} blob = {{.first_line = *(const uint32_t *)(code + l->first_line), .version = l->version}, ""};
	const char *lines = pointer(code, l->lines);
	uint16_t length;
	uint64_t size;

	if (blob.head.first_line > LINES || !is_object(lines, 40, python.bytes_type) ||
	    !copy_text(l, pointer(code, l->file), blob.text, FILE_BYTES, &length))
		return false;
	blob.head.file_bytes = length;
	if (!copy_text(l, pointer(code, l->name), blob.text + length, NAME_BYTES, &blob.head.name_bytes))
		return false;
	size = word(lines, 16) < TABLE_BYTES ? word(lines, 16) : TABLE_BYTES;
	if (!may_read(lines + 32, size))
		return false;
	return event_blob_of_two(TF_BLOB_PYTHON_CODE, id, &blob, sizeof(blob.head) + length + blob.head.name_bytes, lines + 32, size);
}

void pystack_write(uint32_t id, const struct pystack_frame *frames, unsigned count)
{
	const struct layout *l = __atomic_load_n(&python.layout, __ATOMIC_ACQUIRE);
	struct tf_python_frame out[PYSTACK_FRAMES];

	for (unsigned i = 0; l && i < count && i < PYSTACK_FRAMES; i++) {
		const char *code = frames[i].code;
		uint64_t what[5];
		uint32_t number = 0;
		bool is_new = false;

		out[i] = (struct tf_python_frame){.place = frames[i].offset | (frames[i].is_entry ? TF_PYTHON_ENTRY : 0)};
		if (!code)
			continue;
		what[0] = (uint64_t)code;
		what[1] = word(code, l->file);
		what[2] = word(code, l->name);
		what[3] = *(const uint32_t *)(code + l->first_line);
		what[4] = word(code, l->lines);
		table_add(&process.interned, table_hash(TF_BLOB_PYTHON_CODE, what, sizeof(what)), &number, &is_new);
		if (is_new && !write_code(l, number, code))
			process_note("a Python function without a name: its code object could not be read");
		out[i].code = number;
	}
	if (l && count)
		event_blob(TF_BLOB_PYTHON_STACK, id, out, count * sizeof(*out));
}

void pystack_module_gone(void)
{
	if (python.state && !stack_is_readable((const void *)python.state, 1))
		__atomic_store_n(&python.layout, NULL, __ATOMIC_RELEASE);
}
