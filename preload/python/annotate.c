/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a Python interpreter, runs annotate.py in it, and provides the functions that annotate.py calls. */
#include "preload/python/annotate.h"

#include <errno.h>
#include <string.h>

#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/functions.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/shared/common/sys.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/names.h"
#include "runtime/recorder/stack/object.h"
#include "preload/hook/caller.h"
#include "preload/heap/heap.h"
#include "preload/nvtx/nvtx_tool.h"
#include "preload/python/annotate_parts.h"
#include "preload/python/lines.h"
#include "preload/python/python_api.h"

bool annotate_is_wanted;
static bool has_ranges, has_lines; /* the options request them */
static uintptr_t python_base; /* of the object that `python` is in */
static const void *python_dynamic;

/* Call sites whose object is not a Python interpreter -> 1. */
static struct intern_table strangers;

static bool find_functions(uintptr_t base, const void *dynamic, struct python *ret)
{
	bool is_whole = true;

#define FIND(type, name, rest) is_whole &= (ret->name = dso_symbol(base, dynamic, #name)) != NULL;
	PYTHON_FUNCTIONS(FIND)
#undef FIND
#define FIND(type, name, rest) ret->name = dso_symbol(base, dynamic, #name);
	PYTHON_CODE_FUNCTIONS(FIND)
	PYTHON_OTHER_FUNCTIONS(FIND)
#undef FIND
	ret->PyUnstable_Code_GetExtra = ret->PyUnstable_Code_GetExtra ?: ret->_PyCode_GetExtra;
	ret->PyUnstable_Code_SetExtra = ret->PyUnstable_Code_SetExtra ?: ret->_PyCode_SetExtra;
	ret->PyUnstable_Eval_RequestCodeExtraIndex =
		ret->PyUnstable_Eval_RequestCodeExtraIndex ?: ret->_PyEval_RequestCodeExtraIndex;
	ret->has_code_functions = true;
#define HAS(type, name, rest) ret->has_code_functions &= ret->name != NULL;
	PYTHON_CODE_FUNCTIONS(HAS)
#undef HAS
	return is_whole;
}

/* Finds the interpreter that the code at `caller` belongs to. The loader's list is not searched for one: open() may be
 * called by a signal handler that has interrupted the loader. With _dl_find_object nothing here takes a lock. Code of
 * an interpreter is not called by signal handlers that open files, so Python's own locks are free as well. */
static bool find_python(const void *caller, struct python *ret, uintptr_t *ret_base, const void **ret_dynamic)
{
	uint64_t key = caller_key(0, (uintptr_t)caller);
	struct object object;

	if (intern_get(&strangers, key) || object_find((uintptr_t)caller, &object) != OBJECT_FOUND)
		return false;
	*ret_dynamic = object_dynamic(&object, ret_base);
	if (*ret_dynamic && dso_symbol(*ret_base, *ret_dynamic, "Py_AddPendingCall") &&
	    find_functions(*ret_base, *ret_dynamic, ret))
		return true;
	intern_set(&strangers, key, 1);
	return false;
}

static void annotate_note(const char *text)
{
	struct thread_guard guard;

	if (!hook_attached())
		return;
	thread_guard_enter(&thread_self, &guard);
	process_note(text);
	thread_guard_leave(&thread_self, &guard);
}

/* ---- the functions that annotate.py is given ---- */

struct annotation {
	struct nvtx_domain *domain;
	struct nvtx_attributes attributes;
};

static struct nvtx_domain *imports; /* the domain of python_import_sum */

static void *annotation_begin(void *self, void *unused)
{
	const struct annotation *a = python.PyLong_AsVoidPtr(self);

	if (nvtx_wanted(a->domain))
		nvtx_definitions();
	nvtx_push(a->domain, &a->attributes);
	return python_none();
}

static void *annotation_end(void *self, void *unused)
{
	const struct annotation *a = python.PyLong_AsVoidPtr(self);

	nvtx_pop(a->domain);
	return python_none();
}

/* annotation(domain, text, color, name, file, first_line) -> (begin, end). An empty domain is the default one, color
 * 0 is none. name, file and first_line are those of a function if each range is a call of it; otherwise first_line is
 * 0. */
static void *annotation_make(void *self, void *arguments)
{
	static const struct method methods[] = {
		{"begin", annotation_begin, TAKES_NOTHING, NULL},
		{"end", annotation_end, TAKES_NOTHING, NULL},
	};
	const char *domain, *text, *name, *file;
	struct annotation *a;
	void *number, *begin, *end;
	unsigned color, first_line;

	if (!python.PyArg_ParseTuple(arguments, "ssIssI", &domain, &text, &color, &name, &file, &first_line))
		return NULL;
	a = names_take(sizeof(*a));
	if (!a)
		return python_none();
	a->domain = *domain ? nvtx_domain(domain) : NULL;
	a->attributes = (struct nvtx_attributes){
		.color_type = color ? NVTX_ARGB : 0,
		.color = color,
		.message_type = NVTX_REGISTERED,
		.message = nvtx_text_string(text, nvtx_text_length(text)),
	};
	if (first_line)
		nvtx_name_function(a->domain, text, name, file, first_line);
	number = python.PyLong_FromVoidPtr(a);
	begin = number ? python.PyCFunction_NewEx((void *)&methods[0], number, NULL) : NULL;
	end = number ? python.PyCFunction_NewEx((void *)&methods[1], number, NULL) : NULL;
	python.Py_DecRef(number);
	return begin && end ? python.Py_BuildValue("(NN)", begin, end) : NULL;
}

static void *import_begin(void *self, void *name)
{
	const char *text = python.PyUnicode_AsUTF8(name);

	if (!text)
		python.PyErr_Clear();
	nvtx_push(imports, &(struct nvtx_attributes){.message_type = NVTX_ASCII, .message = text ? text : "?"});
	return python_none();
}

static void *import_end(void *self, void *unused)
{
	nvtx_pop(imports);
	return python_none();
}

static void *python_note(void *self, void *text)
{
	const char *bytes = python.PyUnicode_AsUTF8(text);

	if (bytes)
		annotate_note(bytes);
	else
		python.PyErr_Clear();
	return python_none();
}

static const struct method natives[] = {
	{"annotation", annotation_make, TAKES_TUPLE, NULL},
	{"import_begin", import_begin, TAKES_ONE, NULL},
	{"import_end", import_end, TAKES_NOTHING, NULL},
	{"note", python_note, TAKES_ONE, NULL},
};

/* ---- running annotate.py ---- */

static void append_function(void *list, const struct functions_entry *e)
{
	void *item = python.Py_BuildValue("(sssI)", e->domain, e->module, e->name, (unsigned)e->color);

	if (!item || python.PyList_Append(list, item))
		python.PyErr_Clear();
	python.Py_DecRef(item);
}

/* The launcher has checked the file; it may have been removed or changed since. */
static __attribute__((cold)) void *read_traced_functions(void)
{
	char why[256], *bytes = sys_mmap(NULL, FUNCTIONS_FILE_BYTES, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct functions_entry e;
	struct functions_parser f;
	void *list = python.PyList_New(0);
	long size = -1;
	int rc;

	if (list && bytes && process_options.python_functions)
		size = sys_read_file(process_options.python_functions, bytes, FUNCTIONS_FILE_BYTES);
	if (size > 0) {
		functions_begin(&f, bytes, (size_t)size);
		while ((rc = functions_next(&f, &e, why, sizeof(why))) > 0)
			append_function(list, &e);
		if (rc < 0)
			annotate_note(why);
	} else if (process_options.python_functions) {
		annotate_note("--python-functions-trace: the file could not be read");
	}
	if (bytes)
		sys_munmap(bytes, FUNCTIONS_FILE_BYTES);
	return list;
}

static void *make_space(void)
{
	void *space = python.PyDict_New(), *builtins = python.PyEval_GetBuiltins();

	if (!space || !builtins)
		return space;
	python.PyDict_SetItemString(space, "__builtins__", builtins);
	python_offer(space, natives, sizeof(natives) / sizeof(*natives));
	python_set_item(space, "wants_imports", python.Py_BuildValue("i", (int)process_options.python_import_time));
	python_set_item(space, "wants_operators", python.Py_BuildValue("i", process_options.pytorch > PYTORCH_NONE));
	python_set_item(space, "wants_shapes", python.Py_BuildValue("i", process_options.pytorch == PYTORCH_SHAPES));
	python_set_item(space, "functions", read_traced_functions());
	annotate_calls_offer(space);
	annotate_jax_offer(space);
	annotate_operators_offer(space);
	annotate_torch_offer(space);
	return space;
}

/* The interpreter may be initialised again, or be unloaded. */
static void interpreter_ended(void)
{
	__atomic_store_n(&annotate_is_wanted, true, __ATOMIC_RELEASE);
}

/* Returns how many bytes of text a byte stands for. A pair has only codes of earlier ones. */
static size_t unpack(unsigned char code, char *ret)
{
	const unsigned char *pair = annotate_pairs[code];
	size_t first;

	if (!pair[0]) {
		*ret = (char)code;
		return 1;
	}
	first = unpack(pair[0], ret);
	return first + unpack(pair[1], ret + first);
}

/* The text, of annotate_text_size bytes and a NUL; NULL: no memory. */
static char *unpack_source(void)
{
	char *text = sys_mmap(NULL, annotate_text_size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t used = 0;

	for (unsigned i = 0; text && i < annotate_packed_size; i++)
		used += unpack(annotate_packed[i], text + used);
	return text;
}

/* An exception that is not ours, from a signal, is passed on. */
static int run_annotate(void)
{
	void *space = make_space(), *code, *result = NULL;
	char *text = unpack_source();
	int rc = 0;

	imports = nvtx_domain("python import");
	code = space && text ? python.Py_CompileString(text, "<pillion>", FILE_INPUT) : NULL;
	if (text)
		sys_munmap(text, annotate_text_size + 1);
	if (code)
		result = python.PyEval_EvalCode(code, space, space);
	if (!result) {
		rc = !text || python.PyErr_ExceptionMatches(**python.PyExc_Exception) ? 0 : -1;
		if (!rc)
			python.PyErr_Clear();
		annotate_note("Python is not annotated: annotate.py could not be run in this interpreter");
	}
	python.Py_DecRef(result);
	python.Py_DecRef(code);
	python.Py_DecRef(space);
	return rc;
}

/* Called by the interpreter, on its main thread and with the GIL. */
static __attribute__((cold)) int meet_interpreter(void *unused)
{
	const char *why = heap.is_python ? heap_python_wrap(python_base, python_dynamic) : NULL;

	if (why)
		annotate_note(why);
	if (has_lines) {
		why = lines_begin ? lines_begin() : "--lines-of: libpillion-lines.so is not preloaded";
		if (why)
			annotate_note(why);
	}
	python.Py_AtExit(interpreter_ended);
	return has_ranges ? run_annotate() : 0;
}

__attribute__((cold)) void annotate_meet(const void *caller)
{
	struct python found;
	const void *dynamic;
	int error = errno;
	uintptr_t base;

	if (find_python(caller, &found, &base, &dynamic) && found.PyGILState_GetThisThreadState() &&
	    __atomic_exchange_n(&annotate_is_wanted, false, __ATOMIC_ACQ_REL)) {
		python = found;
		python_base = base;
		python_dynamic = dynamic;
		if (python.Py_AddPendingCall(meet_interpreter, NULL))
			annotate_is_wanted = true; /* the interpreter's queue is full */
	}
	errno = error;
}

void annotate_init(void)
{
	const struct options *o = &process_options;

	if (o->pytorch != PYTORCH_NONE || o->python_functions || o->python_calls || o->python_import_time ||
	    options_have_jax(o))
		has_ranges = hook_attached() && (process_gate.groups & 1u << TF_GROUP_NVTX) && nvtx_is_tool();
	has_lines = hook_attached() && o->lines_of;
	if (has_lines && lines_init)
		lines_init();
	annotate_is_wanted = has_ranges || has_lines || heap.is_python;
}
