/* SPDX-License-Identifier: Apache-2.0 */
/* Everything here runs with the GIL, so nothing is locked. */
#include "preload/python/annotate_parts.h"

#include <string.h>

#include "preload/nvtx/nvtx_tool.h"
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

static void begin(void *text, uint32_t stack)
{
	const char *bytes = python.PyUnicode_AsUTF8(text);

	if (!bytes)
		python.PyErr_Clear();
	event_instant(TF_PUSH, nvtx_domain_number(domain), nvtx_text(bytes ? bytes : "?"),
		      (uint64_t[]){tf_arg(TF_ARG_STACK, 0, stack)}, stack != 0);
}

static void *jax_begin(void *self, void *text)
{
	if (nvtx_wanted(domain))
		begin(text, stack_take(&thread_self, (uintptr_t)__builtin_frame_address(0)));
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
	if (nvtx_wanted(domain))
		begin(text, 0);
	return jax_end(self, NULL);
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

/* Where the object has its pointer for calls; NULL: it has none, or types have another layout here. What Python says
 * of the type must be in the places that are expected, and all calls must use the pointer. */
static vectorcall **call_place(void *function, unsigned long size, unsigned long flags)
{
	const void *type = load(function, OBJECT_TYPE);
	long at;

	if ((unsigned long)load(type, TYPE_SIZE) != size || (unsigned long)load(type, TYPE_FLAGS) != flags ||
	    !(flags & HAS_VECTORCALL) || !python.PyVectorcall_Call ||
	    load(type, TYPE_CALL) != (void *)python.PyVectorcall_Call)
		return NULL;
	at = (long)load(type, TYPE_VECTORCALL);
	if (at < 16 || at % 8 || at + 8 > (long)size)
		return NULL;
	return (vectorcall **)((char *)function + at);
}

static bool count_calls(void *function, struct nvtx_string *text, unsigned long size, unsigned long flags)
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
	f->text = text;
	if (!text || !intern_set(&functions, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)f))
		return false;
	*place = call_counted;
	return true;
}

static void *jax_count(void *self, void *arguments)
{
	unsigned long size, flags;
	const char *name, *file;
	struct nvtx_string *text;
	unsigned line;
	void *function;

	if (!python.PyArg_ParseTuple(arguments, "OszIkk", &function, &name, &file, &line, &size, &flags))
		return python.PyErr_Clear(), python_none();
	text = file ? annotate_function_text(name, file, line) : nvtx_text_string(name, nvtx_text_length(name));
	return python.Py_BuildValue("i", (int)count_calls(function, text, size, flags));
}

/* ---- modules ---- */

/* Records it once in each image, in parts of whole lines, whether the capture range is open or not: modules are
 * compiled before they are executed. False: a line is longer than a part. */
static bool write_module(const char *text)
{
	size_t left = strlen(text), size;
	bool is_new = false, is_whole = true;
	const char *end;
	uint32_t id;

	if (domain->is_off || !hook_attached() ||
	    !intern_add(&process.interned, intern_hash(TF_BLOB_XLA_MODULE, text, left), &id, &is_new) || !is_new)
		return true;
	for (; left; text += size, left -= size) {
		end = memrchr(text, '\n', left < TF_BLOB_BYTES ? left : TF_BLOB_BYTES);
		size = end ? (size_t)(end - text) + 1 : strcspn(text, "\n") + 1;
		is_whole &= end != NULL;
		if (end)
			event_blob(TF_BLOB_XLA_MODULE, id, text, size);
	}
	return is_whole;
}

static void *jax_module(void *self, void *arguments)
{
	static uint64_t noted;
	const char *text;
	unsigned is_whole;

	if (!python.PyArg_ParseTuple(arguments, "sI", &text, &is_whole))
		return NULL;
	if (!write_module(text) || !is_whole)
		nvtx_note_once(&noted, "--jax: a module of XLA has more than 64 MiB of text, or a line of more than "
			       "64 KiB: not all of its operations have scopes");
	return python_none();
}

static const struct method natives[] = {
	{"jax_begin", jax_begin, TAKES_ONE, NULL},
	{"jax_end", jax_end, TAKES_NOTHING, NULL},
	{"jax_mark", jax_mark, TAKES_ONE, NULL},
	{"jax_count", jax_count, TAKES_TUPLE, NULL},
	{"jax_module", jax_module, TAKES_TUPLE, NULL},
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
