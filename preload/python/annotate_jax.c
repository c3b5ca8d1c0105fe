/* SPDX-License-Identifier: Apache-2.0 */
/* Everything here runs with the GIL, so nothing is locked. */
#include "preload/python/annotate_jax.h"

#include "preload/nvtx/nvtx_tool.h"
#include "preload/python/annotate_jax_live.h"
#include "preload/python/annotate_jax_module.h"
#include "preload/python/python_api.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/names.h"
#include "runtime/recorder/stack/stack.h"

/* Offsets in a PyObject and in a PyTypeObject, from 3.8 on, and a flag of a type. */
enum { OBJECT_TYPE = 8, TYPE_SIZE = 32, TYPE_VECTORCALL = 56, TYPE_CALL = 128, TYPE_FLAGS = 168 };
enum { HAS_VECTORCALL = 1 << 11 };

typedef void *vectorcall(void *function, void *const *arguments, size_t count, void *names);

struct traced_function {
	vectorcall *call;
	struct nvtx_string *text;
};

static struct nvtx_domain *domain;
static struct intern_table functions; /* function object -> the last struct traced_function that had its address */

/* ---- phases ---- */

static void *jax_begin(void *self, void *text)
{
	const char *bytes = python.PyUnicode_AsUTF8(text);
	uint64_t args[1];
	uint32_t stack;

	if (!bytes)
		python.PyErr_Clear();
	if (nvtx_wanted(domain)) {
		stack = stack_take(&thread_self, (uintptr_t)__builtin_frame_address(0));
		args[0] = tf_arg(TF_ARG_STACK, 0, stack);
		event_instant(TF_PUSH, nvtx_domain_number(domain), nvtx_text(bytes ? bytes : "?"), args, stack != 0);
	}
	return python_none();
}

static void *jax_end(void *self, void *unused)
{
	if (nvtx_wanted(domain))
		event_instant(TF_POP, nvtx_domain_number(domain), 0, NULL, 0);
	return python_none();
}

/* An instant within a phase, without the stack, which the phase has. */
static void *jax_mark(void *self, void *text)
{
	const char *bytes = python.PyUnicode_AsUTF8(text);

	if (bytes && nvtx_wanted(domain)) {
		event_instant(TF_PUSH, nvtx_domain_number(domain), nvtx_text(bytes), NULL, 0);
		event_instant(TF_POP, nvtx_domain_number(domain), 0, NULL, 0);
	}
	return python_none();
}

/* ---- calls ---- */

static void *call_counted(void *function, void *const *arguments, size_t count, void *names)
{
	const struct traced_function *f =
		(const struct traced_function *)intern_get(&functions, (uint64_t)(uintptr_t)function);
	bool is_recorded = nvtx_wanted(domain);
	void *result;

	if (is_recorded)
		event_instant(TF_PUSH, nvtx_domain_number(domain), nvtx_text_registered(f->text), NULL, 0);
	result = f->call(function, arguments, count, names);
	if (is_recorded && nvtx_wanted(domain))
		event_instant(TF_POP, nvtx_domain_number(domain), 0, NULL, 0);
	if (__builtin_expect(annotate_jax_live_is_on, 0) && result && !annotate_jax_live_look()) {
		python.Py_DecRef(result);
		result = NULL;
	}
	return result;
}

static long load_long(const void *object, unsigned offset)
{
	return *(const long *)((const char *)object + offset);
}

/* Where the object has its pointer for calls; NULL: it has none, or types have another layout here. What Python says
 * of the type must be in the places that are expected, and all calls must use the pointer. */
static vectorcall **call_place(void *function, unsigned long size, unsigned long flags)
{
	const void *type = (const void *)load_long(function, OBJECT_TYPE);
	long at;

	if (load_long(type, TYPE_SIZE) != (long)size || load_long(type, TYPE_FLAGS) != (long)flags ||
	    !(flags & HAS_VECTORCALL) || !python.PyVectorcall_Call ||
	    load_long(type, TYPE_CALL) != (long)python.PyVectorcall_Call)
		return NULL;
	at = load_long(type, TYPE_VECTORCALL);
	if (at < 16 || at % 8 || at + 8 > (long)size)
		return NULL;
	return (vectorcall **)((char *)function + at);
}

static bool count_calls(void *function, const char *text, unsigned long size, unsigned long flags)
{
	vectorcall **place = call_place(function, size, flags);
	struct traced_function *f;

	if (!place || !*place)
		return false;
	if (*place == call_counted)
		return true;
	f = names_take(sizeof(*f));
	if (!f)
		return false;
	f->call = *place;
	f->text = nvtx_text_string(text, nvtx_text_length(text));
	if (!f->text || !intern_set(&functions, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)f))
		return false;
	*place = call_counted;
	return true;
}

static void *jax_count(void *self, void *arguments)
{
	unsigned long size, flags;
	const char *text;
	void *function;

	if (!python.PyArg_ParseTuple(arguments, "Oskk", &function, &text, &size, &flags))
		return python.PyErr_Clear(), python_none();
	return python.Py_BuildValue("i", (int)count_calls(function, text, size, flags));
}

/* ---- modules ---- */

static void *jax_module(void *self, void *text)
{
	const char *bytes = python.PyUnicode_AsUTF8(text);

	if (bytes)
		annotate_jax_module(domain, bytes);
	else
		python.PyErr_Clear();
	return python.Py_BuildValue("i", bytes != NULL);
}

static const struct method natives[] = {
	{"jax_begin", jax_begin, TAKES_ONE, NULL},
	{"jax_end", jax_end, TAKES_NOTHING, NULL},
	{"jax_mark", jax_mark, TAKES_ONE, NULL},
	{"jax_count", jax_count, TAKES_TUPLE, NULL},
	{"jax_module", jax_module, TAKES_ONE, NULL},
};

void annotate_jax_offer(void *space)
{
	python_set_item(space, "wants_jax", python.Py_BuildValue("i", (int)options_have_jax(&process_options)));
	if (!options_have_jax(&process_options))
		return;
	domain = nvtx_domain("JAX");
	annotate_jax_live_offer(space, domain);
	python_offer(space, natives, sizeof(natives) / sizeof(*natives));
}
