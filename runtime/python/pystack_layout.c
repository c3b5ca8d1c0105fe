/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/python/pystack_layout.h"

#include <string.h>

#define ROW(...) {__VA_ARGS__},
static const struct pystack_layout layouts[] = {PYSTACK_LAYOUTS(ROW)};

/* _Py_DebugOffsets, the beginning of _PyRuntime, as words (Include/internal/pycore_debug_offsets.h of 3.14). Its
 * format depends on the minor version only. */
enum {
	COOKIE,
	HEX_VERSION,
	FREE_THREADED,
	STATE_FRAME = 26,
	FRAME_PREVIOUS = 32,
	FRAME_CODE,
	FRAME_INSTRUCTION,
	FRAME_OWNER = 36,
	CODE_FILE = 40,
	CODE_NAME,
	CODE_QUALIFIED,
	CODE_LINES,
	CODE_FIRST_LINE,
	CODE_START = 48,
	OBJECT_SIZE = 50,
	OBJECT_TYPE
};

enum { PUBLISHES_OFFSETS = 0x30e, TAGS = 3, TRACEABLE_TO_START = 16 };

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
static bool layout_read_offsets(const char *runtime, const unsigned *words, unsigned count, uint64_t end,
				uint16_t *const *ret)
{
	for (unsigned i = 0; i < count; i++) {
		if (runtime_word(runtime, words[i]) > end - 8)
			return false;
		*ret[i] = (uint16_t)runtime_word(runtime, words[i]);
	}
	return true;
}

static bool layout_read(unsigned version, const char *runtime, struct pystack_layout *l)
{
	static const unsigned frame[] = {FRAME_PREVIOUS, FRAME_CODE, FRAME_INSTRUCTION, FRAME_OWNER};
	static const unsigned code[] = {CODE_FILE, CODE_NAME, CODE_QUALIFIED, CODE_FIRST_LINE, CODE_LINES};

	*l = (struct pystack_layout){version,     PYSTACK_NONE,  .is_entry = PYSTACK_NONE,
				     .ascii = 40, .compact = 56, .tags = TAGS};
	if (!runtime_has_cookie(runtime) || runtime_word(runtime, HEX_VERSION) >> 16 != version ||
	    runtime_word(runtime, OBJECT_SIZE) != 16 || runtime_word(runtime, OBJECT_TYPE) != 8 ||
	    runtime_word(runtime, STATE_FRAME) > PYSTACK_FRAME_BYTES - 8 ||
	    runtime_word(runtime, CODE_START) < TRACEABLE_TO_START ||
	    runtime_word(runtime, CODE_START) > PYSTACK_CODE_BYTES + TRACEABLE_TO_START - 4)
		return false;
	l->state_frame = (uint16_t)runtime_word(runtime, STATE_FRAME);
	l->start = (uint16_t)runtime_word(runtime, CODE_START);
	/* Not published; as in 3.13 it is two words before the code. */
	l->traceable = (uint16_t)(l->start - TRACEABLE_TO_START);
	return layout_read_offsets(runtime, frame, 4, PYSTACK_FRAME_BYTES,
				   (uint16_t *const[]){&l->previous, &l->code, &l->instruction, &l->owner}) &&
	       layout_read_offsets(runtime, code, 5, PYSTACK_CODE_BYTES,
				   (uint16_t *const[]){&l->file, &l->known, &l->name, &l->first_line, &l->lines});
}

bool pystack_layout_find(unsigned version, const char *runtime, struct pystack_layout *ret)
{
	for (unsigned i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (layouts[i].version == version) {
			*ret = layouts[i];
			return true;
		}
	}
	return version == PUBLISHES_OFFSETS && layout_read(version, runtime, ret);
}
