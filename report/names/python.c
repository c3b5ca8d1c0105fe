/* SPDX-License-Identifier: Apache-2.0 */
/* CPython's three line tables: Objects/lnotab_notes.txt (to 3.9), PEP 626 (3.10), Objects/locations.md (from 3.11
 * on). */
#include "report/names/python.h"

#include <string.h>

enum { UNIT = 2, KIND_NONE = 15, KIND_LONG = 14, KIND_NO_COLUMN = 13, KIND_ONE_LINE = 10 };

/* Pairs of byte and line increments: the last pair that does not go beyond the instruction applies. */
static int64_t line_by_steps(const uint8_t *p, const uint8_t *end, int64_t line, uint32_t offset)
{
	for (uint64_t at = 0; end - p >= 2; p += 2) {
		at += p[0];
		if (at > offset)
			break;
		line += (int8_t)p[1];
	}
	return line;
}

/* Pairs of a length in bytes and a line increment, -128: no line. */
static int64_t line_by_lengths(const uint8_t *p, const uint8_t *end, int64_t line, uint32_t offset)
{
	for (uint64_t at = 0; end - p >= 2; p += 2) {
		int8_t step = (int8_t)p[1];

		if (step != -128)
			line += step;
		at += p[0];
		if (at > offset)
			return step == -128 ? 0 : line;
	}
	return 0;
}

/* Six bits per byte, the lowest first; bit 6: more bytes follow; bit 0 of the number is its sign. */
static int64_t read_signed_number(const uint8_t **p, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *p < end; shift += 6) {
		uint8_t byte = *(*p)++;

		if (shift < 36)
			value |= (uint64_t)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* An entry begins with a byte with bit 7 set: its kind and the number of code units. Only first bytes have that bit. */
static int64_t line_by_entries(const uint8_t *p, const uint8_t *end, int64_t line, uint32_t offset)
{
	for (uint64_t at = 0; p < end;) {
		uint8_t head = *p++, kind = head >> 3 & 15;

		at += (uint64_t)((head & 7) + 1) * UNIT;
		if (kind == KIND_LONG || kind == KIND_NO_COLUMN)
			line += read_signed_number(&p, end);
		else if (kind >= KIND_ONE_LINE && kind < KIND_NO_COLUMN)
			line += kind - KIND_ONE_LINE;
		while (p < end && !(*p & 128))
			p++;
		if (at > offset)
			return kind == KIND_NONE ? 0 : line;
	}
	return 0;
}

int64_t python_line(unsigned version, const uint8_t *table, size_t size, int64_t first_line, uint32_t offset)
{
	int64_t line;

	if (version >= 0x30b)
		line = line_by_entries(table, table + size, first_line, offset);
	else if (version == 0x30a)
		line = line_by_lengths(table, table + size, first_line, offset);
	else
		line = line_by_steps(table, table + size, first_line, offset);
	return line > 0 ? line : 0;
}

/* ---- Python code in a trace ---- */

struct code {
	struct tf_python_code head;
	char bytes[TF_BLOB_BYTES]; /* head, file, name, lines */
	const char *file, *name, *lines;
	size_t lines_size;
};

/* Finds the parts in the first `size` bytes. False: they are not a definition. */
static bool split_code(size_t size, struct code *ret)
{
	if (size < sizeof(ret->head))
		return false;
	memcpy(&ret->head, ret->bytes, sizeof(ret->head));
	size -= sizeof(ret->head);
	if (size < (size_t)ret->head.file_bytes + ret->head.name_bytes)
		return false;
	ret->file = ret->bytes + sizeof(ret->head);
	ret->name = ret->file + ret->head.file_bytes;
	ret->lines = ret->name + ret->head.name_bytes;
	ret->lines_size = size - ret->head.file_bytes - ret->head.name_bytes;
	return true;
}

/* False: the definition could not be read. */
static bool read_code(const struct trace *t, uint32_t id, struct code *ret)
{
	const struct blob *b = trace_definition(t, TF_BLOB_PYTHON_CODE, id);

	return split_code(b ? trace_blob(t, b, ret->bytes, sizeof(ret->bytes)) : 0, ret);
}

/* As read_code(), without its lines, which are most of it. */
static bool read_names(const struct trace *t, uint32_t id, struct code *ret)
{
	const struct blob *b = trace_definition(t, TF_BLOB_PYTHON_CODE, id);
	size_t size = b ? trace_blob(t, b, &ret->head, sizeof(ret->head)) : 0;

	if (size < sizeof(ret->head))
		return false;
	size += (size_t)ret->head.file_bytes + ret->head.name_bytes;
	return split_code(trace_blob(t, b, ret->bytes, size < sizeof(ret->bytes) ? size : sizeof(ret->bytes)), ret);
}

/* c NULL: it could not be read. */
static uint32_t describe_code(const struct code *c, uint32_t offset, struct buffer *ret_function,
			      struct buffer *ret_file)
{
	int64_t line;

	if (!c) {
		buffer_text(ret_function, "Python code that could not be read");
		return 0;
	}
	line = python_line(c->head.version, (const uint8_t *)c->lines, c->lines_size, c->head.first_line, offset);
	buffer_add(ret_function, c->name, strnlen(c->name, c->head.name_bytes));
	buffer_add(ret_file, c->file, strnlen(c->file, c->head.file_bytes));
	return (uint32_t)(line ? line : c->head.first_line);
}

uint32_t python_describe(const struct trace *t, uint32_t id, uint32_t offset, struct buffer *ret_function,
			 struct buffer *ret_file)
{
	struct code c;

	return describe_code(read_code(t, id, &c) ? &c : NULL, offset, ret_function, ret_file);
}

uint32_t python_describe_code(const void *definition, size_t size, uint32_t offset, struct buffer *ret_function,
			      struct buffer *ret_file)
{
	struct code c;

	size = size < sizeof(c.bytes) ? size : sizeof(c.bytes);
	memcpy(c.bytes, definition, size);
	return describe_code(split_code(size, &c) ? &c : NULL, offset, ret_function, ret_file);
}

bool python_file(const struct trace *t, uint32_t id, struct buffer *ret)
{
	struct code c;

	if (!read_names(t, id, &c))
		return false;
	buffer_add(ret, c.file, strnlen(c.file, c.head.file_bytes));
	return true;
}

bool python_is_recorders(const struct trace *t, uint32_t id)
{
	static const char ours[] = "<pillion>";
	const size_t length = sizeof(ours) - 1;
	struct code c;

	if (!read_names(t, id, &c))
		return false;
	return (c.head.file_bytes >= length && !memcmp(c.file, ours, length)) ||
	       (c.head.name_bytes > length && !memcmp(c.name, ours, length) && c.name[length] == '.');
}

uint32_t python_first_line(const struct trace *t, uint32_t id)
{
	const struct blob *b = trace_definition(t, TF_BLOB_PYTHON_CODE, id);
	struct tf_python_code head;

	return b && trace_blob(t, b, &head, sizeof(head)) == sizeof(head) ? head.first_line : 0;
}

void python_frames(const struct trace *t, uint32_t stack, void *context, python_frame_visit *visit)
{
	const struct blob *b = trace_definition(t, TF_BLOB_PYTHON_STACK, stack);
	struct tf_python_frame frames[TF_BLOB_BYTES / sizeof(struct tf_python_frame)];
	size_t count = b ? trace_blob(t, b, frames, sizeof(frames)) / sizeof(*frames) : 0;
	SCOPED(buffer) file = {0}, function = {0};
	struct code c;

	for (size_t i = 0; i < count; i++) {
		if (!read_names(t, frames[i].code, &c))
			continue;
		buffer_clear(&file);
		buffer_clear(&function);
		buffer_add(&file, c.file, strnlen(c.file, c.head.file_bytes));
		buffer_add(&function, c.name, strnlen(c.name, c.head.name_bytes));
		visit(context, buffer_string(&file), buffer_string(&function));
	}
}

struct file_search {
	bool (*is_wanted)(const char *file);
	bool has;
};

static void search_file(void *context, const char *file, const char *function)
{
	struct file_search *search = context;

	search->has = search->has || search->is_wanted(file);
}

bool python_has_file(const struct trace *t, uint32_t stack, bool (*is_wanted)(const char *file))
{
	struct file_search search = {is_wanted, false};

	python_frames(t, stack, &search, search_file);
	return search.has;
}

bool python_has_code(const struct trace *t, bool (*is_wanted)(const char *file))
{
	SCOPED(buffer) file = {0};

	blobs_each(b, t, TF_BLOB_PYTHON_CODE) {
		buffer_clear(&file);
		if (python_file(t, b->id, &file) && is_wanted(buffer_string(&file)))
			return true;
	}
	return false;
}

bool python_any_file(const char *file)
{
	(void)file;
	return true;
}

bool python_is_own_call(const char *name)
{
	return text_begins_with(name, "python:") &&
	       (text_any(text_has, name, "(<frozen ", "/importlib/", ":{built-in ") ||
		text_begins_with(name, "python:<module> "));
}
