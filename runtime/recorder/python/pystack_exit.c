/* SPDX-License-Identifier: Apache-2.0 */
/* Where a SystemExit that ends the interpreter was raised. The interpreter calls fflush(stdout) while it still has the
 * exception: up to 3.11 as three variables of the caller, whose addresses it has passed to PyErr_Fetch(), from 3.12 on
 * in the thread's state. What is not found as expected has no stack. */
#include "runtime/recorder/python/pystack.h"

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/python/pystack_object.h"

/* CALLER, STATE: how many words may have the exception. BASES: of a class that is derived from SystemExit. */
enum { CALLER_WORDS = 32, STATE_WORDS = 40, MOST_BASES = 8, MOST_FRAMES = 1 << 16, UNIT = 8 };
enum { IS_INT = 1 << 24, INT_IS_ZERO = 1, INT_IS_NEGATIVE = 2, ANY_STATUS = 1 };

struct system_exit {
	const struct pystack_layout *layout;
	const char *exit_type, *traceback_type, *none;
	const char *value, *traceback;
};

static bool is_exit_type(const struct system_exit *e, const char *type)
{
	for (unsigned i = 0; i < MOST_BASES && type && !((uintptr_t)type & 7); i++) {
		if (type == e->exit_type)
			return true;
		if (!is_readable(type, PYSTACK_TYPE_BYTES))
			return false;
		type = load_pointer(type, PYSTACK_TYPE_BASE + e->layout->head);
	}
	return false;
}

static bool has_type(const struct system_exit *e, const char *object, unsigned size, const char *type)
{
	return object && !((uintptr_t)object & 7) && is_readable(object, size + e->layout->head) &&
	       object_type(e->layout, object) == type;
}

static bool is_exit(const struct system_exit *e, const char *object)
{
	return object && !((uintptr_t)object & 7) && is_readable(object, PYSTACK_EXCEPTION_BYTES + e->layout->head) &&
	       is_exit_type(e, object_type(e->layout, object));
}

/* Up to 3.11 the value may still be what sys.exit() was given. */
static bool find_in_caller(struct system_exit *e, uintptr_t frame)
{
	const char *const *words = (const char *const *)frame;

	if (!is_readable((const char *)frame, (CALLER_WORDS + 3) * sizeof(*words)))
		return false;
	for (unsigned i = 0; i < CALLER_WORDS; i++)
		if (has_type(e, words[i + 2], PYSTACK_TRACEBACK_BYTES, e->traceback_type) &&
		    is_exit_type(e, words[i])) {
			e->value = words[i + 1];
			e->traceback = words[i + 2];
			return true;
		}
	return false;
}

static bool find_in_state(struct system_exit *e)
{
	const char *state = pystack_python.state();

	for (unsigned i = 0; state && is_readable(state, STATE_WORDS * UNIT) && i < STATE_WORDS; i++)
		if (is_exit(e, load_pointer(state, i * UNIT))) {
			e->value = load_pointer(state, i * UNIT);
			e->traceback = load_pointer(e->value, PYSTACK_EXCEPTION_TRACEBACK + UNIT + e->layout->head);
			return has_type(e, e->traceback, PYSTACK_TRACEBACK_BYTES, e->traceback_type);
		}
	return false;
}

/* What is neither an int nor None is written, and the status is 1. */
static int exit_status(const struct system_exit *e)
{
	const struct pystack_layout *l = e->layout;
	const char *code = e->value, *type;
	uint64_t size;
	uint32_t digit;

	if (is_exit(e, code))
		code = load_pointer(code, PYSTACK_EXCEPTION_CODE + (l->version >= 0x30b ? UNIT : 0) + l->head);
	if (!code || code == e->none)
		return 0;
	if ((uintptr_t)code & 7 || !is_readable(code, PYSTACK_INT_BYTES + l->head))
		return ANY_STATUS;
	type = object_type(l, code);
	if (!is_readable(type, PYSTACK_TYPE_BYTES) || !(load_word(type, PYSTACK_TYPE_FLAGS + l->head) & IS_INT))
		return ANY_STATUS;
	size = load_word(code, PYSTACK_INT_SIZE + l->head);
	digit = *(const uint32_t *)(code + PYSTACK_INT_DIGIT + l->head);
	if (l->version >= 0x30c ? (size & 3) == INT_IS_ZERO : !size)
		return 0;
	return l->version >= 0x30c ? ((size & 3) == INT_IS_NEGATIVE ? -(int)digit : (int)digit)
				   : ((int64_t)size < 0 ? -(int)digit : (int)digit);
}

static bool traceback_frame(const struct system_exit *e, const char *traceback, struct pystack_frame *ret)
{
	const struct pystack_layout *l = e->layout;
	const char *frame = load_pointer(traceback, PYSTACK_TRACEBACK_FRAME + l->head);
	int32_t offset = *(const int32_t *)(traceback + PYSTACK_TRACEBACK_INSTRUCTION + l->head);

	if (l->version >= 0x30b)
		frame = is_readable(frame, PYSTACK_OBJECT_FRAME + UNIT + l->head)
				? load_pointer(frame, PYSTACK_OBJECT_FRAME + l->head)
				: NULL;
	if (!frame || !is_readable(frame, PYSTACK_FRAME_BYTES) || offset < 0)
		return false;
	*ret = (struct pystack_frame){(const char *)(load_word(frame, l->code) & ~(uint64_t)l->tags), (uint32_t)offset,
				      false};
	return has_type(e, ret->code, PYSTACK_CODE_BYTES, pystack_python.code_type);
}

/* A traceback begins with the outermost frame. */
static unsigned traceback_frames(const struct system_exit *e, struct pystack_frame *ret)
{
	const char *at = e->traceback;
	unsigned count = 0, skipped, i;

	while (has_type(e, at, PYSTACK_TRACEBACK_BYTES, e->traceback_type) && count++ < MOST_FRAMES)
		at = load_pointer(at, PYSTACK_TRACEBACK_NEXT + e->layout->head);
	skipped = count > PYSTACK_FRAMES ? count - PYSTACK_FRAMES : 0;
	at = e->traceback;
	for (i = 0; i < count; i++, at = load_pointer(at, PYSTACK_TRACEBACK_NEXT + e->layout->head))
		if (i >= skipped && !traceback_frame(e, at, &ret[count - 1 - i]))
			return 0;
	return count - skipped;
}

unsigned pystack_exit(uintptr_t frame, const void *dynamic, struct pystack_frame *ret, int *status)
{
	struct system_exit e = {.layout = python_layout()};
	const char *const *type;

	if (!e.layout || sys_is_silent || dynamic != pystack_python.dynamic || is_python_ending())
		return 0;
	type = dso_symbol(pystack_python.base, dynamic, "PyExc_SystemExit");
	e.traceback_type = dso_symbol(pystack_python.base, dynamic, "PyTraceBack_Type");
	e.none = dso_symbol(pystack_python.base, dynamic, "_Py_NoneStruct");
	if (!type || !e.traceback_type)
		return 0;
	e.exit_type = *type;
	pystack_forget_pages();
	if (e.layout->version < 0x30c ? !find_in_caller(&e, frame) : !find_in_state(&e))
		return 0;
	*status = exit_status(&e) & 0xff;
	return *status ? traceback_frames(&e, ret) : 0;
}
