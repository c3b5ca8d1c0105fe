/* SPDX-License-Identifier: Apache-2.0 */
/* While a thread is in a call that it made itself, its frames and their code objects stay alive, so the GIL is not
 * needed. */
#include "runtime/recorder/python/pystack.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/python/pystack_object.h"
#include "runtime/recorder/record/process.h"
#include "runtime/shared/base/text.h"

enum { NONE = PYSTACK_NONE, OWNED_BY_GENERATOR = 1, OWNED_BY_C = 3, CHECKED_STACKS = 16, UNIT = 2, PAGE = 4096 };
enum { FRAME_BYTES = PYSTACK_FRAME_BYTES, CODE_BYTES = PYSTACK_CODE_BYTES, BATCH = PYSTACK_BATCH };

/* From 3.14 on, the thread's state is in a thread-local variable. Unless it belongs to the executable, its first use
 * in a thread may allocate it. has_state: this thread has used it. */
enum { THREAD_LOCAL_STATE = 0x30e };
static __thread bool has_state __attribute__((tls_model("initial-exec")));
/* The thread has the name that Python has for it, or it has none. */
static __thread bool is_named __attribute__((tls_model("initial-exec")));

/* The code object of a frame. From 3.14 on, the low bits of the pointer are flags. */
static const char *pystack_frame_code(const struct pystack_layout *l, const char *frame)
{
	return (const char *)(load_word(frame, l->code) & ~(uint64_t)l->tags);
}

/* The interpreter's data are not laid out as expected: no Python frames from here on. */
static void python_give_up(const char *why)
{
	__atomic_store_n(&pystack_python.layout, NULL, __ATOMIC_RELEASE);
	process_note(why);
}

/* ---- finding the interpreter ---- */

static unsigned python_version(uintptr_t base, const void *dynamic)
{
	const uint32_t *number = dso_symbol(base, dynamic, "Py_Version");

	/* From 3.11 on, a variable has the version; before that, it is known by a function that the version
	 * introduced. Py_GetVersion() would write to a static buffer. */
	if (number)
		return *number >> 16;
	return dso_symbol(base, dynamic, "Py_NewRef")                   ? 0x30a
	       : dso_symbol(base, dynamic, "PyObject_GC_IsTracked")     ? 0x309
	       : dso_symbol(base, dynamic, "PyCode_NewWithPosOnlyArgs") ? 0x308
									: 0;
}

/* Looks up the interpreter's symbols. Returns the reason why its frames cannot be read, or NULL. */
static const char *python_find_symbols(uintptr_t base, const void *dynamic, unsigned version)
{
	const char *runtime = version >= 0x30d ? dso_symbol(base, dynamic, "_PyRuntime") : NULL;
	const char *is_finalizing = version >= 0x30d ? "Py_IsFinalizing" : "_Py_IsFinalizing";

	pystack_python.state = (void *(*)(void))dso_symbol(base, dynamic, "PyGILState_GetThisThreadState");
	pystack_python.is_finalizing = (int (*)(void))dso_symbol(base, dynamic, is_finalizing);
	pystack_python.code_type = dso_symbol(base, dynamic, "PyCode_Type");
	pystack_python.text_type = dso_symbol(base, dynamic, "PyUnicode_Type");
	pystack_python.bytes_type = dso_symbol(base, dynamic, "PyBytes_Type");
	if (!pystack_python.state || !pystack_python.is_finalizing || !pystack_python.code_type ||
	    !pystack_python.text_type || !pystack_python.bytes_type)
		return PYSTACK_UNKNOWN;
	return pystack_layout_find(version, runtime, &pystack_python.found);
}

static bool is_executable_object(const void *dynamic)
{
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	uintptr_t bias = 0;

	for (unsigned long i = 0; headers && i < getauxval(AT_PHNUM); i++) {
		if (headers[i].p_type == PT_PHDR)
			bias = (uintptr_t)headers - headers[i].p_vaddr;
		else if (headers[i].p_type == PT_DYNAMIC && (const void *)(bias + headers[i].p_vaddr) == dynamic)
			return true;
	}
	return false;
}

static void python_start(uintptr_t base, const void *dynamic)
{
	unsigned version = python_version(base, dynamic);
	const char *why = python_find_symbols(base, dynamic, version);
	char note[128];
	struct text t = text_init(note, sizeof(note));

	if (why) {
		text_add(&t, "stacks have no Python frames: ");
		text_add(&t, why);
		process_note(note);
		return;
	}
	pystack_python.unchecked = CHECKED_STACKS;
	pystack_python.has_state = version < THREAD_LOCAL_STATE || is_executable_object(dynamic);
	pystack_python.is_sampled = may_copy();
	if (process_options.sample && !pystack_python.is_sampled)
		process_note("CPU samples have no Python frames: process_vm_readv is not permitted");
	__atomic_store_n(&pystack_python.layout, &pystack_python.found, __ATOMIC_RELEASE);
}

void pystack_check_module(uintptr_t base, const void *dynamic)
{
	if (process_options.python_backtrace && !pystack_python.dynamic &&
	    dso_symbol(base, dynamic, "PyGILState_GetThisThreadState")) {
		pystack_python.base = base;
		__atomic_store_n(&pystack_python.dynamic, dynamic, __ATOMIC_RELEASE);
	}
}

const struct pystack_layout *python_layout(void)
{
	const void *dynamic = __atomic_load_n(&pystack_python.dynamic, __ATOMIC_ACQUIRE);

	if (dynamic && !pystack_python.is_started &&
	    !__atomic_exchange_n(&pystack_python.is_started, true, __ATOMIC_ACQ_REL))
		python_start(pystack_python.base, dynamic);
	return __atomic_load_n(&pystack_python.layout, __ATOMIC_ACQUIRE);
}

bool pystack_has_interpreter(void)
{
	return __atomic_load_n(&pystack_python.dynamic, __ATOMIC_ACQUIRE);
}

bool pystack_is_interpreter(const void *dynamic)
{
	return dynamic == __atomic_load_n(&pystack_python.dynamic, __ATOMIC_ACQUIRE);
}

bool pystack_is_readable(void)
{
	return __atomic_load_n(&pystack_python.layout, __ATOMIC_ACQUIRE);
}

/* ---- walking ---- */

static bool is_object(const struct pystack_layout *l, const char *object, unsigned size, const char *type)
{
	return object && !((uintptr_t)object & 7) && is_readable(object, size) && object_type(l, object) == type;
}

static bool is_code(const struct pystack_layout *l, const char *code)
{
	return is_object(l, code, l->start == NONE ? CODE_BYTES : l->start, pystack_python.code_type) &&
	       is_object(l, load_pointer(code, l->known), TEXT_BYTES, pystack_python.text_type) &&
	       is_object(l, load_pointer(code, l->file), TEXT_STATE_BYTES, pystack_python.text_type);
}

/* Probes the memory that the loads of the walk depend on. */
static bool is_frame(const struct pystack_layout *l, const char *frame)
{
	return !((uintptr_t)frame & 7) && is_readable(frame, 128) &&
	       (l->owner != NONE && frame[l->owner] >= OWNED_BY_C ? true : is_code(l, pystack_frame_code(l, frame)));
}

static bool is_code_object(const struct pystack_layout *l, const char *code)
{
	return l->version < 0x30d || object_type(l, code) == pystack_python.code_type;
}

/* ---- bytecode of threads ---- */

/* Of each code object, a thread executes a copy that it keeps as long as it lives. Where copies start: the address, and
 * above it a part of the key, in one word, because threads and signal handlers share the table. */
enum { COPIES_KNOWN = 256, ADDRESS_BITS = 48 };
static uint64_t copies_known[COPIES_KNOWN];

/* Offset in the thread's copy of the bytecode. The array of copies may be freed by another thread: the kernel reads it,
 * and an address is only used if the instruction is in the copy that starts there. If none is found: the function's
 * first instruction, which has its first line. */
static __attribute__((noinline)) int64_t pystack_copy_offset(const struct pystack_layout *l, const char *frame,
							     const char *code, const char *bytes)
{
	uint64_t at = load_word(frame, l->instruction), size = object_length(l, bytes) * UNIT;
	uint32_t index = *(const uint32_t *)(frame + l->copy);
	uint64_t key = ((uint64_t)code + index) * 0x9fb21c651e98df25ull;
	uint64_t *known = &copies_known[(key >> 32) % COPIES_KNOWN], word = __atomic_load_n(known, __ATOMIC_RELAXED);
	uint64_t start = word & ((UINT64_C(1) << ADDRESS_BITS) - 1);

	key >>= ADDRESS_BITS;
	if (word >> ADDRESS_BITS == key && at - start < size)
		return (int64_t)(at - start);
	if (!sys_is_silent && pystack_python.is_sampled &&
	    copy_memory(&start, load_pointer(bytes, l->copies) + (1 + (uint64_t)index) * sizeof(start),
			sizeof(start)) &&
	    at - start < size) {
		__atomic_store_n(known, key << ADDRESS_BITS | start, __ATOMIC_RELAXED);
		return (int64_t)(at - start);
	}
	return (int64_t)*(const int32_t *)(bytes + l->traceable) * UNIT;
}

/* Offset in the code in bytes; negative: the frame has not started. `bytes`: the content of the code object. */
static inline __attribute__((always_inline)) int64_t pystack_code_offset(const struct pystack_layout *l,
									 const char *frame, const char *code,
									 const char *bytes)
{
	/* The main thread executes the code object's own bytecode. */
	if (l->copies && load_word(frame, l->instruction) - (uint64_t)(code + l->start) >=
			     object_length(l, bytes) * UNIT)
		return pystack_copy_offset(l, frame, code, bytes);
	if (l->start != NONE)
		return (int64_t)(load_word(frame, l->instruction) - (uint64_t)(code + l->start));
	return (int64_t)*(const int32_t *)(frame + l->instruction) * (l->version == 0x30a ? UNIT : 1);
}

/* CPython's own rule: frames that are still being set up are hidden. */
static bool is_hidden(const struct pystack_layout *l, const char *frame, const char *code, int64_t offset)
{
	return l->traceable != NONE && frame[l->owner] != OWNED_BY_GENERATOR &&
	       offset < (int64_t)*(const int32_t *)(code + l->traceable) * UNIT;
}

/* From 3.12 on: marks the start of a C invocation of the interpreter, and is not shown. */
static bool is_shim(const struct pystack_layout *l, const char *frame)
{
	return l->owner != NONE && l->is_entry == NONE && frame[l->owner] >= OWNED_BY_C;
}

/* No invocation: the end of the stack. */
static bool is_base(const struct pystack_layout *l, const char *frame)
{
	return l->has_base && !load_word(frame, l->previous);
}

struct pystack_walk {
	struct pystack_frame *frames;
	unsigned count;
	bool is_open; /* the last frame is the outermost of its invocation, unless another one follows */
	uint64_t hash;
};

/* The outermost frame of a C invocation has been passed. The invocation may have no visible frame. */
static void pystack_close_invocation(struct pystack_walk *w)
{
	if (w->is_open)
		w->frames[w->count - 1].is_entry = true;
	else
		w->frames[w->count++] = (struct pystack_frame){.is_entry = true};
	w->is_open = false;
}

/* `frame` and `bytes`, the content of the code object, may be copies. `bytes` NULL: the frame runs no code. */
static inline __attribute__((always_inline)) void pystack_add_frame(const struct pystack_layout *l,
								    struct pystack_walk *w, const char *frame,
								    const char *code, const char *bytes, uint64_t key)
{
	bool is_entry = l->is_entry != NONE && frame[l->is_entry];
	int64_t offset = bytes ? pystack_code_offset(l, frame, code, bytes) : -1;
	struct pystack_frame *f = &w->frames[w->count];

	if (!bytes || is_hidden(l, frame, bytes, offset)) {
		if (is_entry)
			pystack_close_invocation(w);
		return;
	}
	w->is_open = !is_entry;
	*f = (struct pystack_frame){code, offset < 0 ? 0 : (uint32_t)offset, l->owner == NONE || is_entry};
	w->hash ^= pystack_code_identity(l, code, bytes, key) + ((uint64_t)f->offset << 32 | f->is_entry);
	w->hash *= 0xff51afd7ed558ccdull;
	w->hash ^= w->hash >> 29;
	w->count++;
}

/* Marks that outer frames are missing. */
static void pystack_add_cut(struct pystack_walk *w)
{
	w->frames[w->count++] = (struct pystack_frame){0};
}

bool is_python_ending(void)
{
	return pystack_python.is_finalizing() && sys_gettid() != sys_getpid();
}

static const char *pystack_innermost_frame(const struct pystack_layout *l, const char *state)
{
	return load_pointer(l->state_cframe == NONE ? state : load_pointer(state, l->state_cframe), l->state_frame);
}

static bool pystack_may_walk(const struct pystack_layout *l, const char *state, bool is_checked)
{
	if (!state || (is_checked && sys_is_silent) || is_python_ending())
		return false;
	return !is_checked || (is_readable(state, FRAME_BYTES) &&
			       (l->state_cframe == NONE || is_readable(load_pointer(state, l->state_cframe), 64)));
}

/* False: a frame is not laid out as expected. */
static inline __attribute__((always_inline)) bool pystack_walk_frames(const struct pystack_layout *l, const char *state,
								      bool is_checked, struct pystack_walk *ret,
								      unsigned size)
{
	struct pystack_file file = {NULL, 0};
	struct pystack_walk w = *ret;
	const char *frame;

	for (frame = pystack_innermost_frame(l, state); frame && w.count + 1 < size;
	     frame = load_pointer(frame, l->previous)) {
		const char *code;

		if (is_checked && !is_frame(l, frame))
			return false;
		code = pystack_frame_code(l, frame);
		if (is_base(l, frame))
			continue;
		if (is_shim(l, frame))
			pystack_close_invocation(&w);
		else if (is_code_object(l, code))
			pystack_add_frame(l, &w, frame, code, code, pystack_code_key(l, code, &file));
		else
			pystack_add_frame(l, &w, frame, code, NULL, 0);
	}
	if (frame)
		pystack_add_cut(&w);
	*ret = w;
	return true;
}

/* One instance for each version, with its offsets as constants: half as many instructions. */
static bool pystack_walk_version(const struct pystack_layout *l, const char *state, bool is_checked,
				 struct pystack_walk *ret, unsigned size)
{
#define WALK(number, ...)                                                                                              \
	case number:                                                                                                   \
		return pystack_walk_frames(&(const struct pystack_layout){number, __VA_ARGS__}, state, is_checked,     \
					   ret, size);
	/* 3.8 has the offsets of 3.9, and needs no instance of its own */
	switch (l->head ? 0 : l->version == 0x308 ? 0x309 : l->version) {
		PYSTACK_LAYOUTS(WALK)
	default:
		return pystack_walk_frames(l, state, is_checked, ret, size);
	}
#undef WALK
}

/* Once for a thread. `outermost`: its outermost frame. */
static __attribute__((cold, noinline)) void pystack_name(const struct pystack_layout *l, const char *outermost)
{
	is_named = true;
	if (sys_gettid() != sys_getpid() && !sys_is_silent && pystack_python.is_sampled)
		pystack_write_name(l, outermost);
}

/* The calling thread is in a call that it made itself. */
static __attribute__((cold, noinline)) void pystack_name_taken(const struct pystack_layout *l, const char *state)
{
	const char *outermost = NULL;

	for (const char *frame = pystack_innermost_frame(l, state); frame; frame = load_pointer(frame, l->previous))
		if (!is_shim(l, frame))
			outermost = frame;
	if (outermost)
		pystack_name(l, outermost);
}

unsigned pystack_take(struct pystack_frame *ret, unsigned size, uint64_t *hash)
{
	const struct pystack_layout *l = python_layout();
	const char *state = l ? pystack_python.state() : NULL;
	uint32_t unchecked = __atomic_load_n(&pystack_python.unchecked, __ATOMIC_RELAXED);
	struct pystack_walk w = {ret, 0, false, *hash};

	pystack_forget_pages();
	if (!l || !pystack_may_walk(l, state, unchecked))
		return 0;
	has_state = true;
	if (!pystack_walk_version(l, state, unchecked, &w, size)) {
		python_give_up("stacks have no Python frames: this build of CPython has an unknown layout");
		return 0;
	}
	/* Not an atomic subtraction, because concurrent threads would decrement it below 0. */
	if (unchecked)
		__atomic_store_n(&pystack_python.unchecked, unchecked - 1, __ATOMIC_RELAXED);
	if (__builtin_expect(!is_named, 0))
		pystack_name_taken(l, state);
	*hash = w.hash;
	if (__builtin_expect(pystack_is_loop(l, ret, w.count), 0))
		return pystack_add_awaited(l, pystack_innermost_frame(l, state), ret, w.count, size, hash);
	return w.count;
}

/* ---- walking a stack that a signal interrupted ---- */

/* Copies of several frames and of their code objects. From 3.11 on, frames are adjacent in memory: one page has
 * many. */
struct batch {
	char frames[BATCH][FRAME_BYTES], codes[BATCH][CODE_BYTES];
	const char *code[BATCH];
	uint64_t keys[BATCH];
	unsigned count;
	uintptr_t outermost; /* of those that were copied, in any batch */
	uintptr_t page_at;
	char page[PAGE];
};

static bool pystack_copy_frame(struct batch *b, uintptr_t frame)
{
	uintptr_t page = frame & ~(uintptr_t)(PAGE - 1);
	char *to = b->frames[b->count];

	if (frame - page > PAGE - FRAME_BYTES)
		return copy_memory(to, (const void *)frame, FRAME_BYTES);
	if (page != b->page_at) {
		b->page_at = copy_memory(b->page, (const void *)page, PAGE) ? page : 0;
		if (!b->page_at)
			return false;
	}
	memcpy(to, b->page + (frame - page), FRAME_BYTES);
	return true;
}

static bool is_code_copy(const struct pystack_layout *l, const char *bytes)
{
	return object_type(l, bytes) == pystack_python.code_type;
}

/* Copies the frames from `frame` on, and their code objects. Returns the frame after them; 0: none; 1: unreadable. */
static uintptr_t pystack_copy_batch(const struct pystack_layout *l, struct batch *b, uintptr_t frame)
{
	unsigned read;

	for (b->count = 0; frame && b->count < BATCH; b->count++) {
		const char *copied = b->frames[b->count];

		if (frame & 7 || !pystack_copy_frame(b, frame)) {
			frame = 1;
			break;
		}
		b->code[b->count] = is_shim(l, copied) ? NULL : pystack_frame_code(l, copied);
		b->outermost = is_shim(l, copied) ? b->outermost : frame;
		frame = load_word(copied, l->previous);
	}
	read = pystack_copy_codes(b->code, b->count, b->codes);
	for (unsigned i = 0; i < read; i++)
		if (l->version < 0x30d && b->code[i] && !is_code_copy(l, b->codes[i]))
			read = i;
	if (read != b->count)
		frame = 1;
	b->count = read;
	pystack_copy_keys(l, b->codes, read, b->keys);
	return frame;
}

/* Copies the innermost frames. An invocation that is just starting may have none yet: then those of the previous
 * one. */
static uintptr_t pystack_copy_innermost(const struct pystack_layout *l, struct batch *b, const char *state)
{
	uintptr_t frame, next = 0;

	b->page_at = b->outermost = 0;
	b->count = 0;
	if (l->state_cframe == NONE)
		return copy_memory(&frame, state + l->state_frame, sizeof(frame)) ? pystack_copy_batch(l, b, frame) : 0;
	if (!copy_memory(&state, state + l->state_cframe, sizeof(state)))
		return 0;
	for (int i = 0; i < 2 && !b->count && copy_memory(&frame, state + l->state_frame, sizeof(frame)); i++) {
		next = pystack_copy_batch(l, b, frame);
		if (!copy_memory(&state, state + l->state_frame + 8, sizeof(state)))
			break;
	}
	return next;
}

unsigned pystack_sample(struct pystack_frame *ret, unsigned size, uint64_t *hash)
{
	const struct pystack_layout *l = sys_is_silent ? NULL : python_layout();
	bool may_read_state = l && pystack_python.is_sampled && (pystack_python.has_state || has_state);
	const char *state = may_read_state ? pystack_python.state() : NULL;
	struct pystack_walk w = {ret, 0, false, *hash};
	struct batch b;
	uintptr_t frame;

	if (!state || is_python_ending())
		return 0;
	pystack_forget_pages();
	frame = pystack_copy_innermost(l, &b, state);
	while (b.count) {
		unsigned i;

		for (i = 0; i < b.count && w.count + 1 < size; i++) {
			if (b.code[i])
				pystack_add_frame(l, &w, b.frames[i], b.code[i],
						  is_code_copy(l, b.codes[i]) ? b.codes[i] : NULL, b.keys[i]);
			else if (!is_base(l, b.frames[i]))
				pystack_close_invocation(&w);
		}
		if (i < b.count)
			frame = 1;
		b.count = 0;
		if (frame > 1 && w.count + 1 < size)
			frame = pystack_copy_batch(l, &b, frame);
	}
	if (frame)
		pystack_add_cut(&w);
	else if (b.outermost && !is_named)
		pystack_name(l, (const char *)b.outermost);
	*hash = w.hash;
	return w.count;
}

void pystack_module_unloaded(void)
{
	if (pystack_python.state && !readable_bytes((const void *)pystack_python.state, 1))
		__atomic_store_n(&pystack_python.layout, NULL, __ATOMIC_RELEASE);
}
