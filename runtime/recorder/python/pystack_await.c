/* SPDX-License-Identifier: Apache-2.0 */
/* What the coroutine that an event loop of asyncio runs is waiting for, while the loop waits: its frames are on no
 * stack, but they are suspended within objects to which the loop has a reference. Another thread may take a reference
 * away and free them, so they are read only in a process without other threads. */
#include "runtime/recorder/python/pystack.h"

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/python/pystack_object.h"

/* In builds with a GIL: in a coroutine, its frame, and before that the frame's state; in a frame, the depth of its
 * stack above the first local variable. */
enum { FRAME_311 = 80, FRAME_312 = 72, STATE_TO_FRAME = 5, DEPTH = 64 };
/* The frame has stopped at an `await`, as coroutines do only there. The size of an object that has one reference. */
enum { IS_SUSPENDED = -1, ONE_REFERENCE = 24, FIRST_WORD = 16, OBJECT_MOST = 256, WORD = 8 };
/* run_until_complete(self, future) */
enum { FUTURE = 1, AWAITED_MOST = 64 };

static bool is_object(const char *object, unsigned size)
{
	return object && !((uintptr_t)object & 7) && is_readable(object, size);
}

/* A coroutine, or that of a task, or of what awaits one of these and has a reference to nothing else; NULL: none. */
static const char *coroutine_of(const char *object, const char *coroutine_type)
{
	for (unsigned i = 0; i < 3 && is_object(object, FIRST_WORD); i++) {
		const char *type = load_pointer(object, PYSTACK_TYPE);
		uint64_t size = is_object(type, PYSTACK_TYPE_SIZE + WORD) ? load_word(type, PYSTACK_TYPE_SIZE) : 0;

		if (type == coroutine_type)
			return object;
		if (size < ONE_REFERENCE || size > OBJECT_MOST || !is_readable(object, size))
			break;
		/* a task has it behind what every future has */
		for (const char *at = object + size - WORD; size > ONE_REFERENCE && at > object + FIRST_WORD;
		     at -= WORD) {
			const char *one = load_pointer(at, 0);

			if (is_object(one, FIRST_WORD) && load_pointer(one, PYSTACK_TYPE) == coroutine_type)
				return one;
		}
		object = size == ONE_REFERENCE ? load_pointer(object, FIRST_WORD) : NULL;
	}
	return NULL;
}

/* Outermost first. */
static unsigned awaiting(const struct pystack_layout *l, const char *future, struct pystack_frame *ret)
{
	const char *type = dso_symbol(pystack_python.base, pystack_python.dynamic, "PyCoro_Type");
	unsigned count = 0;

	while (type && count < AWAITED_MOST) {
		const char *coroutine = coroutine_of(future, type), *frame, *code, *top;

		if (!coroutine || !is_readable(coroutine, FRAME_311 + PYSTACK_FRAME_BYTES))
			break;
		frame = coroutine + (l->version == 0x30b ? FRAME_311 : FRAME_312);
		if (*(const int8_t *)(frame - STATE_TO_FRAME) != IS_SUSPENDED)
			break;
		code = load_pointer(frame, l->code);
		ret[count++] = (struct pystack_frame){
			code, (uint32_t)(load_pointer(frame, l->instruction) - code) - l->start, false};
		top = frame + l->locals + *(const int32_t *)(frame + DEPTH) * (int64_t)WORD - WORD;
		future = is_readable(top, WORD) ? load_pointer(top, 0) : NULL;
	}
	return count;
}

static bool code_is_named(const struct pystack_layout *l, const char *code, const char *name, size_t size)
{
	return code && !memcmp(load_pointer(code, l->known) + l->ascii, name, size);
}

/* While the loop runs a callback, which may be in C and has no frame then, the innermost frame is another one. */
static bool is_waiting(const struct pystack_layout *l, const struct pystack_frame *frames)
{
	static const char inner[] = "select", outer[] = "run_until_complete";

	return code_is_named(l, frames->code, inner, sizeof(inner)) &&
	       code_is_named(l, frames[PYSTACK_RUNNING].code, outer, sizeof(outer));
}

unsigned pystack_add_awaited(const struct pystack_layout *l, const char *frame, struct pystack_frame *frames,
			     unsigned count, unsigned size, uint64_t *hash)
{
	struct pystack_frame *at = frames + PYSTACK_RUNNING + 1, awaited[AWAITED_MOST];
	unsigned added;

	while (frame && load_pointer(frame, l->code) != at[-1].code)
		frame = load_pointer(frame, l->previous);
	if (!frame || size - count < AWAITED_MOST || sys_is_silent || !readable_is_alone() ||
	    !is_waiting(l, frames))
		return count;
	added = awaiting(l, load_pointer(frame, l->locals + FUTURE * WORD), awaited);
	memmove(at + added, at, (count - PYSTACK_RUNNING - 1) * sizeof(*at));
	for (unsigned i = added; i--; at++) {
		*at = awaited[i];
		*hash ^= pystack_code_identity(l, at->code, at->code,
					       load_word(load_pointer(at->code, l->known), PYSTACK_HASH)) +
			 ((uint64_t)at->offset << 32);
		*hash *= 0xff51afd7ed558ccdull;
	}
	return count + added;
}
