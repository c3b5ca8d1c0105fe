/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/frame_keys.h"

#include <stdlib.h>

#include "report/names/code_line.h"
#include "report/names/python.h"
#include "runtime/shared/base/slowed.h"

enum { FRAMES = TF_BLOB_BYTES / sizeof(uint64_t) };

static void add_key(struct frame_keys *k, uint64_t key)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->keys[i] == key)
			return;
	mem_append(k->keys, k->count, k->capacity, key);
}

static bool add_native(struct frame_keys *k, const struct image *image, struct symbol_frame f)
{
	const struct trace *t = image->trace;
	struct tf_module module;
	bool is_at;

	do {
		symbols_name(k->symbols, &f);
		is_at = code_line_is_at(f.line->file, f.line->line, k->place);
	} while (!is_at && symbols_inlined_in(k->symbols, &f));
	blobs_each(b, is_at ? t : NULL, TF_BLOB_MODULE)
		if (trace_blob(t, b, &module, sizeof(module)) == sizeof(module) &&
		    f.address - 1 >= module.start && f.address - 1 < module.end)
			add_key(k, frame_key(f.address - 1 - module.start, module.end - module.start, NULL, 0));
	return is_at;
}

static bool add_python(struct frame_keys *k, const struct image *image, const struct tf_python_frame *f)
{
	uint32_t offset = f->place & ~TF_PYTHON_ENTRY;
	SCOPED(buffer) function = {0}, file = {0};
	uint32_t line;
	bool is_at;

	if (!f->code)
		return false;
	line = python_describe(image->trace, f->code, offset, &function, &file);
	is_at = code_line_is_at(file.data, line, k->place);
	if (is_at)
		add_key(k, frame_key(offset, python_first_line(image->trace, f->code), file.data, file.size));
	return is_at;
}

static bool read_stack(struct frame_keys *k, const struct image *image, uint32_t stack)
{
	const struct blob *b = trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack);
	SCOPED_MEMORY struct symbol_frame *native = mem_alloc(FRAMES * sizeof(*native));
	SCOPED_MEMORY struct tf_python_frame *python = mem_alloc(TF_BLOB_BYTES);
	size_t count = symbols_native(k->symbols, image, stack, native, FRAMES);
	bool is_at = false;

	for (size_t i = 0; i < count; i++)
		is_at |= add_native(k, image, native[i]);
	count = b ? trace_blob(image->trace, b, python, TF_BLOB_BYTES) / sizeof(*python) : 0;
	for (size_t i = 0; i < count; i++)
		is_at |= add_python(k, image, &python[i]);
	return is_at;
}

bool frame_keys_take(struct frame_keys *k, const struct image *image, uint32_t stack)
{
	bool is_new;
	uint64_t *known;

	if (!stack)
		return false;
	known = map_put(&k->stacks, (uint64_t)(uintptr_t)image, stack, &is_new);
	if (is_new)
		*known = 1 + read_stack(k, image, stack);
	return *known > 1;
}

void frame_keys_done(struct frame_keys *k)
{
	map_done(&k->stacks);
	free(k->keys);
}
