/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects: copied where they may have been freed; each is written to the trace once. */
#include <string.h>

#include "runtime/recorder/python/pystack.h"
#include "runtime/recorder/python/pystack_object.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/ring/ring.h"
#include "runtime/shared/base/slowed.h"
#include "runtime/shared/base/utf8.h"
#include "runtime/shared/common/pystack_name.h"

enum { BATCH = PYSTACK_BATCH, CODE_BYTES = PYSTACK_CODE_BYTES };
enum { FILE_BYTES = 1024, NAME_BYTES = 512, THREAD_BYTES = 64, TABLE_BYTES = 60000, LINES = 10000000 };

struct pystack_python pystack_python;

/* Pages that the present walk has found readable, by their number. Used only while there is one thread; a handler that
 * interrupts a walk may clear them. */
enum { KNOWN_PAGES = 64, PAGE = 4096 };
static uintptr_t known_pages[KNOWN_PAGES];
bool pystack_knows_pages;

void pystack_forget_known_pages(void)
{
	memset(known_pages, 0, sizeof(known_pages));
	pystack_knows_pages = false;
}

static bool is_page_readable(uintptr_t page)
{
	uintptr_t *known = &known_pages[page / PAGE % KNOWN_PAGES];

	if (*known == page && page)
		return true;
	if (!readable_address(page))
		return false;
	pystack_knows_pages = true;
	*known = page;
	return true;
}

bool is_readable(const void *from, uint64_t size)
{
	uintptr_t page = (uintptr_t)from & -(uintptr_t)PAGE, end = (uintptr_t)from + size;

	if (sys_is_silent)
		return true;
	if (!readable_is_alone() || end - page > KNOWN_PAGES * PAGE)
		return readable_bytes(from, size);
	while (page < end && is_page_readable(page))
		page += PAGE;
	return page >= end;
}

static unsigned copy_each_probed(char *to, const void *const *from, unsigned count, size_t each)
{
	unsigned i;

	for (i = 0; i < count && is_readable(from[i], each); i++)
		memcpy(to + i * each, from[i], each);
	return i;
}

static unsigned copy_each_by_kernel(void *to, const void *const *from, unsigned count, size_t each)
{
	struct iovec local = {to, count * each}, remote[BATCH];
	long size;

	for (unsigned i = 0; i < count; i++)
		remote[i] = (struct iovec){(void *)from[i], each};
	size = sys_call6(SYS_process_vm_readv, process.pid, (long)&local, 1, (long)remote, count, 0);
	return size > 0 ? (unsigned)((size_t)size / each) : 0;
}

/* A probe and a load take a fifth of the time of the kernel's copy. */
unsigned copy_each(void *to, const void *const *from, unsigned count, size_t each)
{
	if (!sys_is_silent && readable_is_alone())
		return copy_each_probed(to, from, count, each);
	return copy_each_by_kernel(to, from, count, each);
}

bool may_copy(void)
{
	const void *from = pystack_python.code_type;
	unsigned word;

	return copy_each_by_kernel(&word, &from, 1, sizeof(word));
}

unsigned pystack_copy_codes(const char *const *code, unsigned count, char (*ret)[CODE_BYTES])
{
	const void *from[BATCH] = {NULL};

	/* In place of a missing code object: readable memory that is not a code object. */
	for (unsigned i = 0; i < count; i++)
		from[i] = code[i] ? code[i] : pystack_python.code_type;
	return copy_each(ret, from, count, CODE_BYTES);
}

void pystack_copy_keys(const struct pystack_layout *l, char (*codes)[CODE_BYTES], unsigned count, uint64_t *ret)
{
	char heads[BATCH][TEXT_BYTES];
	const void *from[BATCH] = {NULL};
	unsigned read;

	for (unsigned i = 0; i < count; i++)
		from[i] = object_type(l, codes[i]) == pystack_python.code_type ? load_pointer(codes[i], l->known)
									       : pystack_python.code_type;
	read = copy_each(heads, from, count, TEXT_BYTES);
	for (unsigned i = 0; i < count; i++)
		ret[i] = i < read ? pystack_name_key(l, heads[i]) : 0;
}

/* In a call, the thread's frames keep these objects alive. */
static bool pystack_copy_object(void *to, const char *from, size_t size, bool is_sample)
{
	if (is_sample)
		return copy_memory(to, from, size);
	if (!is_readable(from, size))
		return false;
	memcpy(to, from, size);
	return true;
}

/* Converts a str in its compact form, the only one that the compiler creates, to UTF-8, truncated to `size`. */
static bool pystack_copy_text(const struct pystack_layout *l, const char *text, char *ret, unsigned size,
			      uint16_t *ret_length, bool is_sample)
{
	char head[TEXT_STATE_BYTES];
	uint32_t state, kind, part[64];
	uint64_t length;
	unsigned used = 0;
	const char *data;

	if (!pystack_copy_object(head, text, PYSTACK_STATE + l->head + 8, is_sample) ||
	    object_type(l, head) != pystack_python.text_type)
		return false;
	length = object_length(l, head);
	state = text_state(l, head);
	kind = text_kind(state);
	if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4))
		return false;
	data = text + text_start(l, state);
	length = length < size ? length : size;
	for (uint64_t i = 0; i < length && used + 4 <= size; i++) {
		enum { PART = sizeof(part) / 4 };
		uint64_t at = i % PART, left = length - i < PART ? length - i : PART;

		if (!at && !pystack_copy_object(part, data + i * kind, left * kind, is_sample))
			return false;
		used += utf8_write(ret + used, kind == 1   ? ((const uint8_t *)part)[at]
						: kind == 2 ? ((const uint16_t *)part)[at]
							    : part[at]);
	}
	*ret_length = (uint16_t)used;
	return true;
}

static bool name_copy(const struct pystack_memory *m, uint64_t from, void *ret, size_t size)
{
	(void)m;
	return copy_memory(ret, (const void *)from, size);
}

void pystack_write_name(const struct pystack_layout *l, const char *frame)
{
	const struct pystack_memory memory = {name_copy, (uint64_t)pystack_python.text_type, 0};
	const char *text = (const char *)pystack_thread_name(l, &memory, (uint64_t)frame);
	char name[THREAD_BYTES];
	uint16_t length;

	if (text && pystack_copy_text(l, text, name, sizeof(name), &length, true) && length)
		event_blob(TF_BLOB_THREAD_NAME, 0, name, length);
}

struct code_blob {
	struct tf_python_code head;
	char text[FILE_BYTES + NAME_BYTES];
	size_t size;
};

/* Only for samples, whose stack has space for the table. */
static __attribute__((noinline)) bool code_write_copied(uint32_t id, const struct code_blob *blob, const char *lines,
							uint64_t size)
{
	char table[TABLE_BYTES];

	return copy_memory(table, lines, size) &&
	       event_blob_of_two(TF_BLOB_PYTHON_CODE, id, blob, blob->size, table, size);
}

static bool code_write(const struct pystack_layout *l, uint32_t id, const char *bytes, bool is_sample)
{
	struct code_blob blob = {
	    {.first_line = *(const uint32_t *)(bytes + l->first_line), .version = l->version}, "", 0};
	const char *lines = load_pointer(bytes, l->lines);
	char head[40];
	uint64_t size;

	if (blob.head.first_line > LINES ||
	    !pystack_copy_text(l, load_pointer(bytes, l->file), blob.text, FILE_BYTES, &blob.head.file_bytes,
			       is_sample) ||
	    !pystack_copy_text(l, load_pointer(bytes, l->name), blob.text + blob.head.file_bytes, NAME_BYTES,
			       &blob.head.name_bytes, is_sample) ||
	    !pystack_copy_object(head, lines, PYSTACK_LENGTH + l->head + 8, is_sample) ||
	    object_type(l, head) != pystack_python.bytes_type)
		return false;
	blob.size = sizeof(blob.head) + blob.head.file_bytes + blob.head.name_bytes;
	lines += PYSTACK_BYTES_DATA + l->head;
	size = object_length(l, head) < TABLE_BYTES ? object_length(l, head) : TABLE_BYTES;
	if (is_sample)
		return code_write_copied(id, &blob, lines, size);
	return is_readable(lines, size) && event_blob_of_two(TF_BLOB_PYTHON_CODE, id, &blob, blob.size, lines, size);
}

/* Returns the id of the code object with these bytes; writes it to the trace if it is new. */
static uint32_t pystack_code_id(const struct pystack_layout *l, const char *code, const char *bytes, uint64_t key,
				bool is_sample)
{
	const uint64_t what[] = {(uint64_t)code, load_word(bytes, l->file), load_word(bytes, l->name),
				 *(const uint32_t *)(bytes + l->first_line), load_word(bytes, l->lines), key};
	static bool has_noted;
	uint32_t number = 0;
	bool is_new = false;

	definition_add(intern_hash(TF_BLOB_PYTHON_CODE, what, sizeof(what)), &number, &is_new);
	/* Noted once, because there may be millions of generated code objects. */
	if (is_new && !code_write(l, number, bytes, is_sample) &&
	    !__atomic_exchange_n(&has_noted, true, __ATOMIC_RELAXED))
		process_note("a Python function has no name in the trace: its code object could not be read");
	return number;
}

/* Writes a part of a stack: at most BATCH frames. */
static void pystack_write_ids(const struct pystack_layout *l, const struct pystack_frame *frames, unsigned count,
			      bool is_sample, struct tf_python_frame *ret)
{
	char codes[BATCH][CODE_BYTES];
	const char *code[BATCH];
	uint64_t keys[BATCH];
	struct pystack_file file = {NULL, 0};
	unsigned read = count;

	for (unsigned i = 0; i < count; i++) {
		ret[i] =
		    (struct tf_python_frame){.place = frames[i].offset | (frames[i].is_entry ? TF_PYTHON_ENTRY : 0)};
		code[i] = frames[i].code;
	}
	if (is_sample) {
		read = pystack_copy_codes(code, count, codes);
		pystack_copy_keys(l, codes, read, keys);
	}
	for (unsigned i = 0; i < read; i++)
		if (code[i])
			ret[i].code =
			    pystack_code_id(l, code[i], is_sample ? codes[i] : code[i],
					    is_sample ? keys[i] : pystack_code_key(l, code[i], &file), is_sample);
}

static __attribute__((noinline)) void pystack_write_frames(const struct pystack_layout *l, uint32_t id,
							   const struct pystack_frame *frames, unsigned count,
							   bool is_sample)
{
	struct tf_python_frame out[PYSTACK_FRAMES];

	for (unsigned i = 0; i < count; i += BATCH)
		pystack_write_ids(l, frames + i, count - i < BATCH ? count - i : BATCH, is_sample, out + i);
	event_blob(TF_BLOB_PYTHON_STACK, id, out, count * sizeof(*out));
}

void pystack_write(uint32_t id, const struct pystack_frame *frames, unsigned count, bool is_sample)
{
	const struct pystack_layout *l = __atomic_load_n(&pystack_python.layout, __ATOMIC_ACQUIRE);

	if (l && count)
		pystack_write_frames(l, id, frames, count, is_sample);
}

/* Equal frames have equal ids of code, so the frames themselves are the key. */
__attribute__((noinline)) uint32_t pystack_intern(const struct pystack_frame *frames, unsigned count, bool is_sample)
{
	const struct pystack_layout *l = __atomic_load_n(&pystack_python.layout, __ATOMIC_ACQUIRE);
	struct tf_python_frame out[PYSTACK_FRAMES];
	bool is_new = false;
	uint32_t id = 0;

	if (!l || !count || count > PYSTACK_FRAMES)
		return 0;
	for (unsigned i = 0; i < count; i += BATCH)
		pystack_write_ids(l, frames + i, count - i < BATCH ? count - i : BATCH, is_sample, out + i);
	definition_add(intern_hash(TF_BLOB_PYTHON_STACK, out, count * sizeof(*out)), &id, &is_new);
	if (is_new) {
		event_blob(TF_BLOB_STACK, id, NULL, 0);
		event_blob(TF_BLOB_PYTHON_STACK, id, out, count * sizeof(*out));
	}
	return id;
}

unsigned pystack_within_import(const struct pystack_frame *frames, unsigned count)
{
	static const char importing[] = "<frozen importlib._bootstrap>";
	const struct pystack_layout *l = __atomic_load_n(&pystack_python.layout, __ATOMIC_ACQUIRE);
	char code[1][CODE_BYTES], file[2 * sizeof(importing)];
	const char *last = NULL; /* a name that differs */
	uint16_t length;

	while (l && count--) {
		if (!frames[count].code || !pystack_copy_codes(&frames[count].code, 1, code) ||
		    load_pointer(code[0], l->file) == last)
			continue;
		last = load_pointer(code[0], l->file);
		if (pystack_copy_text(l, last, file, sizeof(file), &length, true) && length == sizeof(importing) - 1 &&
		    !memcmp(file, importing, length))
			return count;
	}
	return 0;
}

uint64_t pystack_key(const struct pystack_frame *frame)
{
	const struct pystack_layout *l = __atomic_load_n(&pystack_python.layout, __ATOMIC_ACQUIRE);
	char file[FILE_BYTES];
	uint16_t length;

	if (!l || !pystack_copy_text(l, load_pointer(frame->code, l->file), file, FILE_BYTES, &length, false))
		return 0;
	return frame_key(frame->offset, *(const uint32_t *)(frame->code + l->first_line), file, length);
}
