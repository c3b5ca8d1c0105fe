/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that is in a call of its own keeps its frames and their code objects alive, so no GIL is needed. */
#include "pystack.h"

#include <string.h>
#include <sys/uio.h>

#include "event.h"
#include "loaded.h"
#include "pystack_layout.h"
#include "stack.h"
#include "sys.h"

enum { NONE = PYSTACK_NONE, OWNED_BY_GENERATOR = 1, OWNED_BY_C = 3, CHECKED_STACKS = 16, FILE_BYTES = 1024, NAME_BYTES = 512,
       TABLE_BYTES = 60000, LINES = 10000000, UNIT = 2, PAGE = 4096 };
/* What is looked at of a frame and of a code object; how many of a sample's are read at a time. */
enum { FRAME_BYTES = PYSTACK_FRAME_BYTES, CODE_BYTES = PYSTACK_CODE_BYTES, BATCH = 32 };

/* One interpreter per process, the first that is met. */
static struct {
	const struct pystack_layout *layout; /* NULL: none, or not to be read */
	struct pystack_layout found;
	void *(*state)(void);
	int (*is_finalizing)(void);
	const char *code_type, *text_type, *bytes_type;
	uintptr_t base;
	const void *dynamic; /* its object's; NULL: none was met */
	bool is_started;
	bool is_sampled; /* the kernel reads for us what may be gone */
	uint32_t unchecked; /* stacks yet to be walked with a look at each pointer */
} python;

/* From 3.14 on the thread's state is in a thread-local variable: to look at it may allocate it, but not where it was looked at. */
enum { THREAD_LOCAL_STATE = 0x30e };
static __thread bool has_state __attribute__((tls_model("initial-exec")));

static uint64_t word(const char *object, unsigned offset)
{
	return *(const uint64_t *)(object + offset);
}

static const char *pointer(const char *object, unsigned offset)
{
	return (const char *)word(object, offset);
}

/* What a frame runs. From 3.14 on the pointer's low bits tell of its reference. */
static const char *code_of(const struct pystack_layout *l, const char *frame)
{
	return (const char *)(word(frame, l->code) & ~(uint64_t)l->tags);
}

/* Not what we take it for: no Python frames from here on. */
static void refuse(const char *why)
{
	__atomic_store_n(&python.layout, NULL, __ATOMIC_RELEASE);
	process_note(why);
}

/* From memory that may have gone, or go just now: false, where a load would end the program. */
static bool copy(void *to, const void *from, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)from, size};

	return sys_call6(SYS_process_vm_readv, process.pid, (long)&local, 1, (long)&remote, 1, 0) == (long)size;
}

/* ---- finding it ---- */

static unsigned version_of(uintptr_t base, const void *dynamic)
{
	const uint32_t *number = loaded_symbol(base, dynamic, "Py_Version");

	/* By a number from 3.11 on, before it by the first function that came with a version: Py_GetVersion() fills a buffer. */
	if (number)
		return *number >> 16;
	return loaded_symbol(base, dynamic, "Py_NewRef")		   ? 0x30a
	       : loaded_symbol(base, dynamic, "PyObject_GC_IsTracked")	   ? 0x309
	       : loaded_symbol(base, dynamic, "PyCode_NewWithPosOnlyArgs") ? 0x308
									   : 0;
}

/* What of an interpreter cannot be read, or NULL. */
static const char *missing(uintptr_t base, const void *dynamic, unsigned version)
{
	const char *runtime = version >= 0x30d ? loaded_symbol(base, dynamic, "_PyRuntime") : NULL;

	python.state = (void *(*)(void))loaded_symbol(base, dynamic, "PyGILState_GetThisThreadState");
	python.is_finalizing = (int (*)(void))loaded_symbol(base, dynamic, version >= 0x30d ? "Py_IsFinalizing" : "_Py_IsFinalizing");
	python.code_type = loaded_symbol(base, dynamic, "PyCode_Type");
	python.text_type = loaded_symbol(base, dynamic, "PyUnicode_Type");
	python.bytes_type = loaded_symbol(base, dynamic, "PyBytes_Type");
	if (!python.state || !python.is_finalizing || !python.code_type || !python.text_type || !python.bytes_type)
		return "stacks have no Python frames: not a CPython from 3.8 to 3.14";
	if (version >= 0x30d && pystack_is_free_threaded(runtime))
		return "stacks have no Python frames: a free-threaded CPython";
	if (!pystack_layout_find(version, runtime, &python.found))
		return "stacks have no Python frames: not a CPython from 3.8 to 3.14, or laid out in a way of its own";
	return NULL;
}

static void start(uintptr_t base, const void *dynamic)
{
	unsigned version = version_of(base, dynamic);
	const char *why = missing(base, dynamic, version);

	if (why) {
		process_note(why);
		return;
	}
	python.unchecked = CHECKED_STACKS;
	python.is_sampled = copy(&version, python.code_type, sizeof(version));
	if (process_options.sample && !python.is_sampled)
		process_note("CPU samples have no Python frames: process_vm_readv is not allowed here");
	__atomic_store_n(&python.layout, &python.found, __ATOMIC_RELEASE);
}

void pystack_look(uintptr_t base, const void *dynamic)
{
	if (process_options.python_backtrace && !python.dynamic && loaded_symbol(base, dynamic, "PyGILState_GetThisThreadState")) {
		python.base = base;
		__atomic_store_n(&python.dynamic, dynamic, __ATOMIC_RELEASE);
	}
}

/* The interpreter's layout; NULL: there is none, or none that we can read. */
static const struct pystack_layout *layout(void)
{
	const void *dynamic = __atomic_load_n(&python.dynamic, __ATOMIC_ACQUIRE);

	if (dynamic && !python.is_started && !__atomic_exchange_n(&python.is_started, true, __ATOMIC_ACQ_REL))
		start(python.base, dynamic);
	return __atomic_load_n(&python.layout, __ATOMIC_ACQUIRE);
}

bool pystack_is_there(void)
{
	return __atomic_load_n(&python.dynamic, __ATOMIC_ACQUIRE);
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
static bool is_frame(const struct pystack_layout *l, const char *frame)
{
	return !((uintptr_t)frame & 7) && may_read(frame, 128) &&
	       (l->owner != NONE && frame[l->owner] >= OWNED_BY_C ? true : is_object(code_of(l, frame), 208, python.code_type));
}

static bool has_code(const struct pystack_layout *l, const char *frame)
{
	return l->version < 0x30d || pointer(code_of(l, frame), 8) == python.code_type;
}

/* Bytes into the code; below 0: the frame has not begun. */
static int64_t offset_of(const struct pystack_layout *l, const char *frame, const char *code)
{
	if (l->start != NONE)
		return (int64_t)(word(frame, l->instruction) - (uint64_t)(code + l->start));
	return (int64_t)*(const int32_t *)(frame + l->instruction) * (l->version == 0x30a ? UNIT : 1);
}

/* CPython's own rule of frames that it does not show: still on their way in. */
static bool is_hidden(const struct pystack_layout *l, const char *frame, const char *code, int64_t offset)
{
	return l->traceable != NONE && frame[l->owner] != OWNED_BY_GENERATOR &&
	       offset < (int64_t)*(const int32_t *)(code + l->traceable) * UNIT;
}

/* The line table and the first line, too: an address may be used again for other code. `bytes`: what the code object has. */
static uint64_t identity(const struct pystack_layout *l, const char *code, const char *bytes)
{
	return (uint64_t)code + word(bytes, l->lines) * 0x9fb21c651e98df25ull + *(const uint32_t *)(bytes + l->first_line);
}

/* Where an invocation of the interpreter in C begins, from 3.12 on: no frame to show. */
static bool is_shim(const struct pystack_layout *l, const char *frame)
{
	return l->owner != NONE && l->is_entry == NONE && frame[l->owner] >= OWNED_BY_C;
}

struct walk {
	struct pystack_frame *frames;
	unsigned count;
	bool is_open; /* the last frame is not yet known to be its invocation's outermost */
	uint64_t hash;
};

/* One C invocation of the interpreter ends here, perhaps without a frame to show. */
static void close_entry(struct walk *w)
{
	if (w->is_open)
		w->frames[w->count - 1].is_entry = true;
	else
		w->frames[w->count++] = (struct pystack_frame){.is_entry = true};
	w->is_open = false;
}

/* `frame` and `bytes`, the code object's, may be copies; no bytes: it runs no code. */
static inline __attribute__((always_inline)) void add_frame(const struct pystack_layout *l, struct walk *w, const char *frame,
							    const char *code, const char *bytes)
{
	bool is_entry = l->is_entry != NONE && frame[l->is_entry];
	int64_t offset = bytes ? offset_of(l, frame, code) : -1;
	struct pystack_frame *f = &w->frames[w->count];

	if (!bytes || is_hidden(l, frame, bytes, offset)) {
		if (is_entry)
			close_entry(w);
		return;
	}
	w->is_open = !is_entry;
	*f = (struct pystack_frame){code, offset < 0 ? 0 : (uint32_t)offset, l->owner == NONE || is_entry};
	w->hash = (w->hash ^ (identity(l, code, bytes) + ((uint64_t)f->offset << 32 | f->is_entry))) * 0xff51afd7ed558ccdull;
	w->hash ^= w->hash >> 29;
	w->count++;
}

/* There are more, deeper in the stack, that are not told of. */
static void add_end(struct walk *w)
{
	w->frames[w->count++] = (struct pystack_frame){0};
}

/* States of other threads are freed while the interpreter ends. */
static bool is_ending(void)
{
	return python.is_finalizing() && sys_gettid() != sys_getpid();
}

static const char *innermost(const struct pystack_layout *l, const char *state)
{
	return pointer(l->state_cframe == NONE ? state : pointer(state, l->state_cframe), l->state_frame);
}

static bool may_be_walked(const struct pystack_layout *l, const char *state)
{
	if (!state || (python.unchecked && sys_is_silent) || is_ending())
		return false;
	return !python.unchecked || (may_read(state, FRAME_BYTES) &&
				     (l->state_cframe == NONE || may_read(pointer(state, l->state_cframe), 64)));
}

unsigned pystack_take(struct pystack_frame *ret, unsigned size, uint64_t *hash)
{
	const struct pystack_layout *l = layout();
	const char *state = l ? python.state() : NULL, *frame;
	bool is_checked = python.unchecked && l;
	struct walk w = {ret, 0, false, *hash};

	if (!l || !may_be_walked(l, state))
		return 0;
	has_state = true;
	for (frame = innermost(l, state); frame && w.count + 1 < size; frame = pointer(frame, l->previous)) {
		if (is_checked && !is_frame(l, frame)) {
			refuse("stacks have no Python frames: this build of CPython is laid out in a way of its own");
			return 0;
		}
		if (is_shim(l, frame))
			close_entry(&w);
		else
			add_frame(l, &w, frame, code_of(l, frame), has_code(l, frame) ? code_of(l, frame) : NULL);
	}
	if (frame)
		add_end(&w);
	if (is_checked)
		python.unchecked--;
	*hash = w.hash;
	return w.count;
}

/* ---- walking where a signal came ---- */

/* Copies of some frames of a stack and of their code objects. From 3.11 on frames lie side by side: a page has many. */
struct batch {
	char frames[BATCH][FRAME_BYTES], codes[BATCH][CODE_BYTES];
	const char *code[BATCH];
	unsigned count;
	uintptr_t page_at;
	char page[PAGE];
};

/* Reads as many of these code objects as can be, up to the first that cannot. */
static unsigned copy_codes(const char *const *code, unsigned count, char (*ret)[CODE_BYTES])
{
	struct iovec local = {ret, count * CODE_BYTES}, remote[BATCH];
	long size;

	/* In the place of a frame without one, what can be read and is no code object. */
	for (unsigned i = 0; i < count; i++)
		remote[i] = (struct iovec){(void *)(code[i] ? code[i] : python.code_type), CODE_BYTES};
	size = sys_call6(SYS_process_vm_readv, process.pid, (long)&local, 1, (long)remote, count, 0);
	return size > 0 ? (unsigned)(size / CODE_BYTES) : 0;
}

static bool copy_frame(struct batch *b, uintptr_t frame)
{
	uintptr_t page = frame & ~(uintptr_t)(PAGE - 1);
	char *to = b->frames[b->count];

	if (frame - page > PAGE - FRAME_BYTES)
		return copy(to, (const void *)frame, FRAME_BYTES);
	if (page != b->page_at) {
		b->page_at = copy(b->page, (const void *)page, PAGE) ? page : 0;
		if (!b->page_at)
			return false;
	}
	memcpy(to, b->page + (frame - page), FRAME_BYTES);
	return true;
}

/* The next frames from `frame` on, and their code. Returns where the ones after them are, 0: that was all; 1: they cannot be read. */
static uintptr_t copy_batch(const struct pystack_layout *l, struct batch *b, uintptr_t frame)
{
	unsigned read;

	for (b->count = 0; frame && b->count < BATCH; b->count++) {
		const char *copied = b->frames[b->count];

		if (frame & 7 || !copy_frame(b, frame)) {
			frame = 1;
			break;
		}
		b->code[b->count] = is_shim(l, copied) ? NULL : code_of(l, copied);
		frame = word(copied, l->previous);
	}
	read = copy_codes(b->code, b->count, b->codes);
	for (unsigned i = 0; i < read; i++)
		if (l->version < 0x30d && b->code[i] && pointer(b->codes[i], 8) != python.code_type)
			read = i;
	if (read == b->count)
		return frame;
	b->count = read;
	return 1;
}

/* The innermost frames. An invocation of the interpreter that is just beginning may have none yet: then those of the one before. */
static uintptr_t copy_innermost(const struct pystack_layout *l, struct batch *b, const char *state)
{
	uintptr_t frame, next = 0;

	b->page_at = 0;
	b->count = 0;
	if (l->state_cframe == NONE)
		return copy(&frame, state + l->state_frame, sizeof(frame)) ? copy_batch(l, b, frame) : 0;
	if (!copy(&state, state + l->state_cframe, sizeof(state)))
		return 0;
	for (int i = 0; i < 2 && !b->count && copy(&frame, state + l->state_frame, sizeof(frame)); i++) {
		next = copy_batch(l, b, frame);
		if (!copy(&state, state + l->state_frame + 8, sizeof(state)))
			break;
	}
	return next;
}

unsigned pystack_sample(struct pystack_frame *ret, unsigned size, uint64_t *hash)
{
	const struct pystack_layout *l = sys_is_silent ? NULL : layout();
	bool may_ask = l && python.is_sampled && (l->version < THREAD_LOCAL_STATE || has_state);
	const char *state = may_ask ? python.state() : NULL;
	struct walk w = {ret, 0, false, *hash};
	struct batch b;
	uintptr_t frame;

	if (!state || is_ending())
		return 0;
	frame = copy_innermost(l, &b, state);
	while (b.count) {
		unsigned i;

		for (i = 0; i < b.count && w.count + 1 < size; i++) {
			if (!b.code[i])
				close_entry(&w);
			else
				add_frame(l, &w, b.frames[i], b.code[i],
					  pointer(b.codes[i], 8) == python.code_type ? b.codes[i] : NULL);
		}
		if (i < b.count)
			frame = 1;
		b.count = 0;
		if (frame > 1 && w.count + 1 < size)
			frame = copy_batch(l, &b, frame);
	}
	if (frame)
		add_end(&w);
	*hash = w.hash;
	return w.count;
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

/* Where the kernel may not be asked, what the thread's own frames keep alive is read as it is. */
static bool copy_object(void *to, const char *from, size_t size)
{
	if (python.is_sampled && !sys_is_silent)
		return copy(to, from, size);
	if (!may_read(from, size))
		return false;
	memcpy(to, from, size);
	return true;
}

/* A str in its compact form (all that the compiler makes) as UTF-8, cut to `size`. */
static bool copy_text(const struct pystack_layout *l, const char *text, char *ret, unsigned size, uint16_t *ret_length)
{
	char head[40];
	uint32_t state, kind, part[64];
	uint64_t length;
	unsigned used = 0;
	const char *data;

	if (!copy_object(head, text, sizeof(head)) || pointer(head, 8) != python.text_type)
		return false;
	length = word(head, 16);
	state = *(const uint32_t *)(head + 32);
	kind = state >> 2 & 7;
	if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4))
		return false;
	data = text + (state >> 6 & 1 ? l->ascii : l->compact);
	length = length < size ? length : size;
	for (uint64_t i = 0; i < length && used + 4 <= size; i++) {
		uint64_t at = i % (sizeof(part) / 4), left = length - i < sizeof(part) / 4 ? length - i : sizeof(part) / 4;

		if (!at && !copy_object(part, data + i * kind, left * kind))
			return false;
		used += add_utf8(ret + used, kind == 1 ? ((const uint8_t *)part)[at]
					     : kind == 2 ? ((const uint16_t *)part)[at] : part[at]);
	}
	*ret_length = (uint16_t)used;
	return true;
}

struct code_blob {
	struct tf_python_code head;
	char text[FILE_BYTES + NAME_BYTES];
	size_t size;
};

/* On a sample's own stack there is room. */
static __attribute__((noinline)) bool write_copied(uint32_t id, const struct code_blob *blob, const char *lines, uint64_t size)
{
	char table[TABLE_BYTES];

	return copy(table, lines, size) && event_blob_of_two(TF_BLOB_PYTHON_CODE, id, blob, blob->size, table, size);
}

static bool write_code(const struct pystack_layout *l, uint32_t id, const char *bytes, bool is_sample)
{
	struct code_blob blob = {{.first_line = *(const uint32_t *)(bytes + l->first_line), .version = l->version}, "", 0};
	const char *lines = pointer(bytes, l->lines);
	char head[24];
	uint64_t size;

	if (blob.head.first_line > LINES || !copy_text(l, pointer(bytes, l->file), blob.text, FILE_BYTES, &blob.head.file_bytes) ||
	    !copy_text(l, pointer(bytes, l->name), blob.text + blob.head.file_bytes, NAME_BYTES, &blob.head.name_bytes) ||
	    !copy_object(head, lines, sizeof(head)) || pointer(head, 8) != python.bytes_type)
		return false;
	blob.size = sizeof(blob.head) + blob.head.file_bytes + blob.head.name_bytes;
	lines += 32;
	size = word(head, 16) < TABLE_BYTES ? word(head, 16) : TABLE_BYTES;
	if (is_sample)
		return write_copied(id, &blob, lines, size);
	return may_read(lines, size) && event_blob_of_two(TF_BLOB_PYTHON_CODE, id, &blob, blob.size, lines, size);
}

/* The id of a code object whose bytes these are; it may be new. */
static uint32_t code_id(const struct pystack_layout *l, const char *code, const char *bytes, bool is_sample)
{
	const uint64_t what[] = {(uint64_t)code, word(bytes, l->file), word(bytes, l->name),
				 *(const uint32_t *)(bytes + l->first_line), word(bytes, l->lines)};
	uint32_t number = 0;
	bool is_new = false;

	table_add(&process.interned, table_hash(TF_BLOB_PYTHON_CODE, what, sizeof(what)), &number, &is_new);
	if (is_new && !write_code(l, number, bytes, is_sample))
		process_note("a Python function without a name: its code object could not be read");
	return number;
}

/* Part of a stack: at most BATCH frames. */
static void write_ids(const struct pystack_layout *l, const struct pystack_frame *frames, unsigned count, bool is_sample,
		      struct tf_python_frame *ret)
{
	char codes[BATCH][CODE_BYTES];
	const char *code[BATCH];
	unsigned read = count;

	for (unsigned i = 0; i < count; i++) {
		ret[i] = (struct tf_python_frame){.place = frames[i].offset | (frames[i].is_entry ? TF_PYTHON_ENTRY : 0)};
		code[i] = frames[i].code;
	}
	if (is_sample)
		read = copy_codes(code, count, codes);
	for (unsigned i = 0; i < read; i++)
		if (code[i])
			ret[i].code = code_id(l, code[i], is_sample ? codes[i] : code[i], is_sample);
}

void pystack_write(uint32_t id, const struct pystack_frame *frames, unsigned count, bool is_sample)
{
	const struct pystack_layout *l = __atomic_load_n(&python.layout, __ATOMIC_ACQUIRE);
	struct tf_python_frame out[PYSTACK_FRAMES];

	if (!l || !count)
		return;
	for (unsigned i = 0; i < count; i += BATCH)
		write_ids(l, frames + i, count - i < BATCH ? count - i : BATCH, is_sample, out + i);
	event_blob(TF_BLOB_PYTHON_STACK, id, out, count * sizeof(*out));
}

void pystack_module_gone(void)
{
	if (python.state && !stack_is_readable((const void *)python.state, 1))
		__atomic_store_n(&python.layout, NULL, __ATOMIC_RELEASE);
}
