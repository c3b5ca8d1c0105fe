/* SPDX-License-Identifier: Apache-2.0 */
/* Everything here runs with the GIL, so nothing is locked. */
#include "preload/python/annotate_calls.h"

#include <errno.h>

#include "preload/nvtx/nvtx_tool.h"
#include "preload/python/annotate_range.h"
#include "preload/python/python_api.h"
#include "runtime/record/event.h"
#include "runtime/record/intern_table.h"

/* What CPython passes to a profile function. */
enum { ON_CALL = 0, ON_RETURN = 3, ON_C_CALL = 4, ON_C_EXCEPTION = 5, ON_C_RETURN = 6 };
/* Offsets in a PyObject, a PyCFunctionObject, a PyMethodDescrObject, and a PyFrameObject of 3.8; calls_open() is not
 * called for a build that has others. */
enum { OBJECT_TYPE = 8, FUNCTION_METHOD = 16, FUNCTION_SELF = 24, DESCRIPTOR_METHOD = 40, FRAME_CODE = 32 };

static struct nvtx_domain *domain;
static long code_index;		    /* of our pointer in each code object: it is freed with the code object */
static struct intern_table methods; /* PyMethodDef and its name -> struct nvtx_string * */
static void *describe_code, *describe_c, *disable, *missing;
static struct nvtx_string unwanted;
static __thread bool is_ours; /* this thread is setting our profile function */

static void *load(const void *object, unsigned offset)
{
	return *(void *const *)((const char *)object + offset);
}

/* ---- names ---- */

/* The string for what annotate.py says about a function: (text, name, file, first line) or None. Takes over the
 * reference. */
static struct nvtx_string *string_learn(void *said)
{
	struct nvtx_string *s = &unwanted;
	const char *text, *name, *file;
	unsigned first_line;

	if (said && said != python._Py_NoneStruct &&
	    python.PyArg_ParseTuple(said, "sssI", &text, &name, &file, &first_line)) {
		s = nvtx_text_string(text, nvtx_text_length(text)) ?: &unwanted;
		nvtx_name_function(domain, text, name, file, first_line);
	}
	python.PyErr_Clear();
	python.Py_DecRef(said);
	return s;
}

/* A function may be entered with an exception that is being thrown into it. */
static struct nvtx_string *string_ask(void *describe, const char *format, void *function, void *owner)
{
	void *type, *value, *traceback;
	struct nvtx_string *s;
	int error = errno;

	python.PyErr_Fetch(&type, &value, &traceback);
	s = string_learn(python.PyObject_CallFunction(describe, format, function, owner));
	python.PyErr_Restore(type, value, traceback);
	errno = error;
	return s;
}

static __attribute__((noinline)) struct nvtx_string *code_learn(void *code)
{
	struct nvtx_string *s = string_ask(describe_code, "(O)", code, NULL);

	(python.PyUnstable_Code_SetExtra ?: python._PyCode_SetExtra)(code, code_index, s);
	return s;
}

/* NULL: calls of it are not recorded. */
static struct nvtx_string *code_string(void *code)
{
	void *s = NULL;

	(python.PyUnstable_Code_GetExtra ?: python._PyCode_GetExtra)(code, code_index, &s);
	if (!s)
		s = code_learn(code);
	return s == &unwanted ? NULL : s;
}

static bool is_of(const void *object, const char *type)
{
	return load(object, OBJECT_TYPE) == type || python.PyType_IsSubtype(load(object, OBJECT_TYPE), (void *)type);
}

/* `argument` is the first one of the call, `missing` if there is none. */
static struct nvtx_string *function_string(void *function, void *argument)
{
	bool is_function = is_of(function, (const char *)python.PyCFunction_Type);
	const void *method;
	struct nvtx_string *s;
	uint64_t key;

	if (!is_function && (load(function, OBJECT_TYPE) != python.PyMethodDescr_Type || argument == missing))
		return NULL;
	method = load(function, is_function ? FUNCTION_METHOD : DESCRIPTOR_METHOD);
	key = intern_fold((uint64_t)method, (uint64_t)load(method, 0));
	s = (struct nvtx_string *)intern_get(&methods, key);
	if (s)
		return s == &unwanted ? NULL : s;
	if (is_function)
		argument = load(function, FUNCTION_SELF);
	s = string_ask(describe_c, argument ? "(OO)" : "(O)", function, argument);
	intern_set(&methods, key, (uint64_t)s);
	return s == &unwanted ? NULL : s;
}

/* ---- events ---- */

static void enter(struct nvtx_string *s)
{
	if (!s || !nvtx_wanted(domain))
		return;
	nvtx_definitions();
	event_instant(TF_PUSH, nvtx_domain_number(domain), nvtx_text_registered(s), NULL, 0);
}

static void leave(const struct nvtx_string *s)
{
	if (s && nvtx_wanted(domain))
		event_instant(TF_POP, nvtx_domain_number(domain), 0, NULL, 0);
}

/* The arguments of a callback of sys.monitoring: code, offset, and of calls: callable, first argument. `disable`: the
 * event does not occur in this place again. */
static void *answer(bool is_wanted)
{
	void *result = is_wanted ? python._Py_NoneStruct : disable;

	python.Py_IncRef(result);
	return result;
}

static void *calls_enter(void *self, void *arguments)
{
	struct nvtx_string *s = code_string(load(arguments, 0));

	enter(s);
	return answer(s);
}

static void *calls_leave(void *self, void *arguments)
{
	struct nvtx_string *s = code_string(load(arguments, 0));

	leave(s);
	return answer(s);
}

/* These cannot be disabled. */
static void *calls_throw(void *self, void *arguments)
{
	enter(code_string(load(arguments, 0)));
	return answer(true);
}

static void *calls_unwind(void *self, void *arguments)
{
	leave(code_string(load(arguments, 0)));
	return answer(true);
}

static void *calls_c_enter(void *self, void *arguments)
{
	bool is_wanted = code_string(load(arguments, 0));

	if (is_wanted)
		enter(function_string(load(arguments, 16), load(arguments, 24)));
	return answer(is_wanted);
}

static void *calls_c_leave(void *self, void *arguments)
{
	if (code_string(load(arguments, 0)))
		leave(function_string(load(arguments, 16), load(arguments, 24)));
	return answer(true);
}

/* ---- before 3.12 ---- */

static int profile(void *unused, void *frame, int what, void *function)
{
	void *code = python.PyFrame_GetCode ? python.PyFrame_GetCode(frame) : load(frame, FRAME_CODE);
	struct nvtx_string *s = code_string(code);

	if (s && what >= ON_C_CALL)
		s = function_string(function, missing);
	if (what == ON_CALL || what == ON_C_CALL)
		enter(s);
	else if (what == ON_RETURN || what == ON_C_RETURN || what == ON_C_EXCEPTION)
		leave(s);
	if (python.PyFrame_GetCode)
		python.Py_DecRef(code);
	return 0;
}

static int profile_is_replaced(const char *event, void *arguments, void *unused)
{
	static uint64_t noted;

	if (!is_ours && !strcmp(event, "sys.setprofile"))
		nvtx_note_once(&noted, "--python-calls: the program has a profile function of its own: from there on "
			       "the calls of this thread are not recorded");
	return 0;
}

static void *calls_here(void *self, void *unused)
{
	is_ours = true;
	python.PyEval_SetProfile(profile, NULL);
	is_ours = false;
	return python_none();
}

/* ---- beginning ---- */

static bool python_has_functions(void)
{
	return (python.PyUnstable_Code_GetExtra || python._PyCode_GetExtra) &&
	       (python.PyUnstable_Code_SetExtra || python._PyCode_SetExtra) && python.PyObject_CallFunction &&
	       (python.PyUnstable_Eval_RequestCodeExtraIndex || python._PyEval_RequestCodeExtraIndex) &&
	       python.PyErr_Fetch && python.PyErr_Restore && python.PyType_IsSubtype && python.PyCFunction_Type &&
	       python.PyMethodDescr_Type && python.PyEval_SetProfile && python.PySys_AddAuditHook;
}

static void *calls_open(void *self, void *arguments)
{
	if (!python_has_functions() ||
	    !python.PyArg_ParseTuple(arguments, "OOOO", &describe_code, &describe_c, &disable, &missing))
		return python.PyErr_Clear(), python.Py_BuildValue("i", 0);
	code_index = (python.PyUnstable_Eval_RequestCodeExtraIndex ?: python._PyEval_RequestCodeExtraIndex)(NULL);
	domain = annotate_range_domain("python");
	python.Py_IncRef(describe_code);
	python.Py_IncRef(describe_c);
	python.Py_IncRef(disable);
	python.Py_IncRef(missing);
	if (disable == python._Py_NoneStruct)
		python.PySys_AddAuditHook(profile_is_replaced, NULL);
	return python.Py_BuildValue("i", code_index >= 0 && domain);
}

static const struct method natives[] = {
	{"calls_open", calls_open, TAKES_TUPLE, NULL},
	{"calls_here", calls_here, TAKES_NOTHING, NULL},
	{"calls_enter", calls_enter, TAKES_ARRAY, NULL},
	{"calls_leave", calls_leave, TAKES_ARRAY, NULL},
	{"calls_throw", calls_throw, TAKES_ARRAY, NULL},
	{"calls_unwind", calls_unwind, TAKES_ARRAY, NULL},
	{"calls_c_enter", calls_c_enter, TAKES_ARRAY, NULL},
	{"calls_c_leave", calls_c_leave, TAKES_ARRAY, NULL},
};

void annotate_calls_offer(void *space)
{
	python_set_item(space, "python_calls", python.Py_BuildValue("z", process_options.python_calls));
	if (!process_options.python_calls)
		return;
	for (size_t i = 0; i < sizeof(natives) / sizeof(*natives); i++)
		python_set_item(space, natives[i].name, python.PyCFunction_NewEx((void *)&natives[i], NULL, NULL));
}
