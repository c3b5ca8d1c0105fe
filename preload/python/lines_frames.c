/* SPDX-License-Identifier: Apache-2.0 */
/* CPython 3.8 to 3.11 call us for each frame (PEP 523). While a chosen function executes, the thread's trace function
 * is ours, which calls the program's one; in all other frames it is the program's. The object that the program has set
 * stays in the thread's state, so sys.gettrace() and coverage find what they have set. */
#include "preload/python/lines_frames.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "preload/nvtx/nvtx_tool.h"
#include "preload/python/python_api.h"
#include "runtime/recorder/stack/stack.h"

typedef int trace_function(void *object, void *frame, int what, void *argument);
typedef void *frame_function(void *state, void *frame, int is_thrown);

enum { ON_LINE = 2, ON_RETURN = 3 };
/* Offsets: in a PyFrameObject, and in 3.11 in what the evaluation of a frame is passed; in a thread's state. */
enum { FRAME_CODE = 32, FRAME_GLOBALS = 48, FRAME_GLOBALS_3_11 = 8, STATE_INTERPRETER = 16 };

static unsigned minor;
static unsigned trace_place; /* of the trace function in a thread's state */
static uint8_t trace_on;     /* what use_tracing is if there is one */
static frame_function *next; /* evaluates a frame */
static void *(*real_settrace)(void *sys, void *function);

/* The program's trace function while *tracer() is ours. */
static __thread trace_function *programs __attribute__((tls_model("initial-exec")));
static __thread uintptr_t lowest __attribute__((tls_model("initial-exec"))); /* part of the stack that has room */

static trace_function trace;

/* ---- the trace function of a thread ---- */

static trace_function **tracer(void *state)
{
	return (trace_function **)((char *)state + trace_place);
}

/* use_tracing, at most 255, so its first byte suffices. c_profilefunc is the word before c_tracefunc, and before that
 * is the flag, or from 3.10 on a pointer to it. */
static uint8_t *trace_flag(void *state)
{
	return minor < 10 ? (uint8_t *)state + trace_place - 12 : load(state, trace_place - 16);
}

static void tracer_set(void *state, trace_function *call)
{
	*tracer(state) = call;
	*trace_flag(state) = call || load(state, trace_place - 8) ? trace_on : 0;
}

/* The program's trace function can turn off the events of a frame's lines. */
static __attribute__((noinline, cold)) void trace_check(void *frame)
{
	static uint64_t noted;
	void *has_lines = python.PyObject_GetAttrString(frame, "f_trace_lines");

	if (has_lines && !python.PyLong_AsVoidPtr(has_lines))
		nvtx_note_once(&noted, "--lines-of: the program's trace function has turned off the lines of a chosen "
			       "function (f_trace_lines), which were not recorded");
	python.Py_DecRef(has_lines);
}

static int trace(void *object, void *frame, int what, void *argument)
{
	void *code = python.PyFrame_GetCode ? python.PyFrame_GetCode(frame) : load(frame, FRAME_CODE), *state;
	struct line_code *c = lines_known(code);
	bool is_wanted = lines_wants(c);
	int result = 0;

	if (is_wanted && (what == ON_LINE || what == ON_RETURN))
		lines_leave(c);
	if (programs) {
		if (is_wanted && what == ON_RETURN)
			trace_check(frame);
		result = programs(object, frame, what, argument);
		state = python.PyThreadState_Get();
		if (*tracer(state) != trace) {
			programs = *tracer(state);
			*tracer(state) = trace; /* the caller sets use_tracing */
		}
	}
	if (is_wanted && what == ON_LINE && !result)
		lines_line(c, (uint32_t)python.PyFrame_GetLineNumber(frame));
	if (python.PyFrame_GetCode)
		python.Py_DecRef(code);
	return result;
}

/* The function behind the object sys.settrace, which stays what it was. */
static void *settrace_beside(void *sys, void *function)
{
	void *state = python.PyThreadState_Get(), *result;

	if (*tracer(state) != trace)
		return real_settrace(sys, function);
	tracer_set(state, programs);
	result = real_settrace(sys, function);
	programs = *tracer(state);
	tracer_set(state, trace);
	return result;
}

/* ---- names ---- */

static bool is_function(void *code)
{
	return python_code_number(code, "co_flags") & 1; /* CO_OPTIMIZED */
}

/* Before 3.11 code has no qualified name: it follows from the code that defines it, which is a constant there. */
static void code_name(void *code, const char *module, char *path, size_t length, size_t size)
{
	void *name = python_code_bytes(code, "co_name"), *constants;
	const char *text = name ? python.PyBytes_AsString(name) : "?";
	bool is_body = !is_function(code);
	size_t end = length;

	if (*text != '<' || !is_body) {
		end += strnlen(text, size - length - 1);
		memcpy(path + length, text, end - length);
	}
	path[end] = '\0';
	if (!lines_known(code))
		lines_know(code, lines_describe(code, module, path, false));
	if (end > length && end + sizeof(".<locals>.") < size) {
		strcpy(path + end, is_body ? "." : ".<locals>.");
		end += strlen(path + end);
	}
	constants = python.PyObject_GetAttrString(code, "co_consts");
	for (long i = 0; constants && end < size - 1 && i < python.PyTuple_Size(constants); i++) {
		void *inner = python.PyTuple_GetItem(constants, i);

		if (load(inner, 8) == load(code, 8)) /* their types */
			code_name(inner, module, path, end, size);
	}
	python.Py_DecRef(constants);
	python.Py_DecRef(name);
}

static __attribute__((noinline, cold)) struct line_code *code_learn(void *code, void *globals)
{
	void *type, *value, *traceback;
	char path[1024] = "";
	const char *module;
	int error = errno;

	python.PyErr_Fetch(&type, &value, &traceback);
	module = python_module_of(globals); /* raises if the name is no text, as when the interpreter ends */
	if (minor == 11)
		lines_know(code, lines_describe(code, module, NULL, false));
	else
		code_name(code, module, path, 0, sizeof(path));
	python.PyErr_Clear();
	python.PyErr_Restore(type, value, traceback);
	errno = error;
	return lines_known(code);
}

/* ---- frames ---- */

static void *frame_next(void *state, void *frame, int is_thrown)
{
	return minor == 8 ? ((void *(*)(void *, int))(void *)next)(frame, is_thrown) : next(state, frame, is_thrown);
}

static void *frame_traced(void *state, void *frame, int is_thrown, bool is_wanted)
{
	static uint64_t noted;
	void *result;

	if (is_wanted)
		programs = *tracer(state);
	tracer_set(state, is_wanted ? trace : programs);
	result = frame_next(state, frame, is_thrown);
	if (!is_wanted) {
		if (*tracer(state) != trace)
			programs = *tracer(state);
		tracer_set(state, trace);
	} else if (*tracer(state) == trace) {
		tracer_set(state, programs);
	} else {
		nvtx_note_once(&noted, "--lines-of: a function in C has set a trace function in a chosen function, "
			       "whose lines were not recorded from there on to its end");
	}
	return result;
}

static void *frame_evaluate(void *state, void *frame, int is_thrown);

static void frames_end(void *state)
{
	static uint64_t noted;

	python._PyInterpreterState_SetEvalFrameFunc(load(state, STATE_INTERPRETER), next);
	nvtx_note_once(&noted, "--lines-of: the stack of a thread is nearly full: from there on no lines are recorded");
}

/* In 3.11 a function is called by another one without more of the stack, but not if frames are watched. */
static __attribute__((noinline, cold)) void stack_check(void *state, uintptr_t here)
{
	enum { ENOUGH = 128 << 10, STEP = 32 << 10 };

	if (stack_has(ENOUGH))
		lowest = here - STEP;
	else
		frames_end(state);
}

static void *frame_evaluate(void *state, void *frame, int is_thrown)
{
	void *code = load(frame, FRAME_CODE);
	const struct line_code *c = lines_known(code);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (__builtin_expect(!c, 0))
		c = code_learn(code, load(frame, minor == 11 ? FRAME_GLOBALS_3_11 : FRAME_GLOBALS));
	if (minor == 11 && __builtin_expect(here - lowest > (1ul << 40), 0))
		stack_check(state, here);
	if (__builtin_expect(lines_wants(c) == (*tracer(state) == trace), 1))
		return frame_next(state, frame, is_thrown);
	return frame_traced(state, frame, is_thrown, lines_wants(c));
}

static void *frame_evaluate_3_8(void *frame, int is_thrown)
{
	return frame_evaluate(python.PyThreadState_Get(), frame, is_thrown);
}

/* ---- beginning ---- */

/* Sets ours once, as any program may: the interpreter counts who traces, and looks for a trace function from then
 * on. */
static bool places_find(void *state)
{
	python.PyEval_SetTrace(trace, NULL);
	trace_place = python_state_place((const void *)trace);
	if (!trace_place)
		return python.PyEval_SetTrace(NULL, NULL), false;
	trace_on = *trace_flag(state);
	tracer_set(state, NULL);
	return true;
}

/* 3.8 has no function for it: the evaluation is one of the first words of the interpreter's state. */
static bool frames_watch(frame_function **interpreter)
{
	enum { WORDS = 250 };

	if (minor > 8 && python._PyInterpreterState_GetEvalFrameFunc && python._PyInterpreterState_SetEvalFrameFunc) {
		next = python._PyInterpreterState_GetEvalFrameFunc(interpreter);
		python._PyInterpreterState_SetEvalFrameFunc(interpreter, frame_evaluate);
	}
	for (unsigned i = 0; minor == 8 && python._PyEval_EvalFrameDefault && i < WORDS && !next; i++)
		if (interpreter[i] == python._PyEval_EvalFrameDefault) {
			next = interpreter[i];
			interpreter[i] = (frame_function *)(void *)frame_evaluate_3_8;
		}
	return next;
}

bool lines_frames_begin(void *settrace, unsigned version)
{
	void *state = python.PyThreadState_Get();
	struct method *method = load(settrace, 16);

	minor = version;
	if (minor < 8 || minor > 11 || load(settrace, 8) != python.PyCFunction_Type || method->flags != TAKES_ONE ||
	    !places_find(state) || !frames_watch(load(state, STATE_INTERPRETER)))
		return false;
	real_settrace = method->call;
	method->call = settrace_beside;
	return true;
}
