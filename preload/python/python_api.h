/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of CPython that annotations use, as they are found in the program. No header of Python is needed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Stable functions, all from the object that defines the first of them. */
#define PYTHON_FUNCTIONS(X)                                                                                            \
	X(int, Py_AddPendingCall, (int (*call)(void *), void *argument))                                               \
	X(int, Py_AtExit, (void (*call)(void)))                                                                        \
	X(void *, PyGILState_GetThisThreadState, (void))                                                               \
	X(void *, Py_CompileString, (const char *source, const char *name, int start))                                 \
	X(void *, PyEval_EvalCode, (void *code, void *globals, void *locals))                                          \
	X(void *, PyEval_GetBuiltins, (void))                                                                          \
	X(void *, Py_BuildValue, (const char *format, ...))                                                            \
	X(int, PyArg_ParseTuple, (void *tuple, const char *format, ...))                                               \
	X(void *, PyCFunction_NewEx, (void *method, void *self, void *module))                                         \
	X(void *, PyDict_New, (void))                                                                                  \
	X(int, PyDict_SetItemString, (void *dict, const char *key, void *value))                                       \
	X(void *, PyList_New, (long size))                                                                             \
	X(int, PyList_Append, (void *list, void *item))                                                                \
	X(void *, PyLong_FromVoidPtr, (void *pointer))                                                                 \
	X(void *, PyLong_AsVoidPtr, (void *number))                                                                    \
	X(const char *, PyUnicode_AsUTF8, (void *text))                                                                \
	X(int, PyErr_ExceptionMatches, (void *type))                                                                   \
	X(void, PyErr_Clear, (void))                                                                                   \
	X(void, Py_IncRef, (void *object))                                                                             \
	X(void, Py_DecRef, (void *object))                                                                             \
	X(char, _Py_NoneStruct, [1])                                                                                   \
	X(void *, PyExc_Exception, [1])

/* What --python-calls and --lines-of need of CPython 3.8 and later. Before 3.12, each PyUnstable_ function is the one
 * that precedes it in the next list. */
#define PYTHON_CODE_FUNCTIONS(X)                                                                                       \
	X(int, PyUnstable_Code_GetExtra, (void *code, long index, void **ret))                                         \
	X(int, PyUnstable_Code_SetExtra, (void *code, long index, void *value))                                        \
	X(long, PyUnstable_Eval_RequestCodeExtraIndex, (void (*release)(void *)))                                      \
	X(void, PyEval_SetProfile, (int (*call)(void *, void *, int, void *), void *argument))                         \
	X(void *, PyThreadState_Get, (void))                                                                           \
	X(void, PyEval_SetTrace, (int (*call)(void *, void *, int, void *), void *argument))                           \
	X(int, PyFrame_GetLineNumber, (void *frame))                                                                   \
	X(long, PyTuple_Size, (void *tuple))                                                                           \
	X(void *, PyTuple_GetItem, (void *tuple, long index))                                                          \
	X(int, PySys_AddAuditHook, (int (*hook)(const char *event, void *arguments, void *data), void *data))          \
	X(void *, PyObject_CallFunction, (void *callable, const char *format, ...))                                    \
	X(void *, PyObject_GetAttrString, (void *object, const char *name))                                            \
	X(void *, PyEval_GetGlobals, (void))                                                                           \
	X(void *, PyDict_GetItemString, (void *dict, const char *key))                                                 \
	X(void *, PyUnicode_AsEncodedString, (void *text, const char *encoding, const char *errors))                   \
	X(const char *, PyBytes_AsString, (void *bytes))                                                               \
	X(void *, PyErr_Occurred, (void))                                                                              \
	X(void, PyErr_Fetch, (void **type, void **value, void **traceback))                                            \
	X(void, PyErr_Restore, (void *type, void *value, void *traceback))                                             \
	X(int, PyType_IsSubtype, (void *type, void *base))                                                             \
	X(char, PyCFunction_Type, [1])                                                                                 \
	X(char, PyFunction_Type, [1])                                                                                  \
	X(char, PyMethod_Type, [1])                                                                                    \
	X(char, PyType_Type, [1])                                                                                      \
	X(char, PyMethodDescr_Type, [1])

/* NULL: this version does not have it. */
#define PYTHON_OTHER_FUNCTIONS(X)                                                                                      \
	X(int, _PyCode_GetExtra, (void *code, long index, void **ret))                                                 \
	X(int, _PyCode_SetExtra, (void *code, long index, void *value))                                                \
	X(long, _PyEval_RequestCodeExtraIndex, (void (*release)(void *)))                                              \
	X(void *, PyFrame_GetCode, (void *frame))                                                                      \
	X(void *, PyVectorcall_Call, (void *callable, void *tuple, void *dict))                                        \
	X(void *, _PyEval_EvalFrameDefault, (void *state, void *frame, int is_thrown))                                 \
	X(void *, _PyInterpreterState_GetEvalFrameFunc, (void *interpreter))                                           \
	X(void, _PyInterpreterState_SetEvalFrameFunc, (void *interpreter, void *call))

#define DECLARE(type, name, rest) __typeof__(type rest) *name;
extern struct python {
	PYTHON_FUNCTIONS(DECLARE)
	PYTHON_CODE_FUNCTIONS(DECLARE)
	PYTHON_OTHER_FUNCTIONS(DECLARE)
	bool has_code_functions; /* all of them */
} python __attribute__((visibility("hidden")));
#undef DECLARE

/* PyMethodDef and its flags. */
enum { TAKES_TUPLE = 1, TAKES_NOTHING = 4, TAKES_ONE = 8, TAKES_ARRAY = 0x80, FILE_INPUT = 257 };
struct method {
	const char *name;
	void *(*call)(void *self, void *argument);
	int flags;
	const char *help;
};
/* A function without arguments that returns what `call` does: a bool. */
#define PYTHON_ANSWER(name, call)                                                                                      \
	static void *name(void *self, void *unused)                                                                    \
	{                                                                                                              \
		return python.Py_BuildValue("i", (int)call());                                                         \
	}

/* The pointer at an offset in an object. */
static inline void *load(const void *object, unsigned offset)
{
	return *(void *const *)((const char *)object + offset);
}

static inline void *python_none(void)
{
	python.Py_IncRef(python._Py_NoneStruct);
	return python._Py_NoneStruct;
}

/* Of a callback of sys.monitoring, whose versions have an immortal None. `disable`: the event does not occur in this
 * place again. */
static inline void *python_answer(bool is_wanted, void *disable)
{
	if (is_wanted)
		return python._Py_NoneStruct;
	python.Py_IncRef(disable);
	return disable;
}

/* The module of a function with these globals; "": it has none. */
const char *python_module_of(void *globals);

/* A text attribute of a code object as a new reference to bytes, NULL: there is none; and a numeric one, 0: none. */
void *python_code_bytes(void *code, const char *attribute);
unsigned python_code_number(void *code, const char *attribute);

/* The offset of a word of the calling thread's state that has this value; 0: there is none. */
unsigned python_state_place(const void *value);

/* Takes over the reference to `value`; NULL: an error is cleared. */
void python_set_item(void *space, const char *name, void *value);
/* Adds the functions to a namespace. */
void python_offer(void *space, const struct method *natives, size_t count);
