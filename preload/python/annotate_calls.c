/* SPDX-License-Identifier: Apache-2.0 */
/* Without a GIL, callbacks run in several threads at a time: what they share is lock-free. */
#include "preload/python/annotate_parts.h"

#include <errno.h>
#include <string.h>

#include "preload/nvtx/nvtx_tool.h"
#include "preload/python/python_api.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/shared/base/text.h"

/* What CPython passes to a profile function. */
enum { ON_CALL = 0, ON_RETURN = 3, ON_C_CALL = 4, ON_C_EXCEPTION = 5, ON_C_RETURN = 6 };
/* Offsets in a PyObject, a PyCFunctionObject, a PyMethodDescrObject, and a PyFrameObject of 3.8, where an object begins
 * with 16 bytes. Without a GIL it has `head` more; calls_open() is not called for a build that has others. */
enum { OBJECT_TYPE = 8, FUNCTION_METHOD = 16, FUNCTION_SELF = 24, DESCRIPTOR_METHOD = 40, FRAME_CODE = 32 };
/* Of a type, and of a PyCFunctionObject by what its type says. */
enum { TYPE_SIZE = 32, TYPE_VECTORCALL = 56, FUNCTION_VECTORCALL = 48 };

static unsigned head, wants_c;
static struct nvtx_domain *domain;  /* NULL: calls are not recorded */
static long code_index;		    /* of our pointer in each code object: it is freed with the code object */
static unsigned code_extra;	    /* where a code object has its struct code_extra *; 0: not known */
static struct intern_table files;   /* hash of a text -> hash of the file of the function that has it */
static struct intern_table methods; /* PyMethodDef and its name -> struct nvtx_string * */
static void *describe_c, *disable, *missing;
static struct nvtx_string unwanted;
static __thread bool is_ours; /* this thread is setting our profile function */

/* ---- functions in Python ----
 * No code in Python runs here: a signal's handler could be called in it, and its exception would be lost. */

/* "no-c" is in the place of a module, which cannot have this name. */
static bool is_chosen(const char *module)
{
	const char *name = strcmp(process_options.python_calls, "no-c") ? process_options.python_calls : "all";

	for (size_t length; name; name = name[length] ? name + length + 1 : NULL) {
		length = strcspn(name, ",");
		if ((length == 3 && !memcmp(name, "all", 3)) || (!strncmp(module, name, length) && !module[length]))
			return true;
		if (length < 2 || memcmp(name + length - 2, ".*", 2) != 0 || strncmp(module, name, length - 2) != 0)
			continue;
		if (!module[length - 2] || module[length - 2] == '.')
			return true;
	}
	return false;
}

__attribute__((cold)) struct nvtx_string *annotate_function_text(const char *name, const char *file, unsigned line)
{
	const char *slash = strrchr(file, '/');
	char bytes[4096];

	for (const char *shown = slash ? slash + 1 : file;; shown = file) {
		struct text text = text_init(bytes, sizeof(bytes));
		uint64_t key, of_file = intern_hash(0, file, strlen(file)), known;

		text_add(&text, name);
		text_add(&text, " (");
		text_add(&text, shown);
		text_add(&text, ":");
		text_number(&text, line);
		text_add(&text, ")");
		key = intern_hash(0, bytes, text_length(&text));
		known = intern_get(&files, key);
		if (!known)
			intern_set(&files, key, of_file);
		if (shown == file || !known || known == of_file)
			break;
	}
	return nvtx_text_string(bytes, nvtx_text_length(bytes));
}

static struct nvtx_string *code_text(const char *name, const char *file, unsigned line)
{
	struct nvtx_string *s = annotate_function_text(name, file, line);

	if (s)
		nvtx_name_function(domain, s->text, name, file, line);
	return s;
}

static struct nvtx_string *code_describe(void *code)
{
	void *name = python_code_bytes(code, "co_qualname"), *file = python_code_bytes(code, "co_filename");
	struct nvtx_string *s = NULL;

	if (!name)
		name = python_code_bytes(code, "co_name"); /* before 3.11 */
	if (name && file && strcmp(python.PyBytes_AsString(file), "<pillion>") != 0 &&
	    is_chosen(python_module_of(python.PyEval_GetGlobals())))
		s = code_text(python.PyBytes_AsString(name), python.PyBytes_AsString(file),
			      python_code_number(code, "co_firstlineno"));
	python.PyErr_Clear();
	python.Py_DecRef(name);
	python.Py_DecRef(file);
	return s ? s : &unwanted;
}

static void code_set(void *code, struct nvtx_string *s)
{
	python.PyUnstable_Code_SetExtra(code, code_index, s);
}

/* A function may be entered with an exception that is being thrown into it. */
static __attribute__((noinline, cold)) struct nvtx_string *code_learn(void *code)
{
	void *type, *value, *traceback;
	struct nvtx_string *s;
	int error = errno;

	python.PyErr_Fetch(&type, &value, &traceback);
	s = code_describe(code);
	code_set(code, s);
	python.PyErr_Restore(type, value, traceback);
	errno = error;
	return s;
}

/* _PyCodeObjectExtra of 3.8 to 3.15, with a GIL. */
struct code_extra {
	long count;
	void *items[];
};

static __attribute__((noinline)) void *code_get(void *code)
{
	void *s = NULL;

	python.PyUnstable_Code_GetExtra(code, code_index, &s);
	return s;
}

/* NULL: calls of it are not recorded. */
static inline __attribute__((always_inline)) struct nvtx_string *code_string(void *code)
{
	const struct code_extra *extra = code_extra ? load(code, code_extra) : NULL;
	void *s = extra && code_index < extra->count ? extra->items[code_index] : code_get(code);

	if (__builtin_expect(!s, 0))
		s = code_learn(code);
	return s == &unwanted ? NULL : s;
}

/* Marks a code object of ours, which has nothing of this kind yet. The word of it that this changes is the pointer,
 * which is what _PyCode_GetExtra reads. */
static void code_extra_find(void *code)
{
	enum { WORDS = 64 };
	void *before[WORDS];
	const struct code_extra *extra;
	size_t words = (size_t)load(load(code, OBJECT_TYPE), TYPE_SIZE) / sizeof(*before), i = 0;

	words = words < WORDS ? words : WORDS;
	memcpy(before, code, words * sizeof(*before));
	code_set(code, &unwanted);
	while (i < words && (before[i] || !load(code, i * sizeof(*before))))
		i++;
	extra = i < words ? load(code, i * sizeof(*before)) : NULL;
	if (extra && code_index < extra->count && extra->items[code_index] == &unwanted)
		code_extra = i * sizeof(*before);
}

/* ---- functions in C ---- */

/* The string for what annotate.py says about a function: its name and text. Takes over the reference. */
static struct nvtx_string *string_learn(void *said)
{
	struct nvtx_string *s = NULL;
	const char *text, *name;

	if (said && python.PyArg_ParseTuple(said, "ss", &text, &name)) {
		s = nvtx_text_string(text, nvtx_text_length(text));
		nvtx_name_function(domain, text, name, "~", 0);
	}
	python.Py_DecRef(said);
	return s ? s : &unwanted;
}

/* NULL: a signal's handler has raised an exception in annotate.py. It is passed on, as if it had been called before
 * the function. */
static struct nvtx_string *string_ask(void *function, void *owner)
{
	void *type, *value, *traceback;
	struct nvtx_string *s;
	int error = errno;

	python.PyErr_Fetch(&type, &value, &traceback);
	s = string_learn(python.PyObject_CallFunction(describe_c, owner ? "(OO)" : "(O)", function, owner));
	errno = error;
	if (s == &unwanted && python.PyErr_Occurred() && !python.PyErr_ExceptionMatches(**python.PyExc_Exception)) {
		python.Py_DecRef(type);
		python.Py_DecRef(value);
		python.Py_DecRef(traceback);
		return NULL;
	}
	python.PyErr_Restore(type, value, traceback);
	return s;
}

/* What is called most is told first. */
static inline bool is_c_function(const void *type)
{
	if (type == python.PyCFunction_Type)
		return true;
	if (type == python.PyFunction_Type || type == python.PyMethod_Type || type == python.PyType_Type)
		return false;
	return python.PyType_IsSubtype((void *)type, python.PyCFunction_Type);
}

/* `argument` is the first one of the call, `missing` if there is none. *ret: NULL: calls of it are not recorded. False:
 * an exception is to be passed on. */
static bool function_string(void *function, void *argument, struct nvtx_string **ret)
{
	const void *type = load(function, OBJECT_TYPE + head);
	bool is_descriptor = type == python.PyMethodDescr_Type, is_function = !is_descriptor && is_c_function(type);
	const void *method;
	struct nvtx_string *s;
	uint64_t key;

	*ret = NULL;
	if (!is_function && (!is_descriptor || argument == missing))
		return true;
	method = load(function, (is_function ? FUNCTION_METHOD : DESCRIPTOR_METHOD) + head);
	key = intern_fold((uint64_t)method, (uint64_t)load(method, 0));
	s = (struct nvtx_string *)intern_get(&methods, key);
	if (!s) {
		s = string_ask(function, is_function ? load(function, FUNCTION_SELF + head) : argument);
		if (!s)
			return false;
		intern_set(&methods, key, (uint64_t)s);
	}
	*ret = s == &unwanted ? NULL : s;
	return true;
}

/* ---- events ---- */

static inline __attribute__((always_inline)) void enter(struct nvtx_string *s)
{
	if (!s || !nvtx_wanted(domain))
		return;
	nvtx_definitions();
	event_instant_here(TF_PUSH, nvtx_domain_number(domain), nvtx_text_registered(s), NULL, 0);
}

static inline __attribute__((always_inline)) void leave(const struct nvtx_string *s)
{
	if (s && nvtx_wanted(domain))
		event_instant_here(TF_POP, nvtx_domain_number(domain), 0, NULL, 0);
}

/* The arguments of a callback of sys.monitoring: code, offset, and of calls: callable, first argument. NULL: an
 * exception is to be passed on. */
static inline __attribute__((always_inline)) void *take_event(const void *arguments, bool is_begin, bool is_of_c,
							      bool can_be_disabled)
{
	struct nvtx_string *s = code_string(load(arguments, 0));
	bool is_wanted = s || !can_be_disabled;

	if (s && is_of_c && !function_string(load(arguments, 16), load(arguments, 24), &s))
		return NULL;
	if (is_begin)
		enter(s);
	else
		leave(s);
	return python_answer(is_wanted, disable);
}
#define CALLBACK(name, ...)                                                                                            \
	static void *name(void *self, void *arguments)                                                                 \
	{                                                                                                              \
		return take_event(arguments, __VA_ARGS__);                                                             \
	}
CALLBACK(calls_enter, true, false, true)
CALLBACK(calls_leave, false, false, true)
CALLBACK(calls_throw, true, false, false)
CALLBACK(calls_unwind, false, false, false)
CALLBACK(calls_c_enter, true, true, true)
CALLBACK(calls_c_leave, false, true, false)
#undef CALLBACK

/* ---- before 3.12 ---- */

static int profile(void *unused, void *frame, int what, void *function)
{
	struct nvtx_string *s;
	bool is_thrown;
	void *code;

	if (what >= ON_C_CALL && !wants_c)
		return 0;
	code = python.PyFrame_GetCode ? python.PyFrame_GetCode(frame) : load(frame, FRAME_CODE);
	s = code_string(code);
	is_thrown = s && what >= ON_C_CALL && !function_string(function, missing, &s);
	if (!is_thrown && (what == ON_CALL || what == ON_C_CALL))
		enter(s);
	else if (!is_thrown && (what == ON_RETURN || what == ON_C_RETURN || what == ON_C_EXCEPTION))
		leave(s);
	if (python.PyFrame_GetCode)
		python.Py_DecRef(code);
	return is_thrown ? -1 : 0;
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

/* ---- a profile function of the program's own ----
 * Whoever watches calls in C has the interpreter say the end of each, to all who watch by then: a function that the
 * program sets by sys.setprofile() would first be told of the end of that call, which it is not told of without us.
 * So first_event() takes its place in the thread's state until it has seen one event. */

typedef int profile_function(void *object, void *frame, int what, void *argument);

static unsigned profile_place;	     /* of the profile function in a thread's state; 0: not known */
static profile_function *programs;   /* by which the interpreter calls a function in Python */
static void *(*real_setprofile)(void *sys, void *function);

static profile_function **profile_of_thread(void)
{
	return (profile_function **)((char *)python.PyThreadState_Get() + profile_place);
}

static int first_event(void *object, void *frame, int what, void *argument)
{
	*profile_of_thread() = programs;
	return what == ON_C_RETURN || what == ON_C_EXCEPTION ? 0 : programs(object, frame, what, argument);
}

static void *calls_setprofile(void *sys, void *function)
{
	profile_function **now = profile_of_thread(), *before = *now;
	void *result = real_setprofile(sys, function);

	if (result && *now && (!before || before == profile)) {
		programs = *now;
		*now = first_event;
	}
	return result;
}

/* The object stays what it was, so the program and its modules may have taken it before. */
static void setprofile_replace(const void *setprofile)
{
	struct method *method;

	if (load(setprofile, OBJECT_TYPE + head) != python.PyCFunction_Type)
		return;
	method = load(setprofile, FUNCTION_METHOD + head);
	if (method->flags != TAKES_ONE || method->call == calls_setprofile)
		return;
	python.PyEval_SetProfile(first_event, NULL);
	profile_place = python_state_place((const void *)first_event);
	python.PyEval_SetProfile(NULL, NULL);
	real_setprofile = method->call;
	if (profile_place)
		method->call = calls_setprofile;
}

/* ---- beginning ---- */

/* Of a function of ours that has the names of another one. */
static void *calls_hide(void *self, void *code)
{
	if (domain)
		code_set(code, &unwanted);
	return python_none();
}

static __attribute__((cold)) void *calls_open(void *self, void *arguments)
{
	void *setprofile, *code;

	domain = NULL;
	if (!python.has_code_functions ||
	    !python.PyArg_ParseTuple(arguments, "OOOIOI", &describe_c, &disable, &missing, &head, &setprofile,
				     &wants_c))
		return python.PyErr_Clear(), python.Py_BuildValue("i", 0);
	code_index = python.PyUnstable_Eval_RequestCodeExtraIndex(NULL);
	if (code_index >= 0)
		domain = nvtx_domain("python");
	python.Py_IncRef(describe_c);
	python.Py_IncRef(disable);
	python.Py_IncRef(missing);
	setprofile_replace(setprofile);
	code = head ? NULL : python.PyObject_GetAttrString(describe_c, "__code__");
	if (code) {
		code_extra_find(code);
		python.Py_DecRef(code);
	}
	python.PyErr_Clear();
	if (disable == python._Py_NoneStruct)
		python.PySys_AddAuditHook(profile_is_replaced, NULL);
	return python.Py_BuildValue("i", domain != NULL);
}

static const struct method natives[] = {
	{"calls_open", calls_open, TAKES_TUPLE, NULL},
	{"calls_hide", calls_hide, TAKES_ONE, NULL},
	{"calls_here", calls_here, TAKES_NOTHING, NULL},
	{"calls_enter", calls_enter, TAKES_ARRAY, NULL},
	{"calls_leave", calls_leave, TAKES_ARRAY, NULL},
	{"calls_throw", calls_throw, TAKES_ARRAY, NULL},
	{"calls_unwind", calls_unwind, TAKES_ARRAY, NULL},
	{"calls_c_enter", calls_c_enter, TAKES_ARRAY, NULL},
	{"calls_c_leave", calls_c_leave, TAKES_ARRAY, NULL},
};

/* The interpreter calls an object in C by a pointer in it: a function that checks the arguments and calls ours. Ours
 * has the arguments that it needs in the same places, and only the interpreter calls it, so it is called at once. */
static void *native_new(const struct method *m)
{
	void *object = python.PyCFunction_NewEx((void *)m, NULL, NULL), **place, *type;

	if (!object || m->flags != TAKES_ARRAY)
		return object;
	place = (void **)((char *)object + FUNCTION_VECTORCALL);
	type = load(object, OBJECT_TYPE);
	if (type && type == python.PyCFunction_Type && (long)load(type, TYPE_VECTORCALL) == FUNCTION_VECTORCALL &&
	    *place)
		*place = (void *)m->call;
	return object;
}

void annotate_calls_offer(void *space)
{
	python_set_item(space, "python_calls", python.Py_BuildValue("z", process_options.python_calls));
	if (!process_options.python_calls)
		return;
	for (size_t i = 0; i < sizeof(natives) / sizeof(*natives); i++)
		python_set_item(space, natives[i].name, native_new(&natives[i]));
}
