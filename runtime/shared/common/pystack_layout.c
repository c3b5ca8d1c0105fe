/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/common/pystack_layout.h"

#include <string.h>

#define ROW(...) {__VA_ARGS__},
static const struct pystack_layout layouts[] = {PYSTACK_LAYOUTS(ROW)};
static const struct pystack_layout free_threaded_13 = {0x30d, PYSTACK_NONE, 72, 8, 0, 56, 70, PYSTACK_NONE, 128, 144,
						       84, 152, 216, 200, 56, 72, 136, .head = 16};

/* _Py_DebugOffsets, the beginning of _PyRuntime, as words (Include/internal/pycore_debug_offsets.h). Its format depends
 * on the minor version only. */
enum { COOKIE, HEX_VERSION, FREE_THREADED, STATE_FRAME = 26 };
/* Groups that follow each other from 3.14 on, as words from the first of them on. */
enum {
	FRAME_PREVIOUS = 1,
	FRAME_CODE,
	FRAME_INSTRUCTION,
	FRAME_OWNER = 5,
	FRAME_COPY = 7,
	CODE_FILE = 9,
	CODE_NAME,
	CODE_QUALIFIED,
	CODE_LINES,
	CODE_FIRST_LINE,
	CODE_START = 17,
	CODE_COPIES,
	OBJECT_SIZE,
	OBJECT_TYPE
};

/* The minor versions whose groups these are, and the word of the first one. */
static const struct published {
	uint16_t version, groups;
} published[] = {{0x30e, 31}, {0x30f, 39}};

enum { OBJECT_BYTES = 16, FREE_THREADED_BYTES = 32, TAGS = 3, TEXT_SHIFT = 6, TRACEABLE_TO_START = 16 };
/* From this version on the outermost frame of a thread is part of its state. */
enum { HAS_BASE = 0x30f };

static uint64_t runtime_word(const char *runtime, unsigned number)
{
	uint64_t value;

	memcpy(&value, runtime + number * sizeof(value), sizeof(value));
	return value;
}

static bool runtime_has_cookie(const char *runtime)
{
	return runtime && !memcmp(runtime, "xdebugpy", 8);
}

bool pystack_is_free_threaded(const char *runtime)
{
	return !runtime_has_cookie(runtime) || runtime_word(runtime, FREE_THREADED) != 0;
}

/* Reads one word for each offset; every offset must be within the bytes that are read of its object. */
static bool layout_read_offsets(const char *groups, const unsigned *words, unsigned count, uint64_t end,
				uint16_t *const *ret)
{
	for (unsigned i = 0; i < count; i++) {
		if (runtime_word(groups, words[i]) > end - 8)
			return false;
		*ret[i] = (uint16_t)runtime_word(groups, words[i]);
	}
	return true;
}

static bool layout_read_copies(const char *groups, struct pystack_layout *l)
{
	static const unsigned frame[] = {FRAME_COPY}, code[] = {CODE_COPIES};

	return layout_read_offsets(groups, frame, 1, PYSTACK_FRAME_BYTES, (uint16_t *const[]){&l->copy}) &&
	       layout_read_offsets(groups, code, 1, PYSTACK_CODE_BYTES, (uint16_t *const[]){&l->copies});
}

static bool layout_read(const struct published *p, const char *runtime, struct pystack_layout *l)
{
	static const unsigned frame[] = {FRAME_PREVIOUS, FRAME_CODE, FRAME_INSTRUCTION, FRAME_OWNER};
	static const unsigned code[] = {CODE_FILE, CODE_NAME, CODE_QUALIFIED, CODE_FIRST_LINE, CODE_LINES};
	const char *groups = runtime + p->groups * sizeof(uint64_t);
	bool has_copies = runtime_word(runtime, FREE_THREADED) == 1;
	unsigned head = has_copies ? FREE_THREADED_BYTES - OBJECT_BYTES : 0;
	unsigned traceable_to_start = TRACEABLE_TO_START + (has_copies ? sizeof(uint64_t) : 0);

	*l = (struct pystack_layout){p->version,
				     PYSTACK_NONE,
				     .is_entry = PYSTACK_NONE,
				     .ascii = (uint16_t)(40 + head),
				     .compact = (uint16_t)(56 + head),
				     .tags = TAGS,
				     .head = (uint16_t)head,
				     .shift = has_copies ? TEXT_SHIFT : 0,
				     .has_base = p->version >= HAS_BASE};
	if (runtime_word(runtime, HEX_VERSION) >> 16 != p->version ||
	    runtime_word(runtime, FREE_THREADED) > 1 || runtime_word(groups, OBJECT_SIZE) != OBJECT_BYTES + head ||
	    runtime_word(groups, OBJECT_TYPE) != PYSTACK_TYPE + head ||
	    runtime_word(runtime, STATE_FRAME) > PYSTACK_FRAME_BYTES - 8 ||
	    runtime_word(groups, CODE_START) < traceable_to_start ||
	    runtime_word(groups, CODE_START) > PYSTACK_CODE_BYTES + traceable_to_start - 4)
		return false;
	l->state_frame = (uint16_t)runtime_word(runtime, STATE_FRAME);
	l->start = (uint16_t)runtime_word(groups, CODE_START);
	/* Not published; as in 3.13 a pointer is between it and the code, and without a GIL that to the copies. */
	l->traceable = (uint16_t)(l->start - traceable_to_start);
	return layout_read_offsets(groups, frame, 4, PYSTACK_FRAME_BYTES,
				   (uint16_t *const[]){&l->previous, &l->code, &l->instruction, &l->owner}) &&
	       layout_read_offsets(groups, code, 5, PYSTACK_CODE_BYTES,
				   (uint16_t *const[]){&l->file, &l->known, &l->name, &l->first_line, &l->lines}) &&
	       (!has_copies || layout_read_copies(groups, l));
}

const char *pystack_layout_find(unsigned version, const char *runtime, struct pystack_layout *ret)
{
	if (version > published[sizeof(published) / sizeof(*published) - 1].version)
		return "a CPython newer than 3.15, the newest that is known";
	if (version >= 0x30d && !runtime_has_cookie(runtime))
		return "a CPython that does not publish its offsets";
	if (version == free_threaded_13.version && pystack_is_free_threaded(runtime)) {
		*ret = free_threaded_13;
		return NULL;
	}
	for (unsigned i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (layouts[i].version == version) {
			*ret = layouts[i];
			return NULL;
		}
	}
	for (unsigned i = 0; i < sizeof(published) / sizeof(*published); i++)
		if (published[i].version == version)
			return layout_read(&published[i], runtime, ret) ? NULL : "a CPython with an unknown layout";
	return PYSTACK_UNKNOWN;
}
